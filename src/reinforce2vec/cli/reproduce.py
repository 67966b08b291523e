"""The command `reproduce`: the paper's tables and figures, with its numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._app import examples
from ._exit_codes import FAILURE, INTERRUPTED, USAGE, end_command, exit_code
from ._messages import check_results_folder, print_json, report

EPILOG = examples(
    "reproduce",
    "reproduce table-5 figure-4 --seeds 3 -o reproduction",
    "reproduce table-8 --data-dir FOLDER --jobs 4 --json",
)
_SHOWN = 5  # failures that are printed one by one


def reproduce(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="What to compute, numbered as in the paper: table-4, table-5, table-7, table-8, "
            "figure-1 to figure-4, or all of these, which takes about an hour for one seed on two "
            "CPU cores. Beyond the paper: wide (128 dimensions), budget (walks per node and "
            "learning rates), family (many walks). Default: all.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "--out", "-o"),
            metavar="FOLDER",
            help="Folder for the results; created if needed.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = Path("reproduction"),
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    data_dir: options.DataDir = None,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Number of seeds, over which mean and standard deviation are taken.",
            rich_help_panel=options.RUNNING,
        ),
    ] = 1,
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
        from ..experiments.catalogue import experiments_named
        from ..experiments.reproduction import reproduce as compute

        experiments_named(names or ())  # refuses names that do not exist
    with exit_code(FAILURE):
        try:
            outcome = compute(
                names or (),
                output,
                seeds=seeds,
                data_dir=None if data_dir is None else str(data_dir),
                jobs=jobs,
                say=lambda message: report(message, quiet),
            )
        except KeyboardInterrupt:
            kept = f"finished parts are saved in {output}; repeat the command to continue"
            end_command(f"interrupted: {kept}", INTERRUPTED)
        for name, reason in list(outcome.failures.items())[:_SHOWN]:
            report(f"{name}: {reason}", quiet=False)
        results = output / "results.md"
        if as_json:
            files = [results, results.with_suffix(".json")]
            print_json(context, files=files, cells=len(outcome.results), failures=outcome.failures)
        else:
            typer.echo(f"{results}: all results, from {len(outcome.results):,} cells")
        if outcome.failures:
            failed = f"{len(outcome.failures):,} cells failed and show as – in the tables"
            end_command(f"error: {failed}", FAILURE)
