"""Draw the figures of the results again, from the scores in docs/results/cells.json.

    python docs/drawings/results.py [EXPERIMENT ...]

Nothing is computed: `reinforce2vec reproduce` does that, and draws the same figures.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from reinforce2vec.experiments.catalogue import EXPERIMENTS
from reinforce2vec.experiments.report import draw_picture
from reinforce2vec.experiments.scale import PAPER_SCALE
from reinforce2vec.experiments.views import Results

FOLDER = Path(__file__).parents[1] / "results"


def main(names: list[str]) -> None:
    """Draw the figures of some experiments, or of all that have results."""
    cells = json.loads((FOLDER / "cells.json").read_text(encoding="utf-8"))
    known = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))["experiments"]
    for name in names or known:
        scale = replace(PAPER_SCALE, backend=known[name].get("backend", "cpu"))
        view = EXPERIMENTS[name].view(Results(cells), known[name]["seeds"], scale)
        for picture in view.pictures:
            draw_picture(FOLDER, picture)


if __name__ == "__main__":
    main(sys.argv[1:])
