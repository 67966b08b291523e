"""Figure 1, the toy example and convergence of occupation vectors; figure 2, the stuck sets."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from statistics import median
from typing import Any

from . import paper
from .cells import PATHS, Cell
from .figures import Curve, Panel, colours, curve_plot, plain_ticks, stuck_plot, toy_plot
from .graphs import TITLES
from .methods import EXPLORATION_LABELS, EmbeddingMethod, variant
from .scale import Scale
from .tables import Table, table_entry
from .toy import CAPTION_PATH, toy_walk
from .views import Picture, Results, View

_TOY, _PPI = "toy", "ppi"
_SEED = 0  # one set of walks is enough
_SHOWN = len(CAPTION_PATH)  # steps of the toy example in the figure

# Walks: reading, reward, exploration.
_ON_TOY = (("paper", "kl", "none"), ("paper", "kl", "epsilon"), ("paper", "kl", "ucb"))
_ON_PPI = (
    ("paper", "vertex", "none"),
    ("released", "vertex", "none"),
    ("paper", "js", "none"),
    ("paper", "vertex", "epsilon"),
    ("paper", "js", "ucb"),
    ("released", "js", "ucb"),
)


def _path_cell(graph: str, walk: tuple[str, str, str], scale: Scale) -> Cell:
    """Return the cell of one walk."""
    method = EmbeddingMethod("-".join(walk), _walk_label(walk), "", {"walk": _walk_of(walk, scale)})
    return Cell(PATHS, graph, method, _SEED, scale)


def _walk_of(walk: tuple[str, str, str], scale: Scale) -> Any:
    return variant(*walk, scale).parameters["walk"]


def _walk_label(walk: tuple[str, str, str]) -> str:
    """Return the label of a walk."""
    reading, reward, exploration = walk
    kind = {"vertex": "VRRW", "kl": "DRRW-KL", "js": "DRRW-JS"}[reward]
    return f"{kind} {EXPLORATION_LABELS[exploration]}, {reading} reading"


# -- figure 1 ------------------------------------------------------------------------------------


def figure_1_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Return cells of long walks on the toy graph and on PPI."""
    return [
        *(_path_cell(_TOY, walk, scale) for walk in _ON_TOY),
        *(_path_cell(_PPI, walk, scale) for walk in _ON_PPI),
    ]


