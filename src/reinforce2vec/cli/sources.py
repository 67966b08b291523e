"""What commands are given: graphs, data sets, vectors and labels, found and read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._util.errors import InputError
from .._util.progress import counted
from . import options
from .speech import say, status

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..files.label_files import NamedLabels
    from ..graph import Dataset, Graph

Vectors = Annotated[
    Path,
    typer.Argument(metavar="EMB", help="Vectors, as embed writes them: .npz .txt .bin ..."),
]
GraphOrDataset = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH|DATASET",
        help="A file as for embed, or the name of a data set, such as facebook.",
    ),
]


# -- data sets ---------------------------------------------------------------------------------


def is_dataset(name: str) -> bool:
    """Whether an argument names a data set; InputError if it is neither that nor a file's name."""
    path = Path(name)
    if path.is_file() or path.suffix or len(path.parts) != 1:
        return False
    from ..datasets.registry import REGISTRY

    if name in REGISTRY:
        return True
    if path.is_dir():
        raise InputError(f"{name}: this is a folder, expected a file or the name of a data set")
    raise InputError(
        f"{name}: there is no such file, and no data set of this name: those are "
        f"{', '.join(REGISTRY)}"
    )


def check_folder(data_dir: Path | None) -> None:
    """Refuse a folder that is not there."""
    if data_dir is not None:
        from ..datasets.loading import existing_folder

        existing_folder(data_dir, "data_dir")


def loaded(name: str, data_dir: Path | None, quiet: bool) -> Dataset:
    """A data set by its name."""
    from ..datasets import load_dataset

    with status(f"reading {name}", quiet):
        return load_dataset(name, data_dir, progress=not quiet)


def with_labels(name: str, data_dir: Path | None, quiet: bool) -> Dataset:
    """A data set whose nodes have labels."""
    dataset = loaded(name, data_dir, quiet)
    if dataset.labels is None:
        raise InputError(f"the data set {name} has no labels")
    say(f"{name}: {dataset.graph!r}, {counted(dataset.labels.shape[1], 'class')}", quiet)
    return dataset


# -- graphs ------------------------------------------------------------------------------------


def check_graph(context: typer.Context, graph: str) -> bool:
    """Whether it is a data set and not a file; InputError if options fit neither."""
    named = is_dataset(graph)
    if named:
        options.check_unused(context, options.GRAPH_OPTIONS, "a file", f"the data set {graph}")
        check_folder(context.params["data_dir"])
    else:
        options.check_unused(context, ["data_dir"], "a data set", graph)
        options.check_reading(Path(graph), context.params)
    return named


def known_graph(graph: Path | str, context: typer.Context, named: bool = False) -> Graph:
    """The graph of a file, or of a data set."""
    given = context.params
    if named:
        found = loaded(str(graph), given["data_dir"], given["quiet"]).graph
    else:
        with status(f"reading {graph}", given["quiet"]):
            found = options.read_graph_from(Path(graph), given)
    say(f"{graph}: {found!r}", given["quiet"])
    return found


# -- vectors and labels ------------------------------------------------------------------------


def known_vectors(path: Path | str, quiet: bool) -> Embedding:
    """Vectors of a file; InputError says what makes them, if it holds something else."""
    from ..embedding import Embedding

    try:
        with status(f"reading {path}", quiet):
            embedding = Embedding.load(path)
    except InputError as error:
        if not Path(path).is_file() or "expected vectors" in str(error):
            raise
        raise InputError(f"{error}; expected vectors, which `reinforce2vec embed` makes") from None
    say(f"{path}: {embedding!r}", quiet)
    return embedding


def known_labels(path: Path | str, nodes: Embedding | Graph, quiet: bool) -> NamedLabels:
    """The labels of nodes, of those that have a vector or are in a graph."""
    from ..embedding import Embedding
    from ..files.label_files import read_named_labels

    labels = read_named_labels(path, nodes)
    labelled = counted(int(labels.matrix.any(axis=1).sum()), "node")
    say(f"{path}: {labelled} in {counted(len(labels.names), 'class')}", quiet)
    if labels.strangers:
        lines, first = counted(len(labels.strangers), "line"), labels.strangers[0]
        lack = "without a vector" if isinstance(nodes, Embedding) else "not in the graph"
        say(f"{path}: left out {lines} of nodes {lack} ({first}, ...)", quiet)
    return labels
