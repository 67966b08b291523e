"""A study on paper: a large graph on a cluster, on one machine and on one GPU.

It calculates bytes, hours and money from rates that were measured on smaller graphs, and prints the
tables of docs/howto/cluster.md. Nothing is measured here. Put your own prices into `DOLLARS`.

    python benchmarks/cluster_study.py
"""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

import default_speed
import training
import walks
from readme import read, table
from reinforce2vec.skipgram import host
from reinforce2vec.skipgram.pairs import PAIR_BYTES
from reinforce2vec.skipgram.ray import engine as on_ray
from reinforce2vec.skipgram.schedule import pass_size
from reinforce2vec.skipgram.state import Settings, split
from reinforce2vec.skipgram.weights import row_size

# -- the job -------------------------------------------------------------------------------------

NODES, EDGES = 10**8, 10**10
WALKS, LENGTH, WINDOWS = 20, 40, (1, 10)
DIMENSIONS = (128, 64)

# -- the machines --------------------------------------------------------------------------------

MACHINES = 8
WORKERS = (8, 16, 32)
THREADS = 32  # of one large machine
GBITS = (10, 100)
GPU_BYTES = 141e9  # of one H200
# Assumed, in November 2026: rounded prices of an hour, on demand, at large providers.
DOLLARS = {
    10: 1.1,  # 128 GB of memory, 10 Gbit/s
    100: 3.0,  # 128 GB of memory, 100 Gbit/s
    "machine": 2.2,  # 256 GB of memory, 32 CPUs: one machine, or the head node of a cluster
    "gpu": 4.0,  # one H200
}
MACHINE_BYTES = 256e9

# -- what a node, an edge and a step take ------------------------------------------------------

ARC_BYTES, OFFSET_BYTES = 4, 8
WALKER_BYTES = 16  # the number of a walk, its node, how many steps it has made
PART_CPU = {2: 4.8, 4: 17.0}  # CPU time of walks on so many parts of a graph; a prototype's

# -- what was measured ---------------------------------------------------------------------------

RMAT = "R-MAT 2^20"
WALKED = 1_048_576 - 402_592  # its nodes that are not isolated


class Rates(NamedTuple):
    """Measured tokens per second: of a thread by itself, of one among many, and of a GPU."""

    thread: float
    among_many: float
    gpu: float


def rates(dimensions: int) -> Rates:
    """Return the measured rates; where only d = 128 was measured, scaled as those of one window."""
    fits = read("benchmarks", "results", "default_speed.json")
    rows = fits["results"][RMAT]
    default = median(row["training"] for row in rows if row["model"] == default_speed.DEFAULT)
    thread = WALKED * WALKS * LENGTH / default / fits["options"]["workers"]

    of_one = read("benchmarks", "results", "training.json")["speed"]
    speeds = {d: training.speeds(of_one, RMAT, training.ONE, d) for d in DIMENSIONS}
    thread *= median(training.ratios(speeds[dimensions], speeds[128]))

    blocks = read("benchmarks", "results", "blocks_speed_16.json")["speed"]
    wanted = {"graph": RMAT, "version": "blocks"}
    own = [row for row in blocks if row.items() >= wanted.items()]
    one, many = (
        median(row["tokens_per_s"] for row in own if row["threads"] == threads)
        for threads in (1, 16)
    )

    gpu = read("benchmarks", "results", "gpu.json")
    small = {
        d: median(
            row["per_second"]
            for row in gpu["training"]["rows"]
            if row.items() >= {"graph": RMAT, "walk": "paper", "dimensions": d}.items()
        )
        for d in DIMENSIONS
    }
    huge = next(row["per_second"] for row in gpu["huge"]["rows"] if "per_second" in row)
    return Rates(thread, thread * many / one / 16, huge * small[dimensions] / small[128])


def worker_share() -> float:
    """Return the rate of one of eight workers on a machine, as a share of a single worker's."""
    found = read("benchmarks", "results", "cluster_training_8.json")
    ratios = (one["other"] / one["workers"] for one in found["rounds"])
    return median(ratios) / found["workers"]


# -- bytes ---------------------------------------------------------------------------------------


