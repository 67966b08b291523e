"""Random walks: what a walk is, its scores, its random numbers, its kernels, its traces."""
