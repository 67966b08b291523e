"""The command `demo`: the whole pipeline on built-in graphs, with figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._app import examples
from ._exit_codes import FAILURE, USAGE, exit_code
from ._messages import check_results_folder, print_json

EPILOG = examples("demo", "demo -o demo-output")


def demo(
    context: typer.Context,
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "--out", "-o"),
            metavar="FOLDER",
            help="Folder for the files; created if needed.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = Path("demo-output"),
    data_dir: options.DataDir = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the whole pipeline on a built-in graph: walks, vectors, scores and a picture."""
    with exit_code(USAGE):
        check_results_folder(output)
    with exit_code(FAILURE):
        from ..datasets.loading import existing_folder
        from ._demo_steps import run_demo

        if data_dir is not None:
            existing_folder(data_dir, "data_dir")  # before the work
        write = None if quiet else (lambda line: typer.echo(line, err=as_json))
        files = run_demo(output, write, data_dir)
        if as_json:
            print_json(context, files=files)
