"""The command line. Only commands import what computes, so that --help waits for nothing."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from . import __version__
from .commands import datasets, demo, embed, evaluate, reproduce, walk

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command that the arguments name."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: cleanly
    app(prog_name="reinforce2vec")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reinforce2vec {__version__}")
        raise typer.Exit


@app.callback()
def _every_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Random walks that remember, on graphs in files."""


app.command(epilog=walk.EPILOG)(walk.walk)
app.command(epilog=embed.EPILOG)(embed.embed)
app.add_typer(evaluate.app, name="evaluate")
app.command(epilog=datasets.EPILOG)(datasets.datasets)
app.command(epilog=demo.EPILOG)(demo.demo)
app.command(epilog=reproduce.EPILOG)(reproduce.reproduce)
