"""The connection of this process to a Ray cluster, or to a Ray that is started for the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from ..errors import missing
from .joining import join, reaching
from .loopback import on_loopback, read_settings
from .own_session import session_folder, start
from .side_effects import handlers_kept, without_messages


@contextmanager
def connected(address: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """Yield the module Ray, connected to a cluster; InputError if that fails.

    If the process is connected already, by this function or by `ray.init`, it stays so. Otherwise
    `address`, or the environment variable RAY_ADDRESS, says which cluster to connect to; without
    either, a Ray for so many `workers` is started on this machine, and ended after the block.
    """
    check_installed()
    with ExitStack() as connection:
        if not is_connected():
            kept = _kept[-1] if _kept else _Kept(None, connection)
            kept.connection.enter_context(_connection(address or kept.address, workers))
        yield import_module("ray")


class _Kept(NamedTuple):
    """The cluster that a block of :func:`kept` uses, and what ends the connection to it."""

    address: str | None
    connection: ExitStack


_kept: list[_Kept] = []


@contextmanager
def kept(address: str | None = None) -> Iterator[None]:
    """Keep the first connection that is made in this block until the block ends.

    All work in the block uses it. `address` says which cluster to connect to, as in
    :func:`connected`.
    """
    with ExitStack() as connection:
        _kept.append(_Kept(address, connection))
        try:
            yield
        finally:
            _kept.pop()


@contextmanager
def _connection(address: str | None, workers: int | None) -> Iterator[None]:
    """Connect to a cluster, or start one here."""
    address = _chosen(address)
    with ExitStack() as ending:
        with handlers_kept():
            if address == "local":
                folder = ending.enter_context(session_folder())
                with on_loopback(), without_messages(ending):
                    start(_ray_until(ending), workers, folder)
            else:
                with reaching(address), without_messages(ending):
                    join(_ray_until(ending), address)
        yield


def _chosen(address: str | None) -> str:
    """Return the address of the cluster to use; "local" if one is to be started here."""
    return address or os.environ.get("RAY_ADDRESS") or "local"


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
        raise missing("Ray", "ray", 'backend="ray"')


def is_connected() -> bool:
    """Return whether this process is connected to a cluster."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def is_local() -> bool:
    """Return whether the next work on Ray will start one on this machine."""
    return not is_connected() and _chosen(_kept[-1].address if _kept else None) == "local"
