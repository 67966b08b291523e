"""Tables 4 and 7, which compare methods, and figure 3: curves over training fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from . import paper
from .cells import (
    FRACTIONS,
    FULL,
    GROUP_GRAPHS,
    GROUPS,
    HEADLINE,
    LINK_GRAPHS,
    LINKS,
    TITLES,
    Cell,
    Scores,
)
from .choosing import KINDS
from .figures import Curve, Dots, Panel, curve_plot, dot_plot, method_styles
from .methods import Method, compared
from .scale import Scale
from .tables import Entry, Table
from .views import (
    Picture,
    Results,
    View,
    best_groups,
    best_links,
    by_method,
    group_entry,
    link_entry,
)

OPERATOR_LABELS = {
    "hadamard": "Hadamard",
    "average": "Average",
    "l1": "Weighted-L1",
    "l2": "Weighted-L2",
}
PROTOCOLS = {
    "transfer": "classifier trained on one residual graph and tested on another, as in the paper",
    "shared": "classifier trained and tested on halves of the pairs of one residual graph",
}
PAPERS_PROTOCOL = "transfer"
KIND_NOTES = {"raw": "", "smoothed": ", vectors smoothed"}
LEGEND = "Ours in percent, mean ± sample standard deviation over seeds (the paper's, difference)."
CHOSEN = (
    "Best rows: for each seed (and shuffle) the setting with the best score on a validation part "
    "of the training data is taken, and its test score is told; no test pair or label takes part "
    "in the choice. node2vec's p and q alone are chosen once a graph, with the first seed, by the "
    "mean of its shuffles: that can only favour it."
)


def cells_of(
    task: str, graph: str, seeds: Iterable[int], scale: Scale, method: Method, scope: str = FULL
) -> list[Cell]:
    """A cell for each seed."""
    return [Cell(task, graph, method, seed, scale, scope) for seed in seeds]


def comparison_cells(
    task: str, graphs: Iterable[str], seeds: Sequence[int], scale: Scale, scope: str = FULL
) -> list[Cell]:
    """Every method on every graph."""
    return [
        cell
        for graph in graphs
        for method in compared(scale)
        for cell in cells_of(task, graph, seeds, scale, method, scope)
    ]


def groups_of_methods(methods: Iterable[Method]) -> dict[str, list[Method]]:
    """Baselines and reinforced walks, as the best rows look at them."""
    listed = list(methods)
    return {
        "baselines": [method for method in listed if method.group == "baseline"],
        "reinforced walks": [method for method in listed if method.group != "baseline"],
    }


def chosen_notes(results: Results, cells: Iterable[Cell]) -> list[str]:
    """What the methods with choices have chosen."""
    found = [
        f"{TITLES[cell.graph]}, seed {cell.seed}: {chosen}"
        for cell in cells
        if (chosen := results.chosen(cell)) is not None
    ]
    return ["node2vec's p and q, chosen by validation: " + "; ".join(found) + "."] if found else []


# -- table 4 -------------------------------------------------------------------------------------


def table_4_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Every method on the graphs of link prediction."""
    return comparison_cells(LINKS, LINK_GRAPHS, seeds, scale)


