"""What all CUDA code shares: the device, the compiler, random numbers."""
