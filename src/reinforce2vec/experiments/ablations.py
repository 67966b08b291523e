"""Tables 5 and 8, ablations of the walk, and figure 4: ε from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..plotting.style import BLUE, ORANGE
from . import paper
from .cells import FULL, HEADLINE, LINK_PREDICTION, NODE_CLASSIFICATION, Cell
from .choosing import VECTOR_KINDS
from .comparisons import KIND_NOTES, OPERATOR_LABELS, PAPERS_PROTOCOL, PROTOCOL_NOTES, legend
from .figures import Curve, Dots, Panel, curve_plot, dot_plot
from .graphs import TITLES
from .methods import (
    EXPLORATION_LABELS,
    READING_LABELS,
    READING_WALKS,
    REWARD_LABELS,
    EmbeddingMethod,
    ablation,
    greedy,
)
from .scale import Scale
from .tables import Table, TableEntry
from .views import Picture, Results, View, group_entry, link_entry

_FACEBOOK, _PPI = "facebook", "ppi"
_MEASURES = ("micro", "macro")
_TINTS = {"paper": BLUE, "released": ORANGE}


def _ablation_cells(
    task: str, graph: str, methods: Sequence[EmbeddingMethod], seeds: Sequence[int], scale: Scale
) -> list[Cell]:
    """Return the cells of some walks; those in Tables 4, 5 and 7 too are the same cells."""
    shared = {
        method.name for reading in READING_WALKS for method in ablation(reading, scale).values()
    }
    return [
        Cell(task, graph, method, seed, scale, FULL if full else HEADLINE)
        for method in methods
        for full in [bool(method.like) or (task == LINK_PREDICTION and method.name in shared)]
        for seed in seeds
    ]


def _variant_label(reward: str, exploration: str) -> str:
    """Return the label of a row of the ablation tables."""
    return f"{REWARD_LABELS[reward]}, {EXPLORATION_LABELS[exploration]}"


# -- table 5 -------------------------------------------------------------------------------------


def table_5_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Return cells of all walks of both readings on Facebook."""
    methods = [one for reading in READING_WALKS for one in ablation(reading, scale).values()]
    return _ablation_cells(LINK_PREDICTION, _FACEBOOK, methods, seeds, scale)


