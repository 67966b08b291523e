"""The command `tune`: hyperparameter search for a graph."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError
from .._util.hyperparameters import BASELINE_METHODS, PARAMETERS, TASKS
from .._util.terminal import is_rich
from . import _options as options
from ._exit_codes import FAILURE, INTERRUPTED, USAGE, end_command, exit_code
from ._help import examples
from ._inputs import (
    GraphArgument,
    check_graph,
    check_input,
    given_files,
    read_input_graph,
    read_input_labels,
    read_labelled_dataset,
    unescaped,
)
from ._messages import check_different, print_json, report
from ._options import GRAPH_OPTIONS, LEARNING, OUTPUT, RUNNING, SEARCH, hyperparameter
from ._tables import print_table, print_text

if TYPE_CHECKING:
    from ..graph import Graph
    from ..tuning.results import GraphReference, Tuning

EPILOG = examples(
    "tune edges.txt --budget 10m",
    "tune edges.txt --task node-classification --labels labels.txt -o tuning.json",
    "tune edges.txt --budget 2h -o tuning.json --resume",
    "tune facebook --trials 50 --workers 1 --json",
)
_OPPOSITES = {"directed": "undirected", "weighted": "unweighted", "header": "no-header"}


@options.shared(*GRAPH_OPTIONS, "workers", "backend")
def tune(
    context: typer.Context,
    graph: GraphArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            *("--output", "-o"),
            metavar="FILE",
            help="A JSON file with every trial, rewritten after each.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    task: Annotated[
        str,
        options.choice(
            "What the vectors are for: predicting missing links (scored by AUC), or classifying "
            "nodes (by micro F1).",
            *TASKS,
            group=SEARCH,
        ),
    ] = "link-prediction",
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"For node classification. {options.LABELS_HELP} Data sets have their own.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Total time, such as 90s, 10m or 1h30m; a trial starts only if it can end in "
            "time. Default: 10m, or no limit with --trials.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="Number of settings to try, at most 1,000 by default. Without --budget, one "
            "seed gives one result.",
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
            "most 20,000 edges, and no more than a sparse graph can spare without falling apart.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Other methods to compare with, such as prone,netmf, or none. auto: prone and, "
            "up to 20,000 nodes, netmf and grarep; with --budget, as far as time allows.",
            rich_help_panel=SEARCH,
            autocompletion=lambda: ["auto", "none", *BASELINE_METHODS],
        ),
    ] = "auto",
    dimensions: Annotated[
        int,
        hyperparameter(
            *("dimensions", LEARNING),
            names=("--dimensions", "-d"),
            help="Dimensions of a vector; not searched, since more are seldom worse.",
        ),
    ] = PARAMETERS["dimensions"].default,
    data_dir: options.DataDir = None,
    seed: Annotated[
        int,
        hyperparameter(
            *("seed", RUNNING), help="Seed of the search, of what is held out, and of training."
        ),
    ] = PARAMETERS["seed"].default,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Resume from --output, if it exists. Earlier time and trials count: raise "
            "--budget or --trials to search longer.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
) -> None:
    """Search for hyperparameters that suit a graph: walk, amount of training, smoothing.

    Some edges, or labelled nodes, are held out. The search uses one part of them; at the end the
    best settings and the default are trained again and scored on the other part, and so are some
    other methods. Prints all scores, and the best setting as a command and as Python. Needs optuna:
    pip install 'reinforce2vec[tune]'.
    """
    with exit_code(USAGE):
        from .._util.checks import check_choice

        check_choice("task", task, TASKS)
        named = check_graph(context, graph)
        foreign = "labels" if task == "link-prediction" else "fraction"
        other = next(one for one in TASKS if one != task)
        options.check_unused(context, [foreign], f"--task {other}", f"--task {task}")
        if named and labels is not None:
            raise InputError(f"the data set {graph} has labels of its own: leave out --labels")
        if labels is None:
            options.check_unused(context, ["label", "id"], "--labels", "no labels")
        if task == "node-classification" and not named and labels is None:
            raise InputError(f"--task {task} needs --labels FILE: one node and its labels per line")
        if resume and output is None:
            raise InputError("--resume needs --output FILE: the file to resume from")
        from .._util.backend_choice import choose
        from ..files.targets import known_suffix
        from ..files.writing import ProbedPath
        from ..tuning.search import check_study_path, check_tuning

        check_tuning(budget, trials, method)
        choose(context.params["backend"], "training", workers=context.params["workers"])
        read = [path for path in (None if named else Path(graph), labels) if path is not None]
        written = []
        if output is not None:
            written.append(check_study_path(output, resume))
        check_different([*read, *given_files(context.params)], written)
        if output is not None:
            known_suffix(output, (".json",), "trials are written to")
    with exit_code(FAILURE):
        from ..tuning import tune as search

        check_input(graph)
        whole, classes = _read_all(context, graph, named)
        found = search(
            *(whole, task, classes),
            budget=budget,
            trials=trials,
            dimensions=dimensions,
            fraction=fraction,
            method=method,
            seed=seed,
            workers=context.params["workers"],
            backend=context.params["backend"],
            output=None if output is None else ProbedPath(output),
            resume=resume,
            progress=not quiet,
            source=_reference_to(context, graph, named),
        )
        if as_json:
            files = [] if output is None else [output]
            print_json(context, files=files, source=graph, **found.to_dict())
        else:
            _print_report(found)
        if output is not None:
            report(f"{output}: every trial", quiet)
        if not found.finished:
            left = "" if output is None else f"; to continue from {output}, add --resume"
            end_command(f"interrupted: these are the results so far{left}", INTERRUPTED)


def _print_report(found: Tuning) -> None:
    """Print the result: its tables and sentences fit the terminal, its code is left as it is."""
    if not is_rich(sys.stdout) or not found.ranking:
        typer.echo(str(found))
        return
    for number, part in enumerate(found.sections()):
        if number:
            typer.echo()
        print_text(part.title)
        if part.table:
            head, *rows = part.table
            print_table(head, rows, left=(part.words,))
        if part.notes:
            print_text(" ".join(part.notes))
        if part.code:
            typer.echo(indent(part.code, "    "))


def _read_all(context: typer.Context, graph: str, named: bool) -> tuple[Graph, Any]:
    """Read the graph and, if the task needs them, the classes of its nodes."""
    given = context.params
    if named and given["task"] == "node-classification":
        dataset = read_labelled_dataset(graph, given["data_dir"], given["quiet"])
        return dataset.graph, dataset.labels
    whole, labels = read_input_graph(graph, context, named), given["labels"]
    if labels is None:
        return whole, None
    return whole, read_input_labels(labels, whole, context).matrix


def _reference_to(context: typer.Context, graph: str, named: bool) -> GraphReference:
    """Return how the report names the graph: a file is embedded, a data set evaluated."""
    from ..tuning.results import GraphReference
    from ..tuning.space import as_python

    given, words, arguments = context.params, list[str](), list[str]()
    if named:
        if given["data_dir"] is not None:
            words = ["--data-dir", str(given["data_dir"])]
            arguments = [f", data_dir={as_python(str(given['data_dir']))}"]
        python = f"r2v.load_dataset({as_python(graph)}{''.join(arguments)}).graph"
        return GraphReference(("evaluate", given["task"], graph, *words), python, graph)
    for name in GRAPH_OPTIONS:
        if options.was_given(context, name):
            value = given[name]
            flag = _OPPOSITES[name] if value is False else options.flag_of(name)
            words += [f"--{flag}"] if isinstance(value, bool) else [f"--{flag}", str(value)]
            meant = unescaped(value) if name == "delimiter" else value
            meant = str(meant) if isinstance(meant, Path) else meant
            keyword = options.READING_NAMES.get(name, name)
            arguments.append(f", {keyword}={as_python(meant)}")
    python = f"r2v.read_graph({as_python(graph)}{''.join(arguments)})"
    return GraphReference(("embed", graph, "-o", "vectors.npz", *words), python, graph)
