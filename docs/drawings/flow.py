"""From edges to vectors: the stages and the memory that each of them uses."""

from __future__ import annotations

from typing import Any

from style import arrow, box, canvas

from reinforce2vec.plotting.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED

STAGES = (
    ("edges", "a file, a table,\na networkx graph", "", GREY),
    (
        "Graph",
        "sorted neighbours,\nyour ids in your order",
        "4 bytes per arc,\n8 per node, the ids",
        BLUE,
    ),
    ("walks", "from every node,\nin blocks", "a few MB per thread,\nfor any number", GREEN),
    (
        "skip-gram",
        "nodes close in a walk\nget similar vectors",
        "two matrices: 8 bytes\n× nodes × d; and\nthe pairs of a pass",
        ORANGE,
    ),
    ("smoothing", "along the graph,\nunless turned off", "some columns\nat a time", PURPLE),
    ("Embedding", "ids and vectors", "one matrix", RED),
)
USES = "files  ·  nearest neighbours  ·  recommended links  ·  evaluation  ·  plots"
WIDTH, HEIGHT, GAP = 1.62, 1.0, 0.26


def draw() -> Any:
    """Draw the stages as boxes in a row."""
    across = len(STAGES) * (WIDTH + GAP) - GAP
    figure, field = canvas(across + 0.3, 2.75)
    for number, (name, does, keeps, colour) in enumerate(STAGES):
        x = 0.15 + number * (WIDTH + GAP)
        box(field, x, 1.55, WIDTH, HEIGHT, colour)
        middle = x + WIDTH / 2
        field.text(middle, 2.32, name, ha="center", va="center", fontsize=12, weight="bold")
        field.text(middle, 1.88, does, ha="center", va="center", fontsize=9)
        field.text(middle, 1.22, keeps, ha="center", va="center", fontsize=9, color="#444444")
        if number:
            arrow(field, (x - GAP, 2.05), (x, 2.05))
    field.text(
        0.15 + WIDTH / 2, 1.22, "memory:", ha="center", va="center", fontsize=9, color="#444444"
    )
    last = 0.15 + 5 * (WIDTH + GAP) + WIDTH / 2
    arrow(field, (last, 1.02), (last, 0.62), color=BLACK)
    field.text(across + 0.15, 0.4, USES, ha="right", va="center", fontsize=10.5)
    return figure
