"""Ray: work in processes of this machine, or on a cluster of machines.

Modules named `ray` use it through this one. A Ray of our own listens on this machine alone, and
ends with the work. Whoever waits does so with :func:`results`: it notices when workers are lost.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any

from .errors import InputError, missing
from .machine import available_cpus

_LOCAL = "127.0.0.1"
_CONNECTING = 60.0  # seconds
_LOOK = 1.0  # seconds between two looks at the cluster, while it works
_SILENT = 20.0  # seconds without its head node, after which a cluster is lost
_SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),  # else Ray writes one to the home folder
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # at Ray's 15, other programs leave its workers little time
    # loopback, as on systems without clusters: Ray replaces 127.0.0.1 by an address of the network
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}


class WorkersLost(Exception):
    """Workers have ended, or do not answer; the work can be done again by others."""


class ClusterLost(InputError):
    """The cluster does not answer any more."""


# -- connecting --------------------------------------------------------------------------------


@contextmanager
def connected(address: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """Yield the module Ray, connected to a cluster; InputError if there is none.

    If the process is connected already, by this function or by `ray.init`, it stays so. Otherwise
    `address`, or the environment variable RAY_ADDRESS, says which cluster to connect to; without
    it, a Ray with so many `workers` is started on this machine, and ended after the work.
    """
    if find_spec("ray") is None:
        raise missing("Ray", "ray", 'backend="ray"')
    address = address or os.environ.get("RAY_ADDRESS") or None
    with handlers_kept():
        if address is None:
            with on_loopback():
                import ray

                if owned := not ray.is_initialized():
                    _start(ray, workers)
        else:
            import ray

            if owned := not ray.is_initialized():
                _join(ray, address)
    try:
        yield ray
    finally:
        if owned:
            with handlers_kept(), suppress(Exception):
                ray.shutdown()
                _read_settings()


def _start(ray: Any, workers: int | None) -> None:
    """Start Ray on this machine, and connect to it."""
    try:
        ray.init(
            address="local",
            num_cpus=max(workers or 1, available_cpus()),
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
        )
    except Exception as error:  # Ray documents no class for it
        raise InputError(f"Ray does not start on this machine: {_first_line(error)}") from None
    listening = {node["NodeManagerAddress"] for node in ray.nodes()}
    if listening != {_LOCAL}:
        warnings.warn(
            f"this version of Ray listens on {', '.join(sorted(listening))}, not on {_LOCAL}: "
            "whoever reaches its ports can run programs as this user, unless a token protects them",
            RuntimeWarning,
            stacklevel=2,
        )


def _join(ray: Any, address: str) -> None:
    """Connect to a cluster."""
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except Exception as error:  # ConnectionError, ValueError, RuntimeError
        raise InputError(
            f"there is no Ray cluster at the address {address!r}, or it refuses the connection: "
            f"{_first_line(error)}",
            parameter="address",
            value=address,
        ) from None


@contextmanager
def on_loopback() -> Iterator[None]:
    """Make a Ray that is started in this block listen on this machine alone, and ask for a token.

    Ray reads its settings when it is imported; so this also changes those that it has read.
    """
    unset = {name: value for name, value in _SETTINGS.items() if name not in os.environ}
    if "RAY_AUTH_TOKEN_PATH" in os.environ:
        unset.pop("RAY_AUTH_TOKEN", None)
    os.environ.update(unset)
    from ray._private import ray_constants  # Ray has no public setting for it

    usual = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    _read_settings()
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = usual
        for name in unset:
            os.environ.pop(name, None)


def _read_settings() -> None:
    """Make Ray read its environment variables again: whether to use a token, and which.

    Not while the process is connected: Ray would use other ones in the middle of the work.
    """
    import ray

    try:
        from ray._raylet import AuthenticationTokenLoader, Config
    except ImportError:  # a version without tokens
        return
    if not ray.is_initialized():
        Config.initialize("")
        loader = AuthenticationTokenLoader.instance()
        loader.reset_cache()
        loader.has_token(ignore_auth_mode=True)  # it reads the token when it is asked


@contextmanager
def handlers_kept() -> Iterator[None]:
    """Restore signal handlers: Ray sets its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# -- what the cluster has ----------------------------------------------------------------------


def nodes(ray: Any) -> list[dict[str, float]]:
    """Return the resources of each node that has CPUs: "CPU", and bytes of "memory" and
    "object_store_memory".
    """
    alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return [resources for resources in alive if resources.get("CPU")]


def cluster_cpus(ray: Any) -> int:
    """Return how many CPUs the cluster has."""
    return int(ray.cluster_resources().get("CPU", 0))


# -- waiting -----------------------------------------------------------------------------------


def results(ray: Any, refs: Sequence[Any], seconds: float) -> list[Any]:
    """Return the results of some calls, in their order.

    WorkersLost if a worker has ended, or if no call ends for so many seconds; ClusterLost if the
    cluster does not answer; what a call has raised, if it did.
    """
    waiting, deadline = list(refs), time.monotonic() + seconds
    head = _Head(ray)
    while waiting:
        try:
            done, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=_LOOK)
        except Exception as error:  # of a connection that is lost
            raise raised(ray, error) from None
        if done:
            _fetched(ray, done)
            deadline = time.monotonic() + seconds
        elif time.monotonic() > deadline:
            raise WorkersLost(f"no worker has answered for {seconds:.0f} s")
        head.check()
    return _fetched(ray, refs)


def raised(ray: Any, error: BaseException) -> BaseException:
    """Return the exception to raise for one of Ray's: what a call has raised, or WorkersLost."""
    if isinstance(error, ray.exceptions.RayTaskError):
        cause = error.cause
        return raised(ray, cause) if isinstance(cause, ray.exceptions.RayError) else cause
    if isinstance(error, ray.exceptions.RayError):
        return WorkersLost(_first_line(error))
    return error


def _fetched(ray: Any, refs: Sequence[Any]) -> list[Any]:
    """Return values that are there, or nearly."""
    try:
        return list(ray.get(list(refs), timeout=_CONNECTING))
    except ray.exceptions.RayError as error:
        raise raised(ray, error) from None


class _Head:
    """The head node of the cluster, without which Ray ends this process after a minute."""

    def __init__(self, ray: Any) -> None:
        host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
        self._address = host.strip("[]"), int(port)
        self._seen = self._looked = time.monotonic()

    def check(self) -> None:
        """Raise ClusterLost if it has not answered for some time."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        try:
            socket.create_connection(self._address, timeout=_LOOK).close()
            self._seen = time.monotonic()
        except OSError:
            if time.monotonic() - self._seen > _SILENT:
                raise ClusterLost(
                    "the Ray cluster does not answer any more: its head node has ended, or the "
                    "network is down"
                ) from None
