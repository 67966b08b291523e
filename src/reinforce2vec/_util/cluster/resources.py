"""What a cluster has: CPUs, memory, installed versions, and objects that all its nodes read."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from ..errors import InputError
from ..machine import Advice, check_memory
from .waiting import WorkersLost, results

_ANSWERING = 60.0  # seconds in which each node answers which versions it has


def nodes(ray: Any) -> list[dict[str, float]]:
    """Return the resources of each node that has CPUs.

    The number of CPUs is under "CPU", bytes are under "memory" and "object_store_memory".
    """
    return [node["Resources"] for node in _working_nodes(ray)]


def _working_nodes(ray: Any) -> list[dict[str, Any]]:
    """Return what Ray says about each node that is alive and has CPUs."""
    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]


def check_versions(ray: Any) -> None:
    """Raise InputError if a node has a version of a package that may compute other bits."""

    def versions() -> dict[str, str]:  # an inner function travels whole: nodes may lack the package
        installed = {}
        for name in ("reinforce2vec", "numpy", "numba"):
            try:
                installed[name] = str(__import__(name).__version__)
            except ImportError:
                installed[name] = "missing"
        return installed

    answers = on_every_node(ray, versions, _ANSWERING)
    for name, version in versions().items():
        for address, found in answers:
            if _compared(name, found[name]) != _compared(name, version):
                raise InputError(
                    f"{name} is {version} here, but {found[name]} on the node {address} of the Ray "
                    "cluster: install the same version on all nodes"
                )


def on_every_node(ray: Any, function: Callable[[], Any], seconds: float) -> list[tuple[str, Any]]:
    """Call a function on every node that has CPUs; return their addresses, and what it returns."""

    def call(function: Callable[[], Any]) -> Any:  # also travels whole
        return function()

    strategy = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    working, remote = _working_nodes(ray), ray.remote(call)
    places = [strategy(node["NodeID"], soft=False) for node in working]
    refs = [remote.options(num_cpus=0, scheduling_strategy=at).remote(function) for at in places]
    try:
        answers = results(ray, refs, seconds)
    except WorkersLost as error:
        raise InputError(f"a node of the Ray cluster does not start workers: {error}") from None
    addresses = [str(node["NodeManagerAddress"]) for node in working]
    return list(zip(addresses, answers, strict=True))


def _compared(name: str, version: str) -> list[str]:
    """Return the part of a version that must be equal: of other packages, the first two numbers."""
    return version.split(".")[: None if name == "reinforce2vec" else 2]


def cluster_cpus(ray: Any) -> int:
    """Return how many CPUs the cluster has."""
    return int(ray.cluster_resources().get("CPU", 0))


def usable_cpus(wanted: int | None = None) -> int:
    """Return how many workers to use: as many as are wanted, but at most one for each CPU."""
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


def check_stores(ray: Any, needed: int, what: str) -> None:
    """Raise InputError, with figures, if the object store of a node is smaller than needed."""

    def advise(missing: int) -> Advice:
        return Advice("start Ray with a larger --object-store-memory, or use larger machines")

    smallest = min((int(node.get("object_store_memory", 0)) for node in nodes(ray)), default=0)
    check_memory(needed, what, advise, free=smallest, place="Ray's object store on every node")


_stored: WeakKeyDictionary[Any, tuple[str, Any]] = WeakKeyDictionary()


def stored(ray: Any, thing: Any) -> Any:
    """Return a reference to an object in Ray's object store, where the first call puts it.

    Each node gets one copy, which all its processes read; arrays in it are read-only.
    """
    context = ray.get_runtime_context()
    session = context.get_node_id() + context.get_job_id()
    kept = _stored.get(thing)
    if kept is None or kept[0] != session:
        kept = _stored[thing] = session, ray.put(thing)
    return kept[1]
