"""What commands read: graphs, data sets, vectors, labels and columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reinforce2vec as r2v

from .._util.errors import InputError
from .._util.progress import counted
from ._app import with_options
from ._options import GRAPH_OPTIONS
from ._run import READING_NAMES, Run

if TYPE_CHECKING:
    from ..files.label_files import NamedLabels
    from ..files.node_tables import NodeTable


# -- data sets ---------------------------------------------------------------------------------


def _is_file_name(word: str) -> bool:
    """Return whether an argument is a file, or looks like one that is missing."""
    path = Path(word)
    return word == "-" or path.is_file() or bool(path.suffix) or len(path.parts) != 1


def is_dataset(name: str) -> bool:
    """Return whether an argument names a data set; else it is a file, which may be missing."""
    if _is_file_name(name):
        return False
    from ..datasets.registry import is_registered

    return is_registered(name)


def check_input(name: str) -> None:
    """Raise InputError if an argument is neither a data set nor looks like a file."""
    if is_dataset(name) or _is_file_name(name):
        return
    if Path(name).is_dir():
        raise InputError(f"{name}: this is a folder, expected a file or the name of a data set")
    from ..datasets.registry import names_instead

    raise InputError(
        f"{name}: there is no such file, and no data set of this name: {names_instead(name)}"
    )


def _read_dataset(run: Run, name: str) -> r2v.Dataset:
    """Read a data set by its name."""
    with run.status(f"reading {name}"):
        return r2v.load_dataset(name, run.given.data_dir, progress=not run.quiet)


def read_labelled_dataset(run: Run, name: str) -> r2v.Dataset:
    """Read a data set whose nodes have labels."""
    dataset = _read_dataset(run, name)
    labels = dataset.labels
    if labels is None:
        raise InputError(f"the data set {name} has no labels")
    run.report(lambda: f"{name}: {dataset.graph!r}, {counted(labels.shape[1], 'class')}")
    return dataset


# -- graphs ------------------------------------------------------------------------------------


def check_graph(run: Run, graph: str) -> bool:
    """Return whether it is a data set and not a file; InputError if options fit neither."""
    named = is_dataset(graph)
    if named:
        run.refuse(GRAPH_OPTIONS, "a file", f"the data set {graph}")
    else:
        run.refuse(["data_dir"], "a data set", graph)
        check_reading(run, graph)
    return named


def check_reading(run: Run, path: Path | str) -> None:
    """Refuse values that options of reading cannot have, before a file is opened."""
    from ..files.columns import ColumnChoice
    from ..files.delimited import check_comments, delimiter_code
    from ..files.graph_readers import format_of

    given = reading_options(vars(run.given))
    if given["format"] is not None:
        format_of(Path(path), given["format"])
    if given["delimiter"] is not None:
        delimiter_code(given["delimiter"])
    if given["comments"] is not None:
        check_comments(given["comments"])
    if given.get("columns") is not None:
        ColumnChoice.of(*(given[role] for role in ("columns", "source", "target", "weight")))


def reading_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `read_graph` that the options of a command are.

    `explore` has another option with the name --columns, and lacks that of graphs.
    """
    chosen = {READING_NAMES.get(name, name): given[name] for name in GRAPH_OPTIONS if name in given}
    return chosen | {"delimiter": unescaped(given["delimiter"])}


def unescaped(delimiter: str | None) -> str | None:
    """Return a delimiter with a tab for \\t, which is easier to type."""
    return None if delimiter is None else delimiter.replace("\\t", "\t")


def read_input_graph(run: Run, graph: Path | str, named: bool = False, **changes: Any) -> r2v.Graph:
    """Read the graph of a file, or of a data set; `changes` replace options that were given."""
    if named:
        result = _read_dataset(run, str(graph)).graph
    else:
        with run.status(f"reading {graph}"):
            result = r2v.read_graph(Path(graph), **reading_options(vars(run.given) | changes))
    run.report(lambda: f"{graph}: {result!r}")
    _report_reading(run, graph, result)
    return result


