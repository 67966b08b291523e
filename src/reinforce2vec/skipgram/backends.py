"""Which engine trains: `cuda` on a GPU; on the CPU `cpu`, or `plain` where that does not compile.

`cuda.engine`, `ray.engine` and, for both engines of the CPU, `host` have the functions `begin` and
`bytes_for`, and a class that is the engine. `cpu.engine` and `plain` have what `host` and the
workers of `ray` train with.
"""

from __future__ import annotations

from types import ModuleType

from . import host
from .corpus import Corpus
from .engine import Engine
from .state import Settings, State


def begin(corpus: Corpus, settings: Settings, workers: int, backend: str = "cpu") -> State:
    """Return the state before the first walk: new weights, and visits counted in a pilot round."""
    state: State = _DEVICES[backend]().begin(corpus, settings, workers)
    return state


def bytes_for(corpus: Corpus, settings: Settings, workers: int, backend: str = "cpu") -> int:
    """Estimate the memory that training takes; with "cuda", on the GPU; with "ray", of a worker."""
    return int(_DEVICES[backend]().bytes_for(corpus, settings, workers))


def make_engine(
    corpus: Corpus, settings: Settings, state: State, workers: int, backend: str = "cpu"
) -> Engine:
    """Return the engine that trains a state, with its kernels compiled."""
    if backend != "cpu":
        engine: Engine = _DEVICES[backend]().TrainingEngine(corpus, settings, state, workers)
        return engine
    return host.HostEngine(corpus, settings, state, workers, host.cpu_kernels(settings))


def _cuda() -> ModuleType:
    from .cuda import engine

    return engine


def _ray() -> ModuleType:
    from .ray import engine

    return engine


_DEVICES = {"cpu": lambda: host, "cuda": _cuda, "ray": _ray}