def table_4(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """AUC by method and operator, in both protocols, raw and smoothed."""
    view, methods = View(notes=[LEGEND]), compared(scale)
    dots: list[Dots] = []
    for graph in LINK_GRAPHS:
        found = by_method(results, methods, partial(cells_of, LINKS, graph, seeds, scale))
        rows: dict[tuple[str, str], list[list[Entry | None]]] = {}
        for protocol, meaning in PROTOCOLS.items():
            for kind in KINDS:
                table = Table(
                    f"{TITLES[graph]}: AUC, `{protocol}`{KIND_NOTES[kind]}",
                    ["method", *OPERATOR_LABELS.values()],
                    note=f"`{protocol}`: {meaning}." if kind == "raw" else "",
                )
                comparable = kind == "raw" and protocol == PAPERS_PROTOCOL
                published = paper.TABLE_4[graph] if comparable else {}
                for method in methods:
                    scores = list(found[method.label].values())
                    numbers = published.get(method.like, {})
                    entries = [
                        link_entry(scores, kind, protocol, operator, numbers.get(operator))
                        for operator in paper.OPERATORS
                    ]
                    table.add(method.label, entries)
                    rows.setdefault((protocol, kind), []).append(entries)
                view.tables.append(table)
        view.tables.append(best_link_table(graph, methods, found))
        for protocol in PROTOCOLS:
            for place, operator in ((0, "Hadamard"), (3, "Weighted-L2")):
                dots.append(
                    Dots(
                        f"{TITLES[graph]}, {protocol}, {operator}",
                        [method.label for method in methods],
                        [entries[place] for entries in rows[protocol, "raw"]],
                        [entries[place] for entries in rows[protocol, "smoothed"]],
                    )
                )
    cells = [cell for cell in table_4_cells(seeds, scale) if cell.method.choices]
    view.notes += [CHOSEN, *chosen_notes(results, cells)]
    view.pictures.append(
        Picture("table-4", "AUC of link prediction.", partial(dot_plot, dots, "AUC, %", 4))
    )
    return view


def best_link_table(
    graph: str,
    methods: list[Method],
    found: dict[str, dict[int, Scores]],
) -> Table:
    """The best by validation, of baselines and of reinforced walks."""
    table = Table(
        f"{TITLES[graph]}: the best setting, chosen by validation",
        ["of", "AUC, `transfer`", "AUC, `shared`", "average precision, `shared`", "`shared` chose"],
        note="The paper's: its best number, in its own protocol `transfer`.",
    )
    top = max(score for row in paper.TABLE_4[graph].values() for score in row.values())
    for name, members in groups_of_methods(methods).items():
        for kinds, what in ((("raw",), f"{name}, raw"), (KINDS, f"{name}, raw or smoothed")):
            own = {method.label: found[method.label] for method in members}
            transfer = best_links(own, PAPERS_PROTOCOL, kinds, top)
            shared = best_links(own, "shared", kinds, top)
            table.add(
                what,
                [
                    transfer.values["auc"],
                    shared.values["auc"],
                    shared.values["ap"],
                    shared.told() or None,
                ],
            )
    return table


# -- table 7 -------------------------------------------------------------------------------------


def table_7_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Every method on the graphs of node classification."""
    return comparison_cells(GROUPS, GROUP_GRAPHS, seeds, scale)


def table_7(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Micro and macro F1 by method and graph, raw and smoothed."""
    return compare_groups(results, seeds, scale, "table-7", GROUP_GRAPHS, FULL)


WIDE_GRAPHS = ("blogcatalog", "ppi")


def wide_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Every method with vectors as long as in most other publications."""
    return comparison_cells(GROUPS, WIDE_GRAPHS, seeds, widened(scale), HEADLINE)


def wide(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Table 7 with 128 dimensions."""
    return compare_groups(results, seeds, widened(scale), "wide", WIDE_GRAPHS, HEADLINE)


def widened(scale: Scale) -> Scale:
    """The same amounts of training for vectors twice as long: 128 numbers, not the paper's 64."""
    return replace(scale, dimensions=2 * scale.dimensions)


def compare_groups(
    results: Results,
    seeds: Sequence[int],
    scale: Scale,
    name: str,
    graphs: Sequence[str],
    scope: str,
) -> View:
    """A table of raw vectors, one of smoothed ones, one of the best, and a picture."""
    view, methods = View(notes=[LEGEND]), compared(scale)
    found = {
        graph: by_method(
            results, methods, partial(cells_of, GROUPS, graph, seeds, scale, scope=scope)
        )
        for graph in graphs
    }
    columns = [f"{TITLES[graph]} {measure}" for graph in graphs for measure in ("micro", "macro")]
    shares = ", ".join(f"{TITLES[graph]} {FRACTIONS[graph][0]:.0%}" for graph in graphs)
    rows: dict[str, list[list[Entry | None]]] = {}
    for kind in KINDS:
        table = Table(f"F1 of node classification{KIND_NOTES[kind]}", ["method", *columns])
        for method in methods:
            entries: list[Entry | None] = []
            for graph in graphs:
                scores = list(found[graph][method.label].values())
                numbers = paper.TABLE_7[graph].get(method.like, {}) if kind == "raw" else {}
                entries += [
                    group_entry(scores, kind, measure, numbers.get(measure))
                    for measure in ("micro", "macro")
                ]
            table.add(method.label, entries)
            rows.setdefault(kind, []).append(entries)
        view.tables.append(table)
    view.tables[0].note = f"Nodes that train: {shares}."
    view.tables.append(best_group_table(methods, found, columns))
    dots = [
        Dots(
            column,
            [method.label for method in methods],
            [entries[place] for entries in rows["raw"]],
            [entries[place] for entries in rows["smoothed"]],
        )
        for place, column in sorted(enumerate(columns), key=lambda one: one[0] % 2)
    ]
    cells = comparison_cells(GROUPS, graphs, seeds, scale, scope)
    view.notes += [CHOSEN, *chosen_notes(results, [cell for cell in cells if cell.method.choices])]
    view.pictures.append(
        Picture(name, "F1 of node classification.", partial(dot_plot, dots, "F1, %", len(graphs)))
    )
    return view


def best_group_table(
    methods: list[Method],
    found: dict[str, dict[str, dict[int, Scores]]],
    columns: list[str],
) -> Table:
    """The best by validation, of baselines and of reinforced walks, on each graph."""
    table = Table("The best setting, chosen by validation", ["of", *columns])
    notes = []
    for name, members in groups_of_methods(methods).items():
        for kinds, what in ((("raw",), f"{name}, raw"), (KINDS, f"{name}, raw or smoothed")):
            entries: list[Entry | None] = []
            for graph in found:
                own = {method.label: found[graph][method.label] for method in members}
                numbers = paper.TABLE_7[graph]
                top = {
                    measure: max(row[measure] for row in numbers.values() if measure in row)
                    for measure in ("micro", "macro")
                    if any(measure in row for row in numbers.values())
                }
                choice = best_groups(own, kinds, top)
                entries += [choice.values["micro"], choice.values["macro"]]
                if kinds == KINDS and choice.settings:
                    notes.append(f"{TITLES[graph]}, {name}: {choice.told()}.")
            table.add(what, entries)
    table.note = "The paper's: its best row. Chosen: " + " ".join(notes)
    return table


# -- figure 3 ------------------------------------------------------------------------------------


def figure_3(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """F1 over the share of nodes that train."""
    methods = compared(scale)
    styles = method_styles([method.group for method in methods])
    panels, view = [], View(notes=[LEGEND])
    for measure in ("micro", "macro"):
        for graph in GROUP_GRAPHS:
            fractions = sorted(FRACTIONS[graph])
            found = by_method(results, methods, partial(cells_of, GROUPS, graph, seeds, scale))
            curves = []
            table = Table(
                f"{TITLES[graph]}: {measure} F1 by share of nodes that train, raw vectors",
                ["method", *(f"{fraction:.0%}" for fraction in fractions)],
            )
            for method, style in zip(methods, styles, strict=True):
                scores = list(found[method.label].values())
                entries = [
                    group_entry(scores, "raw", measure, fraction=f"{fraction:g}")
                    for fraction in fractions
                ]
                table.add(method.label, entries)
                curves.append(
                    Curve(
                        method.label,
                        [100 * fraction for fraction in fractions],
                        entries,
                        **style,
                    )
                )
            view.tables.append(table)
            published = paper.TABLE_7[graph]["reinforce2vec"]
            points = (
                [(100 * FRACTIONS[graph][0], published[measure])] if measure in published else []
            )
            panels.append(
                Panel(TITLES[graph], "nodes that train, %", f"{measure} F1, %", curves, points)
            )
    view.notes.append(
        "The paper has curves without numbers; its one number for reinforce2vec, from Table 7 or "
        "8, is drawn as a star."
    )
    caption = "F1 over the share of nodes that train, raw vectors."
    view.pictures.append(Picture("figure-3", caption, partial(curve_plot, panels)))
    return view
