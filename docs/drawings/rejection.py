"""Rejection sampling: propose a neighbour, accept it in proportion to its weight.

Weights and bounds are those of the default walk at a node with twelve neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from style import plt

from reinforce2vec import ReinforcedWalk
from reinforce2vec.plotting.style import BLACK, BLUE, GREEN, RED
from reinforce2vec.walks import scores as scoring

VISITS = (0, 1, 0, 0, 3, 0, 0, 2, 0, 0, 1, 0)  # of each neighbour
START_VISITS, N, NODES = 1, 12, 1000
PROPOSALS, SEED = 9, 28


class Bounds(NamedTuple):
    """Weights of the neighbours, and bounds of all weights."""

    weights: list[float]
    top: float  # upper bound
    floor: float  # lower bound


def bounds() -> Bounds:
    """Return weights and bounds of the default walk at this step."""
    walk = ReinforcedWalk()
    scores = scoring.make_scores("js", False, 1.0, 1.0, walk.exploration_weights(N + 1), NODES)
    tops, floors = scoring.softmax_bounds(scores)
    weights = [scoring.softmax_weight(scores, N, START_VISITS, c, 0.0) for c in VISITS]
    return Bounds(weights, float(tops[N]), float(floors[START_VISITS]))


def draw() -> Any:
    """Draw the weights as bars between the bounds, and the proposals as points."""
    found = bounds()
    figure, axis = plt.subplots(figsize=(11, 4.1), layout="constrained")
    places = np.arange(len(VISITS))
    colours = ["#d9d9d9" if c == 0 else "#9fd0ef" for c in VISITS]
    axis.bar(places, found.weights, 0.82, color=colours, edgecolor=BLACK, linewidth=0.6)
    for y, words in ((found.top, "upper bound"), (found.floor, "lower bound")):
        axis.plot([-0.6, 11.6], [y, y], color=BLACK, linewidth=1.1, linestyle=(0, (5, 3)))
        axis.text(11.7, y, f"{words}\n{y:.3f}", va="center", fontsize=9.5)
    looks = {
        "accepted without looking up its visits": (GREEN, "o"),
        "accepted after looking them up": (BLUE, "s"),
        "rejected: propose again": (RED, "X"),
    }
    kinds = list(looks)
    rng = np.random.default_rng(SEED)
    labelled = set()
    for turn in range(1, PROPOSALS + 1):
        x, y = int(rng.integers(len(VISITS))), float(rng.random()) * found.top
        kind = kinds[0 if y < found.floor else 1 if y < found.weights[x] else 2]
        colour, marker = looks[kind]
        axis.plot(
            *(x, y, marker), color=colour, markeredgecolor="white", markersize=11, zorder=3,
            label=None if kind in labelled else kind,
        )  # fmt: skip
        axis.text(x + 0.17, y, turn, fontsize=9, va="center")
        labelled.add(kind)
    names = ("not visited", "visited once", "visited twice", "visited 3 times")
    axis.set_xticks(places, [names[c].replace(" ", "\n", 1) for c in VISITS], fontsize=8.5)
    axis.tick_params(axis="x", length=0)
    axis.set(ylim=(0, 1.32), xlim=(-0.6, 13.1), ylabel="weight of a neighbour")
    share = np.mean(found.weights) / found.top
    axis.set_title(
        f"{PROPOSALS} proposals, each a random neighbour and a random height; "
        f"{share:.0%} are accepted, so a step takes {1 / share:.2f} on average"
    )
    order = np.argsort([kinds.index(label) for label in axis.get_legend_handles_labels()[1]])
    handles, labels = axis.get_legend_handles_labels()
    axis.legend(
        [handles[i] for i in order], [labels[i] for i in order],
        ncols=3, frameon=False, loc="upper left",
    )  # fmt: skip
    return figure
