"""Compiling at the first use of a function on a machine: how long it takes, and what is shown.

It is apart from the compiler, which is slow to import: commands decide what is shown before they
know whether there is anything to compile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

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
    _calls: int = 0  # of the compiler, within each other or in several threads
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def call(self) -> Iterator[None]:
        """Surround a call of the compiler, which may find that there is nothing to compile."""
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                if not self._calls and self._began is not None:
                    self.seconds += time.perf_counter() - self._began
                    self._began = None
                    self.hide()

    def begin(self, module: str) -> None:
        """Note that a function of a module is to be compiled."""
        with self._lock:
            self.functions += 1
            if self._began is None:
                self._began = time.perf_counter()
        self.show(_STAGES.get(module.partition(".")[2].partition(".")[0], "reading"))


first_use = _FirstUse()
