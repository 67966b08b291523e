"""Hyperparameter search on held-out edges or labels.

It imports everything up to `plotting`.
"""

from .results import Tuning
from .search import tune

__all__ = [
    "Tuning",
    "tune",
]
