"""What the walks do and what is learned from them, told in figures on graphs without a file."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from . import __version__
from .generators import karate_club, rmat
from .graph import Graph
from .model import Reinforce2Vec
from .progress import counted, readable
from .walks.files import write_walks
from .walks.policy import FirstOrderWalk, ReinforcedWalk, Walk
from .walks.sampler import WalkSampler, sample_walks
from .walks.trace import stuck_set

LENGTH, PER_NODE = 40, 80
SHOWN = 12  # nodes printed of a walk
LONG = 10_000  # steps after which to see who is stuck
SPEED_SCALE, SPEED_PER_NODE = 16, 4
DIMENSIONS = 16  # for 34 members

# Zachary (1977): who stayed with the instructor, member 1, when the club split.
STAYED = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 20, 22}
INSTRUCTOR, PRESIDENT = 1, 34

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
    """Tell the story, and leave the walks and vectors of the karate club in a folder.

    Parameters
    ----------
    folder : path
        Where the files go; it is made if it is not there.
    say : callable
        Takes the story, a line at a time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    club = karate_club()
    say(f"reinforce2vec {__version__}: random walks that remember\n")
    say("compiling walks and training, once (later runs skip this) ...\n")
    for walk in KINDS.values():
        sample_walks(club, walk, length=2, per_node=1)
    model = Reinforce2Vec(DIMENSIONS, workers=1)  # one thread: the same vectors everywhere
    model.fit(club, progress=False)

    say(f"Zachary's karate club: {club.n_nodes} members, {club.n_edges} friendships")
    say("DRRW prefers the node that changes least where the walk has been, VRRW the")
    say("most visited one; UCB and epsilon explore. Two readings of the paper: its")
    say("equations (paper), and the code behind its tables (released).")
    tell_distinct(club, say)
    tell_stuck(club, say)
    tell_vectors(model, say)
    tell_speed(say)
    leave_files(club, model, folder, say)


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


def tell_vectors(model: Reinforce2Vec, say: Callable[[str], None]) -> None:
    """What the vectors know: who sided with whom when the club split."""
    vectors = model.embedding_
    right = sum(
        (vectors.similarity(member, INSTRUCTOR) > vectors.similarity(member, PRESIDENT))
        == (member in STAYED)
        for member in vectors.ids.tolist()
    )
    say(f"\nVectors of {DIMENSIONS} numbers learned from {TIMED[1]} walks: {right} of the")
    say(f"{len(vectors)} members are closer to the head of the side they took when the club split,")
    say("member 1 or 34, than to the other. Most similar (cosine):")
    for head in (INSTRUCTOR, PRESIDENT):
        near = "  ".join(f"{node} {value:.2f}" for node, value in vectors.most_similar(head, 6))
        say(f"  to {head:<3} {near}")


def tell_speed(say: Callable[[str], None]) -> None:
    """Steps and tokens per second on a graph with the degrees of a real network."""
    graph = rmat(SPEED_SCALE)
    say(f"\nSpeed, R-MAT graph of {graph.n_nodes:,} nodes and {graph.n_edges:,} edges")
    for name in TIMED:
        sampler = WalkSampler(graph, KINDS[name], length=LENGTH, per_node=SPEED_PER_NODE)
        began = time.perf_counter()
        steps = sum(int(np.count_nonzero(block >= 0)) - len(block) for block in sampler)
        speed = steps / (time.perf_counter() - began)
        say(f"{name:{NAME}}  {readable(speed):>12} steps/s on {counted(sampler.workers, 'thread')}")
    began = time.perf_counter()
    model = Reinforce2Vec(64, walk_length=LENGTH, walks_per_node=SPEED_PER_NODE)
    model.fit(graph, progress=False)
    speed = model.n_tokens_ / (time.perf_counter() - began)
    say(f"{'walks and training, d = 64':{NAME}}  {readable(speed):>12} tokens/s")


def leave_files(
    club: Graph, model: Reinforce2Vec, folder: Path, say: Callable[[str], None]
) -> None:
    """Write walks and vectors of the karate club to files."""
    sampler = WalkSampler(club, KINDS[TIMED[1]], length=LENGTH, per_node=PER_NODE)
    write_walks(folder / "karate-walks.txt", sampler)
    model.embedding_.save(folder / "karate-vectors.npz")
    model.embedding_.save(folder / "karate-vectors.txt")
    say("\nThe karate club is in")
    say(f"  {folder / 'karate-walks.txt'}    {sampler.n_walks:,} walks, one a line")
    say(f"  {folder / 'karate-vectors.npz'}  vectors; reinforce2vec.Embedding.load reads them")
    say(f"  {folder / 'karate-vectors.txt'}  the same in word2vec's text format")
    say("Next: reinforce2vec embed YOUR-EDGES.txt -o vectors.npz")
