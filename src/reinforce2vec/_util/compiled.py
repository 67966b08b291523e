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
    from numba.core import options
except ImportError:  # numba keeps its options elsewhere
    options = None  # type: ignore[assignment]

INTERPRETED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]


def in_python(function: Callable[..., Any]) -> Callable[..., Any]:
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
            dispatcher._compile_for_args = partial(_compile, dispatcher._compile_for_args)
        return dispatcher

    return decorate


def _compile(compiler: Callable[..., Any], *arguments: Any) -> Any:
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


def _part(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for functions that become part of the kernels that call them."""

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = njit(pipeline_class=InnerCompiler, **_PART, **options)(function)
        alone = kernel(function)  # for calls from Python, which tests make
        template = dispatcher.get_call_template

        def keep(code: Any) -> None:
            dispatcher.overloads[tuple(code.signature.args)] = code

        def template_for(arguments: Any, named: Any) -> Any:
            # else numba would compile f(0) and f(n) apart
            return template(tuple(map(types.unliteral, arguments)), named)

        def compile_alone(*arguments: Any) -> Any:
            entry = alone._compile_for_args(*arguments)
            dispatcher._insert([typeof(value)._code for value in arguments], entry, False)
            return entry

        dispatcher.add_overload = keep
        dispatcher.get_call_template = template_for
        dispatcher._compile_for_args = compile_alone
        return dispatcher

    return decorate


_KERNEL: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **_UNCOUNTED}
_PART = {"no_cpython_wrapper": True, **_KERNEL}

compiled: Any = _decorator(nogil=True)
if LeanCompiler is None:
    kernel = inner = _decorator(**_KERNEL)
    inlined: Any = _decorator(inline="always", **_UNCOUNTED)
else:
    kernel = _decorator(pipeline_class=LeanCompiler, **_KERNEL)
    inner, inlined = _part(), _part(forceinline=True)

if INTERPRETED:
    compiled = kernel = inlined = inner = in_python
