"""Smoothing on a GPU."""
