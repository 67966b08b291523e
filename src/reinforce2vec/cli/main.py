"""The command line. Only a command that runs imports numpy and numba, so that --help is quick."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import warnings
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from .. import __version__
from .._util.interrupts import ENDING, ask_again, is_busy, is_stopped, stop_command
from ._app import App
from ._messages import print_last, print_line
from ._run import INTERRUPTED, NOTHING_LEFT
from .datasets import datasets
from .demo import demo
from .embed import embed
from .evaluate import app as evaluate
from .explore import explore
from .neighbors import neighbors
from .plot import plot
from .recommend import recommend
from .tune import tune
from .update import update
from .walk import walk
from .warm_up import warm_up

app = App(
    add_completion=True,
    epilog="\b\nExamples:\n"
    "    reinforce2vec embed edges.txt -o vectors.npz\n"
    "    reinforce2vec evaluate link-prediction edges.txt\n"
    "    reinforce2vec embed --help",
)


def main() -> None:
    """Run the command that the arguments name."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and is not ignored
        signal.signal(signal.SIGINT, stop_command)
    for number in ENDING:  # they end a command as cleanly as Ctrl-C does
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, stop_command)
    sys.unraisablehook = ask_again
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a name that the terminal cannot show is no error
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    try:
        _run()
    except SystemExit as end:
        if is_busy():  # with compiling, after Ctrl-C: Python would wait for it
            _flush()
            os._exit(end.code if isinstance(end.code, int) else 0)
        raise
    finally:
        for number in (signal.SIGINT, *ENDING):  # there is nothing left to stop
            if signal.getsignal(number) is stop_command:
                signal.signal(number, signal.SIG_IGN)
        _leave_styles()


def _run() -> None:
    """Run the command; an interrupt ends it also before it begins, and while it imports."""
    try:
        app(prog_name="reinforce2vec")
    except (KeyboardInterrupt, Exception) as error:  # of an import, an interrupt can be any error
        if not isinstance(error, KeyboardInterrupt) and not is_stopped():
            raise
        print_last(f"interrupted: {NOTHING_LEFT}")
        sys.exit(INTERRUPTED)


def _leave_styles() -> None:
    """Keep colorama, which numba imports, from writing an escape code when Python ends."""
    reset = getattr(sys.modules.get("colorama.initialise"), "reset_all", None)
    if reset is not None:
        atexit.unregister(reset)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """Print a warning as one line, without the place in the code that it comes from."""
    if "--quiet" not in sys.argv:
        print_line(f"warning: {message}")


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
    """Node embeddings from reinforced random walks."""


app.add_typer(evaluate, name="evaluate", short_help=evaluate.info.help)
for function in (demo, embed, update, tune, neighbors, recommend, plot, explore, walk, datasets):
    app.command()(function)
app.command()(warm_up)
