"""The command `recommend`: which links a graph most likely misses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import reinforce2vec as r2v

from .._util.errors import InputError
from .._util.hyperparameters import LINK_SCORES
from .._util.progress import counted
from . import _inputs as inputs
from . import _options as options
from ._app import command
from ._messages import print_table
from ._nodes import check_table, nodes_in_file, selected_nodes, write_rows
from ._options import GRAPH_OPTIONS, SEARCH
from ._run import Run

if TYPE_CHECKING:
    pass

_COLUMNS = ("source", "target", "score")
_SHOWN = 20  # links that are printed where neither nodes nor a number are given


@command(
    options.VECTORS,
    options.GRAPH,
    options.argument(
        "names ID",
        "Nodes that get recommendations, by their ids; every node by default.",
        list[str] | None,
        default=None,
    ),
    *options.shared("ids"),
    SEARCH.option(
        "candidates FILE",
        "Recommend only these nodes, an id a line; such as items, if --ids are users. "
        "Default: every node.",
    ),
    *options.shared("k"),
    SEARCH.option(
        "best N",
        f"Only the N most likely links overall. Default: all; {_SHOWN} if neither nodes "
        "nor --output is given.",
    ),
    SEARCH.choice(
        "score",
        LINK_SCORES,
        "auto: whichever of the others finds most links that are hidden once more from "
        "the graph. allocation, adamic-adar, common: common neighbours. three-steps: paths of "
        "three steps, as from users to items. odds: log-odds by the cosine of the vectors and "
        "the degrees. combined: log-odds by all of these. cosine: the cosine alone.",
        default="auto",
        metavar="SCORE",
    ),
    options.SEARCH_METHOD,
    options.TABLE_OUTPUT,
    *options.shared("as_json", "quiet", *GRAPH_OPTIONS),
    examples=(
        "recommend vectors.npz edges.txt 34 -k 3",
        "recommend vectors.npz edges.txt --best 50",
        "recommend vectors.npz edges.txt --ids users.txt --candidates items.txt -o links.csv",
    ),
)
def recommend(run: Run) -> None:
    """Recommend links that are most likely missing from a graph.

    Prints, or writes, a table: a node, another node that it is not linked to, and a score, which is
    higher for likelier links.
    """
    given = run.given
    inputs.check_reading(run, given.graph)
    check_table(run, given.graph, given.ids, given.candidates)
    if str(given.ids) == str(given.candidates) == "-":
        raise InputError("--ids - and --candidates - both read stdin: give one as a file")
    run.begin()
    embedding = inputs.read_input_vectors(run, given.vectors)
    nodes = selected_nodes(run, embedding)
    candidates = given.candidates and nodes_in_file(run, given.candidates, embedding)
    graph = inputs.read_input_graph(run, given.graph)
    embedding = inputs.check_graph_of(run, embedding, graph)
    if not run.quiet:
        _report_strangers(run, embedding, graph)
    links = r2v.recommend_links(
        embedding,
        graph,
        given.k,
        nodes=nodes,
        candidates=candidates,
        score=given.score,
        method=given.method,
        progress=not run.quiet,
    )
    if given.best is not None:
        links = links.best(given.best)
    elif nodes is None and given.output is None:
        links = links.best(_SHOWN)
    _print(run, links, embedding, graph, nodes)


def _print(
    run: Run, links: Any, embedding: r2v.Embedding, graph: r2v.Graph, nodes: list[Any] | None
) -> None:
    """Write or print the links."""
    from ..embedding.nearest import search_method

    given = run.given
    if given.score == "auto" and not given.as_json:
        run.report(f"score: {links.scorer}, which finds most hidden links")
    if given.best is None and nodes is None and given.output is None and not given.as_json:
        run.report(
            f"the {_SHOWN} most likely links overall, at most {given.k} for each node; name nodes "
            "for theirs, choose --best N, or write all with -o FILE"
        )
    if given.output is not None:
        write_rows(run, links.columns, len(links))
        run.report(f"{given.output}: {counted(len(links), 'link')}")
    if given.as_json:
        n_sources = len(embedding) if nodes is None else len(set(nodes))
        table = {"links": [dict(zip(_COLUMNS, link, strict=True)) for link in links]}
        run.print_json(
            **({} if given.output is None else {"files": [given.output]}),
            vectors=given.vectors,
            graph=given.graph,
            **inputs.graph_facts(graph),
            k=given.k,
            score=links.scorer,
            method=search_method(given.method, n_sources, *embedding.vectors.shape),
            **(table if given.output is None else {}),
        )
    elif given.output is None:
        rows = ((str(a), str(b), f"{value:.4f}") for a, b, value in links)
        print_table(_COLUMNS, rows, left=(0, 1))


def _report_strangers(run: Run, embedding: r2v.Embedding, graph: r2v.Graph) -> None:
    """Print how many nodes are only in one of the two files, if there are any."""
    known = sum(node in embedding for node in graph.ids.tolist())
    if without := graph.n_nodes - known:
        run.report(f"{run.given.graph}: {counted(without, 'node')} without a vector, left out")
    if apart := len(embedding) - known:
        nodes = counted(apart, "node")
        run.report(f"{run.given.vectors}: {nodes} not in the graph, without links so far")
