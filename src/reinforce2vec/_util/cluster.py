"""Ray: work in processes of this machine, or on a cluster of machines.

Modules named `ray` use it through this one. A Ray of our own listens on this machine alone, and
ends with the work. Whoever waits does so with :func:`results`: it notices when workers are lost.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from .errors import InputError, missing
from .machine import available_cpus

_LOCAL = "127.0.0.1"
_CONNECTING = 60.0  # seconds
_ANSWERING = 10.0  # seconds in which a host accepts a connection
_LOOK = 1.0  # seconds between two looks at the cluster, while it works
_SILENT = 20.0  # seconds without its head node, after which a cluster is lost
_LONGEST = 40  # letters of a folder in which Ray can have its sockets
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
    check_installed()
    with ExitStack() as connection:
        if not is_connected():
            kept = _kept[-1] if _kept else _Kept(None, connection)
            kept.connection.enter_context(_connection(address or kept.address, workers))
        yield import_module("ray")


class _Kept(NamedTuple):
    """Where to connect to, and what ends the connection."""

    address: str | None
    connection: ExitStack


_kept: list[_Kept] = []


@contextmanager
def kept(address: str | None = None) -> Iterator[None]:
    """Keep the first connection that is made in this block to its end, for all work in it."""
    with ExitStack() as connection:
        _kept.append(_Kept(address, connection))
        try:
            yield
        finally:
            _kept.pop()


@contextmanager
def _connection(address: str | None, workers: int | None) -> Iterator[None]:
    """Connect to a cluster, or start one here."""
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    with ExitStack() as ending:
        with handlers_kept():
            if address == "local":
                folder = ending.enter_context(_session_folder())
                with on_loopback(), _without_messages(ending) as ray:
                    _start(ray, workers, folder)
            else:
                with _reaching(address), _without_messages(ending) as ray:
                    _join(ray, address)
        yield


@contextmanager
def _without_messages(ending: ExitStack) -> Iterator[Any]:
    """Yield the module Ray, to connect; when it ends, disconnect.

    Keeps what Ray writes about lost nodes and workers from the terminal: errors report them.
    """
    ray = import_module("ray")
    worker: Any = import_module("ray._private.worker")  # Ray has no public setting for it
    usual = worker.print_to_stdstream
    worker.print_to_stdstream = lambda *message, **how: None
    ending.callback(setattr, worker, "print_to_stdstream", usual)
    ending.callback(_disconnect, ray)
    with _environment({"RAY_BACKEND_LOG_LEVEL": "fatal"}), _stderr_to(os.devnull):
        yield ray  # with such a level, it begins with a line on stderr


@contextmanager
def _stderr_to(path: str) -> Iterator[None]:
    """Redirect what this process, and those that it starts, write to the terminal."""
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


def _disconnect(ray: Any) -> None:
    with handlers_kept(), suppress(Exception):
        ray.shutdown()
        _read_settings()


def _start(ray: Any, workers: int | None, folder: str) -> None:
    """Start Ray on this machine, and connect to it."""
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
        raise InputError(f"Ray does not start on this machine: {_first_line(error)}") from None
    listening = {node["NodeManagerAddress"] for node in ray.nodes()}
    if listening != {_LOCAL}:
        warnings.warn(
            f"this version of Ray listens on {', '.join(sorted(listening))}, not on {_LOCAL}: "
            "whoever reaches its ports can run programs as this user, unless a token protects them",
            RuntimeWarning,
            stacklevel=2,
        )


@contextmanager
def _session_folder() -> Iterator[str]:
    """Yield a folder for the files of one Ray; its path is short, since sockets demand it."""
    place = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    folder = tempfile.mkdtemp(prefix="r2v-", dir=place if len(place) < _LONGEST - 12 else "/tmp")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _join(ray: Any, address: str) -> None:
    """Connect to a cluster."""
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except Exception as error:  # ConnectionError, ValueError, RuntimeError
        raise InputError(
            f"the Ray cluster at the address {address!r} cannot be used: {_first_line(error)} (if "
            "it asks for a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN)",
            parameter="address",
            value=address,
        ) from None
    check_versions(ray)


@contextmanager
def _reaching(address: str) -> Iterator[None]:
    """Make Ray connect to an address in this block as it listens there, perhaps on loopback alone.

    InputError if no Ray can be there; Ray itself would try for minutes.
    """
    if address == "auto":  # Ray looks for it on this machine
        yield
        return
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdigit():
        raise InputError(
            f"address must be auto or HOST:PORT, as head-node:6379, not {address!r}",
            parameter="address",
            value=address,
        )
    services: Any = import_module("ray._private.services")
    host, network = host.strip("[]"), services.resolve_ip_for_localhost(host.strip("[]"))
    try:
        _greet(host, int(port))
    except (OSError, OverflowError) as error:
        raise InputError(
            f"no Ray cluster answers at the address {address!r} ({_first_line(error)}): is it "
            "running, and can its head node be reached from here?",
            parameter="address",
            value=address,
        ) from None
    with ExitStack() as stack:
        try:
            _greet(network, int(port))
        except OSError:
            stack.enter_context(_loopback_alone())
        yield


def _greet(host: str, port: int) -> None:
    """Raise OSError unless a server of HTTP/2 answers, as that of Ray's head node does."""
    with socket.create_connection((host, port), timeout=_ANSWERING) as connection:
        if os.environ.get("RAY_USE_TLS", "0") != "0":
            return
        settings = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # a frame: its length, type, flags, stream
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings)
        if connection.recv(4)[3:] != settings[3:4]:
            raise OSError("another program listens there")


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables in this block, unless they are set."""
    unset = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(unset)
    try:
        yield
    finally:
        for name in unset:
            os.environ.pop(name, None)


@contextmanager
def on_loopback() -> Iterator[None]:
    """Make a Ray that is started in this block listen on this machine alone, and ask for a token.

    Ray reads its settings when it is imported; so this also changes those that it has read.
    """
    settings = dict(_SETTINGS)
    if "RAY_AUTH_TOKEN_PATH" in os.environ:
        del settings["RAY_AUTH_TOKEN"]
    with _environment(settings), _loopback_alone():
        _read_settings()
        yield


@contextmanager
def _loopback_alone() -> Iterator[None]:
    """Keep Ray from replacing 127.0.0.1 by an address of the network."""
    constants: Any = import_module("ray._private.ray_constants")  # there is no public setting
    usual, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = usual


def _read_settings() -> None:
    """Make Ray read its environment variables again: whether to use a token, and which.

    Not while the process is connected: Ray would use other ones in the middle of the work.
    """
    internals = import_module("ray._raylet")
    if not is_connected() and hasattr(internals, "AuthenticationTokenLoader"):
        internals.Config.initialize("")
        loader = internals.AuthenticationTokenLoader.instance()
        loader.reset_cache()
        loader.has_token(ignore_auth_mode=True)  # it reads the token when it is asked


@contextmanager
def handlers_kept() -> Iterator[None]:
    """Restore signal handlers, and what `breakpoint()` calls: Ray sets its own."""
    in_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if in_main else ()
    handlers = {number: signal.getsignal(number) for number in numbers}
    variable = os.environ.get("PYTHONBREAKPOINT")
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.environ.pop("PYTHONBREAKPOINT", None)
        if variable is not None:
            os.environ["PYTHONBREAKPOINT"] = variable


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def check_installed() -> None:
    """Raise InputError if Ray is not installed."""
    if find_spec("ray") is None:
        raise missing("Ray", "ray", 'backend="ray"')


def is_connected() -> bool:
    """Return whether this process is connected to a cluster."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def is_local() -> bool:
    """Return whether workers will be processes of a Ray that is started on this machine."""
    address = (_kept[-1].address if _kept else None) or os.environ.get("RAY_ADDRESS") or "local"
    return not is_connected() and address == "local"


