"""The command `reproduce`: the paper's tables and figures, with its numbers beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .._util.errors import InputError
from .._util.hyperparameters import EXPERIMENTS, MACHINE_BACKENDS
from .._util.progress import counted
from . import _options as options
from ._exit_codes import FAILURE, INTERRUPTED, USAGE, end_command, exit_code
from ._help import examples
from ._inputs import check_reading, is_file_name, read_input_graph, read_input_labels
from ._messages import check_results_folder, print_json, report
from ._options import GRAPH_OPTIONS

EPILOG = examples(
    "reproduce",
    "reproduce table-5 figure-4 --seeds 3 -o reproduction",
    "reproduce table-7 edges.csv --labels labels.csv --estimator mypackage.models:MyModel",
)
_SHOWN = 5  # different reasons for failures that are printed


@options.shared(*GRAPH_OPTIONS)
def reproduce(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|GRAPH]...",
            help="What to compute, numbered as in the paper: table-4, table-5, table-7, table-8, "
            "figure-1 to figure-4, or all of these, which takes about two hours for three seeds on "
            "two CPU cores. Beyond the paper: wide (128 dimensions), budget (walks per node and "
            "learning rates), family (many walks), speed (quality against seconds). Default: all. "
            "A graph of your own, in a file as for embed, becomes another column of table-4, "
            "table-7, figure-3, wide and speed.",
            show_default=False,
            autocompletion=options.completed(*EXPERIMENTS),
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "-o"),
            metavar="FOLDER",
            help="Folder for the results; created if needed.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = Path("reproduction"),
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"Labels of the nodes of GRAPH, for node classification. {options.LABELS_HELP}",
            rich_help_panel=options.OWN,
        ),
    ] = None,
    label: options.LabelColumn = None,
    id: options.IdColumn = None,
    estimator: options.Estimator = None,
    data_dir: options.DataDir = None,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Number of seeds, over which mean and standard deviation are taken.",
            rich_help_panel=options.RUNNING,
        ),
    ] = 3,
    backend: Annotated[
        str,
        options.choice(
            "Where to train and to score: cpu repeats to the last bit; auto is cuda if there is a "
            "GPU. Results of one are not reused for the other.",
            *MACHINE_BACKENDS,
            group=options.RUNNING,
        ),
    ] = "cpu",
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Processes. Default: one for each CPU core.",
            rich_help_panel=options.RUNNING,
        ),
    ] = None,
) -> None:
    """Compute the paper's tables and figures, and show its numbers beside ours.

    Finished parts are kept in the folder, and a run that was stopped resumes from there.
    """
    with exit_code(USAGE):
        check_results_folder(output)
        experiments, graph = _sorted_out(names or ())
        if graph is None:
            alone = ([*GRAPH_OPTIONS, "labels"], "a graph of your own", "the data sets")
            options.check_unused(context, *alone)
        else:
            check_reading(graph, context.params)
        if labels is None:
            options.check_unused(context, ["label", "id"], "--labels", "no labels")
        from .._util.checks import check_choice
        from ..evaluation.estimators import checked_estimator
        from ..experiments.catalogue import experiments_named
        from ..experiments.reproduction import reproduce as compute

        experiments_named(experiments)  # refuses names that do not exist
        check_choice("backend", backend, MACHINE_BACKENDS)
        if estimator is not None:
            checked_estimator(estimator)
    with exit_code(FAILURE):
        own: dict[str, Any] = {"estimator": estimator}
        if graph is not None:
            own |= {"graph": read_input_graph(graph, context), "title": graph.name}
        if labels is not None:
            own["labels"] = read_input_labels(labels, own["graph"], context).matrix
        try:
            outcome = compute(
                experiments,
                output,
                seeds=seeds,
                data_dir=None if data_dir is None else str(data_dir),
                jobs=jobs,
                backend=backend,
                **own,
                say=lambda message: report(message, quiet),
            )
        except KeyboardInterrupt:
            kept = f"finished parts are saved in {output}; repeat the command to continue"
            end_command(f"interrupted: {kept}", INTERRUPTED)
        told: dict[str, list[str]] = {}
        for name, reason in outcome.failures.items():
            told.setdefault(reason, []).append(name)
        for reason, (first, *others) in list(told.items())[:_SHOWN]:
            alike = f" and {counted(len(others), 'other cell')}" if others else ""
            report(f"{first}{alike}: {reason}", quiet=False)
        results = output / "results.md"
        if as_json:
            files = [results, results.with_suffix(".json")]
            print_json(context, files=files, cells=len(outcome.results), failures=outcome.failures)
        else:
            typer.echo(f"{results}: all results, from {len(outcome.results):,} cells")
        if outcome.failures:
            failed = f"{len(outcome.failures):,} cells failed and show as – in the tables"
            end_command(f"error: {failed}", FAILURE)


def _sorted_out(words: Sequence[str]) -> tuple[list[str], Path | None]:
    """Return the names of experiments, and the graph of the user, if one is among the words."""
    files = [word for word in words if word not in EXPERIMENTS and is_file_name(word)]
    if len(files) > 1:
        raise InputError(f"{files[1]}: give one graph of your own, not {len(files)}")
    return [word for word in words if word not in files], Path(files[0]) if files else None
