"""How numba compiles our functions.

All are kept on disk (`code_cache`), so that only the very first use waits for the compiler, and
Ctrl-C does not wait for it (`interrupts`). `kernel` and `inlined` also leave out reference counts
of arrays: counters that threads share would make a step of a walk ten times as long. Such functions
may not allocate; callers pass in the arrays they write to.

With NUMBA_DISABLE_JIT=1 Python runs the functions itself. Integers that wrap around and numbers
that overflow are intended, so numpy does not warn about them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
from numba import config, njit

from .interrupts import interruptible

try:
    from .code_cache import CodeCache
except ImportError:  # numba keeps its cache elsewhere
    CodeCache = None  # type: ignore[assignment,misc]
try:
    from numba.core import options
except ImportError:  # numba keeps its options elsewhere
    options = None  # type: ignore[assignment]

INTERPRETED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]


def _in_python(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


# an option that numba does not document: without it everything works, but slowly
_KNOWN: Any = getattr(options, "DefaultOptions", None)
_UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(_KNOWN, "_nrt") else {}


def _decorator(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = njit(**options)(function)
        in_file = os.path.exists(function.__code__.co_filename)  # and not in a zip archive
        if in_file and CodeCache is not None and hasattr(dispatcher, "_cache"):
            dispatcher._cache = CodeCache(function)
        if hasattr(dispatcher, "_compile_for_args"):  # at a first call from Python
            dispatcher._compile_for_args = partial(interruptible, dispatcher._compile_for_args)
        return dispatcher

    return decorate


compiled: Any = _decorator(nogil=True)
kernel: Any = _decorator(nogil=True, **_UNCOUNTED)
inlined: Any = _decorator(inline="always", **_UNCOUNTED)

if INTERPRETED:
    compiled = kernel = inlined = _in_python
