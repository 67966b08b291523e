"""The commands `evaluate link-prediction` and `evaluate node-classification`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError
from .._util.hyperparameters import DATASETS, PROTOCOLS
from . import _options as options
from ._app import App
from ._exit_codes import FAILURE, USAGE, exit_code
from ._help import examples
from ._inputs import (
    GraphArgument,
    check_graph,
    check_input,
    check_reading,
    graph_facts,
    is_dataset,
    read_input_graph,
    read_input_labels,
    read_input_vectors,
    read_labelled_dataset,
    report_direction,
)
from ._messages import print_json
from ._models import model_facts, model_from
from ._options import EVALUATION, GRAPH_OPTIONS, MODEL_OPTIONS
from ._tables import print_table, print_text

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..evaluation.estimators import NamedEstimator
    from ..evaluation.results import Evaluation
    from ..graph import Graph

app = App(help="Measure how good vectors are: for predicting links, or for classifying nodes.")

_Seeds = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Number of runs; the mean and the standard deviation are reported.",
        rich_help_panel=EVALUATION,
    ),
]


@app.command(
    epilog=examples(
        "evaluate link-prediction edges.txt",
        "evaluate link-prediction edges.txt --fraction 0.2 --seeds 10 --walk first-order",
        "evaluate link-prediction facebook --preset fast --json",
        "evaluate link-prediction edges.txt --method prone",
    )
)
@options.shared(*MODEL_OPTIONS, *GRAPH_OPTIONS)
def link_prediction(
    context: typer.Context,
    graph: GraphArgument,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    protocol: Annotated[
        str,
        options.choice(
            "shared: one embedding; the classifier is trained on half of the held-out pairs and "
            "tested on the others. transfer, as in the paper's tables: trained on one embedding, "
            "tested on another. Scores of the two are not comparable.",
            *PROTOCOLS,
            group=EVALUATION,
        ),
    ] = "shared",
    fraction: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="Share of the edges to hold out. Default: half of them, or as many as a sparse "
            "graph can spare without falling apart.",
            rich_help_panel=EVALUATION,
        ),
    ] = None,
    seeds: _Seeds = 3,
    estimator: options.Estimator = None,
    data_dir: options.DataDir = None,
) -> None:
    """Hold out edges, embed the remaining graph, and predict the held-out edges.

    Prints the area under the ROC curve and average precision, in percent, for each operator that
    combines two vectors. The other options are those of embed.
    """
    with exit_code(USAGE):
        from .._util.checks import check_choice

        check_choice("protocol", protocol, PROTOCOLS)
        if fraction == 0:
            raise InputError(
                "fraction must be above 0: some edges must be held out",
                parameter="fraction",
                value=0,
            )
        named = check_graph(context, graph)
        model = model_from(context)
        own = _own_model(estimator, context.params)
    with exit_code(FAILURE):
        from ..evaluation import evaluate_link_prediction

        check_input(graph)
        whole = read_input_graph(graph, context, named)
        report_direction(model, whole, quiet)
        how: dict[str, Any] = {"protocol": protocol, "fraction": fraction, "seeds": seeds}
        how["backend"] = context.params["backend"]
        results = [
            evaluate_link_prediction(whole, one, **how, progress=not quiet)
            for one in (model, own)
            if one is not None
        ]
        facts = graph_facts(whole) | {"settings": model_facts(model)}
        facts["method"] = context.params["method"]
        _print_results(results, context, graph=graph, **facts)


@app.command(
    epilog=examples(
        "evaluate node-classification vectors.npz --labels labels.txt",
        "evaluate node-classification vectors.npz --labels labels.txt --train 0.1,0.5,0.9 --json",
        "evaluate node-classification ppi --preset fast",
        "evaluate node-classification edges.csv --labels labels.txt --estimator models:MyModel",
    )
)
@options.shared(*MODEL_OPTIONS, "seed", *GRAPH_OPTIONS)
def node_classification(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="EMB|DATASET",
            autocompletion=options.completed(*DATASETS),
            help="A file of vectors, as embed writes them, or the name of a data set with labels, "
            "such as blogcatalog, which is then embedded. With --method or --estimator: a data "
            "set, or a graph in a file as for embed.",
        ),
    ],
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|DATASET",
            autocompletion=options.completed(*DATASETS),
            help=f"{options.LABELS_HELP} Or the data set that was embedded.",
            rich_help_panel=EVALUATION,
        ),
    ] = None,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    train: Annotated[
        str,
        typer.Option(
            metavar="SHARES",
            help="Shares of the nodes to train on, such as 0.1,0.5,0.9.",
            rich_help_panel=EVALUATION,
        ),
    ] = "0.5",
    seeds: _Seeds = 5,
    estimator: options.Estimator = None,
    data_dir: options.DataDir = None,
) -> None:
    """Classify nodes by their vectors.

    Prints micro and macro F1, in percent, of one-vs-rest logistic regression, which knows how many
    labels each test node has. With vectors from a file, options of embed are refused.
    """
    with exit_code(USAGE):
        shares = _as_shares(train)
        named = is_dataset(source)
        embedded = named or estimator is not None or options.was_given(context, "method")
        if named and labels is not None:
            raise InputError(f"the data set {source} has labels of its own: leave out --labels")
        if not named and labels is None:
            what = "the nodes of the graph" if embedded else "vectors"
            raise InputError(f"{what} need --labels: a file of labels, or the name of a data set")
        if not named and not embedded:
            options.check_unused(context, (*MODEL_OPTIONS, "seed"), "a data set", source)
            options.check_unused(context, GRAPH_OPTIONS, "a graph and --method", source)
        elif named:
            options.check_unused(context, GRAPH_OPTIONS, "a file", f"the data set {source}")
        else:
            check_reading(Path(source), context.params)
        if named or is_dataset(str(labels)):
            options.check_unused(
                context, ["label", "id"], "a file of labels", "labels of a data set"
            )
        else:
            options.check_unused(context, ["data_dir"], "a data set", labels)
        model = model_from(context)
        own = _own_model(estimator, context.params)
    with exit_code(FAILURE):
        from ..evaluation import evaluate_node_classification
        from ..evaluation.splits import shuffle_seed

        check_input(source)
        runs: Any = seeds
        if embedded:
            graph, classes = _labelled_graph(source, labels, context, named)
            tried = [one.fit_transform(graph, progress=not quiet) for one in (model, own) if one]
            runs = [shuffle_seed(context.params["seed"], number) for number in range(seeds)]
        else:
            vectors, classes = _matched(read_input_vectors(source, quiet), str(labels), context)
            tried = [vectors]
        how: dict[str, Any] = {"train": shares, "seeds": runs}
        if embedded:
            how["backend"] = context.params["backend"]
        results = [
            evaluate_node_classification(vectors, classes, **how, progress=not quiet)
            for vectors in tried
        ]
        facts: dict[str, Any] = {"vectors": source, "labels": labels}
        if embedded:
            facts = {"dataset" if named else "graph": source, "labels": labels}
            facts |= {"settings": model_facts(model), "method": context.params["method"]}
        if named:
            del facts["labels"]
        _print_results(results, context, nodes=len(tried[0]), **facts)


# -- what is given -----------------------------------------------------------------------------


def _own_model(estimator: str | None, given: Mapping[str, Any]) -> NamedEstimator | None:
    """Return the user's estimator, with the dimensions and the seed of ours; None if none."""
    if estimator is None:
        return None
    from ..evaluation.estimators import NamedEstimator, checked_estimator

    path = checked_estimator(estimator).path
    return NamedEstimator(path, given["dimensions"], given.get("seed", 0))


