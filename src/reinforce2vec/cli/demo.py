"""The command `demo`: the main job, told in figures, on graphs without a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._app import examples
from ._messages import FAILURE, USAGE, check_folder_for_results, print_json, sentences

EPILOG = examples("demo", "demo -o demo-output")


def demo(
    context: typer.Context,
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "--out", "-o"),
            metavar="FOLDER",
            help="Where the files go; made if it is not there.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = Path("demo-output"),
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the whole way on a built-in graph: walks, vectors, scores and a picture."""
    with sentences(USAGE):
        check_folder_for_results(output)
    with sentences(FAILURE):
        from ._demo_steps import tell

        files = tell(
            output, lambda line: None if quiet else typer.echo(line, err=as_json), data_dir
        )
        if as_json:
            print_json(context, files=files)
