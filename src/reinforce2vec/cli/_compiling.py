"""What commands print while functions are compiled, at their first use on a machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .._util.first_use import first_use
from .._util.progress import ProgressLine, counted
from ._messages import report

_LONG = 3.0  # seconds of compiling, after which `warm-up` is worth a line


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Show on the terminal, if there is one, what is being compiled while the block runs.

    At the end, one line says how long it took and that it was the first time only; not after an
    error or an interrupt, which may leave something to compile.
    """
    quiet = "--quiet" in sys.argv

    def line() -> ProgressLine:  # a new one: `warm-up` redirects what its commands print
        return ProgressLine(not quiet)

    def show(stage: str) -> None:
        line().pause(f"compiling: {stage} (first run only; kept for later runs) ...")

    before = first_use.show, first_use.hide
    first_use.show, first_use.hide = show, lambda: line().resume()
    try:
        yield
    except SystemExit as end:
        quiet |= bool(end.code)  # the last line is that of the error
        raise
    finally:
        first_use.show, first_use.hide = before
        if first_use.seconds >= _LONG and "warm-up" not in sys.argv[1:2]:
            quiet |= not line().on_terminal
            report(
                f"compiled {counted(first_use.functions, 'function')} in {first_use.seconds:.0f} s;"
                " later runs start at once. `reinforce2vec warm-up` compiles for all commands",
                quiet,
            )
