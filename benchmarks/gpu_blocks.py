r"""Benchmark a block schedule on a GPU, whose result repeats to the last bit: is it fast enough?

    PYTHONPATH=src python3 benchmarks/gpu_blocks.py --data FOLDER --out DIR --dimensions 128,64 \
        --schedules '[{}, {"passes": 25}]'                                      # about a minute
    PYTHONPATH=src python3 benchmarks/gpu_blocks.py --data FOLDER --out DIR --parts scores

The first needs a GPU and saves vectors, too; the second scores them, without one.

A prototype, with the kernels of gpu_blocks.cu. Nodes are dealt into P blocks; a pass takes a range
of walks and sorts their pairs (context, centre) by the blocks of the two nodes. Thread block i then
works on the buckets (i, i), (i, i + 1), ... modulo P, so that no two of them hold the same row at
once. Today's engine and the prototype train on the same walks, in turn, in one process. The times
contain sampling walks and sorting pairs, and no preparation.
"""

from __future__ import annotations

import argparse
import heapq
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reinforce2vec as r2v
from reinforce2vec._util.cuda import device
from reinforce2vec._util.cuda.compiling import source_of
from reinforce2vec.graph import csr
from reinforce2vec.skipgram.corpus import SampledWalks
from reinforce2vec.skipgram.cuda import engine as today
from reinforce2vec.skipgram.engine import chunks
from reinforce2vec.skipgram.noise import POWER
from reinforce2vec.skipgram.state import Settings

LENGTH = 40
PAIRS = 9.9  # of a token, about
MOST_PAIRS = 1 << 24  # of a pass
SHARED = 227 << 10  # bytes of shared memory of a multiprocessor, for all its thread blocks
BATCH, WARPS, PLACES = 64, 8, 16  # as in gpu_blocks.cu
KERNELS = Path(__file__).with_suffix(".cu")


@dataclass(frozen=True)
class Schedule:
    """How the prototype works."""

    blocks: int = 132
    passes: int = 100  # at least
    shared_rows: bool = True  # if all rows of two blocks fit into shared memory
    balanced: bool = True  # deal nodes so that all blocks have about as many visits
    together: float = 0.1  # learning rate that all pairs of a batch may have on one row, as today


def deal(visits: NDArray[np.int64], blocks: int, balanced: bool) -> tuple[Any, Any, Any]:
    """Return each node's block and its number in the block, and where blocks begin as rows.

    Runs of nodes with similar visits are dealt at random, one to each block. Balanced: each of the
    nodes visited most goes to the block that has the fewest visits so far, and of a run of the
    others the more visited go to the blocks with fewer.
    """
    order = np.argsort(-visits, kind="stable")
    block = np.empty(len(visits), np.int64)
    random, load = np.random.default_rng(0), np.zeros(blocks)
    first = min(len(order), 64 * blocks) if balanced else 0
    heap = [(0, b) for b in range(blocks)]
    for node in order[:first].tolist():
        sum_so_far, b = heap[0]
        block[node] = b
        heapq.heapreplace(heap, (sum_so_far + int(visits[node]), b))
    for sum_so_far, b in heap:
        load[b] = sum_so_far
    for at in range(first, len(order), blocks):
        nodes = order[at : at + blocks]
        taken = np.argsort(load, kind="stable") if balanced else random.permutation(blocks)
        block[nodes] = taken[: len(nodes)]
        load[block[nodes]] += visits[nodes]
    sizes = np.bincount(block, minlength=blocks)
    begins = np.concatenate([[0], np.cumsum(sizes)])
    number = np.empty(len(visits), np.int64)
    by_block = order[np.argsort(block[order], kind="stable")]
    number[by_block] = np.arange(len(order)) - begins[block[by_block]]
    return block, number, begins


