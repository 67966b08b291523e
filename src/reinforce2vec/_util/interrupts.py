"""Ctrl-C: delayed until the current work is done, so that it can be saved; or at once.

Python handles signals in the main thread only, and only between two instructions of its own. What
takes long outside of Python is therefore left to other threads, while the main one waits.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn, TypeVar

_Result = TypeVar("_Result")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Interrupt:
    """Whether the user has pressed Ctrl-C, or a signal asks to stop."""

    asked = False


_interrupts = [_command := _Interrupt()]  # of the command, and of the blocks that hold them back
_abandoned: list[threading.Thread] = []


def stop_command(number: int, frame: Any) -> NoReturn:
    """Raise KeyboardInterrupt; as a signal handler, so that no thread of the command goes on."""
    _command.asked = True
    raise KeyboardInterrupt


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
            if (handler := signal.getsignal(number)) in (signal.default_int_handler, stop_command)
        }

    def note(number: int, frame: Any) -> None:
        handler = usual[signal.Signals(number)]
        interrupt.asked = True
        if handler is stop_command:  # also for threads that are still at work after the block
            _command.asked = True
        signal.signal(number, handler)

    for number in usual:
        signal.signal(number, note)
    _interrupts.append(interrupt)
    try:
        yield interrupt
    finally:
        _interrupts.remove(interrupt)
        for number, handler in usual.items():
            signal.signal(number, handler)
        if interrupt.asked:
            raise KeyboardInterrupt


def interruptible(work: Callable[..., _Result], *arguments: Any, **options: Any) -> _Result:
    """Return what `work` returns; if there is an interrupt, raise KeyboardInterrupt at once.

    For work that takes seconds outside of Python, such as compiling. It is done in another thread.
    After an interrupt that thread is left alone, see :func:`is_busy`, and its result is dropped.
    """
    work = partial(work, *arguments, **options)
    if isinstance(threading.current_thread(), _Worker):
        return work()
    worker = _Worker(work)
    try:
        worker.start()
        while worker.is_alive():
            worker.join(0.1)
            if any(interrupt.asked for interrupt in _interrupts):
                raise KeyboardInterrupt
    except RuntimeError:  # the system has no thread left
        return work()
    except KeyboardInterrupt:
        _abandoned.append(worker)
        raise
    result: _Result = worker.outcome.result()
    return result


class _Worker(threading.Thread):
    """A thread that does one piece of work."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self.outcome: Future[Any] = Future()
        self._work = work

    def run(self) -> None:
        try:
            self.outcome.set_result(self._work())
        except BaseException as error:
            self.outcome.set_exception(error)


def is_busy() -> bool:
    """Return whether interrupted work still goes on in a thread, for which Python waits to exit."""
    return any(worker.is_alive() for worker in _abandoned)
