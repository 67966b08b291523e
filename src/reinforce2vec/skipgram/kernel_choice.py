"""Which kernels train on the CPU: `cpu`, or `plain` where those do not compile."""

from __future__ import annotations

from types import ModuleType

from .._util.engine import fast_engine_compiles
from .state import Settings


def cpu_kernels(settings: Settings) -> ModuleType:
    """Return the functions that train on the CPU, compiled: the fast ones, or the plain ones."""

    def compile_fast() -> None:
        from .cpu.engine import compile_kernels

        compile_kernels(settings)

    if fast_engine_compiles(compile_fast):
        from .cpu import engine

        return engine
    from . import plain

    return plain
