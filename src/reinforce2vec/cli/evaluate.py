"""The commands `evaluate link-prediction` and `evaluate node-classification`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

import reinforce2vec as r2v

from .._util.errors import InputError
from .._util.hyperparameters import DATASETS, PROTOCOLS
from . import _inputs as inputs
from . import _options as options
from ._app import App, command
from ._messages import print_table, print_text
from ._models import model_facts, model_from
from ._options import EVALUATION, GRAPH_OPTIONS, MODEL_OPTIONS
from ._run import Run

if TYPE_CHECKING:
    from ..evaluation.estimators import NamedEstimator
    from ..evaluation.results import Evaluation

app = App(help="Measure how good vectors are: for predicting links, or for classifying nodes.")
_SEEDS = {
    default: EVALUATION.option(
        "seeds N",
        "Number of runs; the mean and the standard deviation are reported.",
        default=default,
    )
    for default in (3, 5)
}


@app.command()
@command(
    options.GRAPH_OR_DATASET,
    *options.shared("as_json", "quiet"),
    EVALUATION.choice(
        "protocol",
        PROTOCOLS,
        "shared: one embedding; the classifier is trained on half of the held-out pairs and "
        "tested on the others. transfer, as in the paper's tables: trained on one embedding, "
        "tested on another. Scores of the two are not comparable.",
        default="shared",
    ),
    EVALUATION.option(
        "fraction SHARE",
        "Share of the edges to hold out. Default: half of them, or as many as a sparse "
        "graph can spare without falling apart.",
    ),
    _SEEDS[3],
    *options.shared("estimator", "data_dir", *MODEL_OPTIONS, *GRAPH_OPTIONS),
    examples=(
        "evaluate link-prediction edges.txt",
        "evaluate link-prediction edges.txt --fraction 0.2 --seeds 10 --walk first-order",
        "evaluate link-prediction facebook --preset fast --json",
    ),
)
def link_prediction(run: Run) -> None:
    """Hold out edges, embed the remaining graph, and predict the held-out edges.

    Prints the area under the ROC curve and average precision, in percent, for each operator that
    combines two vectors. The other options are those of embed.
    """
    given = run.given
    if given.fraction == 0:
        raise InputError("--fraction must be above 0: some edges must be held out")
    named = inputs.check_graph(run, given.graph)
    model, own = model_from(run), _own_model(run)
    run.begin()
    inputs.check_input(given.graph)
    graph = inputs.read_input_graph(run, given.graph, named)
    inputs.report_direction(run, model, graph)
    settings = {name: getattr(given, name) for name in ("protocol", "fraction", "seeds", "backend")}
    results = [
        r2v.evaluate_link_prediction(graph, estimator, **settings, progress=not run.quiet)
        for estimator in (model, own)
        if estimator is not None
    ]
    facts = {"graph": given.graph, **inputs.graph_facts(graph), "settings": model_facts(model)}
    _print_results(run, results, method=given.method, **facts)


@app.command()
@command(
    options.argument(
        "source EMB|DATASET",
        "A file of vectors, as embed writes them, or the name of a data set with labels, "
        "such as blogcatalog, which is then embedded. With --method or --estimator: a data "
        "set, or a graph in a file as for embed.",
        str,
        autocompletion=options.completed(*DATASETS),
    ),
    EVALUATION.option(
        "labels FILE|DATASET",
        f"{options.LABELS_HELP} Or the data set that was embedded.",
        autocompletion=options.completed(*DATASETS),
    ),
    *options.shared("label", "id", "as_json", "quiet"),
    EVALUATION.option(
        "train SHARES", "Shares of the nodes to train on, such as 0.1,0.5,0.9.", default="0.5"
    ),
    _SEEDS[5],
    *options.shared("estimator", "data_dir", *MODEL_OPTIONS, "seed", *GRAPH_OPTIONS),
    examples=(
        "evaluate node-classification vectors.npz --labels labels.txt",
        "evaluate node-classification ppi --preset fast",
        "evaluate node-classification edges.csv --labels labels.txt --estimator models:MyModel",
    ),
)
def node_classification(run: Run) -> None:
    """Classify nodes by their vectors.

    Prints micro and macro F1, in percent, of one-vs-rest logistic regression, which knows how many
    labels each test node has. With vectors from a file, options of embed are refused.
    """
    from ..evaluation.splits import shuffle_seed

    given, shares = run.given, _as_shares(run.given.train)
    named = inputs.is_dataset(given.source)
    embedded = named or given.estimator is not None or run.was_given("method")
    _check_options(run, named, embedded)
    model, own = model_from(run), _own_model(run)
    run.begin()
    inputs.check_input(given.source)
    settings: dict[str, Any] = {"train": shares, "seeds": given.seeds}
    facts: dict[str, Any] = {"vectors": given.source, "labels": given.labels}
    if embedded:
        graph, classes = _labelled_graph(run, named)
        tried = [one.fit_transform(graph, progress=not run.quiet) for one in (model, own) if one]
        settings["seeds"] = [shuffle_seed(given.seed, number) for number in range(given.seeds)]
        settings["backend"] = given.backend
        alone = {"dataset": given.source}
        facts = alone if named else {"graph": given.source, "labels": given.labels}
        facts |= {"settings": model_facts(model), "method": given.method}
    else:
        vectors, classes = _matched(run, inputs.read_input_vectors(run, given.source))
        tried = [vectors]
    results = [
        r2v.evaluate_node_classification(vectors, classes, **settings, progress=not run.quiet)
        for vectors in tried
    ]
    _print_results(run, results, nodes=len(tried[0]), **facts)


def _check_options(run: Run, named: bool, embedded: bool) -> None:
    """Raise InputError for options that do not fit a data set, a graph or vectors."""
    source, labels = run.given.source, run.given.labels
    if named and labels is not None:
        raise InputError(f"the data set {source} has labels of its own: leave out --labels")
    if not named and labels is None:
        what = "the nodes of the graph" if embedded else "vectors"
        raise InputError(f"{what} need --labels: a file of labels, or the name of a data set")
    if named:
        run.refuse(GRAPH_OPTIONS, "a file", f"the data set {source}")
    elif embedded:
        inputs.check_reading(run, source)
    else:
        run.refuse((*MODEL_OPTIONS, "seed"), "a data set", source)
        run.refuse(GRAPH_OPTIONS, "a graph and --method", source)
    if named or inputs.is_dataset(str(labels)):
        run.refuse(["label", "id"], "a file of labels", "labels of a data set")
    else:
        run.refuse(["data_dir"], "a data set", labels)


def _own_model(run: Run) -> NamedEstimator | None:
    """Return the user's estimator, with the dimensions and the seed of ours; None if none."""
    path = run.given.estimator
    if path is None:
        return None
    from ..evaluation.estimators import NamedEstimator, check_estimator

    check_estimator(path)
    return NamedEstimator(path, run.given.dimensions, getattr(run.given, "seed", 0))


