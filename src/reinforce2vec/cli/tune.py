"""The command `tune`: which parameters suit a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError
from . import options
from .embed import embed
from .options import LEARNING, OUTPUT, RUNNING
from .shape import examples
from .sources import GraphOrDataset, check_graph, known_graph, known_labels, with_labels
from .speech import FAILURE, INTERRUPTED, USAGE, check_different, end, print_json, say, sentences

if TYPE_CHECKING:
    from ..graph import Graph
    from ..tuning.results import Source

EPILOG = examples(
    "tune edges.txt --budget 10m",
    "tune edges.txt --task node-classification --labels labels.txt -o tuning.json",
    "tune edges.txt --budget 2h -o tuning.json --resume --plot tuning.png",
    "tune facebook --trials 50 --workers 1 --json",
)
TASKS = ("link-prediction", "node-classification")
SEARCH = "The search"  # a group of options
OPPOSITES = {"directed": "undirected", "weighted": "unweighted", "header": "no-header"}


@options.borrowed(embed, (*options.GRAPH_OPTIONS, "workers", "backend"))
def tune(
    context: typer.Context,
    graph: GraphOrDataset,
    output: Annotated[
        Path | None,
        typer.Option(
            *("--output", "-o"),
            metavar="FILE",
            help="A JSON file with every trial, written anew after each.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw what mattered: .png, .svg or .pdf.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    task: Annotated[
        str,
        options.choice(
            "What the vectors are for: to tell which links are missing (scored by AUC), or "
            "which classes nodes are in (by micro F1).",
            *TASKS,
            group=SEARCH,
        ),
    ] = "link-prediction",
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Node classification: text with an id and its labels a line, separated by tabs, "
            "commas or blanks. Data sets have their own.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Time for all of it, such as 90s, 10m or 1h30m: no training is begun that would "
            "not end in time. Default: 10m, or no limit with --trials.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="End the search after so many settings, 1,000 by default. With --workers 1 and no "
            "--budget, one seed gives one result.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    fraction: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="Link prediction: share of the edges to hold out. Default: half of them, but at "
            "most 20,000 edges.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    dimensions: Annotated[
        int,
        typer.Option(
            *("--dimensions", "-d"),
            metavar="N",
            min=1,
            help="Numbers in a vector; they are not searched, since more are seldom worse.",
            rich_help_panel=LEARNING,
        ),
    ] = 64,
    data_dir: options.DataDir = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Of the search, of what is held out, and of trainings.",
            rich_help_panel=RUNNING,
        ),
    ] = 0,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from --output, if it is there. Time and trials spent before count: give "
            "more to search further.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
) -> None:
    """Search for the walk, the amount of training and the smoothing that suit a graph.

    Some edges, or labelled nodes, are held out. The search looks at one part of them; at the end
    the best settings and the default are trained anew and scored on the other part. Prints both
    scores, and the best setting as a command and as Python. Needs optuna: pip install
    'reinforce2vec[tune]'.
    """
    with sentences(USAGE):
        from .._util.checks import check_choice

        check_choice("task", task, TASKS)
        named = check_graph(context, graph)
        foreign = "labels" if task == "link-prediction" else "fraction"
        other = next(one for one in TASKS if one != task)
        options.check_unused(context, [foreign], f"--task {other}", f"--task {task}")
        if named and labels is not None:
            raise InputError(f"the data set {graph} has labels of its own: leave out --labels")
        if task == "node-classification" and not named and labels is None:
            raise InputError(f"--task {task} needs --labels FILE: a node and its classes a line")
        if resume and output is None:
            raise InputError("--resume needs --output FILE: what to go on from")
        from .._util.cuda.device import choose
        from ..files.writing import check_target, known_suffix
        from ..tuning.budget import seconds_of
        from ..tuning.proposals import import_optuna
        from ..tuning.search import check_output

        import_optuna()
        check_output(output, resume)
        choose(context.params["backend"], "training", workers=context.params["workers"])
        if budget is not None:
            seconds_of(budget)
        read = [path for path in (None if named else Path(graph), labels) if path is not None]
        check_different(read, [check_target(path) for path in (output, plot) if path is not None])
        if output is not None:
            known_suffix(output, (".json",), "trials are written to")
        if plot is not None:
            from ..plotting.style import check_picture, matplotlib

            check_picture(plot)
            matplotlib()
    with sentences(FAILURE):
        from ..tuning import tune as search

        whole, classes = read_all(context, graph, named)
        found = search(
            *(whole, task, classes),
            budget=budget,
            trials=trials,
            dimensions=dimensions,
            fraction=fraction,
            seed=seed,
            workers=context.params["workers"],
            backend=context.params["backend"],
            output=output,
            resume=resume,
            progress=not quiet,
            source=source_of(context, graph, named),
        )
        if plot is not None:
            found.plot(plot)
        if as_json:
            files = [path for path in (output, plot) if path is not None]
            print_json(context, files=files, source=graph, **found.to_dict())
        else:
            typer.echo(str(found))
        for path, what in ((output, "every trial"), (plot, "what mattered")):
            if path is not None:
                say(f"{path}: {what}", quiet)
        if not found.finished:
            left = "" if output is None else f"; {output} keeps it, and --resume goes on from there"
            end(f"interrupted: this is what was found so far{left}", INTERRUPTED)


def read_all(context: typer.Context, graph: str, named: bool) -> tuple[Graph, Any]:
    """The graph and, if the task needs them, the classes of its nodes."""
    given = context.params
    if named and given["task"] == "node-classification":
        dataset = with_labels(graph, given["data_dir"], given["quiet"])
        return dataset.graph, dataset.labels
    whole, labels = known_graph(graph, context, named), given["labels"]
    return whole, None if labels is None else known_labels(labels, whole, given["quiet"]).matrix


def source_of(context: typer.Context, graph: str, named: bool) -> Source:
    """How to name the graph in what is printed: a file is embedded, a data set evaluated."""
    from ..tuning.results import Source
    from ..tuning.space import as_python

    given, words, arguments = context.params, list[str](), list[str]()
    if named:
        if given["data_dir"] is not None:
            words = ["--data-dir", str(given["data_dir"])]
            arguments = [f", data_dir={as_python(str(given['data_dir']))}"]
        python = f"r2v.load_dataset({as_python(graph)}{''.join(arguments)}).graph"
        return Source(("evaluate", given["task"], graph, *words), python, graph)
    for name in options.GRAPH_OPTIONS:
        origin = context.get_parameter_source(name)
        if origin is not None and origin.name == "COMMANDLINE":
            value = given[name]
            flag = OPPOSITES[name] if value is False else name.replace("_", "-")
            words += [f"--{flag}"] if isinstance(value, bool) else [f"--{flag}", value]
            meant = options.typed(value) if name == "delimiter" else value
            arguments.append(f", {name}={as_python(meant)}")
    python = f"r2v.read_graph({as_python(graph)}{''.join(arguments)})"
    return Source(("embed", graph, "-o", "vectors.npz", *words), python, graph)
