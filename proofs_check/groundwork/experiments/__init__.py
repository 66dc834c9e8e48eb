"""What the claims about the experiments share: how a claim is made of committed results."""
