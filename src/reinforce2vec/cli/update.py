"""The command `update`: new edges for a model that was saved before."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import reinforce2vec as r2v

from .._util.errors import InputError, NoEdges
from .._util.progress import counted
from . import _inputs as inputs
from . import _options as options
from ._app import command
from ._models import check_outputs, model_facts
from ._options import GRAPH_OPTIONS, OUTPUT, READING
from ._run import Run


@command(
    options.argument("model MODEL", "The model, as `embed --model` writes it: a .r2v."),
    options.argument(
        "edges EDGES", "The new edges, in a file as for embed; or the whole graph as it is now."
    ),
    options.VECTORS_OUTPUT,
    OUTPUT.option(
        "to --model FILE", "Write the updated model to this .r2v file. Default: in place of MODEL."
    ),
    *options.shared("as_json", "quiet"),
    READING.flag(
        "again", "Weighted graphs: add the weights also if the very same edges were added before."
    ),
    # the model says whether edges have a direction
    *options.shared(*(name for name in GRAPH_OPTIONS if name != "directed")),
    *options.shared("workers", "backend"),
    examples=(
        "update model.r2v new-edges.csv",
        "update model.r2v new-edges.csv -o vectors.npz",
        "update model.r2v new-edges.csv --model tomorrow.r2v --json",
    ),
)
def update(run: Run) -> None:
    """Add new edges and nodes to a model, and update its vectors.

    Earlier vectors stay comparable. Without new edges nothing changes, so that a job may be
    repeated: the same edges a second time, or an empty file, leave the model's file as it is.
    Both files are written atomically. Settings are those of the model.
    """
    from .._util.backend_choice import choose
    from ..models.model_file import check_model_path

    given = run.given
    outputs = check_outputs(given.output, given.to)
    choose(given.backend, "training", workers=given.workers)
    run.writes(*outputs, reads=[given.model, given.edges])
    if given.to is None:
        run.claim(given.model)
    inputs.check_reading(run, given.edges)
    run.begin()
    model = _read_model(run)
    target, before = given.to or check_model_path(given.model), model.graph_
    new = _read_edges(run, model)
    if given.output is not None:
        from .._util.ids import number_objects
        from ..files.vector_files import check_vectors_fit

        _, ids = number_objects(before.ids.tolist(), [new.ids.tolist()])
        check_vectors_fit(given.output, ids, model.embedding_.dimensions)
    own = {name: getattr(model, name) for name in ("workers", "backend")}
    changes = {name: getattr(given, name) for name in own if run.was_given(name)}
    with run.status("preparing"):
        model.set_params(**changes).partial_fit(new, progress=not run.quiet, again=given.again)
    changed = model.set_params(**own).graph_ is not before
    if given.to is None and changed:
        outputs.append(given.model)
    if given.to is not None or changed:
        model.save(target)
    if given.output is not None:
        model.embedding_.save(given.output)
    _report(run, model, before, new, outputs)


def _report(run: Run, model: Any, before: r2v.Graph, new: r2v.Graph, outputs: list[Path]) -> None:
    """Print what is new and what was written."""
    given, graph, changed = run.given, model.graph_, model.graph_ is not before
    nodes, links = graph.n_nodes - before.n_nodes, graph.n_edges - before.n_edges

    def summary() -> str:
        if not changed:
            return f"{given.edges}: nothing new: the model is unchanged"
        news = f"{counted(nodes, 'new node')}, {counted(links, 'new edge')}"
        if not nodes and not links:
            news = "weights have changed"
        return f"{', '.join(map(str, outputs))}: {news}; {model.embedding_!r}"

    run.report(summary)
    if given.as_json:
        run.print_json(
            files=outputs,
            model=given.model,
            edges_file=given.edges,
            changed=changed,
            new_nodes=nodes,
            new_edges=links,
            **inputs.graph_facts(graph, new),
            dimensions=model.embedding_.dimensions,
            tokens=model.n_tokens_ if changed else 0,
            seconds=model.seconds_ if changed else 0.0,
            backend=model.backend_,
            settings=model_facts(model),
        )


def _read_model(run: Run) -> Any:
    """Read a model that can be updated; InputError if it cannot."""
    path = run.given.model
    with run.status(f"reading {path}"):
        model = r2v.Reinforce2Vec.load(path)
    if model.graph_ is None:
        raise InputError(
            f"{path}: this model was trained on given walks, so it has no graph to add edges to"
        )
    run.report(lambda: f"{path}: {model.graph_!r}")
    return model


def _read_edges(run: Run, model: Any) -> r2v.Graph:
    """Read new edges as the model's graph has them; a file may hold none."""
    given, graph, path = run.given, model.graph_, run.given.edges
    changes: dict[str, Any] = {"directed": graph.directed}
    if given.weighted is None and given.weight_column is None and not graph.weighted:
        changes["weighted"] = False  # a weight would make all others 1
    try:
        if graph.sides is not None and not given.bipartite:
            changes["bipartite"] = not _names_sides(run, graph.sides, changes)
        new = inputs.read_input_graph(run, path, **changes)
    except NoEdges:
        new = r2v.Graph.from_any([], nodes=given.nodes_file, directed=graph.directed)
    new = _with_ids_like(graph, new, path)
    if graph.sides is not None:
        _check_sides(new, graph.sides, path)
    return new


def _names_sides(run: Run, sides: tuple[str, str], changes: dict[str, Any]) -> bool:
    """Return whether a file has the ids of a bipartite graph as they are: "user:7", not 7."""
    from ..files.edges import node_on_no_side

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file is read once more
        given = vars(run.given) | changes | {"nodes_file": None, "bipartite": False}
        plain = r2v.read_graph(run.given.edges, **inputs.reading_options(given))
    return node_on_no_side(plain.ids.tolist(), sides) is None


def _check_sides(new: r2v.Graph, sides: tuple[str, str], path: Path) -> None:
    """Raise InputError for a node that is on no side of the model's bipartite graph."""
    from ..files.edges import node_on_no_side

    stranger = node_on_no_side(new.ids.tolist(), sides)
    if stranger is not None:
        kinds = " nor ".join(f'"{side}:..."' for side in sides)
        raise InputError(
            f"{path}: the node {stranger!r} is neither {kinds}, as the nodes of the model are: "
            f"name the columns {sides[0]} and {sides[1]}, as in the file that it was trained on"
        )


def _with_ids_like(known: r2v.Graph, new: r2v.Graph, path: Path) -> r2v.Graph:
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
