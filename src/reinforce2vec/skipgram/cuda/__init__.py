"""Training on a GPU, a warp for each walk."""
