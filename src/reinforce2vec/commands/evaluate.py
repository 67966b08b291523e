"""The commands `evaluate link-prediction` and `evaluate node-classification`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from ..progress import counted
from . import options
from .embed import embed
from .shape import App, examples
from .speech import FAILURE, USAGE, print_json, say, sentences, status

if TYPE_CHECKING:
    from ..datasets import Dataset
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
    graph: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH|DATASET",
            help="A file as for embed, or the name of a data set, such as facebook.",
        ),
    ],
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    protocol: Annotated[
        str,
        typer.Option(
            metavar="|".join(PROTOCOLS),
            help="shared: one embedding, half of its held-out pairs train the classifier and half "
            "test it. transfer, as in the paper's tables: trained on one embedding, tested on "
            "another. Numbers of the two cannot be compared.",
            rich_help_panel=PROTOCOL,
            autocompletion=lambda: list(PROTOCOLS),
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
    given = context.params
    with sentences(USAGE):
        if protocol not in PROTOCOLS:
            raise InputError(f"protocol must be one of {', '.join(PROTOCOLS)}, not {protocol!r}")
        if fraction == 0:
            raise InputError("fraction must be above 0: something must be held out")
        named = is_dataset(graph)
        if named:
            options.check_unused(context, options.GRAPH_OPTIONS, "a file", f"the data set {graph}")
            check_folder(data_dir)
        else:
            options.check_unused(context, ["data_dir"], "a data set", graph)
            options.check_reading(Path(graph), given)
        model = options.model_from(given)
    with sentences(FAILURE):
        from ..evaluation.link_prediction import evaluate_link_prediction

        if named:
            whole = loaded(graph, data_dir, quiet).graph
        else:
            with status(f"reading {graph}", quiet):
                whole = options.read_graph_from(Path(graph), given)
        say(f"{graph}: {whole!r}", quiet)
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
        from ..evaluation.node_classification import evaluate_node_classification

        vectors: Any
        if named:
            dataset = with_labels(source, data_dir, quiet)
            classes = dataset.labels
            vectors = model.fit_transform(dataset.graph, progress=not quiet)
        else:
            with status(f"reading {source}", quiet):
                vectors = read_vectors(source)
            say(f"{source}: {vectors!r}", quiet)
            vectors, classes = matched(vectors, str(labels), data_dir, quiet)
        result = evaluate_node_classification(
            *(vectors, classes), train=shares, seeds=seeds, progress=not quiet
        )
        facts: dict[str, Any] = {"vectors": source, "labels": labels}
        if named:
            facts = {"dataset": source, "settings": options.model_facts(model)}
        tell(result, context, nodes=len(vectors), **facts)


# -- what is given -----------------------------------------------------------------------------


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
        from ..datasets.loading import existing

        existing(data_dir, "data_dir")


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


def read_vectors(source: str) -> Embedding:
    """Vectors of a file; InputError says what makes them, if it holds something else."""
    from ..embedding import Embedding

    try:
        return Embedding.load(source)
    except InputError as error:
        if not Path(source).is_file() or "expected vectors" in str(error):
            raise
        raise InputError(f"{error}; expected vectors, which `reinforce2vec embed` makes") from None


def matched(
    embedding: Embedding, labels: str, data_dir: Path | None, quiet: bool
) -> tuple[Any, Any]:
    """Vectors and labels, of the same nodes in the same order."""
    if is_dataset(labels):
        from ..readers import naming
        from ..smoothing import rows_in

        dataset = with_labels(labels, data_dir, quiet)
        with naming(f"vectors for the data set {labels}"):
            rows = rows_in(embedding, dataset.graph)
        return embedding.vectors[rows], dataset.labels
    from ..evaluation.label_files import read_labels

    classes, strangers = read_labels(labels, embedding)
    nodes = counted(int(classes.any(axis=1).sum()), "node")
    say(f"{labels}: {nodes} in {counted(classes.shape[1], 'class')}", quiet)
    if strangers:
        without = counted(len(strangers), "line")
        say(f"{labels}: left out {without} of nodes without a vector ({strangers[0]}, ...)", quiet)
    return embedding, classes


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
