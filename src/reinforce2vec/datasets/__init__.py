"""The paper's graphs and labels: found on disk or downloaded, read and verified.

A new data set is an entry in `registry`. It imports `_util`, `files` and `graph`.
"""

from .loading import load_dataset

__all__ = [
    "load_dataset",
]
