"""One step of a reinforced walk: the score and the probability of each neighbour.

All numbers come from reinforce2vec.walks.scores, which the walks themselves use.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from style import PALE, node, plt

from reinforce2vec import FirstOrderWalk, ReinforcedWalk
from reinforce2vec.plotting.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY
from reinforce2vec.walks import scores as scoring

EDGES = ((1, 2), (1, 3), (2, 3), (2, 5), (3, 5), (4, 5), (1, 5), (5, 6), (4, 6), (6, 7), (7, 8))
PLACES = {
    **{1: (0.0, 1.55), 2: (1.0, 2.35), 3: (1.1, 1.0), 4: (2.2, 0.15)},
    **{5: (2.35, 1.55), 6: (3.5, 1.0), 7: (4.3, 1.8), 8: (4.3, 2.6)},
}
PATH = (1, 2, 3, 1, 2, 5)
WALKS = {
    "first-order (DeepWalk)": (FirstOrderWalk(), GREY),
    "DRRW-JS-UCB, paper (the default)": (ReinforcedWalk(), BLUE),
    "DRRW-JS-UCB, released": (ReinforcedWalk.released(), ORANGE),
    "VRRW, paper, no exploration": (ReinforcedWalk("vertex", "none"), GREEN),
    "repelled: attraction 0.03": (ReinforcedWalk(weight=0, attraction=0.03), PURPLE),
}


class Option(NamedTuple):
    """A neighbour that can be the next node."""

    node: int
    visits: int  # in the walk's memory
    divergence: float  # how much w would change
    reward: float  # Q
    exploration: float  # U
    weight: float  # relative to that of an unvisited node
    probability: float


def options(walk: Any, n_nodes: int = len(PLACES)) -> list[Option]:
    """Return the scores of the neighbours of the last node of the path."""
    here, n = PATH[-1], len(PATH) - 1
    near = sorted({a + b - here for a, b in EDGES if here in (a, b)})
    if isinstance(walk, FirstOrderWalk):
        return [
            Option(one, PATH.count(one), *[float("nan")] * 3, 1.0, 1 / len(near)) for one in near
        ]
    path = walk.occupation == "path"
    explores = walk.exploration_weights(n + 1)
    scores = scoring.make_scores(walk.reward, path, 1.0, walk.attraction, explores, n_nodes)
    memory = PATH if path else PATH[1:]  # the printed equations do not count the start
    c_u = memory.count(PATH[0])
    found = []
    for one in near:
        c = memory.count(one)
        if walk.exploration == "ucb":
            weight = scoring.softmax_weight(scores, n, c_u, c, 0.0)
        else:  # VRRW draws in proportion to its reward
            weight = scoring.exploitation(scores, n, c)
        found.append(
            Option(
                *(one, c, scoring.divergence(scores, n, c), scoring.exploitation(scores, n, c)),
                *(scoring.exploration(scores, c_u, c), weight, 0.0),
            )
        )
    unvisited = sum(one.visits == 0 for one in found)
    weighed = 1.0
    if walk.candidates and unvisited:  # with few neighbours, one unvisited node at random
        cap = walk.candidates if len(near) > walk.candidates else 1
        weighed = min(cap, unvisited) / unvisited
    shares = np.array([one.weight * (1.0 if one.visits else weighed) for one in found])
    return [
        one._replace(probability=float(share))
        for one, share in zip(found, shares / shares.sum(), strict=True)
    ]


def draw() -> Any:
    """Draw the graph with the path, a table of scores, and bars of probabilities."""
    figure = plt.figure(figsize=(11, 7.2))
    graph = figure.add_axes((0.02, 0.47, 0.40, 0.47))
    table = figure.add_axes((0.45, 0.47, 0.54, 0.47))
    bars = figure.add_axes((0.06, 0.05, 0.92, 0.32))
    draw_graph(graph)
    draw_table(table)
    draw_bars(bars)
    return figure


def draw_graph(axis: Any) -> None:
    """Draw the graph and the path of the walk."""
    axis.set_title("The walk 1, 2, 3, 1, 2 is at node 5. Which node is next?")
    for a, b in EDGES:
        axis.plot(*zip(PLACES[a], PLACES[b], strict=True), color="#bbbbbb", linewidth=1.5, zorder=1)
    moves = list(pairwise(PATH))
    for number, (a, b) in enumerate(moves, start=1):
        begin, end = np.array(PLACES[a]), np.array(PLACES[b])
        along = (end - begin) / np.hypot(*(end - begin))
        again = moves[: number - 1].count((a, b))
        aside = np.array([-along[1], along[0]]) * (-0.1 if again else 0.1)
        tail, tip = begin + 0.23 * along + aside, end - 0.23 * along + aside
        axis.annotate(
            "", tip, tail, arrowprops={"arrowstyle": "-|>", "color": RED, "linewidth": 1.8}
        )
        axis.text(*((tail + tip) / 2 + 1.3 * aside), number, color=RED, ha="center", va="center")
    for name, place in PLACES.items():
        visits = PATH.count(name)
        colour = RED if name == PATH[-1] else (PALE, SKY, BLUE)[visits]
        node(axis, place, name, colour, 0.2)
    for x, colour, words in (
        (0.0, RED, "current"),
        (1.0, BLUE, "visited twice"),
        (2.7, SKY, "once"),
    ):
        node(axis, (x, -0.55), "", colour, 0.1)
        axis.text(x + 0.18, -0.55, words, va="center")
    node(axis, (3.6, -0.55), "", PALE, 0.1)
    axis.text(3.78, -0.55, "never", va="center")
    axis.set(xlim=(-0.3, 4.7), ylim=(-0.75, 2.9), aspect="equal")
    axis.axis("off")


def draw_table(axis: Any) -> None:
    """Draw the scores of the default walk."""
    axis.axis("off")
    axis.set_title("Scores of the default walk: DRRW with Jensen–Shannon and UCB, 8 nodes")
    rows = [
        (
            *(str(one.node), str(one.visits), f"{one.divergence:.4f}", f"{one.reward:.4f}"),
            *(f"{one.exploration:.3f}", f"{one.weight:.4f}", f"{one.probability:.1%}"),
        )
        for one in options(ReinforcedWalk())
    ]
    heads = ("node", "visits", "D(w, w′)", "Q = 1 − D", "U", "weight", "prob.")
    cells = axis.table(
        rows, colLabels=heads, loc="upper center", cellLoc="center", edges="horizontal"
    )
    cells.auto_set_font_size(False)
    cells.set_fontsize(10)
    cells.scale(1, 1.85)
    axis.text(
        0.0,
        0.0,
        "visits: at steps 1 to 5; the equations as printed do not count the start\n"
        "D: how much the occupation vector w would change if this node came next\n"
        "Q: the reward;  U = √(log Z(start) / Z(node)): exploration, Z = 1 + visits\n"
        "weight: exp(Q + U), relative to an unvisited node;  prob.: its share",
        transform=axis.transAxes,
        va="bottom",
        linespacing=1.45,
        color="#333333",
    )


def draw_bars(axis: Any) -> None:
    """Draw the probabilities of the same step in other walks."""
    axis.set_title("The same step in other walks: probability of each neighbour")
    near = [one.node for one in options(ReinforcedWalk())]
    width = 0.17
    for number, (name, (walk, colour)) in enumerate(WALKS.items()):
        places = np.arange(len(near)) + (number - 2) * width
        chances = [one.probability for one in options(walk)]
        found = axis.bar(
            places, chances, width * 0.9, color=colour, label=name, edgecolor=BLACK, linewidth=0.4
        )
        axis.bar_label(
            found, [f"{100 * chance:.0f}" for chance in chances], fontsize=8.5, padding=1
        )
    visits = {1: "the start, visited again", 2: "visited twice", 3: "visited once"}
    axis.set_xticks(
        range(len(near)), [f"node {one}, {visits.get(one, 'not visited')}" for one in near]
    )
    axis.set(ylabel="percent", ylim=(0, 0.78), yticks=[])
    axis.spines["left"].set_visible(False)
    axis.legend(ncols=3, frameon=False, loc="upper right", fontsize=9)
