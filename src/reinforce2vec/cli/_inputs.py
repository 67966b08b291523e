"""What commands read: graphs, data sets, vectors, labels and columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError
from .._util.hyperparameters import DATASETS, DUPLICATES, ID_TYPES
from .._util.progress import counted
from . import _options as options
from ._app import with_options
from ._messages import report, status
from ._options import GRAPH_OPTIONS, READING_NAMES

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..files.label_files import NamedLabels
    from ..files.node_tables import NodeTable
    from ..graph import Dataset, Graph

VectorsArgument = Annotated[
    Path,
    typer.Argument(metavar="EMB", help="Vectors, as embed writes them: .npz .txt .bin ..."),
]
GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH|DATASET",
        autocompletion=options.completed(*DATASETS),
        help="A file as for embed, or the name of a data set, such as facebook.",
    ),
]


# -- data sets ---------------------------------------------------------------------------------


def is_file_name(word: str) -> bool:
    """Return whether an argument is a file, or looks like one that is missing."""
    path = Path(word)
    return word == "-" or path.is_file() or bool(path.suffix) or len(path.parts) != 1


def is_dataset(name: str) -> bool:
    """Return whether an argument names a data set; else it is a file, which may be missing."""
    if is_file_name(name):
        return False
    from ..datasets.registry import is_registered

    return is_registered(name)


def check_input(name: str) -> None:
    """Raise InputError if an argument is neither a data set nor looks like a file."""
    if is_dataset(name) or is_file_name(name):
        return
    if Path(name).is_dir():
        raise InputError(f"{name}: this is a folder, expected a file or the name of a data set")
    from ..datasets.registry import names_instead

    raise InputError(
        f"{name}: there is no such file, and no data set of this name: {names_instead(name)}"
    )


def _read_dataset(name: str, data_dir: Path | None, quiet: bool) -> Dataset:
    """Read a data set by its name."""
    from ..datasets import load_dataset

    with status(f"reading {name}", quiet):
        return load_dataset(name, data_dir, progress=not quiet)


def read_labelled_dataset(name: str, data_dir: Path | None, quiet: bool) -> Dataset:
    """Read a data set whose nodes have labels."""
    dataset = _read_dataset(name, data_dir, quiet)
    labels = dataset.labels
    if labels is None:
        raise InputError(f"the data set {name} has no labels")
    report(lambda: f"{name}: {dataset.graph!r}, {counted(labels.shape[1], 'class')}", quiet)
    return dataset


# -- graphs ------------------------------------------------------------------------------------


def check_graph(context: typer.Context, graph: str) -> bool:
    """Return whether it is a data set and not a file; InputError if options fit neither."""
    named = is_dataset(graph)
    if named:
        options.check_unused(context, GRAPH_OPTIONS, "a file", f"the data set {graph}")
    else:
        options.check_unused(context, ["data_dir"], "a data set", graph)
        check_reading(Path(graph), context.params)
    return named


def read_input_graph(graph: Path | str, context: typer.Context, named: bool = False) -> Graph:
    """Read the graph of a file, or of a data set."""
    given = context.params
    if named:
        found = _read_dataset(str(graph), given["data_dir"], given["quiet"]).graph
    else:
        with status(f"reading {graph}", given["quiet"]):
            found = read_graph_from(Path(graph), given)
    report(lambda: f"{graph}: {found!r}", given["quiet"])
    report_reading(graph, found, given["quiet"])
    return found


def report_reading(path: Path | str, graph: Graph, quiet: bool) -> None:
    """Report what was decided while a graph was read, in one line, if there is anything."""
    counts = [
        (graph.dropped_self_loops, "self-loop", "dropped"),
        (graph.merged_edges, "duplicate edge", f"merged{', weights added' * graph.weighted}"),
    ]
    drops = [f"{counted(number, what)} {verb}" for number, what, verb in counts if number]
    if graph.notes or any(drops):
        report(f"{path}: {'; '.join([*graph.notes, *drops])}", quiet)


def report_direction(model: object, graph: Graph, quiet: bool) -> None:
    """Report how long walks along the edges of a directed graph are, and which way walks go."""
    from ..models import Reinforce2Vec
    from ..walks.directions import are_short, mean_length

    if quiet or not graph.directed or not isinstance(model, Reinforce2Vec):
        return
    length = mean_length(graph, model.walk_length)
    text = f"walks along the edges have about {length:.1f} of {model.walk_length} nodes"
    short = are_short(length, model.walk_length)
    if short and model.direction == "auto":
        text += ", so they go both ways (--direction forward to follow the edges)"
    elif short and model.direction == "forward":
        text += ": --direction both makes longer ones"
    elif model.direction == "both":
        text += "; they go both ways"
    report(text, quiet)


def check_reading(path: Path, given: Mapping[str, Any]) -> None:
    """Refuse values that options of reading cannot have, before a file is opened."""
    if given["format"] is not None:
        from ..files.graph_readers import format_of

        format_of(path, given["format"])
    delimiter = unescaped(given["delimiter"])
    if delimiter is not None:
        from ..files.delimited import delimiter_code

        delimiter_code(delimiter)
    if given["comments"] is not None:
        from ..files.delimited import check_comments

        check_comments(given["comments"])
    if given.get("edge_columns") is not None:
        from ..files.columns import ColumnChoice

        roles = ("source_column", "target_column", "weight_column")
        ColumnChoice.of(given["edge_columns"], *(given[role] for role in roles))
    from .._util.checks import check_choice

    check_choice("duplicates", given["duplicates"], DUPLICATES)
    if given["id_type"] is not None:
        check_choice("id_type", given["id_type"], ID_TYPES)


def given_files(given: Mapping[str, Any]) -> list[Path]:
    """Return the files that are read beside the graph."""
    return [] if given["nodes_file"] is None else [given["nodes_file"]]


def read_graph_from(path: Path, given: Mapping[str, Any]) -> Graph:
    """Read the graph in a file, with a command's options."""
    from ..graph import read_graph

    # explore has another option with the name --columns, and lacks that of graphs
    chosen = {READING_NAMES.get(name, name): given[name] for name in GRAPH_OPTIONS if name in given}
    chosen["delimiter"] = unescaped(chosen["delimiter"])
    return read_graph(path, **chosen)


