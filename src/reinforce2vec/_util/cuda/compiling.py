"""CUDA sources to kernels: compiled at first use, and kept on disk by CuPy."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from posixpath import dirname, join, normpath
from typing import Any

from .device import cupy

_ROOT = __package__.partition(".")[0]
_INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.MULTILINE)


def compiled_module(path: str, *, exact: bool = False, **defines: Any) -> Any:
    """Return a .cu file of this package, with all that it includes, as a compiled module.

    Parameters
    ----------
    path : str
        The file, from the package's folder on: "walks/cuda/open.cu".
    exact : bool, default False
        Never fuse a multiplication with an addition, which rounds once instead of twice.
    **defines
        Macros.
    """
    options = ["--std=c++17", *(f"-D{name}={value}" for name, value in sorted(defines.items()))]
    if exact:
        options.append("--fmad=false")
    return _compile(cupy(), path, tuple(options))


@lru_cache(maxsize=64)
def _compile(cp: Any, path: str, options: tuple[str, ...]) -> Any:
    return cp.RawModule(code=source_of(path), options=options)


def source_of(path: str) -> str:
    """Return the text of a .cu file with the files that it includes, each of them once.

    Includes are resolved here, not by the compiler: CuPy keeps compiled code by the text it is
    given, so a change in an included file must change that text.
    """
    return _included(normpath(path), set())


def _included(path: str, seen: set[str]) -> str:
    if path in seen:
        return ""
    seen.add(path)
    text = files(_ROOT).joinpath(path).read_text(encoding="utf-8")
    folder = dirname(path)
    return _INCLUDE.sub(lambda found: _included(normpath(join(folder, found[1])), seen), text)
