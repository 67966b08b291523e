"""Files and other packages' objects, read into and written from plain arrays.

Edges, walks, vectors and labels: which format a file has, how it is read, and how it is written so
that it appears complete or not at all. It imports `_util` only: what a graph or an embedding is,
the sub-packages above it know.
"""

from .walk_readers import StoredWalks, read_walks
from .walk_writers import write_walks

__all__ = [
    "StoredWalks",
    "read_walks",
    "write_walks",
]