def unescaped(delimiter: str | None) -> str | None:
    """Return a delimiter with a tab for \\t, which is easier to type."""
    return None if delimiter is None else delimiter.replace("\\t", "\t")


def graph_facts(graph: Graph) -> dict[str, Any]:
    """Return what JSON has on a graph."""
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "directed": graph.directed,
        "weighted": graph.weighted,
        **reading_facts(graph),
    }


def reading_facts(graph: Graph) -> dict[str, Any]:
    """Return what JSON has on how a graph was read."""
    return {
        "notes": list(graph.notes),
        "dropped_self_loops": graph.dropped_self_loops,
        "merged_edges": graph.merged_edges,
    }


# -- vectors and labels ------------------------------------------------------------------------


def read_input_vectors(path: Path | str, quiet: bool) -> Embedding:
    """Read vectors; if the file holds something else, InputError says what makes them."""
    from ..embedding import Embedding

    try:
        with status(f"reading {path}", quiet):
            embedding = Embedding.load(path)
    except InputError as error:
        if not Path(path).is_file() or "expected vectors" in str(error):
            raise
        raise InputError(f"{error}; expected vectors, which `reinforce2vec embed` makes") from None
    report(lambda: f"{path}: {embedding!r}", quiet)
    return embedding


def check_graph_of(
    embedding: Embedding, graph: Graph, context: typer.Context, quiet: bool
) -> Embedding:
    """Print a warning if vectors were learned from another graph; return them without their info.

    So the library, which would not name options, does not warn once more.
    """
    from ..embedding.matching import graph_mismatch, without_info

    mismatch = graph_mismatch(embedding, graph)
    if mismatch is not None:
        report(f"warning: {with_options(mismatch, context.command.params)}", quiet)
    return without_info(embedding)


def read_input_labels(
    path: Path | str, nodes: Embedding | Graph, context: typer.Context
) -> NamedLabels:
    """Read the labels of nodes that have a vector or are in a graph."""
    from ..embedding import Embedding
    from ..files.label_files import read_labels

    quiet = context.params["quiet"]
    columns = {role: context.params[role] for role in ("label", "id")}
    labels = read_labels(path, nodes, **columns)

    def summary() -> str:
        labelled = counted(int(labels.matrix.any(axis=1).sum()), "node")
        unused = f"; left out {', '.join(labels.unused)}" if labels.unused else ""
        notes = "".join(f"; {note}" for note in labels.notes)
        return f"{path}: {labelled} in {counted(len(labels.names), 'class')}{unused}{notes}"

    report(summary, quiet)
    if labels.strangers:
        strangers, first = counted(len(labels.strangers), "node"), labels.strangers[0]
        lack = "without a vector" if isinstance(nodes, Embedding) else "not in the graph"
        more = ", ..." if len(labels.strangers) > 1 else ""
        report(f"{path}: left out {strangers} {lack} ({first}{more})", quiet)
    return labels


def read_input_columns(path: Path, nodes: Embedding, context: typer.Context) -> NodeTable:
    """Read columns of nodes that have a vector."""
    from ..files.node_tables import read_node_table

    quiet = context.params["quiet"]
    with status(f"reading {path}", quiet):
        table = read_node_table(path, nodes, id=context.params["id"])
    what = f"{counted(len(table.names), 'column')} of nodes"
    report(f"{path}: {'; '.join([what, *table.notes])}", quiet)
    return table
