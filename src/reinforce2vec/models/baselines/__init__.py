"""Other ways to turn graphs into vectors, to compare with."""
