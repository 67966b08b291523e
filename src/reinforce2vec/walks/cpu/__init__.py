"""Walks on the CPU by numba kernels that advance many walks in turn: the fast engine."""
