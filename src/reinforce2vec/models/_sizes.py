"""Sizes of the fast engine's blocks, and the memory they take; it imports no compiler."""

from __future__ import annotations

from typing import NamedTuple

COLUMNS = 32  # of signals, filtered together: a neighbour's are two cache lines
WIDE = 16  # columns of a tile of products
ROWS = 128  # whose products are computed at a time, so that they stay in the cache


def padded(dimensions: int) -> int:
    """Return the columns of whole tiles."""
    return -(-dimensions // WIDE) * WIDE


def bytes_for_blocks(nodes: int, dimensions: int, workers: int) -> int:
    """Estimate the memory: result, three blocks of columns, degrees, and that of the threads."""
    rooms = 2 * 8 * ROWS * padded(dimensions)
    products = 8 * padded(dimensions) ** 2
    rest = 28 * nodes + (2 * workers + 6) * products + workers * rooms
    return signal_bytes(nodes, dimensions) + rest


def signal_bytes(nodes: int, dimensions: int) -> int:
    """Return the bytes of the large arrays among them: result, three blocks of columns."""
    return (4 * dimensions + 3 * 4 * COLUMNS) * nodes


class ClusterBytes(NamedTuple):
    """The memory of smoothing on Ray."""

    driver: int
    """In this process, beside the graph and the vectors."""
    call: int
    """In a worker, for each call."""
    store: int
    """In the object store of every node: the graph, and columns of one call."""


def bytes_on_cluster(nodes: int, dimensions: int, links: int) -> ClusterBytes:
    """Estimate the memory of smoothing on Ray; `links` are the bytes of the undirected graph."""
    columns = 4 * COLUMNS * nodes
    products = 8 * padded(dimensions) ** 2
    return ClusterBytes(
        driver=4 * dimensions * nodes + columns + 28 * nodes + 8 * products,
        call=4 * columns + 4 * nodes,
        store=links + 4 * nodes + 2 * columns,
    )