def matrix_bytes(dimensions: int) -> int:
    """Return the bytes of one matrix, inputs or outputs, of all windows."""
    return 4 * NODES * sum(row_size(one) for one in split(dimensions, len(WINDOWS)))


def graph_bytes() -> int:
    """Return the bytes of the graph: an undirected edge is two arcs."""
    return 2 * ARC_BYTES * EDGES + OFFSET_BYTES * NODES


def tokens() -> int:
    """Return how many nodes all walks have."""
    return NODES * WALKS * LENGTH


def pass_tokens() -> int:
    """Return how many nodes the walks of a pass have; a node is in w + 1 pairs on average."""
    return LENGTH * pass_size(NODES * WALKS, LENGTH * (max(WINDOWS) + 1), NODES)


def pass_pairs() -> float:
    """Return how many pairs a pass has, of all windows."""
    return pass_tokens() * sum(window + 1 for window in WINDOWS)


def passes() -> float:
    """Return how many passes make the training."""
    return tokens() / pass_tokens()


def moved_bytes(dimensions: int, parts: int) -> float:
    """Return what so many workers, or machines, send each other.

    In a pass, the outputs visit each of them once. Each finds the pairs of its share of the walks,
    and keeps those that it trains itself. The workers of a machine are neighbours in the ring, so
    outputs that one of them hands to another stay in its memory.
    """
    pairs = PAIR_BYTES * pass_pairs() * (parts - 1) / parts
    return passes() * (parts * matrix_bytes(dimensions) + pairs)


def received_bytes(dimensions: int) -> float:
    """Return what a machine receives."""
    return moved_bytes(dimensions, MACHINES) / MACHINES


class Walks(NamedTuple):
    """The walks of the job, as estimates of memory see them."""

    n_nodes: int = NODES
    n_walks: int = NODES * WALKS
    mean_length: int = LENGTH
    longest: int = LENGTH
    nbytes: int = graph_bytes()

    def largest_sum(self, walks: int, of) -> float:
        """Return the sum of a function of sizes, over so many walks."""
        return walks * float(of(LENGTH))


def worker_bytes(dimensions: int, workers: int) -> int:
    """Return the memory of a worker."""
    return on_ray.bytes_for(Walks(), Settings(dimensions, WINDOWS), workers)


def node_bytes(dimensions: int, workers: int) -> float:
    """Return the memory of a machine of the cluster."""
    common = on_ray.shared_bytes(Walks(), Settings(dimensions, WINDOWS))
    return common + workers / MACHINES * worker_bytes(dimensions, workers)


def driver_bytes(dimensions: int) -> float:
    """Return the memory of the head node: the driver's graph, its copy for Ray, and the vectors."""
    return 2 * graph_bytes() + matrix_bytes(dimensions)


def machine_bytes(dimensions: int) -> int:
    """Return the memory that training takes on one machine."""
    return graph_bytes() + host.bytes_for(Walks(), Settings(dimensions, WINDOWS), THREADS)


def gpu_bytes(dimensions: int) -> float:
    """Return the memory that training takes on a GPU: matrices, graph, and the measured rest."""
    rows = read("benchmarks", "results", "gpu.json")["huge"]["rows"]
    first, last = rows[0], rows[-1]
    arrays = (2 * 4 * 128 + OFFSET_BYTES) * first["nodes"] + 2 * ARC_BYTES * first["edges"]
    rest = (last["peak_bytes"] - last["bytes_before"]) / arrays
    return rest * (2 * matrix_bytes(dimensions) + graph_bytes())


# -- hours ---------------------------------------------------------------------------------------


def training_hours(dimensions: int, workers: int) -> float:
    """Return how long workers train, if they never wait for the network."""
    return tokens() / (worker_share() * rates(dimensions).thread * workers) / 3600


def network_hours(dimensions: int, gbits: int) -> float:
    """Return how long a machine receives, at the full rate of its network."""
    return received_bytes(dimensions) / (gbits * 1e9 / 8) / 3600


# -- tables --------------------------------------------------------------------------------------


def shown(value: float) -> str:
    """Format a number with two digits."""
    return f"{value:.2g}" if value < 10 else f"{float(f'{value:.2g}'):,.0f}"


