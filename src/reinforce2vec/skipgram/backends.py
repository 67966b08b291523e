"""Which engine trains: `cuda` on a GPU; on the CPU `cpu`, or `plain` where that does not compile.

Each module has a class `TrainingEngine` with the same constructor. `cuda.engine` and, for both
engines of the CPU, `host` have the functions `begin` and `bytes_for`.
"""

from __future__ import annotations

from types import ModuleType

from .._util.engine import fast_engine_compiles
from . import host
from .corpus import Corpus
from .engine import Engine
from .state import Settings, State


def begin(corpus: Corpus, settings: Settings, workers: int, backend: str = "cpu") -> State:
    """Return the state before the first walk: new weights, and visits counted in a pilot round."""
    state: State = _DEVICES[backend]().begin(corpus, settings, workers)
    return state


def bytes_for(corpus: Corpus, settings: Settings, workers: int, backend: str = "cpu") -> int:
    """Estimate the memory that training takes; with "cuda", on the GPU."""
    return int(_DEVICES[backend]().bytes_for(corpus, settings, workers))


def make_engine(
    corpus: Corpus, settings: Settings, state: State, workers: int, backend: str = "cpu"
) -> Engine:
    """Return the engine that trains a state, with its kernels compiled."""
    module = _cuda() if backend == "cuda" else _cpu(settings)
    engine: Engine = module.TrainingEngine(corpus, settings, state, workers)
    return engine


def _cuda() -> ModuleType:
    from .cuda import engine

    return engine


def _cpu(settings: Settings) -> ModuleType:
    def compile_fast() -> None:
        from .cpu.engine import compile_kernels

        compile_kernels(settings)

    if fast_engine_compiles(compile_fast):
        from .cpu import engine

        return engine
    from . import plain

    return plain


_DEVICES = {"cpu": lambda: host, "cuda": _cuda}
