"""Which engine does the work on the CPU: "fast" or "plain". Both give the same result.

The fast engine uses LLVM instructions and internals of numba, which a new version of numba may
change. The plain engine is straightforward Python that numba compiles, or that Python itself runs
if the environment variable NUMBA_DISABLE_JIT is 1. REINFORCE2VEC_ENGINE names the engine to use; if
it is not set, the plain engine replaces a fast one that does not compile.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from threading import Lock

from .compiled import INTERPRETED
from .errors import InputError, first_line

ENGINES = ("fast", "plain")
VARIABLE = "REINFORCE2VEC_ENGINE"

_lock = Lock()
_has_failed = False


def use_plain() -> bool:
    """Return whether the plain engine is to be used; InputError if the variable names no engine."""
    chosen = _chosen()
    return INTERPRETED or chosen == "plain" or (chosen is None and _has_failed)


def fast_engine_compiles(attempt: Callable[[], object]) -> bool:
    """Return whether the fast engine can be used; if it cannot, the plain one is from now on.

    `attempt` imports and calls the kernels on empty arrays, so that whatever it raises is a failure
    to compile and not an error of the work itself. The first failure is a warning, or is raised if
    the environment variable demands the fast engine.
    """
    global _has_failed
    if use_plain():
        return False
    try:
        attempt()
    except (MemoryError, InputError):  # or no thread: another engine would not help
        raise
    except Exception as error:  # numba, llvmlite and the codegen of an intrinsic: any class
        if _chosen() == "fast":
            raise
        with _lock:
            is_known, _has_failed = _has_failed, True
        if not is_known:
            warnings.warn(
                "the fast engine does not compile on this machine, so the slower plain engine is "
                f"used; results are the same ({type(error).__name__}: {first_line(error)}). To "
                f"silence this warning, set {VARIABLE}=plain",
                RuntimeWarning,
                stacklevel=2,
            )
        return False
    return True


def _chosen() -> str | None:
    chosen = os.environ.get(VARIABLE) or None
    if chosen is not None and chosen not in ENGINES:
        raise InputError(
            f"the environment variable {VARIABLE} must be one of {', '.join(ENGINES)}, "
            f"not {chosen!r}"
        )
    return chosen
