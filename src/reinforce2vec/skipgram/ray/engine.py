"""The engine that trains on Ray: it tells the workers, in the order of the ring, what to do.

The driver sends no rows and gets none while training goes on: calls hand the units of outputs from
worker to worker. It only adds up losses. Workers are not restarted, and their calls not repeated,
by Ray: whoever trains begins again from the last checkpoint, with new workers.
"""

from __future__ import annotations

import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Condition, Thread
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.cluster.connection import connected
from ..._util.cluster.resources import check_stores, cluster_cpus, stored
from ..._util.cluster.waiting import WorkersLost, results
from ..._util.errors import InputError
from ..._util.machine import check_memory
from ..checkpoint import Origin, folder_of_rows, write_checkpoint
from ..corpus import Corpus
from ..engine import Chunk, Engine, Outcome
from ..host import most_pairs, pass_walks
from ..pairs import PAIR_BYTES, count_visits
from ..passes import outcome_of
from ..ring import BYTES_PER_NODE, make_ring, tables_of
from ..rules import Visits, keep_chances
from ..schedule import blocks_for, dealt
from ..state import Settings, State, StoredRows, roomy_weights, scales_bytes
from .worker import Address, Machine, Plan, Turn, Worker

_PLACING = 60.0  # seconds to wait for CPUs that are free
_COMPILING = 600.0  # seconds that a worker may take to get ready
_ENDING = 10.0  # seconds to end workers
_PATIENCE = 120.0  # seconds that a call may take, beside what follows from its work
_PAIRS_PER_SECOND = 50_000  # of a very slow machine
_BYTES_PER_SECOND = 10 << 20  # of a very slow network or disk
_WORKER_BYTES = 400 << 20  # of a process with all libraries


def begin(corpus: Corpus, settings: Settings, workers: int) -> State:
    """Return the state before the first walk; the workers fill the weights."""
    with connected(workers=workers) as ray:
        scales = [roomy_weights(corpus.n_nodes, one.dimensions) for one in settings.scales()]
        return State(scales, _count_visits(ray, corpus, workers), blank=True)


def _count_visits(ray: Any, corpus: Corpus, workers: int) -> Visits:
    """Return how often nodes occur in the walks of the pilot round."""
    shared, count = stored(ray, corpus), ray.remote(num_cpus=1)(count_visits)
    ray.util.remove_placement_group(_free_cpus(ray, workers))  # else the calls would wait
    shares = _split(Chunk(0, corpus.n_pilot), workers)
    calls = [count.remote(shared, one.first, one.first + one.size) for one in shares]
    visits = np.zeros(corpus.n_nodes, np.int64)
    while calls:
        visits += results(ray, [calls.pop(0)], _COMPILING + corpus.n_nodes / 1000)[0]
    return visits


def _free_cpus(ray: Any, count: int) -> Any:
    """Return a placement group of so many CPUs; InputError if they do not become free soon."""
    group = ray.util.placement_group([{"CPU": 1}] * count, strategy="PACK")
    if group.wait(_PLACING):
        return group
    ray.util.remove_placement_group(group)
    if cluster_cpus(ray) < count:
        raise WorkersLost("the cluster has become smaller")
    raise InputError(
        f"{count} workers need a free CPU each, and the Ray cluster has "
        f"{ray.available_resources().get('CPU', 0):g} of {cluster_cpus(ray)} free: use fewer "
        "workers, or wait until others are done",
        parameter="workers",
        value=count,
    )


