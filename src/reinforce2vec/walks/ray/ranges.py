"""Ranges of walks as tasks of a Ray cluster: pure functions, which Ray repeats if a worker is lost.

The graph and the starts are put into the object store once. Every process on a machine reads them
there, without a copy, and keeps the tables that it has made of the walk.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.cluster.connection import connected
from ..._util.cluster.resources import check_stores, cluster_cpus, nodes, on_every_node
from ..._util.cluster.waiting import WorkersLost, in_turn
from ..._util.errors import InputError
from ...graph import Graph
from .._backends import Walker, make_walker
from ..plan import Task, graph_of_walks, plan_for
from ..policy import Walk

_TASK_NODES = 1 << 21  # nodes of the walks of a task that returns them: 8 MB
_STORE_SHARE = 4  # results under way take at most this part of the object stores
_RETRIES = 20  # times that a task is repeated on another worker
_SILENCE = 600.0  # seconds in which a task should end
_ENDING = 5.0  # seconds in which tasks that are cancelled should end

Work = Callable[[int, NDArray[np.int32]], Any]
"""What to do with walks, from the first walk number and the walks."""


class _Shared(NamedTuple):
    """What the tasks of a run have in common."""

    graph: Graph
    walk: Walk
    starts: NDArray[np.int32]
    seed: int
    length: int
    n_walks: int
    work: Work | None


# -- in this process ---------------------------------------------------------------------------


def map_ranges(
    task: Task,
    walk: Walk,
    workers: int | None,
    work: Work | None,
    size: int | None,
    before: Callable[[], str | None] | None = None,
) -> Generator[Any, None, None]:
    """Yield the results of `work` for ranges of `size` walks, in order; without it, the walks.

    Parameters
    ----------
    task, walk
        What to make, and the walk that its plan is for.
    workers : int, optional
        How many ranges to work on at once; by default one for each CPU of the cluster.
    work : callable, optional
        Is pickled, and called where the walks were made.
    size : int, optional
        Walks of a range; by default about _TASK_NODES nodes, or a share for each worker.
    before : callable, optional
        Is called once on each node before the walks are made; what it returns is why they cannot
        be, or None.
    """
    with connected(workers=workers) as ray:
        cpus = max(1, cluster_cpus(ray))
        at_once = min(workers or cpus, cpus)
        if size is None:
            size = max(1, min(_TASK_NODES // task.length, -(-task.n_walks // at_once)))
        if before is not None:
            _check_nodes(ray, before)
        graph = graph_of_walks(task.graph)
        needed = graph.nbytes + task.starts.nbytes + sum(one.nbytes for one in graph.alias or ())
        check_stores(ray, needed, f"walking on {graph.n_nodes:,} nodes")
        shared = ray.put(_Shared(graph, walk, *task[1:5], work))
        make = ray.remote(_make).options(num_cpus=1, max_retries=_RETRIES)
        ahead = at_once if at_once < cpus else 2 * at_once  # more would run than are asked for
        if work is None:
            stores = sum(int(node.get("object_store_memory", 0)) for node in nodes(ray))
            room = stores // _STORE_SHARE
            ahead = max(1, min(ahead, room // (4 * size * task.length)))
        calls = (
            make.remote([shared], first, min(size, task.n_walks - first))
            for first in range(0, task.n_walks, size)
        )
        try:  # at the end no task may write a file any more
            yield from in_turn(ray, calls, ahead, _SILENCE, _ENDING)
        except WorkersLost as error:
            raise InputError(
                f"the workers of the Ray cluster do not make walks: {error}. Are its nodes short "
                "of memory, or busy with other work?"
            ) from None


def _check_nodes(ray: Any, check: Callable[[], str | None]) -> None:
    """Call a function on every node that can work; InputError with what it returns, if it does."""
    for where, problem in on_every_node(ray, check, _SILENCE):
        if problem is not None:
            raise InputError(f"{problem} (this was found on the node {where} of the Ray cluster)")


# -- in a worker -------------------------------------------------------------------------------


def _make(shared: list[Any], first: int, count: int) -> Any:
    """Make walks, and return them or what the work makes of them."""
    walker, work, length = _prepared(shared[0])
    walks = np.empty((count, length), np.int32)
    for at in range(0, count, walker.chunk):
        walker.fill(first + at, walks[at : at + walker.chunk])
    return walks if work is None else work(first, walks)


@lru_cache(maxsize=1)
def _prepared(reference: Any) -> tuple[Walker, Work | None, int]:
    """Return what makes walks in this process; the graph stays in the object store."""
    import ray

    graph, walk, starts, seed, length, n_walks, work = ray.get(reference)
    task = Task(graph, starts, seed, length, n_walks, plan_for(graph, walk, length))
    return make_walker(task, "cpu"), work, length
