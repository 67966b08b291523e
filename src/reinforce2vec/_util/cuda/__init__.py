"""The CUDA backend: walks, training and smoothing on a graphics card, through CuPy."""
