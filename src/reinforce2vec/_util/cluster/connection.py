"""The connection of this process to a Ray cluster, or to a Ray that is started for the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from threading import RLock
from typing import Any

from ..errors import InputError, missing
from .joining import join, reaching
from .loopback import on_loopback, read_settings
from .own_session import session_folder, start, warn_of_few_cpus, warn_of_listening
from .side_effects import handlers_kept, without_messages


@contextmanager
def connected(address: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """Yield the module Ray, connected to a cluster; InputError if that fails.

    If the process is connected already, by this function or by `ray.init`, it stays so. Otherwise
    `address`, or the environment variable RAY_ADDRESS, says which cluster to connect to; without
    either, a Ray for so many `workers` is started on this machine, and ended after the block.
    """
    check_installed()
    with _used():
        with _shared.lock:
            if not is_connected():
                chosen, setting = _chosen(address or _kept_address())
                try:
                    _shared.connection.enter_context(_connection(chosen, workers))
                except InputError as error:
                    raise error.renamed("address", setting) from None
        yield import_module("ray")


@contextmanager
def kept(address: str | None = None) -> Iterator[None]:
    """Keep the first connection that is made in this block until the block ends.

    All work in the block uses it. `address` says which cluster to connect to, as in
    :func:`connected`.
    """
    _shared.addresses.append(address)
    try:
        with _used():
            yield
    finally:
        _shared.addresses.pop()


class _Shared:
    """The connection that this module has made, which ends when nobody uses it any more."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.users = 0
        self.connection = ExitStack()
        self.addresses: list[str | None] = []  # of blocks of `kept`


_shared = _Shared()


@contextmanager
def _used() -> Iterator[None]:
    """Keep the connection in this block; several threads may use it."""
    with _shared.lock:
        _shared.users += 1
    try:
        yield
    finally:
        with _shared.lock:
            _shared.users -= 1
            if _shared.users == 0:
                _shared.connection.close()


@contextmanager
def _connection(address: str, workers: int | None) -> Iterator[None]:
    """Connect to a cluster, or start one here."""
    with ExitStack() as ending:
        if address == "local":
            warn_of_few_cpus(workers)  # here, since nothing is printed while Ray starts
            folder = ending.enter_context(session_folder())
            with on_loopback(), without_messages(ending), handlers_kept():
                ray = _ray_until(ending)
                start(ray, workers, folder)
            warn_of_listening(ray)
        else:
            with without_messages(ending), reaching(address) as found, handlers_kept():
                join(_ray_until(ending), found)
        yield


def _kept_address() -> str | None:
    return _shared.addresses[-1] if _shared.addresses else None


def _chosen(address: str | None) -> tuple[str, str]:
    """Return the address of the cluster to use, and the name of the setting that it is from.

    The address is "local" if one is to be started here. As in Ray, RAY_ADDRESS says which cluster
    "auto" is.
    """
    variable = os.environ.get("RAY_ADDRESS")
    if variable and address in (None, "", "auto"):
        return variable, "RAY_ADDRESS"
    return address or "local", "address"


def _ray_until(ending: ExitStack) -> Any:
    """Return the module Ray; when `ending` is closed, this process is disconnected."""
    ray = import_module("ray")
    ending.callback(_disconnect, ray)
    return ray


def _disconnect(ray: Any) -> None:
    with handlers_kept(), suppress(Exception):
        ray.shutdown()
        read_settings()


def check_installed() -> None:
    """Raise InputError if Ray is not installed."""
    if find_spec("ray") is None:
        raise missing("Ray", "ray", 'backend="ray"', [("backend", "ray")])


def is_connected() -> bool:
    """Return whether this process is connected to a cluster."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def is_local() -> bool:
    """Return whether the next work on Ray will start one on this machine."""
    return not is_connected() and _chosen(_kept_address())[0] == "local"
