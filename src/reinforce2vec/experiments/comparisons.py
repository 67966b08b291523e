"""Tables 4 and 7, which compare methods, and figure 3: curves over training fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from . import paper
from .cells import FULL, LINK_PREDICTION, NODE_CLASSIFICATION, TABLES, Cell, CellScores
from .choosing import VECTOR_KINDS
from .figures import Curve, Dots, Panel, curve_plot, dot_plot, method_styles
from .graphs import fractions_of, table_fractions
from .methods import EmbeddingMethod, compared
from .scale import Scale
from .tables import Table, TableEntry
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
PROTOCOL_NOTES = {
    "transfer": "classifier trained on one residual graph and tested on another, as in the paper",
    "shared": "classifier trained and tested on halves of the pairs of one residual graph",
}
PAPERS_PROTOCOL = "transfer"
KIND_NOTES = {"raw": "", "smoothed": ", vectors smoothed"}
_BEST_NOTE = (
    "Best rows: for each seed (and shuffle) the setting with the best score on a validation part "
    "of the training data is taken, and its test score is reported; no test pair or label takes "
    "part in the choice. Only node2vec's p and q are chosen once per graph, with the first seed, "
    "by the mean of its shuffles: that can only favour it."
)
_TUNED_NOTE = (
    "C by validation: the classifier's C is the best of several on a validation part of the "
    "training nodes, for each method, seed and shuffle alike; C = 1 is usual in published tables."
)
_FIGURE_3_KINDS = "Raw vectors; those of our default are smoothed by itself."


def legend(seeds: Sequence[int], paper: bool = True) -> str:
    """Return what the numbers of a table are; a single seed has no spread."""
    spread = ", mean ± sample standard deviation over seeds" if len(seeds) > 1 else ""
    papers = " (the paper's, difference)" if paper else ""
    return f"Ours in percent{spread}{papers}."


def _cells_of(
    task: str,
    graph: str,
    seeds: Iterable[int],
    scale: Scale,
    method: EmbeddingMethod,
    scope: str = FULL,
) -> list[Cell]:
    """Return a cell for each seed."""
    return [Cell(task, graph, method, seed, scale, scope) for seed in seeds]


def _comparison_cells(
    task: str, graphs: Iterable[str], seeds: Sequence[int], scale: Scale, scope: str = FULL
) -> list[Cell]:
    """Return cells of every method on every graph."""
    return [
        cell
        for graph in graphs
        for method in compared(scale)
        for cell in _cells_of(task, graph, seeds, scale, method, scope)
    ]


def _kinds_of(method: EmbeddingMethod) -> tuple[str, ...]:
    """Return the kinds of vectors that a method has."""
    return VECTOR_KINDS[1:] if method.smooths else VECTOR_KINDS


def _groups_of_methods(methods: Iterable[EmbeddingMethod]) -> dict[str, list[EmbeddingMethod]]:
    """Group methods into baselines and reinforced walks, for the rows of the best."""
    listed = list(methods)
    return {
        "baselines": [method for method in listed if method.group == "baseline"],
        "reinforced walks": [method for method in listed if method.group in ("paper", "ours")],
    }


def _chosen_notes(results: Results, cells: Iterable[Cell]) -> list[str]:
    """Return notes on what methods with choices have chosen."""
    seeds: dict[str, list[str]] = {}
    for cell in cells:
        if (chosen := results.chosen(cell)) is not None:
            setting = chosen.replace("p", "p = ").replace("-q", ", q = ")
            seeds.setdefault(f"{cell.scale.title(cell.graph)} {setting}", []).append(f"{cell.seed}")
    found = [f"{setting} (seeds {', '.join(listed)})" for setting, listed in seeds.items()]
    return ["node2vec's p and q, chosen by validation: " + "; ".join(found) + "."] if found else []


# -- table 4 -------------------------------------------------------------------------------------


def table_4_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Return cells of every method on the graphs of link prediction."""
    return _comparison_cells(LINK_PREDICTION, scale.link_graphs, seeds, scale)


