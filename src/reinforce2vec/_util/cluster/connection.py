"""The connection of this process to a Ray cluster: to one that runs, or to a Ray of our own.

A Ray of our own is started on this machine for some work, and ended after it.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from threading import RLock
from typing import Any

from ..errors import InputError, first_line, missing
from ..locks import temporary_folder
from ..machine import available_cpus
from ..progress import counted
from .isolation import handlers_kept, loopback_alone, on_loopback, read_settings, without_messages
from .resources import check_versions

_ANSWERING = 10.0  # seconds in which a host accepts a connection
_LOCAL = "127.0.0.1"
_LONGEST = 42  # characters of a path in which Ray can have its sockets
_PREFIX = "r2v."  # of names of folders


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
                chosen, setting = _chosen(address)
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
    return not is_connected() and _chosen(None)[0] == "local"


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


def _chosen(address: str | None) -> tuple[str, str]:
    """Return the address of the cluster to use, and the name of the setting that it is from.

    The address is "local" if one is to be started here. As in Ray, RAY_ADDRESS says which cluster
    "auto" is.
    """
    if not address and _shared.addresses:
        address = _shared.addresses[-1]
    variable = os.environ.get("RAY_ADDRESS")
    if variable and address in (None, "", "auto"):
        return variable, "RAY_ADDRESS"
    return address or "local", "address"


@contextmanager
def _connection(address: str, workers: int | None) -> Iterator[None]:
    """Connect to a cluster, or start one here; after the block, disconnect."""

    def disconnect() -> None:
        with handlers_kept(), suppress(Exception):
            import_module("ray").shutdown()
            read_settings()

    with ExitStack() as ending:
        if address == "local":
            _warn_of_few_cpus(workers)  # here, since nothing is printed while Ray starts
            folder = ending.enter_context(session_folder())
            with on_loopback(), without_messages(ending), handlers_kept():
                ray = import_module("ray")
                ending.callback(disconnect)
                _start(ray, workers, folder)
            _warn_of_listening(ray)
        else:
            with without_messages(ending), _reaching(address) as place, handlers_kept():
                ray = import_module("ray")
                ending.callback(disconnect)
                join(ray, place)
        yield


# -- a cluster that runs ------------------------------------------------------------------------


def join(ray: Any, address: str) -> None:
    """Connect to a cluster; InputError if its nodes have other versions of packages."""
    try:
        head: Any = import_module("ray._raylet").GcsClient(address=address)
        head.get_all_node_info(timeout=_ANSWERING)  # a wrong token fails here, `init` tries again
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except Exception as error:  # ConnectionError, ValueError, RuntimeError
        reason = f"cannot be used: {first_line(error)}"
        if isinstance(error, getattr(ray.exceptions, "AuthenticationError", ())):
            reason = "asks for its token: set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the token"
        raise _refusal(f"the Ray cluster at the address {address!r} {reason}", address) from None
    check_versions(ray)


@contextmanager
def _reaching(address: str) -> Iterator[str]:
    """Yield where a cluster answers, as HOST:PORT, and make Ray use the address in this block.

    Ray replaces 127.0.0.1 by the machine's address in the network, where a cluster may not listen.
    InputError if no Ray answers; Ray itself would try for minutes.
    """
    services: Any = import_module("ray._private.services")
    if address == "auto":
        services.find_gcs_addresses.cache_clear()  # it may have ended since
        try:
            address = str(services.get_ray_address_from_environment("auto", None))
        except ConnectionError:
            message = "no Ray cluster runs on this machine: give its address as HOST:PORT"
            raise _refusal(message, "auto") from None
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdigit():
        message = f"address must be auto or HOST:PORT, as head-node:6379, not {address!r}"
        raise _refusal(message, address)
    host, network = host.strip("[]"), services.resolve_ip_for_localhost(host.strip("[]"))
    try:
        _greet(host, int(port))
    except (OSError, OverflowError) as error:
        message = (
            f"no Ray cluster answers at the address {address!r} ({first_line(error)}): is it "
            "running, and can its head node be reached from here?"
        )
        raise _refusal(message, address) from None
    with ExitStack() as stack:
        try:
            _greet(network, int(port))
        except OSError:
            stack.enter_context(loopback_alone())
        yield address


def _refusal(message: str, address: str) -> InputError:
    return InputError(message, parameter="address", value=address)


def _greet(host: str, port: int) -> None:
    """Raise OSError unless an HTTP/2 server answers: Ray's head node is one."""
    with socket.create_connection((host, port), timeout=_ANSWERING) as connection:
        if os.environ.get("RAY_USE_TLS", "0") != "0":
            return
        settings = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # a frame: its length, type, flags, stream
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings)
        if connection.recv(4)[3:] != settings[3:4]:
            raise OSError("another program listens there")


# -- a Ray of our own ---------------------------------------------------------------------------


def _start(ray: Any, workers: int | None, folder: str) -> None:
    """Start Ray on this machine with its files in a folder, and connect to it."""
    try:
        ray.init(
            address="local",
            num_cpus=max(workers or 1, available_cpus()),
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
            _temp_dir=folder,
        )
    except Exception as error:  # Ray documents no class for it
        raise InputError(f"Ray does not start on this machine: {first_line(error)}") from None


def _warn_of_few_cpus(workers: int | None) -> None:
    """Warn if there will be more workers than CPUs."""
    cpus = available_cpus()
    if workers is not None and workers > cpus:
        _warn(
            f"{workers} workers share {counted(cpus, 'CPU')} of this machine, and are slower than "
            "one worker for each CPU"
        )


def _warn_of_listening(ray: Any) -> None:
    """Warn if Ray can be reached from other machines."""
    listening = {node["NodeManagerAddress"] for node in ray.nodes()}
    if listening != {_LOCAL}:
        _warn(
            f"this version of Ray listens on {', '.join(sorted(listening))}, not on {_LOCAL}: "
            "whoever reaches its ports can run programs as this user, unless a token protects them"
        )


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=3)


@contextmanager
def session_folder() -> Iterator[str]:
    """Make a folder for the files of one Ray, and remove it after the block.

    Ray lets all users write to its folder, so it is inside one that is closed to others. The path
    is short, since the path of a socket must be. Folders of programs that were killed are removed.
    """
    place = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    if len(f"{place}/{_PREFIX}12345678/s") > _LONGEST:
        place = "/tmp"  # noqa: S108  a private folder is made in it, by mkdtemp
    with temporary_folder(place, _PREFIX) as folder:
        yield os.path.join(folder, "s")
