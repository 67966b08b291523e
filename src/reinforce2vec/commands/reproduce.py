"""The command `reproduce`: the paper's tables and figures, with its numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .speech import FAILURE, INTERRUPTED, USAGE, end, say, sentences

EPILOG = "Example: reinforce2vec reproduce table-5 figure-4 --seeds 3 --out reproduction"
TOLD = 5  # failures that are told one by one


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="What to compute, numbered as in the paper: table-4, table-5, table-7, table-8, "
            "figure-1 to figure-4, or all of these, which takes about an hour for one seed on two "
            "processors. Beyond the paper: wide (128 dimensions), budget (walks per node and "
            "learning rates), family (many walks). Default: all.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="K", min=1, help="How many seeds: mean and spread are over them.")
    ] = 1,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the data sets are. Default: $REINFORCE2VEC_DATA, then the cache, then a "
            "download.",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Where the results go; made if it is not there."),
    ] = Path("reproduction"),
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes. Default: one for each processor."),
    ] = None,
) -> None:
    """Compute the paper's tables and figures, and show its numbers beside ours.

    What is finished is kept in the folder, and a run that was stopped goes on from there.
    """
    with sentences(USAGE):
        from ..experiments.reproduction import reproduce as compute

        try:
            outcome = compute(
                names or (),
                out,
                seeds=seeds,
                data_dir=None if data_dir is None else str(data_dir),
                jobs=jobs,
                say=lambda message: say(message, quiet=False),
            )
        except KeyboardInterrupt:
            end(f"interrupted: {out} keeps what is finished; the same command goes on", INTERRUPTED)
    for name, reason in list(outcome.failures.items())[:TOLD]:
        say(f"{name}: {reason}", quiet=False)
    typer.echo(f"{out / 'results.md'}: all results, from {len(outcome.results):,} cells")
    if outcome.failures:
        end(f"error: {len(outcome.failures):,} cells failed and show as – in the tables", FAILURE)