def _labelled_graph(
    source: str, labels: str | None, context: typer.Context, named: bool
) -> tuple[Graph, Any]:
    """Return a graph and the labels of its nodes: a data set, or a graph in a file."""
    given = context.params
    if named:
        dataset = read_labelled_dataset(source, given["data_dir"], given["quiet"])
        return dataset.graph, dataset.labels
    graph = read_input_graph(source, context)
    if is_dataset(str(labels)):
        raise InputError("labels of a data set are those of its own graph: name it instead")
    return graph, read_input_labels(str(labels), graph, context).matrix


def _matched(embedding: Embedding, labels: str, context: typer.Context) -> tuple[Any, Any]:
    """Return vectors and labels of the same nodes in the same order."""
    check_input(labels)
    if is_dataset(labels):
        from ..embedding.matching import aligned_rows
        from ..files.opening import naming

        dataset = read_labelled_dataset(labels, context.params["data_dir"], context.params["quiet"])
        with naming(f"vectors for the data set {labels}"):
            rows = aligned_rows(embedding, dataset.graph)
        return embedding.vectors[rows], dataset.labels
    return embedding, read_input_labels(labels, embedding, context).matrix


def _as_shares(text: str) -> list[float]:
    """Return shares of nodes from text, where commas separate them."""
    try:
        shares = [float(word) for word in text.split(",")]
    except ValueError:
        shares = []
    if not shares or not all(0 < share < 1 for share in shares):
        raise InputError(
            f"train must be numbers between 0 and 1, as 0.1,0.5,0.9, not {text!r}",
            parameter="train",
            value=text,
        )
    return shares


def _print_results(results: Sequence[Evaluation], context: typer.Context, **facts: Any) -> None:
    """Print results, ours and the user's: tables, or JSON that also says what was evaluated."""
    ours, *own = results
    path = context.params["estimator"]
    if context.params["as_json"]:
        more = {"estimator": {"path": path} | own[0].to_dict()} if own else {}
        print_json(context, **facts, **ours.to_dict(), **more)
        return
    _print_scores(ours, facts.get("method", ""))  # of vectors in a file, it is unknown
    if own:
        typer.echo()
        _print_scores(own[0], path)


def _print_scores(result: Evaluation, method: str = "") -> None:
    """Print a table of scores, below the name of a method."""
    if method:
        print_text(method)
    title, (head, *rows) = result.table()
    print_table(head, rows, title=title, left=(0,))
