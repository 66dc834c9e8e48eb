"""Section 7: what the paper says its experiments show, against the committed results of running them again."""
