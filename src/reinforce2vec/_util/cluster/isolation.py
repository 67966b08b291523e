"""What Ray changes in the process that starts or joins it, and how to undo that."""

from __future__ import annotations

import os
import secrets
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from ..interrupts import held_back


@contextmanager
def handlers_kept() -> Iterator[None]:
    """Keep signal handlers, and restore what `breakpoint()` calls: Ray sets its own.

    Its handler of SIGTERM would end the program without a message while Ray starts. An interrupt
    waits for the last step of starting, or Ray would abort the program at its end.
    """
    utils: Any = import_module("ray._private.utils")  # Ray has no public setting for it
    worker: Any = import_module("ray._private.worker")
    connect = held_back()(worker.connect)
    in_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if in_main else ()
    handlers = {number: signal.getsignal(number) for number in numbers}
    variable = os.environ.get("PYTHONBREAKPOINT")
    try:
        with (
            _replaced(utils, "set_sigterm_handler", _do_nothing),
            _replaced(worker, "connect", connect),
        ):
            yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.environ.pop("PYTHONBREAKPOINT", None)
        if variable is not None:
            os.environ["PYTHONBREAKPOINT"] = variable


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables in this block; those that are set already keep their values."""
    unset = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(unset)
    try:
        yield
    finally:
        for name in unset:
            os.environ.pop(name, None)


@contextmanager
def without_messages(ending: ExitStack) -> Iterator[None]:
    """Let Ray connect in this block without writing to the terminal.

    Until `ending` is closed, Ray also does not write about lost nodes and workers, and about errors
    of calls whose results nobody asks for any more: our own errors report them.
    """
    worker: Any = import_module("ray._private.worker")  # Ray has no public setting for it
    for name in ("print_to_stdstream", "_unhandled_error_handler"):
        ending.enter_context(_replaced(worker, name, _do_nothing))
    with environment({"RAY_BACKEND_LOG_LEVEL": "fatal"}), _stderr_to(os.devnull):
        yield  # Ray reports such a level with a line on stderr, hence the redirection


def _do_nothing(*arguments: Any, **named: Any) -> None:
    pass


@contextmanager
def _replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute of a module in this block, if the module has it."""
    if not hasattr(module, name):
        yield
        return
    usual = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, usual)


@contextmanager
def _stderr_to(path: str) -> Iterator[None]:
    """Redirect the standard error stream of this process, and of those that it starts."""
    try:
        terminal = os.dup(2)
    except OSError:  # there is none
        yield
        return
    try:
        with open(path, "w") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)


_SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),  # else Ray writes one to the home folder
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # at Ray's 15, other programs leave its workers little time
    # as on systems without clusters: elsewhere Ray replaces 127.0.0.1 by an address of the network
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}


@contextmanager
def on_loopback() -> Iterator[None]:
    """Make a Ray that is started in this block listen on this machine alone, and ask for a token.

    Ray reads its settings when it is imported, so this also changes those that it has read.
    """
    settings = dict(_SETTINGS)
    if "RAY_AUTH_TOKEN_PATH" in os.environ:
        del settings["RAY_AUTH_TOKEN"]
    with environment(settings), loopback_alone():
        read_settings()
        yield


@contextmanager
def loopback_alone() -> Iterator[None]:
    """Keep Ray from replacing 127.0.0.1 by an address of the network."""
    constants: Any = import_module("ray._private.ray_constants")  # there is no public setting
    usual, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = usual


def read_settings() -> None:
    """Make Ray read its environment variables again: whether to use a token, and which.

    This does nothing while the process is connected: Ray must not change them during the work.
    """
    internals = import_module("ray._raylet")
    is_connected = import_module("ray").is_initialized()
    if not is_connected and hasattr(internals, "AuthenticationTokenLoader"):
        internals.Config.initialize("")
        loader = internals.AuthenticationTokenLoader.instance()
        loader.reset_cache()
        loader.has_token(ignore_auth_mode=True)  # it reads the token when it is asked
