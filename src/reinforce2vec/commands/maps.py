"""What `plot` and `explore` share: how vectors become a map, and what else is known of nodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..progress import counted
from . import options
from .speech import say, status

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..evaluation.label_files import NamedLabels
    from ..graph import Graph

THE_MAP = "The map"  # a group of options
METHODS = ("auto", "pca", "tsne", "umap")

Method = Annotated[
    str,
    typer.Option(
        metavar="|".join(METHODS),
        help="How vectors become points: pca is fast and rough; tsne and umap show groups and need "
        "scikit-learn or umap-learn. auto: tsne for up to 10,000 nodes and umap for up to 100,000, "
        "where they are installed, else pca.",
        rich_help_panel=THE_MAP,
        autocompletion=lambda: list(METHODS),
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, help="Of the map and the communities.", rich_help_panel=THE_MAP
    ),
]


def check_map(context: typer.Context, method: str, graph: Path | None) -> None:
    """InputError if there is no such method, or if options for a graph have none to speak of."""
    from ..projection import project_method

    project_method(method, 1)
    if graph is None:
        options.check_unused(context, options.GRAPH_OPTIONS, "a graph", "vectors alone")
    else:
        options.check_reading(graph, context.params)


def known_graph(path: Path, context: typer.Context, quiet: bool) -> Graph:
    """The graph of the vectors."""
    with status(f"reading {path}", quiet):
        graph = options.read_graph_from(path, context.params)
    say(f"{path}: {graph!r}", quiet)
    return graph


def known_labels(path: Path, embedding: Embedding, quiet: bool) -> NamedLabels:
    """The labels of nodes."""
    from ..evaluation.label_files import read_named_labels

    labels = read_named_labels(path, embedding)
    nodes = counted(int(labels.matrix.any(axis=1).sum()), "node")
    say(f"{path}: {nodes} in {counted(len(labels.names), 'class')}", quiet)
    if labels.strangers:
        without = counted(len(labels.strangers), "line")
        say(f"{path}: left out {without} of nodes without a vector", quiet)
    return labels
