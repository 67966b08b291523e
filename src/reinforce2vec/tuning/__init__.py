"""Which parameters? A search on held-out edges or labels, with an honest last word."""
