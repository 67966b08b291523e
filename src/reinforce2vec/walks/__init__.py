"""Random walks: what a walk is (`policy`), its scores, how it is sampled, what it did (`trace`).

`plan` turns a walk into tables; `cpu`, `cuda` and `plain` make walks from them, the same bit for
bit. It may import `_util`, `files` and `graph`.
"""

from .policy import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk
from .sampler import WalkSampler, sample_walks
from .trace import divergences, occupation, stuck_set

__all__ = [
    "FirstOrderWalk",
    "ReinforcedWalk",
    "SecondOrderWalk",
    "WalkSampler",
    "divergences",
    "occupation",
    "sample_walks",
    "stuck_set",
]
