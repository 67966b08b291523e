"""Skip-gram with negative sampling: walks become vectors.

`corpus` holds the walks to train on, `trainer` decides when to train on what, and `cpu`, `cuda` and
`plain` do it. It may import `_util`, `files`, `graph` and `walks`.
"""

from .trainer import Moment

__all__ = [
    "Moment",
]
