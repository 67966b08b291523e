"""The commands `evaluate link-prediction` and `evaluate node-classification`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError
from . import options
from .embed import embed
from .shape import App, examples
from .sources import (
    GraphOrDataset,
    check_folder,
    check_graph,
    is_dataset,
    known_graph,
    known_labels,
    known_vectors,
    with_labels,
)
from .speech import FAILURE, USAGE, print_json, sentences

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..evaluation.results import Evaluation

MODEL_OPTIONS = (*options.LEARNING_OPTIONS, "kind", *options.WALK_OPTIONS)
PROTOCOLS = ("shared", "transfer")

PROTOCOL = "The evaluation"  # a group of options

app = App(help="Measure how good vectors are: do they tell missing edges, or the labels of nodes?")

Seeds = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Runs; told are their mean and spread.",
        rich_help_panel=PROTOCOL,
    ),
]


@app.command(
    epilog=examples(
        "evaluate link-prediction edges.txt",
        "evaluate link-prediction edges.txt --fraction 0.2 --seeds 10 --walk first-order",
        "evaluate link-prediction facebook --walks-per-node 10 --smooth --json",
    )
)
@options.borrowed(embed, (*MODEL_OPTIONS, *options.GRAPH_OPTIONS))
def link_prediction(
    context: typer.Context,
    graph: GraphOrDataset,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    protocol: Annotated[
        str,
        options.choice(
            "shared: one embedding, half of its held-out pairs train the classifier and half "
            "test it. transfer, as in the paper's tables: trained on one embedding, tested on "
            "another. Numbers of the two cannot be compared.",
            *PROTOCOLS,
            group=PROTOCOL,
        ),
    ] = "shared",
    fraction: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="Share of the edges to hold out.",
            rich_help_panel=PROTOCOL,
        ),
    ] = 0.5,
    seeds: Seeds = 3,
    data_dir: options.DataDir = None,
) -> None:
    """Hold out edges, embed the rest of the graph, and predict them.

    Prints area under the ROC curve and average precision, in percent, for each way to make
    features of a pair. The other options say how to embed, as for embed.
    """
    with sentences(USAGE):
        from .._util.checks import check_choice

        check_choice("protocol", protocol, PROTOCOLS)
        if fraction == 0:
            raise InputError("fraction must be above 0: something must be held out")
        named = check_graph(context, graph)
        model = options.model_from(context.params)
    with sentences(FAILURE):
        from ..evaluation import evaluate_link_prediction

        whole = known_graph(graph, context, named)
        result = evaluate_link_prediction(
            *(whole, model), protocol=protocol, fraction=fraction, seeds=seeds, progress=not quiet
        )
        facts = options.graph_facts(whole) | {"settings": options.model_facts(model)}
        tell(result, context, graph=graph, **facts)


@app.command(
    epilog=examples(
        "evaluate node-classification vectors.npz --labels labels.txt",
        "evaluate node-classification vectors.npz --labels labels.txt --train 0.1,0.5,0.9 --json",
        "evaluate node-classification ppi --walks-per-node 10 --smooth",
    )
)
@options.borrowed(embed, (*MODEL_OPTIONS, "seed"))
def node_classification(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="EMB|DATASET",
            help="A file of vectors, as embed writes them, or the name of a data set with labels, "
            "such as blogcatalog, which is then embedded.",
        ),
    ],
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|DATASET",
            help="Text with an id and its labels a line, separated by tabs, commas or blanks; or "
            "the data set whose nodes the vectors are of.",
            rich_help_panel=PROTOCOL,
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    train: Annotated[
        str,
        typer.Option(
            metavar="SHARES",
            help="Shares of the nodes that train, such as 0.1,0.5,0.9.",
            rich_help_panel=PROTOCOL,
        ),
    ] = "0.5",
    seeds: Seeds = 5,
    data_dir: options.DataDir = None,
) -> None:
    """Tell the labels of nodes from their vectors.

    Prints micro and macro F1, in percent, of logistic regression for each class, the number of
    labels of a node being known. With vectors from a file, options that say how to embed are
    refused.
    """
    with sentences(USAGE):
        shares = as_shares(train)
        named = is_dataset(source)
        if named and labels is not None:
            raise InputError(f"the data set {source} has labels of its own: leave out --labels")
        if not named and labels is None:
            raise InputError("vectors need --labels: a file of labels, or the name of a data set")
        if not named:
            options.check_unused(context, (*MODEL_OPTIONS, "seed"), "a data set", source)
        if named or is_dataset(str(labels)):
            check_folder(data_dir)
        else:
            options.check_unused(context, ["data_dir"], "a data set", labels)
        model = options.model_from(context.params)
    with sentences(FAILURE):
        from ..evaluation import evaluate_node_classification

        vectors: Any
        if named:
            dataset = with_labels(source, data_dir, quiet)
            classes = dataset.labels
            vectors = model.fit_transform(dataset.graph, progress=not quiet)
        else:
            vectors = known_vectors(source, quiet)
            vectors, classes = matched(vectors, str(labels), data_dir, quiet)
        result = evaluate_node_classification(
            *(vectors, classes), train=shares, seeds=seeds, progress=not quiet
        )
        facts: dict[str, Any] = {"vectors": source, "labels": labels}
        if named:
            facts = {"dataset": source, "settings": options.model_facts(model)}
        tell(result, context, nodes=len(vectors), **facts)


# -- what is given -----------------------------------------------------------------------------


def matched(
    embedding: Embedding, labels: str, data_dir: Path | None, quiet: bool
) -> tuple[Any, Any]:
    """Vectors and labels, of the same nodes in the same order."""
    if is_dataset(labels):
        from ..embedding.matching import aligned_rows
        from ..files.opening import naming

        dataset = with_labels(labels, data_dir, quiet)
        with naming(f"vectors for the data set {labels}"):
            rows = aligned_rows(embedding, dataset.graph)
        return embedding.vectors[rows], dataset.labels
    return embedding, known_labels(labels, embedding, quiet).matrix


def as_shares(text: str) -> list[float]:
    """Shares of nodes, separated by commas."""
    try:
        shares = [float(word) for word in text.split(",")]
    except ValueError:
        shares = []
    if not shares or not all(0 < share < 1 for share in shares):
        raise InputError(f"train must be numbers between 0 and 1, as 0.1,0.5,0.9, not {text!r}")
    return shares


def tell(result: Evaluation, context: typer.Context, **facts: Any) -> None:
    """Print a result: a table, or JSON that also says what it is of."""
    if context.params["as_json"]:
        print_json(context, **facts, **result.to_dict())
    else:
        typer.echo(str(result))