class Prototype:
    """Trains in blocks."""

    def __init__(
        self, corpus: SampledWalks, settings: Settings, state: Any, schedule: Schedule
    ) -> None:
        cp = device.cupy()
        self.corpus, self.settings, self.schedule = corpus, settings, schedule
        self.blocks, n_nodes = schedule.blocks, corpus.n_nodes
        self.width = -(-settings.dimensions // 64) * 64
        block, number, begins = deal(state.visits, self.blocks, schedule.balanced)
        self.largest_size = int(np.diff(begins).max())
        own = 8 * BATCH * (self.width + 16) + 4 * WARPS * settings.negatives * self.width
        own += 16 * (2 * BATCH + PLACES)
        both = 4 * self.width * 2 * self.largest_size
        self.shared_rows = schedule.shared_rows and own + both <= SHARED
        self.shared = own + both * self.shared_rows
        text = source_of("_util/cuda/random.cu") + KERNELS.read_text()
        macros = {
            "VEC": self.width // 32, "NEGATIVES": settings.negatives, "WINDOW": settings.window,
            "SHARED_ROWS": int(self.shared_rows),
        }  # fmt: skip
        options = ("--std=c++17", *(f"-D{name}={value}" for name, value in macros.items()))
        # cooperative: all thread blocks of a launch run at once, or it fails
        module, together = (
            cp.RawModule(code=text, options=options, enable_cooperative_groups=cooperative)
            for cooperative in (False, True)
        )
        names = ("find_places", "count_pairs", "add_tiles", "place_pairs", "prepare_batches")
        self.kernels = {name: module.get_function(name) for name in names}
        self.kernels["train_pass"] = together.get_function("train_pass")

        self.rows = cp.asarray(begins[block] + number)  # the row of each node
        weights = np.empty(n_nodes)
        weights[begins[block] + number] = state.visits**POWER
        threshold, alias, _, _ = csr.alias_tables(begins, weights)
        chance = np.minimum(threshold * 2.0**32, 2.0**32 - 1).astype(np.uint64)
        self.noise = cp.asarray(chance << np.uint64(32) | alias.astype(np.uint64))
        self.places = cp.asarray((block << 16 | number).astype(np.uint32))
        self.begins = cp.asarray(begins.astype(np.int32))
        per_block = np.bincount(block, weights=state.visits, minlength=self.blocks)
        self.largest = float(per_block.max() / per_block.mean())

        self.sorting = 4 * self.blocks**2
        self.kernels["train_pass"].max_dynamic_shared_size_bytes = self.shared
        for name in ("count_pairs", "place_pairs"):
            self.kernels[name].max_dynamic_shared_size_bytes = self.sorting

        n_walks = corpus.n_walks * settings.epochs
        self.n_walks = n_walks
        most = int(MOST_PAIRS / PAIRS / LENGTH)
        self.pass_walks = max(1, min(-(-n_walks // schedule.passes), most))
        self.walks = cp.empty((self.pass_walks, LENGTH), np.int32)
        most = 132 * min(8, max(1, SHARED // (self.sorting + 1024)))
        self.tiles = int(np.clip(self.walks.size // 640, 32, most))
        self.counts = cp.empty((self.tiles, self.blocks**2), np.uint32)
        self.found = cp.empty(self.walks.size, np.uint32)
        self.sums, self.batches = (cp.empty(self.blocks**2, np.uint32) for _ in range(2))
        most = self.walks.size * (settings.window + 1) // BATCH + self.blocks**2
        kinds = (
            np.uint32,
            np.uint64,
            np.uint64,
            np.uint32,
        )  # codes, same contexts and centres, hits
        self.batched = [cp.empty(most * BATCH, kind) for kind in kinds]
        self.batched += [cp.empty(most * PLACES, np.int32) for _ in range(2)]  # negatives, tasks
        self.turns = cp.zeros(self.blocks, np.uint32)
        self.clocks = cp.zeros((self.blocks, 2), np.int64)
        self.seconds = dict.fromkeys(("walks", "sorting", "training"), 0.0)
        shape = today.shape_for(settings, device.properties())
        fill = today._kernels(shape).get_function("fill_inputs")
        first = cp.empty((n_nodes, self.width), np.float32)
        dimensions, seed = np.int32(settings.dimensions), np.uint64(settings.seed)
        arguments = (first, np.int64(n_nodes), np.int32(self.width), dimensions, seed)
        fill((1024,), (256,), arguments)
        self.inputs, self.outputs = cp.empty_like(first), cp.zeros_like(first)
        self.odd = cp.asarray(number % 2 == 1)
        self.inputs[self.rows] = self._turned(first)
        self.n_pairs = 0
        cp.cuda.Device().synchronize()

    def train(self, timed: bool = False) -> None:
        """Train on all walks; `timed` measures the stages, and waits after each of them."""
        for number, first in enumerate(range(0, self.n_walks, self.pass_walks)):
            self._pass(number, first, min(self.pass_walks, self.n_walks - first), timed)
        device.cupy().cuda.Device().synchronize()

    def _pass(self, number: int, first: int, size: int, timed: bool) -> None:
        cp, settings, kernels = device.cupy(), self.settings, self.kernels
        began = self._now(timed)
        walks = self.walks[:size]
        self.corpus.device_walker.fill(first, walks)
        began = self._spent("walks", began, timed)
        tokens, buckets = walks.size, self.blocks**2
        tile = -(-size // self.tiles) * LENGTH
        tiles = -(-tokens // tile)
        seed = np.uint64(settings.seed)
        kernels["find_places"](
            (-(-tokens // 256),), (256,), (walks, np.uint32(tokens), self.places, self.found)
        )
        arguments = (
            self.found, np.uint32(tokens), np.uint32(tile), np.int32(LENGTH), np.uint64(first),
            np.int32(self.blocks), seed, self.counts,
        )  # fmt: skip
        kernels["count_pairs"]((tiles,), (256,), arguments, shared_mem=self.sorting)
        kernels["add_tiles"](
            (-(-buckets // 128),),
            (128,),
            (self.counts, np.int32(tiles), np.int32(buckets), self.sums, self.batches),
        )
        ends = cp.cumsum(self.batches, dtype=np.uint32)
        kernels["place_pairs"](
            (tiles,), (32,), (*arguments, ends, self.batched[0]), shared_mem=self.sorting
        )
        kernels["prepare_batches"](
            (-(-buckets // 8),),
            (256,),
            (
                self.batched[0], self.sums, ends, np.int32(self.blocks), self.begins, self.noise,
                seed, np.uint64(number), *self.batched[1:],
            ),
        )  # fmt: skip
        began = self._spent("sorting", began, timed)
        left = max(1e-4, 1.0 - (first + size / 2) / self.n_walks)
        rate = settings.learning_rate * left
        self.turns.fill(0)
        kernels["train_pass"](
            (self.blocks,),
            (32 * WARPS,),
            (
                *self.batched, ends, self.begins, self.inputs, self.outputs,
                np.int32(self.largest_size), np.float32(rate),
                np.float32(self.schedule.together / rate), self.turns, self.clocks,
            ),
            shared_mem=self.shared,
        )  # fmt: skip
        self._spent("training", began, timed)
        if timed:
            self.n_pairs += int(self.sums.sum())

    def _now(self, timed: bool) -> float:
        if timed:
            device.cupy().cuda.Device().synchronize()
        return time.perf_counter()

    def _spent(self, what: str, began: float, timed: bool) -> float:
        now = self._now(timed)
        self.seconds[what] += now - began
        return now

    def vectors(self) -> Any:
        """Return the vectors in the order of the nodes, still on the GPU."""
        return self._turned(self.inputs[self.rows])[:, : self.settings.dimensions]

    def _turned(self, matrix: Any) -> Any:
        """Return a matrix in which every 16 numbers and the next change places, in odd rows."""
        turned = matrix.reshape(len(matrix), -1, 2, 16)[:, :, ::-1].reshape(matrix.shape)
        return device.cupy().where(self.odd[:, None], turned, matrix)


# -- measurements ----------------------------------------------------------------------------------


@dataclass
class Task:
    """One graph, walks and dimensions, prepared once."""

    name: str
    graph: r2v.Graph
    per_node: int
    dimensions: int
    seed: int = 0

    def __post_init__(self) -> None:
        sampler = r2v.WalkSampler(
            self.graph, r2v.FirstOrderWalk(), length=LENGTH, per_node=self.per_node,
            seed=self.seed, backend="cuda",
        )  # fmt: skip
        self.corpus = SampledWalks(sampler)
        self.settings = Settings(dimensions=self.dimensions, seed=self.seed)
        self.kept: dict[Any, Any] = {}

    def _repeats(self, what: Any, inputs: Any, outputs: Any) -> bool | None:
        """Return whether both matrices have the same bytes as in the first run of `what`."""
        cp = device.cupy()
        if what not in self.kept:
            self.kept[what] = inputs.copy(), outputs.copy()
            return None
        return all(
            bool(cp.array_equal(one.view(np.uint32), other.view(np.uint32)))
            for one, other in zip(self.kept[what], (inputs, outputs), strict=True)
        )

    def run_today(self) -> tuple[dict, Any]:
        settings = self.settings
        state = today.begin(self.corpus, settings)
        engine = today.TrainingEngine(self.corpus, settings, state)
        device.cupy().cuda.Device().synchronize()
        began, tokens, pairs = time.perf_counter(), 0, 0
        for chunk in chunks(self.corpus, 0, engine.n_walks, engine.chunk_walks):
            outcome = engine.train(chunk)
            tokens += outcome.tokens
            pairs += int(outcome.pairs.sum())
        seconds = time.perf_counter() - began
        row = {"what": "today", "in_flight": engine.flying, "tokens": tokens, "pairs": pairs}
        row |= {
            "seconds": seconds, "same_bytes": self._repeats("today", engine.inputs, engine.outputs)
        }  # fmt: skip
        return row, engine.inputs[:, : self.dimensions]

    def run_blocks(self, schedule: Schedule, timed: bool = False) -> tuple[dict, Any]:
        settings = self.settings
        prototype = Prototype(self.corpus, settings, today.begin(self.corpus, settings), schedule)
        began = time.perf_counter()
        prototype.train(timed)
        seconds = time.perf_counter() - began
        clocks = prototype.clocks.get()
        row = {"what": "blocks", "seconds": seconds} | asdict(schedule)
        row["same_bytes"] = self._repeats(schedule, prototype.inputs, prototype.outputs)
        row |= {
            "used_shared_rows": prototype.shared_rows, "pass_walks": prototype.pass_walks,
            "largest_block": prototype.largest,
            "waiting": float(clocks[:, 1].sum() / clocks[:, 0].sum()),
            "least_waiting": float((clocks[:, 1] / clocks[:, 0]).min()),
        }  # fmt: skip
        if timed:
            row |= {"stages": prototype.seconds, "counted_pairs": prototype.n_pairs}
        row["largest_number"] = float(abs(prototype.inputs).max())
        return row, prototype.vectors()


class Results:
    """Rows, printed and saved as they come."""

    def __init__(self, folder: Path) -> None:
        self.path, self.rows = folder / "gpu_blocks.json", []

    def add(self, row: dict) -> None:
        self.rows.append(row)
        self.path.write_text(json.dumps(self.rows, indent=1) + "\n")
        short = {k: round(v, 5) if isinstance(v, float) else v for k, v in row.items()}
        left_out = ("graph", "balanced", "shared_rows", "together", "tokens", "pairs")
        print(*(f"{k}={v}" for k, v in short.items() if k not in left_out), flush=True)


def compare(task: Task, schedules: list[Schedule], repeats: int, results: Results) -> None:
    """Run today's engine and the prototype in turn; then the prototype's stages."""
    about = {"graph": task.name, "per_node": task.per_node, "dimensions": task.dimensions}
    task.run_today()
    for schedule in schedules:  # compiles
        task.run_blocks(schedule)
    tokens = pairs = 0
    for repeat in range(repeats):
        row, _ = task.run_today()
        tokens, pairs = row["tokens"], row["pairs"]
        rows = [row] + [task.run_blocks(schedule)[0] for schedule in schedules]
        for one in rows:
            one |= {"repeat": repeat, "tokens": tokens, "pairs": pairs}
            one["million_pairs_per_second"] = pairs / one["seconds"] / 1e6
            one["million_tokens_per_second"] = tokens / one["seconds"] / 1e6
            results.add(about | one)
    for schedule in schedules:
        row, _ = task.run_blocks(schedule, timed=True)
        results.add(about | row | {"pairs": pairs})
    if all(schedule.shared_rows for schedule in schedules) and task.name == "BlogCatalog":
        # the same numbers with rows in global memory: a check of the kernel, and its speed
        schedule = schedules[-1]
        kept = task.kept[schedule]
        elsewhere = replace(schedule, shared_rows=False)
        task.run_blocks(elsewhere)
        task.kept[elsewhere] = kept
        row, _ = task.run_blocks(elsewhere)
        results.add(about | row | {"what": "blocks, rows in global memory", "pairs": pairs})


def train_for_quality(
    graph: r2v.Graph, per_node: int, schedules: dict[str, Schedule], seeds: int, folder: Path
) -> None:
    """Save vectors of today's engine and of the prototype, as 16-bit numbers."""
    for seed in range(seeds):
        task = Task("BlogCatalog", graph, per_node, 128, seed)
        found = {"today": task.run_today()[1]}
        for name, schedule in schedules.items():
            found[name] = task.run_blocks(schedule)[1]
        halves = {name: vectors.astype(np.float16).get() for name, vectors in found.items()}
        np.savez(folder / f"vectors-{per_node}-{seed}.npz", **halves)


def score_vectors(data: r2v.Dataset, folder: Path, shuffles: int = 3) -> None:
    """Save the F1 scores of saved vectors, in percent; half of the labels train."""
    rows = []
    for path in sorted(folder.glob("vectors-*.npz")):
        for what, vectors in np.load(path).items():
            scores = [
                r2v.classify_nodes(vectors.astype(np.float32), data.labels, seed=shuffle)
                for shuffle in range(shuffles)
            ]
            means = {kind: float(np.mean([s[kind] for s in scores])) for kind in ("micro", "macro")}
            rows.append({"vectors": path.stem, "what": what} | means)
            print(rows[-1], flush=True)
    (folder / "scores.json").write_text(json.dumps(rows, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of blogcatalog.mat")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--parts", default="small,large,quality")
    parser.add_argument("--schedules", default="[{}]", help="JSON: a list of fields of Schedule")
    parser.add_argument("--dimensions", default="128")
    parser.add_argument("--per-node", default="80,10", help="walks, on BlogCatalog")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    results = Results(options.out)
    schedules = [Schedule(**fields) for fields in json.loads(options.schedules)]
    parts = options.parts.split(",")
    dimensions = [int(d) for d in options.dimensions.split(",")]
    data = r2v.load_dataset("blogcatalog", options.data, progress=False)
    small = data.graph
    if "small" in parts:
        for per_node in options.per_node.split(","):
            for d in dimensions:
                compare(
                    Task("BlogCatalog", small, int(per_node), d),
                    schedules,
                    options.repeats,
                    results,
                )
    if "large" in parts:
        large = r2v.rmat(20)
        for d in dimensions:
            compare(Task("R-MAT 2^20", large, 1, d), schedules, options.repeats, results)
    if "quality" in parts:
        named = {f"blocks{n}": schedule for n, schedule in enumerate(schedules)}
        train_for_quality(small, 80, named, 3, options.out)
    if "scores" in parts:
        score_vectors(data, options.out)


if __name__ == "__main__":
    main()
