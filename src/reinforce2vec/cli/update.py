"""The command `update`: new edges for a model that was saved before."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError, NoEdges
from .._util.progress import counted
from . import _options as options
from ._exit_codes import FAILURE, USAGE, exit_code
from ._help import examples
from ._inputs import (
    check_reading,
    given_files,
    graph_facts,
    read_graph_from,
    reading_facts,
    report_reading,
)
from ._messages import check_different, check_stdout, print_json, report, status
from ._models import model_facts
from ._options import GRAPH_OPTIONS, OUTPUT, READING
from ._outputs import VectorsOutput, checked_outputs

if TYPE_CHECKING:
    from ..graph import Graph
    from ..models import Reinforce2Vec

EPILOG = examples(
    "update model.r2v new-edges.csv",
    "update model.r2v new-edges.csv -o vectors.npz",
    "update model.r2v new-edges.csv --model tomorrow.r2v --json",
)
# the model says whether edges have a direction
_READING_OPTIONS = tuple(name for name in GRAPH_OPTIONS if name != "directed")


@options.shared(*_READING_OPTIONS, "workers", "backend")
def update(
    context: typer.Context,
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="The model, as `embed --model` writes it: a .r2v."),
    ],
    edges: Annotated[
        Path,
        typer.Argument(
            metavar="EDGES",
            help="The new edges, in a file as for embed; or the whole graph as it is now.",
        ),
    ],
    output: VectorsOutput = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="FILE",
            help="Write the updated model to this .r2v file. Default: in place of MODEL.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Weighted graphs: add the weights also if the very same edges were added before.",
            rich_help_panel=READING,
        ),
    ] = False,
) -> None:
    """Add new edges and nodes to a model, and update its vectors.

    Earlier vectors stay comparable. Without new edges nothing changes, so that a job may be
    repeated: the same edges a second time, or an empty file, leave the model's file as it is.
    Both files are written atomically. Settings are those of the model.
    """
    with exit_code(USAGE):
        made, written = checked_outputs(output, to)
        from .._util.backend_choice import choose
        from ..files.locks import claimed

        choose(context.params["backend"], "training", workers=context.params["workers"])
        check_stdout(output, as_json)
        check_different([model, edges, *given_files(context.params)], written)
        context.with_resource(claimed(*made, *([model] if to is None and model.exists() else [])))
        check_reading(edges, context.params)
    with exit_code(FAILURE):
        from ..models.model_file import check_model_path

        with status(f"reading {model}", quiet):
            learned = _read_model(model)
        report(lambda: f"{model}: {learned.graph_!r}", quiet)
        before = learned.graph_
        assert before is not None
        target = to or check_model_path(model)
        new = _read_edges(context, edges, learned)
        if output is not None:
            from .._util.ids import number_objects
            from ..files.vector_files import check_vectors_fit

            _, ids = number_objects(before.ids.tolist(), [new.ids.tolist()])
            check_vectors_fit(output, ids, learned.embedding_.dimensions)
        running = ("workers", "backend")
        own = {name: getattr(learned, name) for name in running}
        given = {name: context.params[name] for name in own if options.was_given(context, name)}
        with status("preparing", quiet):
            learned.set_params(**given).partial_fit(new, progress=not quiet, again=again)
        graph = learned.set_params(**own).graph_
        assert graph is not None
        changed = graph is not before
        if to is None and changed:
            made.append(model)
        if to is not None or changed:
            learned.save(target)
        if output is not None:
            learned.embedding_.save(output)
        nodes, links = graph.n_nodes - before.n_nodes, graph.n_edges - before.n_edges

        def summary() -> str:
            if not changed:
                return f"{edges}: nothing new: the model is unchanged"
            news = f"{counted(nodes, 'new node')}, {counted(links, 'new edge')}"
            if not nodes and not links:
                news = "weights have changed"
            return f"{', '.join(map(str, made))}: {news}; {learned.embedding_!r}"

        report(summary, quiet)
        if as_json:
            print_json(
                context,
                files=made,
                model=model,
                edges_file=edges,
                changed=changed,
                new_nodes=nodes,
                new_edges=links,
                **(graph_facts(graph) | reading_facts(new)),
                dimensions=learned.embedding_.dimensions,
                tokens=learned.n_tokens_ if changed else 0,
                seconds=learned.seconds_ if changed else 0.0,
                backend=learned.backend_,
                settings=model_facts(learned),
            )


def _read_model(path: Path) -> Reinforce2Vec:
    """Read a model that can be updated; InputError if it cannot."""
    from ..models import Reinforce2Vec

    model = Reinforce2Vec.load(path)
    if model.graph_ is None:
        raise InputError(
            f"{path}: this model was trained on given walks, so it has no graph to add edges to"
        )
    return model


def _read_edges(context: typer.Context, path: Path, model: Reinforce2Vec) -> Graph:
    """Read new edges as the model's graph has them; a file may hold none."""
    from ..graph import Graph

    given, graph = dict(context.params), model.graph_
    assert graph is not None
    given["directed"] = graph.directed
    if given["weighted"] is None and given["weight_column"] is None and not graph.weighted:
        given["weighted"] = False  # a weight would make all others 1
    try:
        with status(f"reading {path}", given["quiet"]):
            if graph.sides is not None and not given["bipartite"]:
                given["bipartite"] = not _names_sides(path, given, graph.sides)
            new = read_graph_from(path, given)
    except NoEdges:
        new = Graph.from_any([], nodes=given["nodes_file"], directed=graph.directed)
    else:
        report(lambda: f"{path}: {new!r}", given["quiet"])
        report_reading(path, new, given["quiet"])
    new = _with_ids_like(graph, new, path)
    if graph.sides is not None:
        _check_sides(new, graph.sides, path)
    return new


def _names_sides(path: Path, given: dict[str, Any], sides: tuple[str, str]) -> bool:
    """Return whether a file has the ids of a bipartite graph as they are: "user:7", not 7."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file is read once more
        plain = read_graph_from(path, given | {"nodes_file": None, "bipartite": False})
    from ..files.edges import node_on_no_side

    return node_on_no_side(plain.ids.tolist(), sides) is None


def _check_sides(new: Graph, sides: tuple[str, str], path: Path) -> None:
    """Raise InputError for a node that is on no side of the model's bipartite graph."""
    from ..files.edges import node_on_no_side

    stranger = node_on_no_side(new.ids.tolist(), sides)
    if stranger is not None:
        kinds = " nor ".join(f'"{side}:..."' for side in sides)
        raise InputError(
            f"{path}: the node {stranger!r} is neither {kinds}, as the nodes of the model are: "
            f"name the columns {sides[0]} and {sides[1]}, as in the file that it was trained on"
        )


def _with_ids_like(known: Graph, new: Graph, path: Path) -> Graph:
    """Return a graph whose ids are of the known type.

    A file's ids are integers only if all of them are; so those of a part of a graph may be, while
    those of the whole are strings, which stand for the same nodes. A table may hold integers as
    strings.
    """
    if new.ids.dtype == known.ids.dtype or not new.n_nodes:
        return new
    from .._util.ids import as_ids
    from ..files.id_texts import parse_ids

    words = [str(node) for node in new.ids.tolist()]
    if known.ids.dtype == object:
        return replace(new, ids=as_ids(words))
    ids = parse_ids(words)
    if ids.dtype == object:
        word = next(word for word in words if parse_ids([word]).dtype == object)
        raise InputError(
            f"{path}: the node id {word!r} is no 64-bit integer, but all ids of the model are: "
            "embed the whole graph again, or correct the file"
        )
    return replace(new, ids=ids)
