"""Draw the figures of the documentation: python docs/drawings/draw.py [FOLDER]."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

NAMES = ("flow", "step", "family", "rejection", "window", "embed", "schedule")
FOLDER = Path(__file__).parents[1] / "how-it-works"


def main(folder: Path, suffixes: tuple[str, ...]) -> None:
    """Write every drawing to a folder."""
    folder.mkdir(exist_ok=True)
    for name in NAMES:
        figure = import_module(name).draw()
        for suffix in suffixes:
            figure.savefig(
                folder / f"{name}{suffix}",
                dpi=110,
                metadata={"Date": None} if suffix == ".svg" else None,
            )


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    main(chosen, (".svg",) if chosen == FOLDER else (".svg", ".png"))
