"""Delay Ctrl-C until the current work is done, so that its result can be saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Interrupt:
    """Whether the user has pressed Ctrl-C, or a signal asks to stop."""

    asked = False


@contextmanager
def held_back() -> Iterator[_Interrupt]:
    """Record an interrupt instead of raising it; raise a second one at once.

    The code of the block checks `asked` regularly, and stops; KeyboardInterrupt is raised when the
    block ends, also where it ends with an error. Only the main thread gets interrupts; in others
    this does nothing.
    """
    interrupt = _Interrupt()
    usual = {}
    if threading.current_thread() is threading.main_thread():
        usual = {
            number: handler
            for number in _SIGNALS
            if (handler := signal.getsignal(number)) is signal.default_int_handler
        }

    def note(number: int, frame: Any) -> None:
        interrupt.asked = True
        signal.signal(number, usual[signal.Signals(number)])

    for number in usual:
        signal.signal(number, note)
    try:
        yield interrupt
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
        if interrupt.asked:
            raise KeyboardInterrupt