def _report_reading(run: Run, path: Path | str, graph: r2v.Graph) -> None:
    """Report what was decided while a graph was read, in one line, if there is anything."""
    counts = [
        (graph.dropped_self_loops, "self-loop", "dropped"),
        (graph.merged_edges, "duplicate edge", f"merged{', weights added' * graph.weighted}"),
    ]
    drops = [f"{counted(number, what)} {verb}" for number, what, verb in counts if number]
    if graph.notes or drops:
        run.report(f"{path}: {'; '.join([*graph.notes, *drops])}")


def report_direction(run: Run, model: object, graph: r2v.Graph) -> None:
    """Report how long walks along the edges of a directed graph are, and which way walks go."""
    from ..walks.directions import are_short, mean_length

    if run.quiet or not graph.directed or not isinstance(model, r2v.Reinforce2Vec):
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
    run.report(text)


def graph_facts(graph: r2v.Graph, read: r2v.Graph | None = None) -> dict[str, Any]:
    """Return what JSON has on a graph, and on how it, or another one, was read."""
    file = read or graph
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "directed": graph.directed,
        "weighted": graph.weighted,
        "notes": list(file.notes),
        "dropped_self_loops": file.dropped_self_loops,
        "merged_edges": file.merged_edges,
    }


# -- vectors and labels ------------------------------------------------------------------------


def read_input_vectors(run: Run, path: Path | str) -> r2v.Embedding:
    """Read vectors; if the file holds something else, InputError says what makes them."""
    try:
        with run.status(f"reading {path}"):
            embedding = r2v.Embedding.load(path)
    except InputError as error:
        if not Path(path).is_file() or "expected vectors" in str(error):
            raise
        raise InputError(f"{error}; expected vectors, which `reinforce2vec embed` makes") from None
    run.report(lambda: f"{path}: {embedding!r}")
    return embedding


def check_graph_of(run: Run, embedding: r2v.Embedding, graph: r2v.Graph) -> r2v.Embedding:
    """Print a warning if vectors were learned from another graph; return them without their info.

    So the library, which would not name options, does not warn once more.
    """
    from ..embedding.matching import graph_mismatch, without_info

    mismatch = graph_mismatch(embedding, graph)
    if mismatch is not None:
        run.report(f"warning: {with_options(mismatch, run.context.command.params)}")
    return without_info(embedding)


def read_input_labels(run: Run, path: Path | str, nodes: r2v.Embedding | r2v.Graph) -> NamedLabels:
    """Read the labels of nodes that have a vector or are in a graph."""
    labels = r2v.read_labels(path, nodes, label=run.given.label, id=run.given.id)

    def summary() -> str:
        labelled = counted(int(labels.matrix.any(axis=1).sum()), "node")
        unused = f"; left out {', '.join(labels.unused)}" if labels.unused else ""
        notes = "".join(f"; {note}" for note in labels.notes)
        return f"{path}: {labelled} in {counted(len(labels.names), 'class')}{unused}{notes}"

    run.report(summary)
    if labels.strangers:
        strangers, first = counted(len(labels.strangers), "node"), labels.strangers[0]
        lack = "without a vector" if isinstance(nodes, r2v.Embedding) else "not in the graph"
        more = ", ..." if len(labels.strangers) > 1 else ""
        run.report(f"{path}: left out {strangers} {lack} ({first}{more})")
    return labels


def read_input_columns(run: Run, path: Path, nodes: r2v.Embedding) -> NodeTable:
    """Read columns of nodes that have a vector."""
    from ..files.node_tables import read_node_table

    with run.status(f"reading {path}"):
        table = read_node_table(path, nodes, id=run.given.id)
    what = f"{counted(len(table.names), 'column')} of nodes"
    run.report(f"{path}: {'; '.join([what, *table.notes])}")
    return table
