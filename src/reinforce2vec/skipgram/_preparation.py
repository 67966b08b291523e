"""Numba kernels that every engine needs before training starts."""

from __future__ import annotations

import numpy as np

from .._util.compiled import kernel
from .._util.random import below, draw, stream, unit
from .rules import BEGINNING, DEALING, ORDER


@kernel
def count_nodes(nodes, visits):
    """Add to `visits` how often each node occurs in some walks; -1 marks the end of a walk."""
    for node in nodes:
        if node >= 0:
            visits[np.uint32(node)] += 1


@kernel
def fill_inputs(inputs, nodes, dimensions, seed):
    """Fill the input vectors of nodes with random numbers of [-1/2d, 1/2d), as word2vec does."""
    for row in range(len(inputs)):
        key, gamma = stream(seed ^ BEGINNING, np.int64(nodes[row]))
        for column in range(dimensions):
            inputs[row, column] = (unit(draw(key, gamma, column, 0)) - 0.5) / dimensions


@kernel
def shuffle(array, seed):
    """Bring an array into a random order that depends on the seed alone."""
    key, gamma = stream(seed ^ ORDER, 0)
    for last in range(array.size - 1, 0, -1):
        other = below(draw(key, gamma, last, 0), last + 1)
        array[last], array[other] = array[other], array[last]


@kernel
def deal(nodes, block, seed, of):
    """Deal nodes into blocks: each run of nodes at random, one to each block.

    `block` has the numbers of the blocks.
    """
    n_blocks = block.size
    for begin in range(0, nodes.size, n_blocks):
        key, gamma = stream(seed ^ DEALING, begin)
        for last in range(n_blocks - 1, 0, -1):
            other = below(draw(key, gamma, last, 0), last + 1)
            block[last], block[other] = block[other], block[last]
        for k in range(min(n_blocks, nodes.size - begin)):
            of[nodes[begin + k]] = block[k]