def _split(chunk: Chunk, parts: int) -> list[Chunk]:
    """Split walks into consecutive parts."""
    cuts = [chunk.first + chunk.size * part // parts for part in range(parts + 1)]
    return [Chunk(cuts[part], cuts[part + 1] - cuts[part]) for part in range(parts)]


def bytes_for(corpus: Corpus, settings: Settings, workers: int) -> int:
    """Estimate the memory of one of the workers, beside what workers of a machine share."""
    workers = min(workers, blocks_for(corpus.n_nodes))
    inputs = _matrix_bytes(corpus, settings) // workers
    units = 3 * inputs // 2  # each half as large: the one it trains, and those that come and go
    pairs = 2 * PAIR_BYTES * most_pairs(corpus, settings) // workers  # found, and taken
    walks = 4 * pass_walks(corpus, settings, corpus.n_nodes) * corpus.mean_length // workers
    return sum([_WORKER_BYTES, inputs, units, inputs, pairs, 2 * walks])  # rows are sent as copies


def _matrix_bytes(corpus: Corpus, settings: Settings) -> int:
    """Return the bytes of all inputs, which are those of all outputs."""
    return scales_bytes(corpus.n_nodes, settings.shares) // 2


def shared_bytes(corpus: Corpus, settings: Settings) -> int:
    """Estimate the memory that all workers of a machine share: graph or walks, and tables."""
    return corpus.nbytes + BYTES_PER_NODE * corpus.n_nodes * len(settings.windows)


class TrainingEngine(Engine):
    """Workers of Ray; each chunk is a pass of every scale."""

    threads, resizable = 2, False  # while one waits for a pass, the other calls for the next

    def __init__(self, corpus: Corpus, settings: Settings, state: State, workers: int) -> None:
        self._connection = connected(workers=workers)
        self.ray = self._connection.__enter__()
        self.workers: list[Any] = []
        self._group: Any = None
        self._turn, self._next, self._failed = Condition(), state.walks, False
        try:
            self._begin(corpus, settings, state, workers)
        except BaseException:
            self.close()
            raise

    def _begin(self, corpus: Corpus, settings: Settings, state: State, workers: int) -> None:
        self.corpus, self.settings, self.state = corpus, settings, state
        self.n_walks = corpus.n_walks * settings.epochs
        n_visited = int(np.count_nonzero(state.visits))
        self.chunk_walks = pass_walks(corpus, settings, n_visited)
        n_blocks = blocks_for(n_visited)
        self.ring = make_ring(n_blocks, min(workers, n_blocks))
        self.after = self.ring.next_workers()
        self._start_workers(len(self.ring.shares))
        dealings = [dealt(state.visits, one.seed) for one in settings.scales()]
        self.tables = [tables_of(blocks, self.ring) for blocks in dealings]
        keep = keep_chances(state.visits, settings.subsample)
        self._prepare(Plan(settings, self.n_walks, self.ring, self.tables, keep))
        self._units: list[dict[int, Any]] = [{} for _ in self.tables]  # on their way
        self._last: list[dict[int, Any]] = [{} for _ in self.tables]  # results of their last visits
        self._load()

    # -- workers ----------------------------------------------------------------------------

    def _start_workers(self, count: int) -> None:
        """Start the workers, those of a machine next to each other in the ring."""
        ray = self.ray
        self._group = _free_cpus(ray, count)
        strategy = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy
        actor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Worker)
        self.workers = [
            actor.options(
                scheduling_strategy=strategy(self._group, placement_group_bundle_index=number)
            ).remote()
            for number in range(count)
        ]
        machines: list[Machine] = self._all(lambda worker: worker.machine.remote(), _COMPILING)
        together = sorted(range(count), key=lambda number: (machines[number].node, number))
        self.workers = [self.workers[number] for number in together]
        self.machines = [machines[number] for number in together]
        self._check_memory()

    def _check_memory(self) -> None:
        """Raise InputError if a machine has too little memory for its workers."""
        corpus, settings, count = self.corpus, self.settings, len(self.workers)
        what = f"training {corpus.n_nodes:,} nodes with {settings.dimensions} dimensions"
        check_stores(self.ray, shared_bytes(corpus, settings), what)
        a_worker = bytes_for(corpus, settings, count) - _WORKER_BYTES  # which run already
        common = shared_bytes(corpus, settings)
        for node, here in Counter(one.node for one in self.machines).items():
            free = next(one.free for one in self.machines if one.node == node)
            if free is not None:
                on_machine = f"{what} by {here} of {count} workers on a machine"
                check_memory(common + here * a_worker, on_machine, free=free)

    def _prepare(self, plan: Plan) -> None:
        """Hand the plan to all workers; the first of each machine compiles for the others."""
        ray, walks = self.ray, self.state.walks
        shared, corpus = ray.put(plan), stored(ray, self.corpus)
        nodes = [machine.node for machine in self.machines]
        first = [number for number, node in enumerate(nodes) if node not in nodes[:number]]
        others = [number for number in range(len(nodes)) if number not in first]
        counts = Counter(nodes)
        shares: dict[str, list[Address]] = {node: [] for node in nodes}
        self.groups = list(range(len(nodes)))  # workers of a group share the memory of units
        for some in (first, others):
            calls = []
            for number in some:
                prepare, node = self.workers[number].prepare, nodes[number]
                alone = counts[node] == 1
                calls.append(prepare.remote(number, shared, corpus, walks, alone, shares[node]))
            prepared = results(ray, calls, _COMPILING + self.corpus.nbytes / _BYTES_PER_SECOND)
            for number, addresses in zip(some, prepared, strict=True):
                node = nodes[number]
                if addresses and shares[node]:
                    self.groups[number] = nodes.index(node)
                shares[node] = shares[node] or addresses

    def _all(self, call: Callable[[Any], Any], seconds: float) -> list[Any]:
        """Return the results of a call of each worker."""
        return results(self.ray, [call(worker) for worker in self.workers], seconds)

    # -- rows -------------------------------------------------------------------------------

    def _load(self) -> None:
        """Hand the workers their rows, or have them make or read them."""
        state, seconds = self.state, self._seconds_for_rows()
        if state.rows is not None:
            rows = state.rows
            self._all(lambda worker: worker.read.remote(rows), seconds)
        elif state.blank:
            self._all(lambda worker: worker.fill.remote(), seconds)
        else:
            for scale in range(len(self.tables)):
                for number, worker in enumerate(self.workers):
                    self._send_rows(scale, number, worker, seconds)
        state.blank, state.rows = False, None

    def _send_rows(self, scale: int, number: int, worker: Any, seconds: float) -> None:
        tables, weights, ring = self.tables[scale], self.state.scales[scale], self.ring
        inputs = weights.inputs[tables.nodes_of(ring.shares[number])]
        units = {
            unit: weights.outputs[tables.nodes_of(ring.units[unit])] for unit in ring.owned(number)
        }
        results(self.ray, [worker.load.remote(scale, inputs, units)], seconds)

    def _seconds_for_rows(self) -> float:
        return _PATIENCE + _matrix_bytes(self.corpus, self.settings) / _BYTES_PER_SECOND

    def _bring_home(self) -> None:
        """Have all units with the workers that own them."""
        calls = []
        for scale, units in enumerate(self._units):
            for unit, rows in units.items():
                owner = self.workers[self.ring.owners[unit]]
                calls.append(owner.adopt.remote(scale, unit, rows))
            units.clear()
        results(self.ray, calls, self._seconds_for_rows())

    def collect(self, outputs: bool = True) -> None:
        """Copy the matrices to the state, worker by worker."""
        self._bring_home()
        seconds = self._seconds_for_rows()
        for scale, weights in enumerate(self.state.scales):
            tables = self.tables[scale]
            for number, worker in enumerate(self.workers):
                [rows] = results(self.ray, [worker.inputs.remote(scale)], seconds)
                weights.inputs[tables.nodes_of(self.ring.shares[number])] = rows
                if not outputs:
                    continue
                [units] = results(self.ray, [worker.outputs.remote(scale)], seconds)
                for unit, rows in units.items():
                    weights.outputs[tables.nodes_of(self.ring.units[unit])] = rows

    def finite(self) -> list[bool]:
        """Return whether every number of the matrices is finite, for each scale."""
        self._bring_home()
        finite = self._all(lambda worker: worker.finite.remote(), self._seconds_for_rows())
        return [all(of_scale) for of_scale in zip(*finite, strict=True)]

    def check_saving(self, path: Path) -> None:
        """Raise InputError if the workers cannot write files next to a checkpoint."""
        folder = folder_of_rows(path, f"probe-{secrets.token_hex(4)}")
        if folder.parent.is_symlink():
            raise InputError(f"{folder.parent}: this is a link, expected a folder: remove it")
        folder.mkdir(parents=True)
        try:
            names = self._all(lambda worker: worker.probe.remote(folder), _PATIENCE)
            _check_shared(folder, names)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # it holds rows
                folder.parent.rmdir()

    def save(self, path: Path, origin: Origin) -> None:
        """Write a checkpoint: each worker its own rows, then the driver what names them."""
        self._bring_home()
        folder = folder_of_rows(path, f"{self.state.walks}-{secrets.token_hex(4)}")
        folder.mkdir(parents=True)
        written = self._all(lambda worker: worker.write.remote(folder), self._seconds_for_rows())
        digests: dict[str, str] = {}
        for some in written:
            digests |= some
        _check_shared(folder, digests)
        write_checkpoint(path, self.state, origin, StoredRows(folder, digests))

    # -- a pass -----------------------------------------------------------------------------

    def train(self, chunk: Chunk) -> Outcome:
        """Train each scale on the walks of a pass; chunks may come from threads in any order."""
        try:
            with self._turn:
                self._turn.wait_for(lambda: chunk.first == self._next or self._failed)
                if self._failed:
                    raise WorkersLost("the pass before has failed")
                turns = [(Turn(chunk.first, call) for call in count()) for _ in self.workers]
                passes = [self._submit(scale, chunk, turns) for scale in range(len(self.tables))]
                self._next += chunk.size
                self._turn.notify_all()
            of_scales = [self._results(calls) for calls in passes]
        except BaseException:
            self._give_up()
            raise
        tokens = of_scales[0][0]
        of_buckets = [(losses, pairs) for _, losses, pairs in of_scales]
        return outcome_of(chunk, self.n_walks, tokens, self.ring.order, of_buckets)

    def _give_up(self) -> None:
        """End the workers, so that nobody waits for them."""
        with self._turn:
            self._failed = True
            self._turn.notify_all()
        for worker in self.workers:
            with suppress(Exception):
                self.ray.kill(worker)

    def _seconds_for_pass(self) -> float:
        """Return how long workers may take for a pass before they are lost."""
        work = most_pairs(self.corpus, self.settings) * max(1, self.settings.dimensions / 128)
        under_way = self.threads  # passes, of which one waits for the other
        return under_way * (_PATIENCE + self._seconds_for_rows() + work / _PAIRS_PER_SECOND)

    def _submit(self, scale: int, chunk: Chunk, turns: Sequence[Iterator[Turn]]) -> _Calls:
        """Call the workers for a pass of one scale; nothing is waited for.

        `turns` has the names of the next calls of each worker.
        """
        units, last = self._units[scale], self._last[scale]
        shares = _split(chunk, len(self.workers))
        found, taken, trained = [], [], []
        for worker, turn, share in zip(self.workers, turns, shares, strict=True):
            find = worker.find_pairs.options(num_returns=1 + len(shares))
            found.append(find.remote(next(turn), scale, chunk, share))
        for number, (worker, turn) in enumerate(zip(self.workers, turns, strict=True)):
            pieces = [answers[1 + number] for answers in found]
            taken.append(worker.take_pairs.remote(next(turn), scale, *pieces))
        for place, visit in enumerate(self.ring.visits):
            number, unit = visit.worker, visit.unit
            leaves = self.groups[self.after[place]] != self.groups[number]
            train = self.workers[number].train.options(num_returns=2)
            unit_rows, before = units.pop(unit, None), last.get(unit)
            losses, rows = train.remote(
                next(turns[number]), scale, place, unit_rows, leaves, before
            )
            if leaves:
                units[unit] = rows
            last[unit] = losses
            trained.append(losses)
        return _Calls([answers[0] for answers in found], taken, trained)

    def _results(self, calls: _Calls) -> tuple[int, NDArray[np.float64], NDArray[np.int64]]:
        """Wait for the calls of a pass of one scale; return its tokens, losses and pairs.

        The latter two are those of each bucket, in the order of the pass.
        """
        order, seconds = self.ring.order, self._seconds_for_pass()
        answers = iter(results(self.ray, [*calls.found, *calls.taken, *calls.trained], seconds))
        tokens = sum(next(answers) for _ in calls.found)
        pairs = np.concatenate([next(answers) for _ in calls.taken])  # by bucket
        losses = np.zeros(len(order))
        for visit, of_visit in zip(self.ring.visits, answers, strict=True):
            losses[visit.places] = of_visit
        n_blocks = int(order["centre_block"].max()) + 1
        return tokens, losses, pairs[order["context_block"] * n_blocks + order["centre_block"]]

    def close(self) -> None:
        """End the workers."""
        ending = Thread(target=self._end, daemon=True)  # without a head node, it would not return
        ending.start()
        ending.join(_ENDING)
        self.workers, self._group = [], None
        self._connection.__exit__(None, None, None)

    def _end(self) -> None:
        self._give_up()
        if self._group is not None:
            with suppress(Exception):
                self.ray.util.remove_placement_group(self._group)


class _Calls(NamedTuple):
    """Calls of a pass of one scale that are under way."""

    found: list[Any]  # how many nodes the walks have
    taken: list[Any]  # how many pairs each bucket has
    trained: list[Any]  # the losses of each visit


def _check_shared(folder: Path, names: Iterable[str]) -> None:
    """Raise InputError if files that workers have written are not here."""
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise InputError(
            f"{folder}: {len(missing)} of the files that workers wrote are not here: the folder of "
            "a checkpoint must be on storage that all machines of the cluster share"
        )
