"""What commands print while functions are compiled, at their first use on a machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .._util.first_use import first_use
from .._util.progress import ProgressLine, counted
from ._exit_codes import INTERRUPTED
from ._messages import report

_LONG = 3.0  # seconds of compiling, after which `warm-up` is worth a line


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Show on the terminal, if there is one, what is being compiled while the block runs.

    At the end, one line says how long it took and that it was the first time only; not after an
    interrupt, which leaves something to compile.
    """
    quiet, interrupted = "--quiet" in sys.argv, False

    def show(stage: str) -> None:
        line = ProgressLine(not quiet)  # a new one: `warm-up` redirects what its commands print
        if line.on_terminal:
            line.show(f"compiling: {stage} (first run only; kept for later runs) ...")

    first_use.show, first_use.hide = show, lambda: ProgressLine(not quiet).clear()
    try:
        yield
    except SystemExit as end:
        interrupted = end.code == INTERRUPTED
        raise
    finally:
        needless = interrupted or "warm-up" in sys.argv[1:2]
        if first_use.seconds >= _LONG and not needless:
            quiet |= not ProgressLine().on_terminal
            report(
                f"compiled {counted(first_use.functions, 'function')} in {first_use.seconds:.0f} s;"
                " later runs start at once. `reinforce2vec warm-up` compiles for all commands",
                quiet,
            )