# -- what the cluster has ----------------------------------------------------------------------


def nodes(ray: Any) -> list[dict[str, float]]:
    """Return the resources of each node that has CPUs: "CPU", and bytes of "memory" and
    "object_store_memory".
    """
    alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return [resources for resources in alive if resources.get("CPU")]


def check_versions(ray: Any) -> None:
    """Raise InputError if a node has other versions of what must be alike for the same bits."""

    def versions() -> dict[str, str]:  # a function of its own: nodes may lack this package
        found = {}
        for name in ("reinforce2vec", "numpy", "numba"):
            try:
                found[name] = str(__import__(name).__version__)
            except ImportError:
                found[name] = "missing"
        return found

    strategy = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    ask = ray.remote(versions)
    refs = [
        ask.options(num_cpus=0, scheduling_strategy=strategy(node["NodeID"], soft=False)).remote()
        for node in alive
    ]
    try:
        answers = results(ray, refs, _CONNECTING)
    except WorkersLost as error:
        raise InputError(f"a node of the Ray cluster does not start workers: {error}") from None
    for name, version in versions().items():
        for node, found in zip(alive, answers, strict=True):
            if _compared(name, found[name]) != _compared(name, version):
                raise InputError(
                    f"{name} is {version} here, but {found[name]} on the node "
                    f"{node['NodeManagerAddress']} of the Ray cluster: install the same version "
                    "on all nodes"
                )


