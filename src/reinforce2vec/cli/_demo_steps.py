"""What `demo` runs, from an edge list to a web page: read, walk, train, evaluate, draw."""

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
from ..files.label_files import NamedLabels, read_labels
from ..files.writing import whole
from ..graph import Graph, planted_groups, read_graph
from ..models import Reinforce2Vec
from ..walks import FirstOrderWalk, ReinforcedWalk, sample_walks, stuck_set
from ..walks.policy import Walk

Write = Callable[[str], None]
VECTORS = "{}-vectors.npz"  # of a graph; of two runs into one folder, the second is refused

_NODES, _GROUPS, _MIXING = 1000, 6, 0.4
_LONG, _LAST = 10_000, 100  # steps after which a walk may be stuck, and how many of them to look at
_WALKS: dict[str, Walk] = {
    "first-order (DeepWalk)": FirstOrderWalk(),
    "reinforced, as printed": ReinforcedWalk.paper(),
    "reinforced, authors' code": ReinforcedWalk.released(),
    "reinforced, no exploration": ReinforcedWalk("js", "none"),
}
_WIDTH = max(map(len, _WALKS))


def run_demo(folder: Path, write: Write | None = print, data_dir: Path | None = None) -> list[Path]:
    """Run the pipeline on a graph with planted groups, and on Facebook's if its file is here.

    Parameters
    ----------
    folder : path
        Where the files go; created if needed.
    write : callable, optional
        Takes the report, a line at a time. None: what only the report needs is not computed.
    data_dir : path, optional
        Where Facebook's file may be; by default where :func:`load_dataset` looks.

    Returns
    -------
    list of path
        The files to look at.
    """
    began = time.perf_counter()
    line = write or (lambda text: None)
    folder.mkdir(parents=True, exist_ok=True)
    line(f"reinforce2vec {__version__}: node embeddings from reinforced random walks\n")
    edges, groups = folder / "groups-edges.txt", folder / "groups-labels.txt"
    _write_planted(edges, groups)
    graph = read_graph(edges)
    line(f"Read      {edges}: {_described(graph)}, {_GROUPS} hidden groups")
    if write is not None:
        _report_walks(graph, write)
    model = _trained(graph, line, write is not None)
    labels = read_labels(groups, model.embedding_)
    if write is not None:
        _report_groups(model.embedding_, labels, write)
        _report_links(graph, model, write)
    files = _draw("groups", model.embedding_, graph, folder, labels)
    if _is_here("facebook", data_dir):
        friends = load_dataset("facebook", data_dir, progress=False).graph
        line(f"\nRead      Facebook, who is friends with whom: {_described(friends)}")
        model = _trained(friends, line, write is not None)
        if write is not None:
            _report_links(friends, model, write)
        files += _draw("facebook", model.embedding_, friends, folder)
    line(f"\nThat took {time.perf_counter() - began:.0f} s. Look at")
    for path in files:
        line(f"  {path}")
    line("Next: reinforce2vec embed YOUR-EDGES.txt -o vectors.npz")
    line(f"      reinforce2vec explore {files[0]} {edges}")
    return files


def _write_planted(edges: Path, groups: Path) -> None:
    """Write a graph with planted groups to the files that a user would have of it."""
    planted = planted_groups(_NODES, _GROUPS, mixing=_MIXING)
    graph = planted.graph
    rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    once = rows < graph.indices
    _save_lines(edges, np.column_stack([rows[once], graph.indices[once]]))
    names = np.array([f"group-{name}" for name in "ABCDEF"])[
        np.asarray(planted.labels).argmax(axis=1)
    ]
    _save_lines(groups, np.column_stack([graph.ids, names]))


def _save_lines(path: Path, rows: Any) -> None:
    """Write a text file, the entries of a row a line."""
    with whole(path) as stream:
        stream.write("".join(f"{a}\t{b}\n" for a, b in rows.tolist()).encode())


def _described(graph: Graph) -> str:
    """Return how large a graph is."""
    return f"{counted(graph.n_nodes, 'node')}, {counted(graph.n_edges, 'edge')}"


def _report_walks(graph: Graph, write: Write) -> None:
    """Print how many nodes a walk of each kind visits, and how many in the long run."""
    write(f"Walk      {'40 nodes from every node':{_WIDTH}}  distinct  of last {_LAST}")
    for name, walk in _WALKS.items():
        walks = sample_walks(graph, walk, length=40, per_node=1)
        seen = np.mean([len(set(path)) for path in walks.tolist()])
        start = [graph.ids[0]]
        path = sample_walks(graph, walk, length=_LONG + 1, per_node=1, starts=start)[0]
        stuck = len(stuck_set(path, last=_LAST)[0])
        write(f"          {name:{_WIDTH}}  {seen:8.1f}  {stuck:6}")
    write("          The last one does not explore: it is stuck.")


def _trained(graph: Graph, write: Write, progress: bool) -> Reinforce2Vec:
    """Return a model that was fitted to a graph; print how the training went."""
    model = Reinforce2Vec().fit(graph, progress=progress)
    speed = readable(model.n_tokens_ / max(model.seconds_, 1e-9))
    first, last = model.loss_curve_[[0, -1]].mean(axis=1)
    write(
        f"Train     {counted(model.dimensions, 'dimension')}, {model.n_tokens_:,} tokens, {speed} "
        f"a second; loss {first:.2f} to {last:.2f}; smoothed"
    )
    return model


def _report_groups(embedding: Embedding, labels: NamedLabels, write: Write) -> None:
    """Print how well nodes are classified into the groups, which training never saw."""
    found = evaluate_node_classification(embedding, labels.matrix, train=[0.1])
    micro = found.mean[0.1]["micro"]
    write(
        f"Evaluate  group predicted from the vector, 10% of the nodes given: {micro:.1f}% right "
        f"({100 / _GROUPS:.1f}% by guessing)"
    )


def _report_links(graph: Graph, model: Reinforce2Vec, write: Write) -> None:
    """Print how well vectors of the graph without some edges predict these edges."""
    found = evaluate_link_prediction(graph, model, fraction=0.2, seeds=1)
    auc = found.mean["hadamard"]["auc"]
    write(f"Evaluate  hidden links against other pairs: AUC {auc:.1f} (50 is chance)")


def _draw(
    name: str, embedding: Embedding, graph: Graph, folder: Path, labels: NamedLabels | None = None
) -> list[Path]:
    """Write the vectors, a web page, and, if matplotlib is installed, a picture."""
    vectors = folder / VECTORS.format(name)
    picture, page = (folder / f"{name}-{what}" for what in ("map.png", "page.html"))
    embedding.save(vectors)
    points = project(embedding)
    title = name.capitalize()
    explore(embedding, graph, labels, export=page, title=title, positions=points)
    if find_spec("matplotlib") is None:
        return [vectors, page]
    figure = plotting.embedding_map(embedding, labels, graph, title=title, positions=points)
    plotting.save(figure, picture)
    return [vectors, picture, page]


def _is_here(name: str, data_dir: Path | None) -> bool:
    """Return whether a data set is on this machine."""
    return None not in find_files(registered(name), data_dir)
