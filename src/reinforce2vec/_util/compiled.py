"""How numba compiles our functions.

All are kept on disk (`code_cache`), so that only the very first use waits for the compiler, and
Ctrl-C does not wait for it (`interrupts`). Decorators:

- `compiled`: a function as numba compiles it, which may allocate arrays;
- `kernel`: a function that Python calls and that allocates nothing: callers pass in the arrays it
  writes to. Without reference counts of arrays, which threads would share, a step of a walk takes
  a tenth of the time;
- `inner`: the same for a function that only kernels call. It becomes part of their code;
- `inlined`: an `inner` function whose code replaces every call of it.

With NUMBA_DISABLE_JIT=1 Python runs the functions itself. Integers that wrap around and numbers
that overflow are intended, so numpy does not warn about them.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from .machine import check_address_space

check_address_space()  # numba and its libraries end in a traceback, or not at all

from numba import config, njit, typeof, types  # noqa: E402

from .interrupts import interruptible  # noqa: E402

try:
    from .code_cache import CodeCache
except ImportError:  # numba keeps its cache elsewhere
    CodeCache = None  # type: ignore[assignment,misc]
try:
    from .lean_compiler import InnerCompiler, LeanCompiler
except (ImportError, AttributeError):  # numba compiles in another way: it then takes longer
    LeanCompiler = InnerCompiler = None  # type: ignore[assignment,misc]
try:
    from numba.core.options import DefaultOptions
except ImportError:  # numba keeps its options elsewhere
    DefaultOptions = None  # type: ignore[assignment,misc]

INTERPRETED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]

_Function = Callable[..., Any]

# `_nrt`, no reference counts, is not documented: without it everything works, but slowly
_UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
_KERNEL: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **_UNCOUNTED}
_PART: dict[str, Any] = {"no_cpython_wrapper": True, **_KERNEL}


def in_python(function: _Function) -> _Function:
    """Return a function that Python runs, with integers that wrap around in silence."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


def _compile(function: _Function, **options: Any) -> Any:
    """Return a function that numba compiles at its first call, and keeps on disk."""
    dispatcher = njit(**options)(function)
    in_file = os.path.exists(function.__code__.co_filename)  # and not in a zip archive
    if in_file and CodeCache is not None and hasattr(dispatcher, "_cache"):
        dispatcher._cache = CodeCache(function)
    if hasattr(dispatcher, "_compile_for_args"):  # at a first call from Python
        dispatcher._compile_for_args = partial(_call_compiler, dispatcher._compile_for_args)
    return dispatcher


def _call_compiler(compiler: _Function, *arguments: Any) -> Any:
    """Compile a function for arguments, in a thread that can be interrupted.

    Without garbage collection, which takes an eighth of the time and finds next to nothing.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return interruptible(compiler, *arguments)
    finally:
        if collecting:
            gc.enable()


class _Part:
    """Replaces methods of a dispatcher whose function becomes part of the kernels that call it."""

    def __init__(self, dispatcher: Any, alone: Any) -> None:
        self.dispatcher, self.alone = dispatcher, alone
        self.usual_template = dispatcher.get_call_template
        dispatcher.add_overload = self.keep
        dispatcher.get_call_template = self.template
        dispatcher._compile_for_args = self.compile_alone

    def keep(self, code: Any) -> None:
        """Keep the code for the kernel under way: it has no entry point that Python could call."""
        self.dispatcher.overloads[tuple(code.signature.args)] = code

    def template(self, arguments: Any, named: Any) -> Any:
        """Return what numba calls: the same code for f(0) and f(n)."""
        return self.usual_template(tuple(map(types.unliteral, arguments)), named)

    def compile_alone(self, *arguments: Any) -> Any:
        """Compile a kernel of the same function for a call from Python, which tests make."""
        entry = self.alone._compile_for_args(*arguments)
        self.dispatcher._insert([typeof(value)._code for value in arguments], entry, False)
        return entry


def _as_part(function: _Function, **options: Any) -> Any:
    """Return a function that becomes part of the kernels that call it."""
    dispatcher = njit(pipeline_class=InnerCompiler, **_PART, **options)(function)
    _Part(dispatcher, kernel(function))
    return dispatcher


compiled: Any = partial(_compile, nogil=True)
kernel: Any
inner: Any
inlined: Any
if INTERPRETED:
    compiled = kernel = inlined = inner = in_python
elif LeanCompiler is None:
    kernel = inner = partial(_compile, **_KERNEL)
    inlined = partial(_compile, inline="always", **_UNCOUNTED)
else:
    kernel = partial(_compile, pipeline_class=LeanCompiler, **_KERNEL)
    inner, inlined = _as_part, partial(_as_part, forceinline=True)