def _labelled_graph(run: Run, named: bool) -> tuple[r2v.Graph, Any]:
    """Return a graph and the labels of its nodes: a data set, or a graph in a file."""
    source, labels = run.given.source, run.given.labels
    if named:
        dataset = inputs.read_labelled_dataset(run, source)
        return dataset.graph, dataset.labels
    graph = inputs.read_input_graph(run, source)
    if inputs.is_dataset(labels):
        raise InputError("labels of a data set are those of its own graph: name it instead")
    return graph, inputs.read_input_labels(run, labels, graph).matrix


def _matched(run: Run, embedding: r2v.Embedding) -> tuple[Any, Any]:
    """Return vectors and labels of the same nodes in the same order."""
    labels = run.given.labels
    inputs.check_input(labels)
    if inputs.is_dataset(labels):
        from ..embedding.matching import aligned_rows
        from ..files.opening import naming

        dataset = inputs.read_labelled_dataset(run, labels)
        with naming(f"vectors for the data set {labels}"):
            rows = aligned_rows(embedding, dataset.graph)
        return embedding.vectors[rows], dataset.labels
    return embedding, inputs.read_input_labels(run, labels, embedding).matrix


def _as_shares(text: str) -> list[float]:
    """Return shares of nodes from text, where commas separate them."""
    try:
        shares = [float(word) for word in text.split(",")]
    except ValueError:
        shares = []
    if not shares or not all(0 < share < 1 for share in shares):
        raise InputError(f"--train must be numbers between 0 and 1, as 0.1,0.5,0.9, not {text!r}")
    return shares


def _print_results(run: Run, results: Sequence[Evaluation], **facts: Any) -> None:
    """Print results, ours and the user's: tables, or JSON that also says what was evaluated."""
    ours, *own = results
    path = run.given.estimator
    if run.given.as_json:
        more = {"estimator": {"path": path} | own[0].to_dict()} if own else {}
        run.print_json(**facts, **ours.to_dict(), **more)
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
    print_table(head, rows, title=title)
