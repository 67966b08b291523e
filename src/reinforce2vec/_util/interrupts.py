"""Ctrl-C, and signals to end: delayed until the work can be saved; or at once.

Python handles signals in the main thread only, and only between two instructions of its own. What
takes long outside of Python is therefore left to other threads, while the main one waits, but never
without an end: a signal that comes just before it waits would not wake it (`result_of`).
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotDone
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn, TypeVar

_Result = TypeVar("_Result")
ENDING = tuple(  # Windows has no SIGHUP: a terminal was closed
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
_SIGNALS = (signal.SIGINT, *ENDING)
_PATIENCE = 3.0  # seconds after Ctrl-C before a second one ends the saving
_LOOK_EVERY = 0.1  # seconds between two looks for a signal, while the main thread waits
_AGAIN = 0.05  # seconds after which a signal is sent again whose interrupt Python has dropped


class Interrupt:
    """Whether the user has pressed Ctrl-C, or a signal asks to stop."""

    asked = False
    number = int(signal.SIGINT)  # of the signal
    unsaved = False  # set by a block that ends with the error that its work cannot be saved


_interrupts = [_command := Interrupt()]  # of the command, and of the blocks that hold them back
_abandoned: list[_Worker] = []


def stop_command(number: int, frame: Any) -> NoReturn:
    """Raise KeyboardInterrupt; as a signal handler, so that no thread of the command goes on."""
    _command.asked, _command.number = True, number
    raise KeyboardInterrupt


def ask_again(dropped: Any) -> None:
    """Send a signal again whose interrupt came where Python drops errors; as `unraisablehook`.

    Such places are `__del__` and functions that compiled code calls.
    """
    if dropped.exc_type is not KeyboardInterrupt or not hasattr(signal, "pthread_kill"):
        sys.__unraisablehook__(dropped)
        return
    main = (threading.main_thread().ident, _command.number)
    timer = threading.Timer(_AGAIN, signal.pthread_kill, main)
    timer.daemon = True
    timer.start()


def is_stopped() -> bool:
    """Return whether a signal has asked the command to end."""
    return _command.asked


@contextmanager
def held_back(saves: bool = False) -> Iterator[Interrupt]:
    """Record an interrupt instead of raising it; raise a second one at once.

    The code of the block checks `asked` regularly, and stops; KeyboardInterrupt is raised when the
    block ends, also where it ends with an error, except for the one that makes it set `unsaved`. If
    the block `saves` its work, signals that would end the process are recorded too, and raised
    again after the block; further ones do not disturb the saving, except for Ctrl-C after some
    seconds. Only the main thread gets interrupts; in others this does nothing.
    """
    interrupt, since = Interrupt(), 0.0
    usual: dict[int, Any] = {}
    fatal: list[int] = []
    if threading.current_thread() is threading.main_thread():
        held = [signal.default_int_handler, stop_command, *([signal.SIG_DFL] if saves else [])]
        usual = {
            number: handler for number in _SIGNALS if (handler := signal.getsignal(number)) in held
        }

    def note(number: int, frame: Any) -> None:
        nonlocal since
        handler, now = usual[number], time.monotonic()
        if interrupt.asked:
            # a terminal that is closed sends SIGHUP twice, and who waits presses Ctrl-C twice
            if not saves or (number == signal.SIGINT and now > since + _PATIENCE):
                signal.signal(number, handler)
                signal.raise_signal(number)
            return
        since = now
        if handler is signal.SIG_DFL:
            fatal.append(number)
        if handler is stop_command:  # also for threads that are still at work after the block
            _command.asked = True
        interrupt.asked = True

    for number in usual:
        signal.signal(number, note)
    _interrupts.append(interrupt)
    try:
        yield interrupt
    finally:
        _interrupts.remove(interrupt)
        for number, handler in usual.items():
            signal.signal(number, handler)
        for number in fatal:
            signal.raise_signal(number)
        if interrupt.asked and not interrupt.unsaved:
            raise KeyboardInterrupt


def result_of(job: Future[_Result], look: Callable[[], object] = lambda: None) -> _Result:
    """Return the result of a job, once it is done; until then, `look` is called again and again."""
    while True:
        try:
            return job.result(_LOOK_EVERY)
        except NotDone:
            if job.done():  # by now; or this is its own error
                return job.result()
        look()


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
        try:
            worker.start()
        except RuntimeError:  # the system has no thread left
            return work()
        result: _Result = result_of(worker.outcome, _raise_if_asked)
    except KeyboardInterrupt:
        _abandoned.append(worker)
        raise
    return result


def _raise_if_asked() -> None:
    if any(interrupt.asked for interrupt in _interrupts):
        raise KeyboardInterrupt


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
    return any(not worker.outcome.done() for worker in _abandoned)
