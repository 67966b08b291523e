"""The data sets of the paper: found on disk or downloaded, read and verified.

A new data set is an entry in `registry`. This package imports `_util`, `files` and `graph`.
"""

from .loading import load_dataset

__all__ = [
    "load_dataset",
]
