"""Hyperparameter search on held-out edges or labels, and its report.

It may import `_util`, `files`, `graph`, `walks`, `skipgram`, `embedding`, `models`, `evaluation`,
`datasets`, `plotting` and `explorer`.
"""

from .results import Tuning
from .search import tune

__all__ = [
    "Tuning",
    "tune",
]
