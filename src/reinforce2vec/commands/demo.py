"""The command `demo`: what the walks do, on built-in graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .speech import FAILURE, sentences

EPILOG = "Example: reinforce2vec demo --out demo-output"


def demo(
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the walks go; made if it is not there.")
    ] = Path("demo-output"),
) -> None:
    """Show on built-in graphs what the walks do."""
    with sentences(FAILURE):
        from ..demo import tell

        tell(out, typer.echo)
