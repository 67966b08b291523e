"""Walks in processes of this machine or of a cluster, through Ray."""