def table_5(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Show AUC by reward and exploration, in both readings and protocols."""
    view, dots = View(notes=[legend(seeds)]), []
    for protocol in PROTOCOL_NOTES:
        for reading in READING_WALKS:
            rows: dict[str, list[list[TableEntry | None]]] = {}
            for kind in VECTOR_KINDS:
                table = Table(
                    f"{TITLES[_FACEBOOK]}: AUC, `{protocol}`, {READING_LABELS[reading]}"
                    f"{KIND_NOTES[kind]}",
                    ["walk", *OPERATOR_LABELS.values()],
                )
                for (reward, exploration), method in ablation(reading, scale).items():
                    found = results.all(
                        _ablation_cells(LINK_PREDICTION, _FACEBOOK, [method], seeds, scale)
                    )
                    comparable = kind == "raw" and protocol == PAPERS_PROTOCOL
                    numbers = paper.TABLE_5[reward, exploration] if comparable else {}
                    entries = [
                        link_entry(found, kind, protocol, operator, numbers.get(operator))
                        for operator in paper.OPERATOR_NAMES
                    ]
                    table.add(_variant_label(reward, exploration), entries)
                    rows.setdefault(kind, []).append(entries)
                view.tables.append(table)
            for place, operator in ((0, "Hadamard"), (3, "Weighted-L2")):
                dots.append(
                    Dots(
                        f"{protocol}, {READING_LABELS[reading]}, {operator}",
                        [label for label, _ in view.tables[0].rows],
                        [entries[place] for entries in rows["raw"]],
                        [entries[place] for entries in rows["smoothed"]],
                    )
                )
    view.notes += [f"`{name}`: {meaning}." for name, meaning in PROTOCOL_NOTES.items()]
    caption = "AUC of link prediction on Facebook by reward and exploration."
    view.pictures.append(Picture("table-5", caption, partial(dot_plot, dots, "AUC, %", 4)))
    return view


# -- table 8 -------------------------------------------------------------------------------------


def table_8_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Return cells of all walks of both readings on PPI."""
    methods = [one for reading in READING_WALKS for one in ablation(reading, scale).values()]
    return _ablation_cells(NODE_CLASSIFICATION, _PPI, methods, seeds, scale)


def table_8(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Show F1 by reward and exploration, in both readings."""
    view, dots = View(notes=[legend(seeds)]), []
    for reading in READING_WALKS:
        rows: dict[str, list[list[TableEntry | None]]] = {}
        for kind in VECTOR_KINDS:
            table = Table(
                f"{TITLES[_PPI]}: F1, {READING_LABELS[reading]}{KIND_NOTES[kind]}",
                ["walk", "micro F1", "macro F1"],
            )
            for (reward, exploration), method in ablation(reading, scale).items():
                found = results.all(
                    _ablation_cells(NODE_CLASSIFICATION, _PPI, [method], seeds, scale)
                )
                numbers = paper.TABLE_8[reward, exploration] if kind == "raw" else {}
                entries = [
                    group_entry(found, kind, measure, numbers.get(measure)) for measure in _MEASURES
                ]
                table.add(_variant_label(reward, exploration), entries)
                rows.setdefault(kind, []).append(entries)
            view.tables.append(table)
        for place, measure in enumerate(_MEASURES):
            dots.append(
                Dots(
                    f"{READING_LABELS[reading]}, {measure} F1",
                    [label for label, _ in view.tables[0].rows],
                    [entries[place] for entries in rows["raw"]],
                    [entries[place] for entries in rows["smoothed"]],
                )
            )
    caption = "F1 of node classification on PPI by reward and exploration."
    view.pictures.append(Picture("table-8", caption, partial(dot_plot, dots, "F1, %", 4)))
    return view


# -- figure 4 ------------------------------------------------------------------------------------


def figure_4_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Return cells of every ε in both readings on both graphs."""
    methods = [greedy(reading, one, scale) for reading in READING_WALKS for one in paper.EPSILONS]
    return [
        *_ablation_cells(NODE_CLASSIFICATION, _PPI, methods, seeds, scale),
        *_ablation_cells(LINK_PREDICTION, _FACEBOOK, methods, seeds, scale),
    ]


def figure_4(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Show scores over ε; for ε = 1 every walk is first-order."""
    view, panels = View(notes=[legend(seeds)]), []
    columns = ["", *(f"ε = {one:g}" for one in paper.EPSILONS)]
    groups = Table(f"{TITLES[_PPI]}: F1 by ε", columns)
    links = Table(f"{TITLES[_FACEBOOK]}: AUC by ε, `shared`", columns)
    for measure in _MEASURES:
        curves = []
        for reading in READING_WALKS:
            for kind in VECTOR_KINDS:
                entries = []
                for epsilon in paper.EPSILONS:
                    method = greedy(reading, epsilon, scale)
                    found = results.all(
                        _ablation_cells(NODE_CLASSIFICATION, _PPI, [method], seeds, scale)
                    )
                    number = paper.TABLE_8.get(("js", _PUBLISHED_EPSILONS.get(epsilon, "")), {})
                    published = number.get(measure) if kind == "raw" else None
                    entries.append(group_entry(found, kind, measure, published))
                groups.add(f"{measure}, {READING_LABELS[reading]}{KIND_NOTES[kind]}", entries)
                curves.append(_curve(reading, kind, entries))
        points = [
            (one, paper.TABLE_8["js", name][measure]) for one, name in _PUBLISHED_EPSILONS.items()
        ]
        panels.append(Panel(TITLES[_PPI], "ε", f"{measure} F1, %", curves, points))
    for operator in ("hadamard", "l2"):
        curves = []
        for reading in READING_WALKS:
            for kind in VECTOR_KINDS:
                entries = []
                for epsilon in paper.EPSILONS:
                    method = greedy(reading, epsilon, scale)
                    cells = _ablation_cells(LINK_PREDICTION, _FACEBOOK, [method], seeds, scale)
                    entries.append(link_entry(results.all(cells), kind, "shared", operator))
                name = OPERATOR_LABELS[operator]
                links.add(f"{name}, {READING_LABELS[reading]}{KIND_NOTES[kind]}", entries)
                curves.append(_curve(reading, kind, entries))
        points = [
            (one, paper.TABLE_5["js", name][operator]) for one, name in _PUBLISHED_EPSILONS.items()
        ]
        title = f"{TITLES[_FACEBOOK]}, {OPERATOR_LABELS[operator]}"
        panels.append(Panel(title, "ε", "AUC, %", curves, points))
    view.tables = [groups, links]
    view.notes.append(
        "JS divergence with ε-greedy exploration. The paper has curves without numbers; those of "
        "Tables 5 (protocol `transfer`) and 8 for ε = 0 and 0.5 are drawn as stars. It finds the "
        "best ε at "
        f"{paper.BEST_EPSILON[_PPI]:g} on PPI and {paper.BEST_EPSILON[_FACEBOOK]:g} on Facebook."
    )
    caption = "Scores over ε on PPI and Facebook."
    view.pictures.append(Picture("figure-4", caption, partial(curve_plot, panels, 4)))
    return view


_PUBLISHED_EPSILONS = {0.0: "none", 0.5: "epsilon"}  # ε of rows of Tables 5 and 8


def _curve(reading: str, kind: str, entries: list[TableEntry | None]) -> Curve:
    return Curve(
        f"{READING_LABELS[reading]}{KIND_NOTES[kind]}",
        paper.EPSILONS,
        entries,
        _TINTS[reading],
        kind == "smoothed",
    )
