"""Ctrl-C that waits for the work at hand, so that what was done can be kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """Whether somebody has asked to stop."""

    asked = False


@contextmanager
def held_back() -> Iterator[Interrupt]:
    """Note an interrupt instead of raising it; a second one is raised at once.

    Whoever runs inside looks at `asked` now and then and stops; KeyboardInterrupt is raised when
    the block ends. Only the main thread can do this; in others interrupts are none of ours.
    """
    interrupt = Interrupt()
    usual = {}
    if threading.current_thread() is threading.main_thread():
        usual = {
            number: handler
            for number in SIGNALS
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
