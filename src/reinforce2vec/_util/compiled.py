"""How numba compiles our functions.

All are kept on disk, so that only the very first use waits for the compiler. `kernel` and `inlined`
also leave out reference counts of arrays: counters that threads share would make a step of a walk
ten times as long. Such functions may not allocate; callers pass in the arrays they write to.

With NUMBA_DISABLE_JIT=1 Python runs the functions itself. Integers that wrap around and numbers
that overflow are intended, so numpy does not warn about them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numba import config, njit

try:
    from numba.core.options import DefaultOptions
except ImportError:  # numba keeps its options elsewhere
    DefaultOptions = None


def _in_python(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


# an option that numba does not document: without it everything works, but slowly
_UNCOUNTED = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}

compiled: Any = njit(cache=True, nogil=True)
kernel: Any = njit(cache=True, nogil=True, **_UNCOUNTED)
inlined: Any = njit(cache=True, inline="always", **_UNCOUNTED)

if config.DISABLE_JIT:
    compiled = kernel = inlined = _in_python
