"""The training schedule: pairs sorted into buckets, and buckets trained in rounds."""

from __future__ import annotations

from typing import Any

from matplotlib.patches import Rectangle
from style import PALE, arrow, box, canvas

from reinforce2vec.plotting.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED
from reinforce2vec.skipgram.schedule import rounds

BLOCKS, SHOWN = 4, 1  # how many blocks, and the round in the large drawing
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)  # of the buckets that are trained at once
STAGES = (
    ("a pass", GREY, "the next walks: about 80 pairs of a\ncontext and a centre for each node"),
    ("pairs", BLUE, "found on all threads, and sorted\nby bucket: the blocks of both nodes"),
    ("rounds", ORANGE, "one after the other; the buckets of\na round are trained at once"),
)
FILES = ("skipgram/passes.py", "skipgram/pairs.py", "skipgram/schedule.py")
LEFT, WIDTH, HEIGHT, GAP, TOP = 0.2, 3.3, 1.05, 0.36, 4.85
TITLE = 5.2
GRID, FLOOR, CELL = 5.35, 1.7, 0.66  # the large grid
SMALL = 0.2  # a cell of a small grid


def draw() -> Any:
    """Draw the stages of a pass on the left, and on the right the buckets of one round."""
    figure, field = canvas(11.0, 5.5)
    _draw_stages(field)
    _draw_round(field)
    _draw_rounds(field)
    return figure


def _draw_stages(field: Any) -> None:
    """Draw the stages of a pass from top to bottom, and back to the first."""
    middle = LEFT + WIDTH / 2
    _text(field, middle, TITLE, "pass after pass", weight="bold", fontsize=10)
    for number, ((name, colour, does), file) in enumerate(zip(STAGES, FILES, strict=True)):
        top = TOP - number * (HEIGHT + GAP)
        box(field, LEFT, top - HEIGHT, WIDTH, HEIGHT, colour)
        _text(field, LEFT + 0.12, top - 0.18, name, ha="left", color=colour, weight="bold")
        _text(field, middle, top - 0.5, does)
        _text(field, middle, top - HEIGHT + 0.17, file, family="monospace", fontsize=8)
        arrow(field, (middle, top - HEIGHT), (middle, top - HEIGHT - GAP))
    bottom = TOP - len(STAGES) * (HEIGHT + GAP)
    _text(field, middle, bottom - 0.15, "the next pass, until all walks are trained")


def _draw_round(field: Any) -> None:
    """Draw all buckets, those of one round in colour, and the rows that they change."""
    buckets = {bucket: n for n, some in enumerate(rounds(BLOCKS)) for bucket in some}
    side = BLOCKS * CELL
    title = f"{BLOCKS} × {BLOCKS} buckets: those of round {SHOWN} have no row in common"
    _text(field, GRID + side / 2, TITLE, title, weight="bold", fontsize=10)
    for (context, centre), number in buckets.items():
        now = number == SHOWN
        x, y = GRID + centre * CELL, FLOOR + (BLOCKS - 1 - context) * CELL
        colour = COLOURS[context]
        _fill(field, x, y, CELL, CELL, colour if now else "white")
        looks = {"color": "white", "weight": "bold"} if now else {"color": "#777777"}
        _text(field, x + CELL / 2, y + CELL / 2, f"({context}, {centre})", **looks)
        if now:
            _fill(field, GRID - 0.42, y, 0.26, CELL, colour)
            _fill(field, x, FLOOR + side + 0.16, CELL, 0.26, colour)
    for block in range(BLOCKS):
        along = (block + 0.5) * CELL
        _text(field, GRID - 0.29, FLOOR + side - along, block, color="white", fontsize=8)
        _text(field, GRID + along, FLOOR + side + 0.29, block, color="white", fontsize=8)
    words = "rows of inputs:\nthe block of\nthe contexts"
    _text(field, GRID - 0.52, FLOOR + side / 2, words, ha="right")
    words = "rows of outputs: the block of\nthe centres and their negatives"
    _text(field, GRID + side + 0.12, FLOOR + side + 0.29, words, ha="left")
    words = (
        "Bucket (i, j) has the pairs with\na context in block i and a centre\nin block j. "
        "Threads may train the\nbuckets of a round in any order:\nthe result is the same.\n\n"
        "A training has 32 blocks, or fewer\non graphs of less than 2,048 nodes."
    )
    _text(field, GRID + side + 0.25, FLOOR + side / 2 - 0.1, words, ha="left")


def _draw_rounds(field: Any) -> None:
    """Draw the buckets of every round, small, in a row."""
    x, floor, side = GRID - 0.42, 0.5, BLOCKS * SMALL
    for number, some in enumerate(rounds(BLOCKS)):
        for context in range(BLOCKS):
            for centre in range(BLOCKS):
                colour = COLOURS[context] if (context, centre) in some else PALE
                at = x + centre * SMALL, floor + (BLOCKS - 1 - context) * SMALL
                _fill(field, *at, SMALL, SMALL, colour)
        looks = {"color": RED, "weight": "bold"} if number == SHOWN else {}
        _text(field, x + side / 2, floor - 0.18, f"round {number}", **looks)
        if number + 1 < BLOCKS:
            arrow(field, (x + side + 0.1, floor + side / 2), (x + side + 0.5, floor + side / 2))
        x += side + 0.6


def _fill(field: Any, x: float, y: float, width: float, height: float, colour: str) -> None:
    looks = {"facecolor": colour, "edgecolor": GREY, "linewidth": 0.9}
    field.add_patch(Rectangle((x, y), width, height, **looks))


def _text(field: Any, x: float, y: float, words: object, **looks: Any) -> None:
    field.text(x, y, str(words), **({"ha": "center", "va": "center", "fontsize": 9} | looks))
