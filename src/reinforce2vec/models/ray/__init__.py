"""Smoothing on a Ray cluster."""
