"""The main job from an edge list to a page, told in figures: read, walk, train, evaluate, draw."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__, plotting
from .._util.progress import counted, readable
from ..datasets import load_dataset
from ..datasets.loading import find_files
from ..datasets.registry import registered
from ..embedding import Embedding, project
from ..evaluation import evaluate_link_prediction, evaluate_node_classification
from ..explorer import explore
from ..files.label_files import NamedLabels, read_named_labels
from ..files.writing import whole
from ..graph import Graph, planted_groups, read_graph
from ..models import Reinforce2Vec
from ..walks import FirstOrderWalk, ReinforcedWalk, sample_walks, stuck_set
from ..walks.policy import Walk

Say = Callable[[str], None]

NODES, GROUPS, MIXING = 1000, 6, 0.4
LONG, LAST = 10_000, 100  # steps after which to see who is stuck, and among how many
KINDS: dict[str, Walk] = {
    "first-order (DeepWalk)": FirstOrderWalk(),
    "reinforced, the paper's equations": ReinforcedWalk.paper(),
    "reinforced, the paper's own code": ReinforcedWalk.released(),
    "reinforced, without exploration": ReinforcedWalk("js", "none"),
}
WIDTH = max(map(len, KINDS))


def tell(folder: Path, say: Say = print, data_dir: Path | None = None) -> list[Path]:
    """Do the main job on a graph with planted groups, and on Facebook's if its file is at hand.

    Parameters
    ----------
    folder : path
        Where the files go; it is made if it is not there.
    say : callable
        Takes the story, a line at a time.
    data_dir : path, optional
        Where Facebook's file may be; by default where :func:`load_dataset` looks.

    Returns
    -------
    list of path
        The files to look at.
    """
    began = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    say(f"reinforce2vec {__version__}: node embeddings from random walks that remember")
    say("(what computes is compiled now, once: later runs skip that)\n")
    edges, groups = folder / "groups-edges.txt", folder / "groups-labels.txt"
    write_planted(edges, groups)
    graph = read_graph(edges)
    say(f"Read      {edges}: {described(graph)}, {GROUPS} hidden groups")
    tell_walks(graph, say)
    model = trained(graph, say)
    labels = read_named_labels(groups, model.embedding_)
    tell_groups(model.embedding_, labels, say)
    tell_links(graph, model, say)
    left = drawn("groups", model.embedding_, graph, folder, labels)
    if at_hand("facebook", data_dir):
        friends = load_dataset("facebook", data_dir, progress=False).graph
        say(f"\nRead      Facebook, who is friends with whom: {described(friends)}")
        model = trained(friends, say)
        tell_links(friends, model, say)
        left += drawn("facebook", model.embedding_, friends, folder)
    say(f"\nThat took {time.perf_counter() - began:.0f} s. Look at")
    for path in left:
        say(f"  {path}")
    say("Next: reinforce2vec embed YOUR-EDGES.txt -o vectors.npz --smooth")
    say(f"      reinforce2vec explore {left[0]} --graph {edges}")
    return left


def write_planted(edges: Path, groups: Path) -> None:
    """A graph with planted groups, in the files that a user would have of it."""
    planted = planted_groups(NODES, GROUPS, mixing=MIXING)
    graph = planted.graph
    rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    once = rows < graph.indices
    save_lines(edges, np.column_stack([rows[once], graph.indices[once]]))
    names = np.array([f"group-{name}" for name in "ABCDEF"])[
        np.asarray(planted.labels).argmax(axis=1)
    ]
    save_lines(groups, np.column_stack([graph.ids, names]))


def save_lines(path: Path, rows: Any) -> None:
    """A text file with the entries of a row a line."""
    with whole(path) as stream:
        stream.write("".join(f"{a}\t{b}\n" for a, b in rows.tolist()).encode())


def described(graph: Graph) -> str:
    """How large a graph is."""
    return f"{counted(graph.n_nodes, 'node')}, {counted(graph.n_edges, 'edge')}"


def tell_walks(graph: Graph, say: Say) -> None:
    """How much a walk of each kind sees, and where it ends up in the long run."""
    say(f"Walk      {'from every node, 40 nodes long':{WIDTH}}  distinct  of the last {LAST}")
    for name, walk in KINDS.items():
        walks = sample_walks(graph, walk, length=40, per_node=1)
        seen = np.mean([len(set(path)) for path in walks.tolist()])
        start = [graph.ids[0]]
        path = sample_walks(graph, walk, length=LONG + 1, per_node=1, starts=start)[0]
        say(f"          {name:{WIDTH}}  {seen:8.1f}  {len(stuck_set(path, last=LAST)[0]):6}")
    say("          The last had nothing that made it explore: it is stuck.")


def trained(graph: Graph, say: Say) -> Reinforce2Vec:
    """Vectors of a graph."""
    model = Reinforce2Vec(walks_per_node=20, smooth=True).fit(graph, progress=False)
    speed = readable(model.n_tokens_ / max(model.seconds_, 1e-9))
    first, last = model.loss_curve_[[0, -1]]
    say(
        f"Train     {counted(model.dimensions, 'dimension')}, {model.n_tokens_:,} tokens, {speed} "
        f"a second; loss {first:.2f} to {last:.2f}; smoothed"
    )
    return model


def tell_groups(embedding: Embedding, labels: NamedLabels, say: Say) -> None:
    """Whether the vectors know the groups, which training never saw."""
    found = evaluate_node_classification(embedding, labels.matrix, train=[0.1], progress=False)
    micro = found.mean[0.1]["micro"]
    say(
        f"Evaluate  group told from the vector, 10% of the nodes given: {micro:.1f}% right "
        f"({100 / GROUPS:.1f}% by guessing)"
    )


def tell_links(graph: Graph, model: Reinforce2Vec, say: Say) -> None:
    """Whether vectors of the graph without some edges know which ones are missing."""
    found = evaluate_link_prediction(graph, model, fraction=0.2, seeds=1, progress=False)
    auc = found.mean["hadamard"]["auc"]
    say(f"Evaluate  links that were hidden, told from other pairs: AUC {auc:.1f} (50 is chance)")


def drawn(
    name: str, embedding: Embedding, graph: Graph, folder: Path, labels: NamedLabels | None = None
) -> list[Path]:
    """The vectors as a file, a page, and, if matplotlib is there, a picture."""
    vectors, picture, page = (
        folder / f"{name}-{what}" for what in ("vectors.npz", "map.png", "page.html")
    )
    embedding.save(vectors)
    points = project(embedding)
    title = name.capitalize()
    explore(embedding, graph, labels, export=page, title=title, positions=points)
    if find_spec("matplotlib") is None:
        return [vectors, page]
    figure = plotting.embedding_map(embedding, labels, graph, title=title, positions=points)
    plotting.save(figure, picture)
    return [vectors, picture, page]


def at_hand(name: str, data_dir: Path | None) -> bool:
    """Whether a data set is on this machine."""
    return None not in find_files(registered(name), data_dir)
