"""What the claims about a moving optimum rest on: symbols, and all streams together with all walks."""