def _compared(name: str, version: str) -> list[str]:
    """Return what must be equal of a version: of others' packages the first two numbers."""
    return version.split(".")[: None if name == "reinforce2vec" else 2]


def cluster_cpus(ray: Any) -> int:
    """Return how many CPUs the cluster has."""
    return int(ray.cluster_resources().get("CPU", 0))


def usable_cpus(wanted: int | None = None) -> int:
    """Return how many workers to use: one for each CPU, or fewer if that is wanted."""
    import ray

    most = max(1, cluster_cpus(ray))
    if wanted is not None and wanted > most:
        warnings.warn(
            f"the Ray cluster has {most} CPUs, so {most} workers are used in place of {wanted}; "
            "the result is the same",
            RuntimeWarning,
            stacklevel=3,
        )
    return most if wanted is None else min(wanted, most)


_stored: WeakKeyDictionary[Any, tuple[str, Any]] = WeakKeyDictionary()


def stored(ray: Any, thing: Any) -> Any:
    """Return a reference to an object in the object store, where it is put once.

    Each machine of the cluster gets one copy, which its processes read; arrays in it are read-only.
    """
    session = ray.get_runtime_context().get_job_id()
    kept = _stored.get(thing)
    if kept is None or kept[0] != session:
        kept = _stored[thing] = session, ray.put(thing)
    return kept[1]


# -- waiting -----------------------------------------------------------------------------------


def results(ray: Any, refs: Sequence[Any], seconds: float) -> list[Any]:
    """Return the results of some calls, in their order.

    WorkersLost if a worker has ended, or if no call ends for so many seconds; ClusterLost if the
    cluster does not answer; what a call has raised, if it did.
    """
    waiting, deadline = list(refs), time.monotonic() + seconds
    found: dict[Any, Any] = {}
    head = _head_at(ray.get_runtime_context().gcs_address)
    while waiting:
        try:
            done, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=_LOOK)
        except Exception as error:  # of a connection that is lost
            raise raised(ray, error) from None
        if done:
            found.update(zip(done, _fetched(ray, done), strict=True))
            deadline = time.monotonic() + seconds
        elif time.monotonic() > deadline:
            raise WorkersLost(f"no worker has answered for {seconds:.0f} s")
        head.check()
    return [found[ref] for ref in refs]


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

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = host.strip("[]"), int(port)
        self._looked = time.monotonic()
        self._silent_since: float | None = None

    def check(self) -> None:
        """Raise ClusterLost if it has not answered for some time."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        try:
            socket.create_connection(self._address, timeout=_LOOK).close()
            self._silent_since = None
        except OSError:
            if self._silent_since is None:
                self._silent_since = now
            elif now - self._silent_since > _SILENT:
                raise ClusterLost(
                    "the Ray cluster does not answer any more: its head node has ended, or the "
                    "network is down"
                ) from None


@lru_cache(maxsize=1)
def _head_at(address: str) -> _Head:
    """Return the head node at an address: one for all calls, since each may be short."""
    return _Head(address)
