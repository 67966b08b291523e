"""Smoothing on Ray: calls filter some columns of all rows, then turn some rows of all columns.

They do what threads do in `models/cpu/smoothing.py`, on parts of the same sizes that are summed in
the same order: so the number of workers and nodes does not change a bit of the result. Calls are
pure, and Ray repeats those of a worker that has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._util.arrays import unlocked
from ..._util.cluster import resources
from ..._util.cluster.connection import connected
from ..._util.cluster.waiting import WorkersLost, in_turn
from ..._util.errors import InputError
from ..._util.machine import Advice, check_memory
from ..._util.progress import Report
from ..._util.threads import Threads
from ...graph import Graph
from .._sizes import ClusterBytes
from .._smoothing_parts import (
    Links,
    Recurrence,
    Work,
    axes_of,
    column_blocks,
    links_of,
    part_products,
    row_parts,
    scale_of,
    sum_of_products,
    turn_part,
)

_ATTEMPTS = 3  # before losing workers is an error
_RANGE_BYTES, _RANGES = 16 << 20, 256  # least size of a range of rows, most ranges
_PATIENCE, _LEAST_SPEED = 600, 10**8  # seconds without an answer; numbers summed in a second

_Item = TypeVar("_Item")


def smoothed(
    vectors: NDArray[np.float32],
    graph: Graph,
    unit: float,
    degrees: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    workers: int | None,
    needed: ClusterBytes,
    report: Report,
) -> NDArray[np.float32]:
    """Return the smoothed vectors; as :func:`reinforce2vec.models._array_smoothing.smoothed`.

    By default as many calls at once as the cluster has CPUs. InputError if a node has too little
    memory, or if workers end again and again.
    """
    links = links_of(graph, unit, degrees)
    with connected(workers=workers) as ray:
        nodes = resources.nodes(ray)
        check_nodes(ray, needed, vectors.shape)
        at_once = workers or resources.cluster_cpus(ray)
        blocks = len(column_blocks(vectors.shape[1]))
        fewest = int(min(node["CPU"] for node in nodes))
        calls = _Calls(ray, at_once, max(1, min(at_once // blocks, fewest)), needed.call)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return _attempt(calls, vectors, links, coefficients, report)
            except WorkersLost as error:
                if attempt == _ATTEMPTS:
                    raise InputError(
                        f"workers of the Ray cluster were lost {_ATTEMPTS} times while smoothing "
                        f"({error}): see Ray's logs on its nodes, and repeat the command"
                    ) from None
    raise AssertionError("unreachable")


def check_nodes(ray: Any, needed: ClusterBytes, shape: tuple[int, ...]) -> None:
    """Raise InputError if no node has the memory of one call, or one has not that of the graph."""
    what = f"smoothing {shape[0]:,} vectors of {shape[1]:,} dimensions"

    def advise(missing: int) -> Advice:
        return Advice('use machines with more memory, or backend="cpu"', (("backend", "cpu"),))

    memory = max((int(node.get("memory", 0)) for node in resources.nodes(ray)), default=0)
    check_memory(needed.call, what, advise, free=memory, place="memory for each Ray worker")
    resources.check_stores(ray, needed.store, what)


class _Calls(NamedTuple):
    """Calls to Ray: how many at once, and what each of those that filter may use."""

    ray: Any
    at_once: int
    threads: int
    memory: int

    def of(self, function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """Return a function whose calls Ray makes."""
        remote: Callable[..., Any] = self.ray.remote(function).options(**options).remote
        return remote

    def in_turn(
        self, call: Callable[[_Item], Any], items: Iterable[_Item], seconds: float
    ) -> Iterator[Any]:
        """Yield the results of all calls, in the order of the items."""
        return in_turn(self.ray, map(call, items), self.at_once, seconds)


def _attempt(
    calls: _Calls,
    vectors: NDArray[np.float32],
    links: Links,
    coefficients: NDArray[np.float64],
    report: Report,
) -> NDArray[np.float32]:
    """Return the smoothed vectors; WorkersLost if nodes are lost with what only they had."""
    dimensions = vectors.shape[1]
    ranges, blocks = _row_ranges(*vectors.shape), column_blocks(dimensions)
    products = len(coefficients) - 1
    numbers = products * blocks[0].stop * (len(vectors) + len(links.indices))
    seconds = _PATIENCE + numbers / _LEAST_SPEED
    graph, scale = calls.ray.put(links), scale_of(vectors)
    filtering = calls.of(
        _filter_columns, num_cpus=calls.threads, memory=calls.memory, num_returns=1 + len(ranges)
    )
    multiplying, turning = calls.of(_multiply_rows, num_returns=2), calls.of(_turn_range)
    filtered: list[list[Any]] = [[] for _ in ranges]  # for each range, its columns

    def filter_block(columns: slice) -> Any:
        part = calls.ray.put(np.ascontiguousarray(vectors[:, columns]))
        done, *parts = filtering(graph, part, scale, coefficients, ranges, calls.threads)
        for columns_of_range, ref in zip(filtered, parts, strict=True):
            columns_of_range.append(ref)
        return done

    for number, _ in enumerate(calls.in_turn(filter_block, blocks, seconds), 1):
        report(number * products, len(blocks) * products)
    rows: list[Any] = []

    def multiply(columns_of_range: list[Any]) -> Any:
        found, together = multiplying(*columns_of_range)
        columns_of_range.clear()  # the cluster need not keep them
        rows.append(together)
        return found

    found = calls.in_turn(multiply, filtered, seconds)
    parts = (part for of_range in found for part in of_range)
    total = sum_of_products(parts, dimensions, same=True)
    turn = calls.ray.put(axes_of(total))
    result = np.empty(vectors.shape, np.float32)
    rows.reverse()
    turned = calls.in_turn(lambda _: turning(rows.pop(), turn), ranges, seconds)
    for place, part in zip(ranges, turned, strict=True):
        result[place] = part
    return result


def _row_ranges(nodes: int, dimensions: int) -> list[slice]:
    """Return ranges of whole parts of the rows."""
    parts = row_parts(nodes)
    part_bytes = 4 * dimensions * (parts[0].stop if parts else 1)
    step = max(1, _RANGE_BYTES // part_bytes, -(-len(parts) // _RANGES))
    return [
        slice(some[0].start, some[-1].stop)
        for some in (parts[first : first + step] for first in range(0, len(parts), step))
    ]


# -- what workers do ---------------------------------------------------------------------------


def _filter_columns(
    links: Links,
    vectors: NDArray[np.float32],
    scale: np.float32,
    coefficients: NDArray[np.float64],
    ranges: Sequence[slice],
    workers: int,
) -> list[NDArray[np.float32] | None]:
    """Return filtered columns in ranges of the rows; before them None, to wait for."""
    links = links._replace(inverse=unlocked(links.inverse))
    result = np.empty(vectors.shape, np.float32)
    with Threads(workers) as threads:
        work = Work(threads, workers)
        for _ in Recurrence(links, workers).filter(work, vectors, scale, coefficients, result):
            pass
    return [None, *(result[rows] for rows in ranges)]


def _multiply_rows(
    *columns: NDArray[np.float32],
) -> tuple[list[NDArray[np.float64]], NDArray[np.float32]]:
    """Return products of the columns, for each part of the rows, and all columns together."""
    rows = np.concatenate(columns, axis=1)
    return [part_products(rows, rows, part) for part in row_parts(len(rows))], rows


def _turn_range(rows: NDArray[np.float32], turn: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return rows multiplied by `turn`, and scaled to length 1."""
    turned = rows.copy()
    for part in row_parts(len(turned)):
        turn_part(turned, turn, part)
    return turned
