"""Skip-gram with negative sampling: walks become vectors.

`corpus` holds the walks to train on, `trainer` takes them chunk by chunk, and an engine trains:
`host` on the CPU, by the order of `schedule` and with the kernels of `cpu` or `plain`; `cuda` on a
GPU. It may import `_util`, `files`, `graph` and `walks`.
"""

from .trainer import Moment

__all__ = [
    "Moment",
]
