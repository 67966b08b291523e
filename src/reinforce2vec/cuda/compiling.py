"""CUDA sources to kernels: compiled at first use, and kept on disk by CuPy."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any

from .device import cupy


def module(*names: str, exact: bool = False, **defines: Any) -> Any:
    """Some .cu files of this package, one behind the other, as one compiled module.

    Parameters
    ----------
    *names : str
        The files, without .cu.
    exact : bool, default False
        Never fuse a multiplication with an addition, which rounds once instead of twice.
    **defines
        Macros.
    """
    options = ["--std=c++17", *(f"-D{name}={value}" for name, value in sorted(defines.items()))]
    if exact:
        options.append("--fmad=false")
    return _compiled(cupy(), names, tuple(options))


@lru_cache(maxsize=64)
def _compiled(cp: Any, names: tuple[str, ...], options: tuple[str, ...]) -> Any:
    folder = files(__package__)
    text = "\n".join((folder / f"{name}.cu").read_text(encoding="utf-8") for name in names)
    return cp.RawModule(code=text, options=options)
