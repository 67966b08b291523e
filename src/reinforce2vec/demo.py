"""What the walks do, told in figures on graphs that need no file."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from . import __version__
from .generators import karate_club, rmat
from .graph import Graph
from .progress import readable
from .walks.files import write_walks
from .walks.policy import FirstOrderWalk, ReinforcedWalk, Walk
from .walks.sampler import WalkSampler, sample_walks
from .walks.trace import stuck_set

LENGTH, PER_NODE = 40, 80
SHOWN = 12  # nodes printed of a walk
LONG = 10_000  # steps after which to see who is stuck
SPEED_SCALE, SPEED_PER_NODE = 16, 4

KINDS: dict[str, Walk] = {
    "first-order (DeepWalk)": FirstOrderWalk(),
    "DRRW-JS-UCB, paper": ReinforcedWalk.paper(),
    "DRRW-JS-UCB, released": ReinforcedWalk.released(),
    "VRRW, no exploration": ReinforcedWalk("vertex", "none"),
    "DRRW-JS, epsilon 0.5": ReinforcedWalk("js", "epsilon", 0.5),
    "DRRW-JS, no exploration": ReinforcedWalk("js", "none"),
}
STUCK, TIMED = tuple(KINDS)[-1], tuple(KINDS)[:3]
NAME = max(map(len, KINDS))


def tell(folder: Path, say: Callable[[str], None] = print) -> None:
    """Tell the story, and leave the walks of the karate club in a folder.

    Parameters
    ----------
    folder : path
        Where the walks go; it is made if it is not there.
    say : callable
        Takes the story, a line at a time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    club = karate_club()
    say(f"reinforce2vec {__version__}: random walks that remember\n")
    say("compiling the walks, once (later runs skip this) ...\n")
    for walk in KINDS.values():
        sample_walks(club, walk, length=2, per_node=1)

    say(f"Zachary's karate club: {club.n_nodes} members, {club.n_edges} friendships")
    say("DRRW prefers the node that changes least where the walk has been, VRRW the")
    say("most visited one; UCB and epsilon explore. Two readings of the paper: its")
    say("equations (paper), and the code behind its tables (released).")
    tell_distinct(club, say)
    tell_stuck(club, say)
    tell_speed(say)
    leave_walks(club, folder, say)


def tell_distinct(club: Graph, say: Callable[[str], None]) -> None:
    """How much of the graph a walk of each kind sees."""
    say(f"\n{'walk':{NAME}}  distinct of {LENGTH}  one from member 1 begins")
    for seed, (name, walk) in enumerate(KINDS.items()):
        walks = sample_walks(club, walk, length=LENGTH, per_node=PER_NODE, seed=seed)
        distinct = np.mean([len(set(path)) for path in walks.tolist()])
        first = " ".join(map(str, club.ids[walks[0, :SHOWN]]))
        say(f"{name:{NAME}}  {distinct:14.2f}  {first}")


def tell_stuck(club: Graph, say: Callable[[str], None]) -> None:
    """Where a walk ends up that only ever takes the best."""
    paths = {
        name: sample_walks(club, KINDS[name], length=LONG + 1, per_node=1, starts=[1])[0]
        for name in (STUCK, TIMED[1])
    }
    nodes, counts = stuck_set(paths[STUCK])
    where = ", ".join(f"{club.ids[node]} ({n}x)" for node, n in zip(nodes, counts, strict=True))
    free = len(stuck_set(paths[TIMED[1]])[0])
    say(f"\n{STUCK}: the last 100 of {LONG:,} steps went to members")
    say(f"{where}: it is stuck. {TIMED[1]}: to {free} members.")


def tell_speed(say: Callable[[str], None]) -> None:
    """Steps per second on a graph with the degrees of a real network."""
    graph = rmat(SPEED_SCALE)
    say(f"\nSpeed, R-MAT graph of {graph.n_nodes:,} nodes and {graph.n_edges:,} edges")
    for name in TIMED:
        sampler = WalkSampler(graph, KINDS[name], length=LENGTH, per_node=SPEED_PER_NODE)
        began = time.perf_counter()
        steps = sum(int(np.count_nonzero(block >= 0)) - len(block) for block in sampler)
        speed = steps / (time.perf_counter() - began)
        threads = f"{sampler.workers} thread" + ("s" if sampler.workers > 1 else "")
        say(f"{name:{NAME}}  {readable(speed):>12} steps/s on {threads}")


def leave_walks(club: Graph, folder: Path, say: Callable[[str], None]) -> None:
    """Write the paper's walks on the karate club to files."""
    sampler = WalkSampler(club, KINDS[TIMED[1]], length=LENGTH, per_node=PER_NODE)
    for name in ("karate-walks.txt", "karate-walks.npy"):
        write_walks(folder / name, sampler)
    say(f"\n{sampler.n_walks:,} walks ({TIMED[1]}) on the karate club are in")
    say(f"  {folder / 'karate-walks.txt'}  a walk a line")
    say(f"  {folder / 'karate-walks.npy'}  row numbers; their ids are in karate-walks.ids.txt")
    say("Next: reinforce2vec walk YOUR-EDGES.txt -o walks.txt")