def table_4(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Show AUC by method and operator, in both protocols, raw and smoothed."""
    return _compare_links(results, seeds, scale, "table-4")


def _compare_links(results: Results, seeds: Sequence[int], scale: Scale, name: str) -> View:
    """Show tables of raw vectors, of smoothed ones and of the best, and a figure."""
    view, methods = View(notes=[legend(seeds)]), compared(scale)
    dots: list[Dots] = []
    for graph in scale.link_graphs:
        title = scale.title(graph)
        found = by_method(
            results, methods, partial(_cells_of, LINK_PREDICTION, graph, seeds, scale)
        )
        rows: dict[tuple[str, str], list[list[TableEntry | None]]] = {}
        for protocol, meaning in PROTOCOL_NOTES.items():
            for kind in VECTOR_KINDS:
                table = Table(
                    f"{title}: AUC, `{protocol}`{KIND_NOTES[kind]}",
                    ["method", *OPERATOR_LABELS.values()],
                    note=f"`{protocol}`: {meaning}." if kind == "raw" else "",
                )
                comparable = kind == "raw" and protocol == PAPERS_PROTOCOL
                published = paper.TABLE_4.get(graph, {}) if comparable else {}
                for method in methods:
                    scores = list(found[method.label].values())
                    numbers = published.get(method.like, {})
                    entries = [
                        link_entry(scores, kind, protocol, operator, numbers.get(operator))
                        for operator in paper.OPERATOR_NAMES
                    ]
                    rows.setdefault((protocol, kind), []).append(entries)
                    if kind in _kinds_of(method):
                        table.add(method.label, entries)
                view.tables.append(table)
        view.tables.append(_best_link_table(graph, methods, found, scale))
        for protocol in PROTOCOL_NOTES:
            for place, operator in ((0, "Hadamard"), (3, "Weighted-L2")):
                dots.append(
                    Dots(
                        f"{title}, {protocol}, {operator}",
                        [method.label for method in methods],
                        [entries[place] for entries in rows[protocol, "raw"]],
                        [entries[place] for entries in rows[protocol, "smoothed"]],
                    )
                )
    cells = [cell for cell in table_4_cells(seeds, scale) if cell.method.choices]
    view.notes += [_BEST_NOTE, *_chosen_notes(results, cells)]
    view.pictures.append(
        Picture(name, "AUC of link prediction.", partial(dot_plot, dots, "AUC, %", 4))
    )
    return view


def _best_link_table(
    graph: str,
    methods: list[EmbeddingMethod],
    found: dict[str, dict[int, CellScores]],
    scale: Scale,
) -> Table:
    """Return the table of the best by validation, of baselines and of reinforced walks."""
    table = Table(
        f"{scale.title(graph)}: the best setting, chosen by validation",
        ["of", "AUC, `transfer`", "AUC, `shared`", "average precision, `shared`", "`shared` chose"],
    )
    top = paper.best_auc(graph)
    if top is not None:
        table.note = "The paper's: its best number, in its own protocol `transfer`."
    for name, members in _groups_of_methods(methods).items():
        for kinds, what in ((("raw",), f"{name}, raw"), (VECTOR_KINDS, f"{name}, raw or smoothed")):
            own = {method.label: found[method.label] for method in members}
            transfer = best_links(own, PAPERS_PROTOCOL, kinds, top)
            shared = best_links(own, "shared", kinds, top)
            table.add(
                what,
                [
                    transfer.values["auc"],
                    shared.values["auc"],
                    shared.values["ap"],
                    shared.summary() or None,
                ],
            )
    return table


# -- table 7 -------------------------------------------------------------------------------------


def table_7_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Return cells of every method on the graphs of node classification."""
    return _comparison_cells(NODE_CLASSIFICATION, scale.classification_graphs, seeds, scale)


def table_7(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Show micro and macro F1 by method and graph, raw and smoothed."""
    return _compare_groups(results, seeds, scale, "table-7", FULL)


def wide_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Return cells of every method with 128 dimensions, as in most other publications."""
    wider = widened(scale)
    return [
        *table_4_cells(seeds, wider),
        *_comparison_cells(NODE_CLASSIFICATION, wider.classification_graphs, seeds, wider, TABLES),
    ]


def wide(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Show Tables 4 and 7 with 128 dimensions."""
    wider = widened(scale)
    links = _compare_links(results, seeds, wider, "wide-links")
    groups = _compare_groups(results, seeds, wider, "wide", TABLES)
    return View(
        links.tables + groups.tables,
        links.pictures + groups.pictures,
        list(dict.fromkeys(links.notes + groups.notes)),
    )


def widened(scale: Scale) -> Scale:
    """Return the same scale with twice the dimensions: 128, not the paper's 64."""
    return replace(scale, dimensions=2 * scale.dimensions)


def _compare_groups(
    results: Results, seeds: Sequence[int], scale: Scale, name: str, scope: str
) -> View:
    """Show tables of raw vectors, of smoothed ones and of the best, and a figure."""
    view, methods = View(notes=[legend(seeds)]), compared(scale)
    graphs = scale.classification_graphs
    found = {
        graph: by_method(
            results,
            methods,
            partial(_cells_of, NODE_CLASSIFICATION, graph, seeds, scale, scope=scope),
        )
        for graph in graphs
    }
    columns = [
        f"{scale.title(graph)} {measure}" for graph in graphs for measure in ("micro", "macro")
    ]
    shares = ", ".join(f"{scale.title(graph)} {fractions_of(graph)[0]:.0%}" for graph in graphs)
    rows: dict[str, list[list[TableEntry | None]]] = {}
    for kind in VECTOR_KINDS:
        table = Table(f"F1 of node classification{KIND_NOTES[kind]}", ["method", *columns])
        for method in methods:
            entries: list[TableEntry | None] = []
            for graph in graphs:
                scores = list(found[graph][method.label].values())
                numbers = _published_groups(graph, method) if kind == "raw" else {}
                entries += [
                    group_entry(scores, kind, measure, numbers.get(measure))
                    for measure in ("micro", "macro")
                ]
            rows.setdefault(kind, []).append(entries)
            if kind in _kinds_of(method):
                table.add(method.label, entries)
        view.tables.append(table)
    view.tables[0].note = f"Training nodes: {shares}; C = 1."
    view.tables.append(_best_group_table(methods, found, columns, scale))
    for graph in graphs:
        view.tables += _fraction_tables(graph, methods, found[graph], scale)
    dots = [
        Dots(
            column,
            [method.label for method in methods],
            [entries[place] for entries in rows["raw"]],
            [entries[place] for entries in rows["smoothed"]],
        )
        for place, column in sorted(enumerate(columns), key=lambda one: one[0] % 2)
    ]
    cells = _comparison_cells(NODE_CLASSIFICATION, graphs, seeds, scale, scope)
    view.notes += [
        _BEST_NOTE,
        _TUNED_NOTE,
        *_chosen_notes(results, [cell for cell in cells if cell.method.choices]),
    ]
    view.pictures.append(
        Picture(name, "F1 of node classification.", partial(dot_plot, dots, "F1, %", len(graphs)))
    )
    return view


def _published_groups(graph: str, method: EmbeddingMethod) -> dict[str, float]:
    """Return the paper's F1 of a method on a graph."""
    return paper.TABLE_7.get(graph, {}).get(method.like, {})


def _fraction_tables(
    graph: str,
    methods: list[EmbeddingMethod],
    found: dict[str, dict[int, CellScores]],
    scale: Scale,
) -> list[Table]:
    """Return tables of three training fractions, with C = 1 and with C by validation."""
    fractions = sorted(table_fractions(graph))
    columns = {
        f"{fraction:.0%}, {words}": (f"{fraction:g}", prefix)
        for words, prefix in (("C = 1", ""), ("C by validation", "tuned_"))
        for fraction in fractions
    }
    tables = []
    for measure in ("micro", "macro"):
        for kind in VECTOR_KINDS:
            table = Table(
                f"{scale.title(graph)}: {measure} F1 by training nodes{KIND_NOTES[kind]}",
                ["method", *columns],
            )
            for method in methods:
                if kind not in _kinds_of(method):
                    continue
                scores = list(found[method.label].values())
                numbers = _published_groups(graph, method) if kind == "raw" else {}
                entries = []
                for fraction, prefix in columns.values():
                    comparable = not prefix and fraction == f"{fractions_of(graph)[0]:g}"
                    number = numbers.get(measure) if comparable else None
                    entries.append(group_entry(scores, kind, prefix + measure, number, fraction))
                table.add(method.label, entries)
            tables.append(table)
    return tables


def _best_group_table(
    methods: list[EmbeddingMethod],
    found: dict[str, dict[str, dict[int, CellScores]]],
    columns: list[str],
    scale: Scale,
) -> Table:
    """Return the table of the best by validation on each graph."""
    table = Table("The best setting, chosen by validation", ["of", *columns])
    notes = []
    for name, members in _groups_of_methods(methods).items():
        for kinds, what in ((("raw",), f"{name}, raw"), (VECTOR_KINDS, f"{name}, raw or smoothed")):
            entries: list[TableEntry | None] = []
            for graph in found:
                own = {method.label: found[graph][method.label] for method in members}
                choice = best_groups(own, kinds, paper.best_f1(graph))
                entries += [choice.values["micro"], choice.values["macro"]]
                if kinds == VECTOR_KINDS and choice.settings:
                    notes.append(f"{scale.title(graph)}, {name}: {choice.summary()}.")
            table.add(what, entries)
    table.note = "The paper's: its best row. Chosen: " + " ".join(notes)
    return table


# -- figure 3 ------------------------------------------------------------------------------------


def figure_3(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Show F1 over the training fraction."""
    methods = compared(scale)
    styles = method_styles([method.group for method in methods])
    panels, view = [], View(notes=[legend(seeds)])
    for measure in ("micro", "macro"):
        for graph in scale.classification_graphs:
            fractions = sorted(fractions_of(graph))
            found = by_method(
                results, methods, partial(_cells_of, NODE_CLASSIFICATION, graph, seeds, scale)
            )
            curves = []
            table = Table(
                f"{scale.title(graph)}: {measure} F1 by share of nodes that train",
                ["method", *(f"{fraction:.0%}" for fraction in fractions)],
            )
            for method, style in zip(methods, styles, strict=True):
                kind = _kinds_of(method)[0]
                scores = list(found[method.label].values())
                entries = [
                    group_entry(scores, kind, measure, fraction=f"{fraction:g}")
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
            published = paper.TABLE_7.get(graph, {}).get("reinforce2vec", {})
            points = (
                [(100 * fractions_of(graph)[0], published[measure])] if measure in published else []
            )
            panels.append(
                Panel(scale.title(graph), "training nodes, %", f"{measure} F1, %", curves, points)
            )
    view.notes.append(
        f"{_FIGURE_3_KINDS} The paper has curves without numbers; its one number for "
        "reinforce2vec, from Table 7 or 8, is drawn as a star."
    )
    caption = (
        f"F1 over the share of nodes that train. {_FIGURE_3_KINDS} Methods whose curves are far "
        "below all others are named above the panel."
    )
    view.pictures.append(Picture("figure-3", caption, partial(curve_plot, panels)))
    return view