def figure_1(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Show the toy example step by step, and the convergence of the occupation vector."""
    view, steps = View(), toy_walk()
    table = Table(
        "DRRW by KL divergence on the toy graph, without exploration",
        ["n", "path", "w(n) of nodes 1 to 5", "neighbours: D_KL → Q = 1 − D (D_JS)", "next"],
    )
    for number, step in enumerate(steps):
        shares = [Fraction(float(share)).limit_denominator(1000) for share in step.occupation]
        weighed = "; ".join(
            f"{node}: {moved:.5f} → {1 - moved:.5f} ({step.divergences['js'][node]:.5f})"
            for node, moved in step.divergences["kl"].items()
        )
        following = f"{step.following}, a tie" if step.tied else str(step.following)
        path = "→".join(map(str, step.path))
        table.add(str(number), [path, ", ".join(map(str, shares)), weighed, following])
    view.tables.append(table)
    view.notes += [
        "The paper's figure is not in its source. From the caption five edges are certain (1–3, "
        "1–5, 2–4, 3–4, 4–5) and are taken as the whole graph; it does not say whether 2–3, 2–5 or "
        "3–5 are joined. The moves 1→3→4→3 are the caption's; later ones take the best score.",
        "At node 3 the caption has a tie between going on to 4 and back to the start 1. The "
        "printed equations, which do not count the start, agree; by the released code, which "
        "counts it, the walk would turn back.",
    ]
    settled, moving = {}, {}
    for walk in _ON_TOY:
        if (found := results.scores(_path_cell(_TOY, walk, scale))) is not None:
            settled[_walk_label(walk)] = (found["steps"], found["occupation"])
    for walk in _ON_PPI:
        if (found := results.scores(_path_cell(_PPI, walk, scale))) is not None:
            moving[_walk_label(walk)] = (found["steps"], found["moved"])
    view.tables.append(_convergence_table(moving))
    view.more = {"toy": settled, "moved": moving}
    caption = (
        "The toy example. Above: share of time w(n) of each node before each of the first moves, "
        "with the score Q above each neighbour, the chosen one bold. Below: w(n) of each node "
        "along a long walk."
    )
    view.pictures.append(Picture("figure-1", caption, partial(toy_plot, steps[:_SHOWN], settled)))
    tint = colours(list(moving))
    curves = [
        Curve(label, x, [table_entry([value]) for value in y], tint[label])
        for label, (x, y) in moving.items()
    ]
    title = f"{TITLES[_PPI]}: how far a step moves w(n)"
    panel = Panel(title, "step n", "JS distance of w(n) and w(n+1)", curves, logarithmic=True)
    caption = "Convergence of the occupation vector (over the path) on PPI, medians of 20 walks."
    view.pictures.append(
        Picture("figure-1-convergence", caption, partial(_convergence_plot, panel))
    )
    return view


def _convergence_table(moving: dict[str, tuple[list[int], list[float]]]) -> Table:
    """Return the table of distances after 1, 10, 100 steps and so on."""
    steps = next(iter(moving.values()))[0] if moving else []
    shown = [step for step in steps if step == 10 ** (len(str(step)) - 1)]
    table = Table(
        f"{TITLES[_PPI]}: median JS distance between w(n) and w(n+1), over the path",
        ["walk", *(f"n = {step:,}" for step in shown)],
    )
    for label, (_, moved) in moving.items():
        table.add(label, [f"{moved[steps.index(step)]:.5f}" for step in shown])
    return table


def _convergence_plot(panel: Panel) -> Any:
    """Draw curves on logarithmic scales."""
    figure = curve_plot([panel], 1, (6.5, 3.8))
    figure.axes[0].set_yscale("log")
    plain_ticks(figure.axes[0].yaxis)
    return figure


# -- figure 2 ------------------------------------------------------------------------------------


def figure_2_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Return cells of long walks on PPI."""
    return [_path_cell(_PPI, walk, scale) for walk in _ON_PPI]


def figure_2(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Show node frequencies in the last 100 steps."""
    view, frequencies = View(), {}
    table: Table | None = None
    for walk in _ON_PPI:
        found = results.scores(_path_cell(_PPI, walk, scale))
        if found is None:
            continue
        looked = [f"after {step:,} steps" for step in found["looked"]]
        if table is None:
            title = f"{TITLES[_PPI]}: different nodes in the last 100 steps, medians of 20 walks"
            table = Table(title, ["walk", *looked, "share of three nodes at the end, first walk"])
        last = found["frequencies"][-1]
        share = f"{sum(last[:3]) / sum(last):.0%}"
        table.add(_walk_label(walk), [f"{median(nodes):g}" for nodes in found["nodes"]] + [share])
        frequencies[_walk_label(walk)] = dict(
            zip(found["looked"], found["frequencies"], strict=True)
        )
    if table is not None:
        view.tables.append(table)
    view.more = {"frequencies": frequencies}
    view.notes.append(
        f"The paper's walk (VRRW without exploration) visits {paper.STUCK_NODES} nodes in the last "
        "100 of 10,000 steps. The printed equation, which draws in proportion to visits, "
        "concentrates far more slowly; the released code, which takes the most visited neighbour, "
        "gets stuck between two nodes at once."
    )
    caption = "Visits of each node in the last 100 steps, and the number of distinct nodes."
    if frequencies:
        view.pictures.append(Picture("figure-2", caption, partial(stuck_plot, frequencies)))
    return view
