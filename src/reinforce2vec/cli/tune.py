"""The command `tune`: hyperparameter search for a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import reinforce2vec as r2v

from .._util.errors import InputError
from .._util.hyperparameters import BASELINE_METHODS, TASKS
from . import _inputs as inputs
from . import _options as options
from ._app import command
from ._options import GRAPH_OPTIONS, LEARNING, OUTPUT, RUNNING, SEARCH
from ._run import READING_NAMES, Run, flag_of

if TYPE_CHECKING:
    from ..tuning.results import GraphReference

_OPPOSITES = {"directed": "undirected", "weighted": "unweighted"}
_SETTINGS = ("budget", "trials", "dimensions", "fraction", "method", "seed", "workers", "backend")


@command(
    options.GRAPH_OR_DATASET,
    OUTPUT.option("output --output -o FILE", "A JSON file with every trial, rewritten after each."),
    *options.shared("as_json", "quiet"),
    SEARCH.choice(
        "task",
        TASKS,
        "What the vectors are for: predicting missing links (scored by AUC), or classifying "
        "nodes (by micro F1).",
        default="link-prediction",
    ),
    SEARCH.option(
        "labels FILE", f"For node classification. {options.LABELS_HELP} Data sets have their own."
    ),
    *options.shared("label", "id"),
    SEARCH.option(
        "budget TIME",
        "Total time, such as 90s, 10m or 1h30m; a trial starts only if it can end in "
        "time. Default: 10m, or no limit with --trials.",
    ),
    SEARCH.option(
        "trials N",
        "Number of settings to try, at most 1,000 by default. Without --budget, one "
        "seed gives one result.",
        min=2,
    ),
    SEARCH.option(
        "fraction SHARE",
        "Link prediction: share of the edges to hold out. Default: half of them, but at "
        "most 20,000 edges, and no more than a sparse graph can spare without falling apart.",
    ),
    SEARCH.option(
        "method NAMES",
        "Other methods to compare with, such as prone,netmf, or none. auto: prone and, "
        "up to 20,000 nodes, netmf and grarep; with --budget, as far as time allows.",
        default="auto",
        autocompletion=options.completed("auto", "none", *BASELINE_METHODS),
    ),
    LEARNING.hyperparameter(
        "dimensions",
        "dimensions --dimensions -d",
        help="Dimensions of a vector; not searched, since more are seldom worse.",
    ),
    *options.shared("data_dir"),
    RUNNING.hyperparameter(
        "seed", help="Seed of the search, of what is held out, and of training."
    ),
    RUNNING.flag(
        "resume",
        "Resume from --output, if it exists. Earlier time and trials count: raise "
        "--budget or --trials to search longer.",
    ),
    *options.shared(*GRAPH_OPTIONS, "workers", "backend"),
    examples=(
        "tune edges.txt --budget 10m",
        "tune edges.txt --task node-classification --labels labels.txt -o tuning.json",
        "tune edges.txt --budget 2h -o tuning.json --resume",
        "tune facebook --trials 50 --workers 1 --json",
    ),
)
def tune(run: Run) -> None:
    """Search for hyperparameters that suit a graph: walk, amount of training, smoothing.

    Some edges, or labelled nodes, are held out. The search uses one part of them; at the end the
    best settings and the default are trained again and scored on the other part, and so are some
    other methods. Prints all scores, and the best setting as a command and as Python. Needs optuna:
    pip install 'reinforce2vec[tune]'.
    """
    from ..files.writing import ProbedPath

    given = run.given
    named = _check(run)
    run.begin()
    inputs.check_input(given.graph)
    graph, classes = _read_all(run, named)
    tuning = r2v.tune(
        graph,
        given.task,
        classes,
        **{name: getattr(given, name) for name in _SETTINGS},
        output=given.output and ProbedPath(given.output),
        resume=given.resume,
        progress=not run.quiet,
        source=_reference_to(run, named),
    )
    if given.as_json:
        files = [] if given.output is None else [given.output]
        run.print_json(files=files, source=given.graph, **tuning.to_dict())
    else:
        typer.echo(str(tuning))
    if given.output is not None:
        run.report(f"{given.output}: every trial")
    if not tuning.finished:
        left = "" if given.output is None else f"; to continue from {given.output}, add --resume"
        raise KeyboardInterrupt(f"these are the results so far{left}")


def _check(run: Run) -> bool:
    """Return whether the graph is a data set; InputError for options that do not go together."""
    from .._util.backend_choice import choose
    from ..files.targets import known_suffix
    from ..tuning.search import check_study_path, check_tuning

    given = run.given
    named = inputs.check_graph(run, given.graph)
    foreign = "labels" if given.task == "link-prediction" else "fraction"
    other = next(task for task in TASKS if task != given.task)
    run.refuse([foreign], f"--task {other}", f"--task {given.task}")
    if named and given.labels is not None:
        raise InputError(f"the data set {given.graph} has labels of its own: leave out --labels")
    if given.labels is None:
        run.refuse(["label", "id"], "--labels", "no labels")
    if given.task == "node-classification" and not named and given.labels is None:
        raise InputError(
            f"--task {given.task} needs --labels FILE: one node and its labels per line"
        )
    if given.resume and given.output is None:
        raise InputError("--resume needs --output FILE: the file to resume from")
    check_tuning(given.budget, given.trials, given.method)
    choose(given.backend, "training", workers=given.workers)
    if given.output is not None:
        check_study_path(given.output, given.resume)
        graph = None if named else Path(given.graph)
        run.writes(given.output, reads=[graph, given.labels], claim=False)  # the search claims it
        known_suffix(given.output, (".json",), "trials are written to")
    return named


def _read_all(run: Run, named: bool) -> tuple[r2v.Graph, Any]:
    """Read the graph and, if the task needs them, the classes of its nodes."""
    given = run.given
    if named and given.task == "node-classification":
        dataset = inputs.read_labelled_dataset(run, given.graph)
        return dataset.graph, dataset.labels
    graph = inputs.read_input_graph(run, given.graph, named)
    if given.labels is None:
        return graph, None
    return graph, inputs.read_input_labels(run, given.labels, graph).matrix


def _reference_to(run: Run, named: bool) -> GraphReference:
    """Return how the report names the graph: a file is embedded, a data set evaluated."""
    from ..tuning.results import GraphReference
    from ..tuning.space import as_python

    given, words, arguments = run.given, list[str](), ""
    if named:
        if given.data_dir is not None:
            words = ["--data-dir", str(given.data_dir)]
            arguments = f", data_dir={as_python(str(given.data_dir))}"
        python = f"r2v.load_dataset({as_python(given.graph)}{arguments}).graph"
        return GraphReference(("evaluate", given.task, given.graph, *words), python, given.graph)
    for name in GRAPH_OPTIONS:
        if run.was_given(name):
            value = getattr(given, name)
            flag = _OPPOSITES.get(name, f"no-{name}") if value is False else flag_of(name)
            words += [f"--{flag}"] if isinstance(value, bool) else [f"--{flag}", str(value)]
            value = inputs.unescaped(value) if name == "delimiter" else value
            value = str(value) if isinstance(value, Path) else value
            arguments += f", {READING_NAMES.get(name, name)}={as_python(value)}"
    python = f"r2v.read_graph({as_python(given.graph)}{arguments})"
    return GraphReference(("embed", given.graph, "-o", "vectors.npz", *words), python, given.graph)
