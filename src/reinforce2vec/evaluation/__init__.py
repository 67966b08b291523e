"""How good vectors are: edges that were taken away, and labels of nodes."""
