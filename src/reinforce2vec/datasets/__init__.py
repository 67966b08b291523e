"""The data sets of the paper: found on disk or downloaded, read and verified.

A new data set is an entry in `registry`. It may import `_util`, `files`, `graph`, `walks`,
`skipgram`, `embedding`, `models` and `evaluation`.
"""

from .loading import load_dataset

__all__ = [
    "load_dataset",
]
