"""The command `demo`: the whole pipeline on built-in graphs, with figures."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, TextIO

import typer

from .._util.terminal import styled
from . import _options as options
from ._exit_codes import FAILURE, USAGE, exit_code
from ._help import examples
from ._messages import check_results_folder, for_people, print_json

EPILOG = examples("demo", "demo -o demo-output")


def demo(
    context: typer.Context,
    output: Annotated[
        Path,
        typer.Option(
            *("--output", "-o"),
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
        from ..files.locks import claimed
        from ._demo_steps import VECTORS, run_demo

        if data_dir is not None:
            existing_folder(data_dir, "data_dir")  # before the work
        output.mkdir(parents=True, exist_ok=True)
        context.with_resource(claimed(output / VECTORS.format("groups")))
        place = sys.stderr if as_json else sys.stdout
        files = run_demo(output, None if quiet else partial(_print, place), data_dir)
        if as_json:
            print_json(context, files=files)


def _print(place: TextIO, line: str) -> None:
    """Print a line of the report, which may begin with the name of a step and spaces."""
    step = re.match(r"[A-Z]\w+ {2,}", line)
    text = for_people(line, place, " " * len(step[0] if step else ""))
    if step:
        name = step[0].rstrip()
        text = styled(name, "bold", place) + text[len(name) :]
    typer.echo(text, file=place, color=True)
