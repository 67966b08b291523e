"""Smoothing on the threads of this machine, in explicit vector instructions."""
