"""Files and objects of other packages, read into and written from plain arrays.

Edges (`graph_readers`, `edge_lists`, `converters`), walks (`walk_readers`, `walk_writers`), vectors
(`vector_files`) and labels (`label_files`). Files are written atomically (`writing`). This package
imports `_util` only: it knows neither graphs nor embeddings.
"""

from .walk_readers import StoredWalks, read_walks
from .walk_writers import write_walks

__all__ = [
    "StoredWalks",
    "read_walks",
    "write_walks",
]
