"""Walks on the threads of this machine, by numba kernels that advance many walks in turn."""
