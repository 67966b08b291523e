"""Skip-gram: nodes in the window move towards the centre, and away from negative samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from style import PALE, arrow, node, plt

from reinforce2vec import karate_club, sample_walks
from reinforce2vec.plotting.style import BLUE, GREY, ORANGE, SKY

LENGTH, CENTRE, REACH, WINDOW, NEGATIVES = 15, 7, 3, 10, 5
CLUB = karate_club()


def walk_and_negatives() -> tuple[list[int], list[int]]:
    """Return a walk on the karate club, and members drawn by visits ^ 0.75."""
    walks = sample_walks(CLUB, length=LENGTH, per_node=20, seed=1)
    noise = np.bincount(walks.ravel(), minlength=len(CLUB)) ** 0.75
    drawn = np.random.default_rng(9).choice(
        len(CLUB), NEGATIVES, replace=False, p=noise / noise.sum()
    )
    return CLUB.ids[walks[0]].tolist(), CLUB.ids[drawn].tolist()


def draw() -> Any:
    """Draw a walk with its window, and how often each distance is used."""
    walk, negatives = walk_and_negatives()
    figure = plt.figure(figsize=(11, 3.5))
    strip = figure.add_axes((0.01, 0.0, 0.67, 0.92))
    chances = figure.add_axes((0.735, 0.16, 0.25, 0.63))
    strip.set(xlim=(-0.6, LENGTH - 0.4), ylim=(-2.75, 2.05), aspect="equal")
    strip.axis("off")
    strip.set_title(f"A walk on the karate club, and one step of training with a window of {REACH}")
    strip.plot([0, LENGTH - 1], [0, 0], color=GREY, linewidth=1.2, zorder=1)
    for place, member in enumerate(walk):
        near = 0 < abs(place - CENTRE) <= REACH
        colour = ORANGE if place == CENTRE else SKY if near else PALE
        node(strip, (place, 0), member, colour, 0.4)
        if near:
            bend = 0.45 if place < CENTRE else -0.45
            arrow(
                strip, (place, 0.42), (CENTRE, 0.42), color=BLUE,
                connectionstyle=f"arc3,rad={-bend}", mutation_scale=11,
            )  # fmt: skip
    strip.text(
        CENTRE,
        1.72,
        "the vectors of the nodes in the window move towards the centre",
        ha="center",
        color=BLUE,
    )
    for number, member in enumerate(negatives):
        place = (CENTRE + (number - 2) * 1.25, -1.75)
        node(strip, place, member, "white", 0.4)
        arrow(strip, (CENTRE, -0.42), (place[0], -1.33), color=GREY, linestyle="--", linewidth=1.1)
    words = "and away from negative samples, drawn by visits ^ 0.75 and shared by several pairs"
    strip.text(CENTRE, -2.55, words, ha="center", va="center", color="#444444")
    steps = np.arange(1, WINDOW + 1)
    share = 100 * (WINDOW - steps + 1) / WINDOW
    bars = chances.bar(steps, share, color=SKY, edgecolor="black", linewidth=0.6)
    chances.bar_label(bars, [f"{one:.0f}" for one in share], fontsize=8.5, padding=1)
    chances.set_xticks(steps)
    chances.set(xlabel="steps apart", ylim=(0, 112), yticks=[])
    chances.set_title(f"window {WINDOW}: pairs used,\nin percent, by distance")
    chances.spines["left"].set_visible(False)
    return figure
