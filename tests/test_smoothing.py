"""Smoothing: the filter, which rows belong to which node, and what is refused."""

import numpy as np
import pytest
import scipy.linalg

from reinforce2vec import Embedding, Graph, InputError, rmat, smooth, smoothing
from reinforce2vec import machine  # noqa: F401
from toy_graphs import TOY_GRAPHS


def literal(vectors, adjacency, mu=0.2, theta=0.5):
    """The filter as a function of a dense matrix, without a series."""
    one = np.eye(len(adjacency))
    links = adjacency + one
    centred = one - links / links.sum(axis=1, keepdims=True) - mu * one
    band = scipy.linalg.expm(-theta * (centred @ centred / 2 - one))
    left, sizes, _ = np.linalg.svd(links @ (vectors - band @ vectors), full_matrices=False)
    result = left * np.sqrt(sizes)
    return result / np.linalg.norm(result, axis=1, keepdims=True)
