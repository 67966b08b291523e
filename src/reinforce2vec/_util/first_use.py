"""Compiling at the first use of a function on a machine: how long it took, and who is told.

Apart from the compiler itself, which is slow to import: commands say who is told before they know
whether there is anything to compile.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_STAGES = {
    "files": "reading",
    "graph": "graphs",
    "walks": "walks",
    "skipgram": "training",
    "models": "smoothing",
    "embedding": "neighbours and links",
}


@dataclass
class _FirstUse:
    """What this process compiled since it was not saved anywhere."""

    functions: int = 0
    seconds: float = 0.0
    show: Callable[[str], None] = lambda stage: None
    hide: Callable[[], None] = lambda: None
    _began: float | None = None

    def begin(self, module: str) -> None:
        """Note that a function of a module is to be compiled."""
        self.functions += 1
        self._began = time.perf_counter()
        self.show(_STAGES.get(module.partition(".")[2].partition(".")[0], "reading"))

    def end(self) -> None:
        """Note that it is compiled, or has failed to."""
        if self._began is not None:
            self.seconds += time.perf_counter() - self._began
            self._began = None
            self.hide()


first_use = _FirstUse()
