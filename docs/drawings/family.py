"""The family of walks: how many distinct nodes each kind visits, on a graph of groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from style import plt

from reinforce2vec import FirstOrderWalk, ReinforcedWalk, planted_groups, sample_walks
from reinforce2vec.plotting.style import BLUE, GREY, ORANGE

REWARDS = {"vertex": "visits (VRRW)", "kl": "KL (DRRW)", "js": "JS (DRRW)"}
EXPLORATIONS = {"none": "none", "epsilon": "ε-greedy,\nε = 0.5", "ucb": "UCB"}
VARIANTS = {
    "paper: visits counted over the graph": ReinforcedWalk.paper,
    "released: visits counted over the path": ReinforcedWalk.released,
}
ATTRACTIONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
LENGTH, PER_NODE = 40, 5
GRAPH = planted_groups(1000, 5, seed=0).graph


def distinct(walk: Any) -> float:
    """Return the mean number of distinct nodes in a walk."""
    walks = np.sort(sample_walks(GRAPH, walk, length=LENGTH, per_node=PER_NODE, seed=0), axis=1)
    return float(np.mean(1 + np.count_nonzero(np.diff(walks, axis=1), axis=1)))


def draw() -> Any:
    """Draw two tables for reward and exploration, and a line plot for attraction."""
    figure, axes = plt.subplots(
        1, 3, figsize=(11, 4.3), width_ratios=(1, 1, 1.05), layout="constrained"
    )
    plain = distinct(FirstOrderWalk())
    for number, (axis, (title, preset)) in enumerate(zip(axes, VARIANTS.items(), strict=False)):
        found = np.array([[distinct(preset(r, e)) for e in EXPLORATIONS] for r in REWARDS])
        axis.imshow(found, cmap="Blues", vmin=-8, vmax=48, aspect="auto")
        for (row, column), value in np.ndenumerate(found):
            default = number == 0 and row == column == 2
            axis.text(
                *(column, row, f"{value:.1f}" + ("\nthe default" if default else "")),
                ha="center",
                va="center",
                color="white" if value > 22 else "black",
                weight="bold" if default else "normal",
            )
        axis.set_title(title)
        axis.set_xticks(range(3), EXPLORATIONS.values())
        axis.set_yticks(range(3), REWARDS.values() if number == 0 else [""] * 3)
        axis.set_xlabel("exploration")
        axis.tick_params(length=0)
        for spine in axis.spines.values():
            spine.set_visible(False)
    axes[0].set_ylabel("reward")
    line = axes[2]
    walks = {
        "paper": (BLUE, "o", {}),
        "released": (ORANGE, "D", {"occupation": "path", "candidates": 10}),
    }
    for name, (colour, marker, changes) in walks.items():
        values = [distinct(ReinforcedWalk(weight=0, attraction=a, **changes)) for a in ATTRACTIONS]
        line.plot(ATTRACTIONS, values, color=colour, marker=marker, label=f"{name}, JS, α = 0")
    line.axhline(plain, color=GREY, linestyle="--", linewidth=1.2)
    line.text(100, plain + 0.4, f"first-order: {plain:.1f}", color="#555555", ha="right")
    line.set(xscale="log", ylim=(0, 41), xlabel="attraction of visited nodes")
    line.xaxis.set_major_formatter("{x:,.10g}")
    line.set_title("repelled or attracted by its path")
    line.legend(frameon=False, loc="lower left")
    figure.suptitle(
        f"Distinct nodes in a walk of {LENGTH}, on {GRAPH.n_nodes:,} nodes in five groups",
        x=0.01, ha="left", weight="bold",
    )  # fmt: skip
    return figure
