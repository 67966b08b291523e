"""Shared parts of the drawings: boxes, arrows, nodes."""

from __future__ import annotations

from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from reinforce2vec.plotting.style import BLACK, ORANGE, SKY, YELLOW

PALE = "#e8e8e8"

plt.rcParams.update(
    {
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "savefig.facecolor": "white",
        "svg.hashsalt": "reinforce2vec",  # the same numbers, the same file
    }
)


def canvas(width: float, height: float) -> tuple[Any, Any]:
    """Return a figure and its empty axes, in inches from the lower left corner."""
    figure = plt.figure(figsize=(width, height))
    field = figure.add_axes((0, 0, 1, 1))
    field.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    field.axis("off")
    return figure, field


def box(field: Any, x: float, y: float, width: float, height: float, colour: str) -> None:
    """Draw a rounded box with its lower left corner at (x, y)."""
    shape = "round,pad=0,rounding_size=0.08"
    field.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle=shape,
            facecolor="white",
            edgecolor=colour,
            linewidth=1.8,
        )
    )


def arrow(field: Any, begin: tuple[float, float], end: tuple[float, float], **looks: Any) -> None:
    """Draw an arrow from one point to another."""
    looks = {"color": BLACK, "linewidth": 1.4, "mutation_scale": 13} | looks
    field.add_patch(FancyArrowPatch(begin, end, arrowstyle="-|>", shrinkA=0, shrinkB=0, **looks))


def node(field: Any, place: tuple[float, float], name: object, colour: str, size: float) -> None:
    """Draw a node of a graph."""
    filled = colour not in ("white", PALE, YELLOW, ORANGE, SKY)
    field.add_patch(Circle(place, size, facecolor=colour, edgecolor=BLACK, linewidth=1.1, zorder=3))
    field.text(
        *place, str(name), ha="center", va="center", color="white" if filled else "black", zorder=4
    )