def between(low: float, high: float) -> str:
    """Format a range."""
    return shown(low) if shown(low) == shown(high) else f"{shown(low)} to {shown(high)}"


def movement() -> str:
    """Return the table of bytes."""
    rows = [
        [
            f"{d}",
            f"{workers}",
            f"{shown(moved_bytes(d, workers) / tokens() / 1e3)} kB",
            f"{shown(moved_bytes(d, workers) / 1e12)} TB",
            f"{shown(received_bytes(d) / 1e12)} TB",
            f"{shown(worker_bytes(d, workers) / 1e9)} GB",
            f"{shown(node_bytes(d, workers) / 1e9)} GB",
        ]
        for d in DIMENSIONS
        for workers in WORKERS
    ]
    head = ["d", "workers", "moved for each token", "moved by all workers"]
    head += ["into one machine", "memory of a worker", "memory of a machine"]
    return table(head, rows)


def costs() -> str:
    """Return the table of hours and money."""
    rows = []
    for d in DIMENSIONS:
        for workers in WORKERS:
            work = training_hours(d, workers)
            row = [f"{d}", f"{MACHINES} machines, {workers} workers", shown(work)]
            for gbits in GBITS:
                network = network_hours(d, gbits)
                hours = max(work, network), work + network
                price = MACHINES * DOLLARS[gbits] + DOLLARS["machine"]
                row += [between(*hours), between(*(price * time for time in hours))]
            rows.append(row)
        alone = tokens() / (THREADS * rates(d).among_many) / 3600
        money = shown(alone * DOLLARS["machine"])
        row = [f"{d}", f"one machine, {THREADS} threads", shown(alone)]
        rows.append([*row, shown(alone), money, shown(alone), money])
        on_gpu = tokens() / rates(d).gpu / 3600
        if gpu_bytes(d) <= GPU_BYTES:
            hours, money = shown(on_gpu), shown(on_gpu * DOLLARS["gpu"])
            rows.append([f"{d}", "one H200", hours, hours, money, hours, money])
        else:
            rows.append([f"{d}", "one H200", "does not fit", *["–"] * 4])
    head = ["d", "where", "training, h"]
    for gbits in GBITS:
        head += [f"hours at {gbits} Gbit/s", "US$"]
    return table(head, rows)


def sizes() -> str:
    """Return the table of memory, and of the largest graph of this density that fits."""
    rows = []
    for d in DIMENSIONS:
        for name, needed, room in (
            ("one machine of 256 GB", machine_bytes(d), MACHINE_BYTES),
            ("the head node of the cluster, 256 GB", driver_bytes(d), MACHINE_BYTES),
            ("one H200", gpu_bytes(d), GPU_BYTES),
        ):
            most = NODES * room / needed
            rows.append([f"{d}", name, f"{shown(needed / 1e9)} GB", f"{shown(most / 1e6)} million"])
    return table(["d", "where", "memory for 10^8 nodes", "nodes that fit"], rows)


def partitions() -> str:
    """Return the table of a graph in parts: what walkers cost that move between them."""
    hours = tokens() / walk_rate() / 3600
    rows = []
    for parts in (2, 4, 8):
        leaving = tokens() * (parts - 1) / parts
        remembering = WALKER_BYTES + 4 * LENGTH / 2
        cpu = f"{shown(hours * PART_CPU[parts])}" if parts in PART_CPU else "not measured"
        rows.append([
            f"{parts}", f"{shown(graph_bytes() / parts / 1e9)} GB",
            f"{shown(leaving * WALKER_BYTES / 1e12)} TB",
            f"{shown(leaving * remembering / 1e12)} TB", cpu,
        ])  # fmt: skip
    head = ["parts", "graph on a machine", "walkers, first-order", "walkers, reinforced"]
    whole = ["1", f"{shown(graph_bytes() / 1e9)} GB", "0", "0", shown(hours)]
    return table([*head, "CPU hours of walks"], [whole, *rows])


def walk_rate() -> float:
    """Return the measured steps per second of a thread, of the default walk."""
    found = read("benchmarks", "results", "walks.json")
    return median(walks.speeds(found["speed"][RMAT], "paper js ucb")) / 2  # threads


if __name__ == "__main__":
    print(movement(), costs(), sizes(), partitions(), sep="\n\n")
