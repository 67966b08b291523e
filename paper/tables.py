"""Tables: from the scores of cells to numbers beside those of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import published
from cells import (
    FRACTIONS,
    GROUP_GRAPHS,
    GROUPS,
    LINK_GRAPHS,
    LINKS,
    TITLES,
    Cell,
    table_fractions,
)
from methods import (
    BUDGETS,
    BY_BUDGET,
    COMPARED,
    EXPLORATIONS,
    FAMILY,
    RATES,
    READING_LABELS,
    READINGS,
    REWARDS,
    Scale,
    greedy,
    variant,
)

OPERATORS = {
    "hadamard": "Hadamard",
    "average": "Average",
    "l1": "Weighted-L1",
    "l2": "Weighted-L2",
}
PROTOCOLS = {
    "transfer": "classifier trained on one residual graph and tested on another, as in the paper",
    "shared": "classifier trained and tested on halves of the pairs of one residual graph",
}
VECTORS = {"raw": "", "smoothed": ", vectors smoothed"}
MEASURES = ("micro", "macro")
BEST_NOTE = (
    "Best rows: for each seed (and shuffle) the setting with the best score on a validation part "
    "of the training data is taken, and its test score is reported; no test pair or label takes "
    "part in the choice. Only node2vec's p and q are chosen once per graph, with the first seed, "
    "by the mean of its shuffles: that can only favour it."
)
TUNED_NOTE = (
    "C by validation: the classifier's C is the best of several on a validation part of the "
    "training nodes, for each method, seed and shuffle alike; C = 1 is usual in published tables."
)
Records = dict[Cell, dict[str, Any]]


class Run(NamedTuple):
    """What an experiment is shown, or computed, with."""

    seeds: Sequence[int]
    scale: Scale
    backend: str


class Entry(NamedTuple):
    """A table entry: our score for each seed, and the paper's, if it has one."""

    values: tuple[float, ...]
    paper: float | None = None

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def spread(self) -> float:
        """Sample standard deviation over the seeds; 0 for a single one."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    def __str__(self) -> str:
        text = f"{self.mean:.1f}" + (f" ± {self.spread:.1f}" if len(self.values) > 1 else "")
        if self.paper is not None:
            text += f" ({self.paper:.1f}, {self.mean - self.paper:+.1f})"
        return text


def markdown(title: str, table: pd.DataFrame, note: str = "") -> str:
    """Return a table of entries and texts as Markdown; the best means of a column are bold."""
    table = table.dropna(axis=1, how="all")
    lines = [[table.columns.name or "", *table.columns], ["---"] * (1 + table.shape[1])]
    best = {}
    for column in table:
        means = {f"{entry.mean:.1f}" for entry in table[column] if isinstance(entry, Entry)}
        best[column] = max(means, key=float) if len(means) > 1 else None
    for label, row in table.iterrows():
        cells = [str(label)]
        for column, entry in row.items():
            text = "–" if entry is None or entry is np.nan else str(entry)
            is_best = isinstance(entry, Entry) and f"{entry.mean:.1f}" == best[column]
            cells.append(f"**{text}**" if is_best else text)
        lines.append(cells)
    body = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"## {title.replace('`', '')}\n\n{body}\n" + (f"\n{note}\n" if note else "")


@dataclass
class Page:
    """What is shown of an experiment: tables by title, notes, and pictures by name."""

    tables: dict[str, pd.DataFrame]
    notes: list[str]
    # name: (caption, function that draws, its data)
    pictures: dict[str, Any] = field(default_factory=dict)
    table_notes: dict[str, str] = field(default_factory=dict)


def frame_of(rows: dict[str, dict[str, Any]], head: str) -> pd.DataFrame:
    """Return rows of entries by label as a table."""
    frame = pd.DataFrame.from_dict(rows, orient="index", dtype=object)
    frame.columns.name = head
    return frame


# -- scores --------------------------------------------------------------------------------------


def cells_of(
    run: Run, task: str, graphs: Iterable[str], methods: Iterable[str], scope: str, width: int = 1
) -> list[Cell]:
    """Return the cells of some methods on some graphs, for all seeds."""
    dimensions = width * run.scale.dimensions
    return [
        Cell(task, graph, method, seed, dimensions, scope, run.backend)
        for graph in graphs
        for method in methods
        for seed in run.seeds
    ]


def link_entry(
    records: Records, cells: Iterable[Cell], path: tuple[str, str, str], paper: float | None = None
) -> Entry | None:
    """Return one operator's AUC over the seeds; the path is vectors, protocol and operator."""
    vectors, protocol, operator = path
    scores = [records[cell]["scores"] for cell in cells if cell in records]
    values = [one[vectors][protocol][operator]["auc"] for one in scores if vectors in one]
    return Entry(tuple(values), paper) if values else None


def group_entry(
    records: Records,
    cells: Iterable[Cell],
    vectors: str,
    measure: str,
    paper: float | None = None,
    fraction: str | None = None,
) -> Entry | None:
    """Return F1 over the seeds, means of shuffles, by default at the paper's fraction."""
    scores = [records[cell]["scores"] for cell in cells if cell in records]
    values = [
        fmean(shuffle[measure] for shuffle in one[vectors][fraction or next(iter(one[vectors]))])
        for one in scores
        if vectors in one
    ]
    return Entry(tuple(values), paper) if values else None


class Choice(NamedTuple):
    """The test scores, by metric, of the settings that validation chose, and how often each was."""

    entries: dict[str, Entry]
    settings: Counter[str]

    def __str__(self) -> str:
        times = self.settings.total()
        return "; ".join(
            f"{setting} ({count} of {times})" if len(self.settings) > 1 else setting
            for setting, count in self.settings.most_common()
        )


def best_of(
    records: Records,
    cells: dict[str, list[Cell]],
    vectors: Sequence[str],
    protocol: str = "shared",
    paper: dict[str, float] | None = None,
) -> Choice:
    """Choose, for each seed and shuffle, the best setting of all cells (by label) by validation."""
    rows = []
    for label, members in cells.items():
        for cell in members:
            scores = records.get(cell, {"scores": {}})["scores"]
            for kind in (kind for kind in vectors if kind in scores):
                if cell.task == LINKS:
                    for way, test in scores[kind][protocol].items():
                        worth = scores[kind]["shared"][way]["validation"]
                        setting = f"{label}, {kind}, {way}"
                        test = {name: test[name] for name in ("auc", "ap")}
                        rows.append({"seed": cell.seed, "shuffle": 0, "setting": setting})
                        rows[-1] |= {"validation": worth} | test
                else:
                    for number, one in enumerate(next(iter(scores[kind].values()))):
                        test = {name: one[name] for name in MEASURES}
                        setting = f"{label}, {kind}"
                        rows.append({"seed": cell.seed, "shuffle": number, "setting": setting})
                        rows[-1] |= {"validation": one["validation_micro"]} | test
    if not rows:
        return Choice({}, Counter())
    frame = pd.DataFrame(rows)
    picked = frame.loc[frame.groupby(["seed", "shuffle"], sort=True).validation.idxmax()]
    metrics = [name for name in ("auc", "ap", *MEASURES) if name in picked]
    means = picked.groupby("seed")[metrics].mean()
    entries = {name: Entry(tuple(means[name]), (paper or {}).get(name)) for name in metrics}
    return Choice(entries, Counter(picked.setting))


def _groups_of_methods() -> dict[str, list[str]]:
    """Return methods by where they come from, for the rows of the best."""
    return {
        "baselines": [name for name, one in COMPARED.items() if one.group == "baseline"],
        "reinforced walks": [name for name, one in COMPARED.items() if one.group != "baseline"],
    }


def _kinds_of(method: str) -> tuple[str, ...]:
    """Return the vectors that a method has."""
    return ("smoothed",) if method == "default" else ("raw", "smoothed")


def legend(seeds: Sequence[int], paper: bool = True) -> str:
    """Return what the entries of tables are."""
    spread = ", mean ± sample standard deviation over seeds" if len(seeds) > 1 else ""
    return f"Ours in percent{spread}" + (" (the paper's, difference)." if paper else ".")


def _chosen_note(records: Records, cells: Iterable[Cell]) -> list[str]:
    """Return a note on the p and q that node2vec has chosen."""
    seeds: dict[str, list[str]] = {}
    for cell in cells:
        if "chosen" in records.get(cell, {}):
            setting = records[cell]["chosen"].replace("p", "p = ").replace("-q", ", q = ")
            seeds.setdefault(f"{TITLES[cell.graph]} {setting}", []).append(f"{cell.seed}")
    found = [f"{setting} (seeds {', '.join(listed)})" for setting, listed in seeds.items()]
    return ["node2vec's p and q, chosen by validation: " + "; ".join(found) + "."] if found else []


# -- tables 4 and 7: methods ---------------------------------------------------------------------


def table_4_cells(run: Run, width: int = 1) -> list[Cell]:
    return cells_of(run, LINKS, LINK_GRAPHS, COMPARED, "full", width)


def table_4(records: Records, run: Run, width: int = 1) -> Page:
    """AUC by method and operator, in both protocols, raw and smoothed."""
    page = Page({}, [legend(run.seeds)])
    cells = table_4_cells(run, width)
    dots = {}
    for graph in LINK_GRAPHS:
        title = TITLES[graph]
        by_method = {
            method: [cell for cell in cells if (cell.graph, cell.method) == (graph, method)]
            for method in COMPARED
        }
        for protocol, meaning in PROTOCOLS.items():
            frames = {}
            for vectors, words in VECTORS.items():
                numbers = (
                    published.TABLE_4[graph] if (vectors, protocol) == ("raw", "transfer") else {}
                )
                rows = {
                    COMPARED[method].label: {
                        name: link_entry(
                            records,
                            own,
                            (vectors, protocol, operator),
                            numbers.get(COMPARED[method].like, {}).get(operator),
                        )
                        for operator, name in OPERATORS.items()
                    }
                    for method, own in by_method.items()
                    if vectors in _kinds_of(method)
                }
                frames[vectors] = frame_of(rows, "method")
                name = f"{title}: AUC, `{protocol}`{words}"
                page.tables[name] = frames[vectors]
                if vectors == "raw":
                    page.table_notes[name] = f"`{protocol}`: {meaning}."
            for name in ("Hadamard", "Weighted-L2"):
                dots[f"{title}, {protocol}, {name}"] = {
                    vectors: frame[name] for vectors, frame in frames.items()
                }
        best, note = _best_links(records, by_method, graph)
        page.tables[f"{title}: the best setting, chosen by validation"] = best
        page.table_notes[f"{title}: the best setting, chosen by validation"] = note
    page.notes.extend([BEST_NOTE, *_chosen_note(records, cells)])
    name = "table-4" if width == 1 else "wide-links"
    page.pictures[name] = ("AUC of link prediction.", "dots", (dots, "AUC, %", 4))
    return page


def _best_links(
    records: Records, by_method: dict[str, list[Cell]], graph: str
) -> tuple[pd.DataFrame, str]:
    """Return the table of the best by validation, of baselines and of reinforced walks."""
    top = max(score for row in published.TABLE_4[graph].values() for score in row.values())
    rows = {}
    for group, members in _groups_of_methods().items():
        own = {COMPARED[method].label: by_method[method] for method in members}
        for vectors, words in ((("raw",), "raw"), (("raw", "smoothed"), "raw or smoothed")):
            transfer = best_of(records, own, vectors, "transfer", {"auc": top})
            shared = best_of(records, own, vectors, "shared", {"auc": top})
            rows[f"{group}, {words}"] = {
                "AUC, `transfer`": transfer.entries.get("auc"),
                "AUC, `shared`": shared.entries.get("auc"),
                "average precision, `shared`": shared.entries.get("ap"),
                "`shared` chose": str(shared) or None,
            }
    return frame_of(rows, "of"), "The paper's: its best number, in its own protocol `transfer`."


def table_7_cells(run: Run, width: int = 1) -> list[Cell]:
    return cells_of(run, GROUPS, GROUP_GRAPHS, COMPARED, ("full", "tables")[width - 1], width)


def table_7(records: Records, run: Run, width: int = 1) -> Page:
    """Micro and macro F1 by method and graph, raw and smoothed."""
    page = Page({}, [legend(run.seeds)])
    cells = table_7_cells(run, width)
    by_graph = {
        graph: {
            method: [cell for cell in cells if (cell.graph, cell.method) == (graph, method)]
            for method in COMPARED
        }
        for graph in GROUP_GRAPHS
    }
    frames = {}
    for vectors, words in VECTORS.items():
        rows = {
            COMPARED[method].label: {
                f"{TITLES[graph]} {measure}": group_entry(
                    records,
                    by_graph[graph][method],
                    vectors,
                    measure,
                    _published(graph, method).get(measure) if vectors == "raw" else None,
                )
                for graph in GROUP_GRAPHS
                for measure in MEASURES
            }
            for method in COMPARED
            if vectors in _kinds_of(method)
        }
        frames[vectors] = frame_of(rows, "method")
        page.tables[f"F1 of node classification{words}"] = frames[vectors]
    shares = ", ".join(f"{TITLES[graph]} {FRACTIONS[graph][0]:.0%}" for graph in GROUP_GRAPHS)
    page.table_notes["F1 of node classification"] = f"Training nodes: {shares}; C = 1."
    best, note = _best_groups(records, by_graph)
    page.tables["The best setting, chosen by validation"] = best
    page.table_notes["The best setting, chosen by validation"] = note
    for graph in GROUP_GRAPHS:
        page.tables.update(_by_fraction(records, graph, by_graph[graph]))
    page.notes.extend([BEST_NOTE, TUNED_NOTE, *_chosen_note(records, cells)])
    columns = sorted(frames["raw"].columns, key=lambda column: column.endswith("macro"))
    dots = {column: {kind: frame[column] for kind, frame in frames.items()} for column in columns}
    name = "table-7" if width == 1 else "wide"
    page.pictures[name] = ("F1 of node classification.", "dots", (dots, "F1, %", 3))
    return page


def _published(graph: str, method: str) -> dict[str, float]:
    """Return the paper's F1 of a method on a graph."""
    return published.TABLE_7[graph].get(COMPARED[method].like, {})


def _best_groups(
    records: Records, by_graph: dict[str, dict[str, list[Cell]]]
) -> tuple[pd.DataFrame, str]:
    """Return the table of the best by validation on each graph."""
    rows, notes = {}, []
    for group, members in _groups_of_methods().items():
        for vectors, words in ((("raw",), "raw"), (("raw", "smoothed"), "raw or smoothed")):
            row = rows.setdefault(f"{group}, {words}", {})
            for graph, cells in by_graph.items():
                numbers = published.best_f1(graph)
                own = {COMPARED[method].label: cells[method] for method in members}
                choice = best_of(records, own, vectors, paper=numbers)
                for measure in MEASURES:
                    row[f"{TITLES[graph]} {measure}"] = choice.entries.get(measure)
                if len(vectors) > 1 and choice.settings:
                    notes.append(f"{TITLES[graph]}, {group}: {choice}.")
    return frame_of(rows, "of"), "The paper's: its best row. Chosen: " + " ".join(notes)


def _by_fraction(
    records: Records, graph: str, by_method: dict[str, list[Cell]]
) -> dict[str, pd.DataFrame]:
    """Return tables of three training fractions, with C = 1 and with C by validation."""
    tables = {}
    for measure in MEASURES:
        for vectors, words in VECTORS.items():
            rows = {}
            for method, cells in by_method.items():
                if vectors not in _kinds_of(method):
                    continue
                row = rows.setdefault(COMPARED[method].label, {})
                for prefix, how in (("", "C = 1"), ("tuned_", "C by validation")):
                    for fraction in sorted(table_fractions(graph)):
                        compared = (
                            vectors == "raw" and not prefix and fraction == FRACTIONS[graph][0]
                        )
                        paper = _published(graph, method).get(measure) if compared else None
                        row[f"{fraction:.0%}, {how}"] = group_entry(
                            records, cells, vectors, prefix + measure, paper, f"{fraction:g}"
                        )
            title = f"{TITLES[graph]}: {measure} F1 by training nodes{words}"
            tables[title] = frame_of(rows, "method")
    return tables


def wide_cells(run: Run) -> list[Cell]:
    return [*table_4_cells(run, 2), *table_7_cells(run, 2)]


def wide(records: Records, run: Run) -> Page:
    """Tables 4 and 7 with twice the dimensions: 128, not the paper's 64."""
    links, groups = table_4(records, run, 2), table_7(records, run, 2)
    notes = list(dict.fromkeys(links.notes + groups.notes))
    return Page(
        links.tables | groups.tables,
        notes,
        links.pictures | groups.pictures,
        links.table_notes | groups.table_notes,
    )


def figure_3(records: Records, run: Run) -> Page:
    """F1 over the training fraction."""
    page, cells, panels = Page({}, [legend(run.seeds)]), table_7_cells(run), []
    for measure in MEASURES:
        for graph in GROUP_GRAPHS:
            fractions = sorted(FRACTIONS[graph])
            rows = {
                one.label: {
                    f"{fraction:.0%}": group_entry(
                        records,
                        [cell for cell in cells if (cell.graph, cell.method) == (graph, method)],
                        _kinds_of(method)[0],
                        measure,
                        fraction=f"{fraction:g}",
                    )
                    for fraction in fractions
                }
                for method, one in COMPARED.items()
            }
            frame = frame_of(rows, "method")
            page.tables[f"{TITLES[graph]}: {measure} F1 by share of nodes that train"] = frame
            number = published.TABLE_7[graph]["reinforce2vec"].get(measure)
            points = [(100 * FRACTIONS[graph][0], number)] if number else []
            x = [100 * fraction for fraction in fractions]
            panels.append(
                (TITLES[graph], "training nodes, %", f"{measure} F1, %", x, frame, points)
            )
    kinds = "Raw vectors; those of our default are smoothed by itself."
    page.notes.append(
        f"{kinds} The paper has curves without numbers; its one number for reinforce2vec, from "
        "Table 7 or 8, is drawn as a star."
    )
    caption = (
        f"F1 over the share of nodes that train. {kinds} Methods whose curves are far below all "
        "others are named above the panel."
    )
    page.pictures["figure-3"] = (caption, "curves", (panels, 3, False))
    return page


# -- tables 5 and 8, figure 4: walks -------------------------------------------------------------


def _ablation_cells(task: str, graph: str, method: str, run: Run) -> list[Cell]:
    """Return the cells of a walk; those in tables 4, 5 and 7 too are the same cells."""
    listed = {variant(reading, *walk) for reading in READINGS for walk in _walks()}
    full = method in COMPARED or (task == LINKS and method in listed)
    return cells_of(run, task, [graph], [method], "full" if full else "headline")


def _walks() -> list[tuple[str, str]]:
    return [(reward, exploration) for reward in REWARDS for exploration in EXPLORATIONS]


def _all_walks(task: str, graph: str, run: Run) -> list[Cell]:
    return [
        cell
        for reading in READINGS
        for walk in _walks()
        for cell in _ablation_cells(task, graph, variant(reading, *walk), run)
    ]


def table_5_cells(run: Run) -> list[Cell]:
    return _all_walks(LINKS, "facebook", run)


def table_5(records: Records, run: Run) -> Page:
    """AUC by reward and exploration, in both readings and protocols."""
    page, dots = Page({}, [legend(run.seeds)]), {}
    for protocol in PROTOCOLS:
        for reading, label in READING_LABELS.items():
            frames = {}
            for vectors, words in VECTORS.items():
                rows = {}
                for walk in _walks():
                    cells = _ablation_cells(LINKS, "facebook", variant(reading, *walk), run)
                    compared = vectors == "raw" and protocol == "transfer"
                    numbers = published.TABLE_5[walk] if compared else {}
                    rows[_walk_label(*walk)] = {
                        name: link_entry(
                            records, cells, (vectors, protocol, operator), numbers.get(operator)
                        )
                        for operator, name in OPERATORS.items()
                    }
                frames[vectors] = frame_of(rows, "walk")
                page.tables[f"Facebook: AUC, `{protocol}`, {label}{words}"] = frames[vectors]
            for name in ("Hadamard", "Weighted-L2"):
                dots[f"{protocol}, {label}, {name}"] = {
                    vectors: frame[name] for vectors, frame in frames.items()
                }
    page.notes.extend(f"`{name}`: {meaning}." for name, meaning in PROTOCOLS.items())
    caption = "AUC of link prediction on Facebook by reward and exploration."
    page.pictures["table-5"] = (caption, "dots", (dots, "AUC, %", 4))
    return page


def _walk_label(reward: str, exploration: str) -> str:
    return f"{REWARDS[reward]}, {EXPLORATIONS[exploration]}"


def table_8_cells(run: Run) -> list[Cell]:
    return _all_walks(GROUPS, "ppi", run)


def table_8(records: Records, run: Run) -> Page:
    """F1 by reward and exploration, in both readings."""
    page, dots = Page({}, [legend(run.seeds)]), {}
    for reading, label in READING_LABELS.items():
        frames = {}
        for vectors, words in VECTORS.items():
            rows = {}
            for walk in _walks():
                cells = _ablation_cells(GROUPS, "ppi", variant(reading, *walk), run)
                numbers = published.TABLE_8[walk] if vectors == "raw" else {}
                rows[_walk_label(*walk)] = {
                    f"{measure} F1": group_entry(
                        records, cells, vectors, measure, numbers.get(measure)
                    )
                    for measure in MEASURES
                }
            frames[vectors] = frame_of(rows, "walk")
            page.tables[f"PPI: F1, {label}{words}"] = frames[vectors]
        for measure in MEASURES:
            column = f"{measure} F1"
            dots[f"{label}, {column}"] = {kind: frame[column] for kind, frame in frames.items()}
    caption = "F1 of node classification on PPI by reward and exploration."
    page.pictures["table-8"] = (caption, "dots", (dots, "F1, %", 4))
    return page


def figure_4_cells(run: Run) -> list[Cell]:
    return [
        cell
        for task, graph in ((GROUPS, "ppi"), (LINKS, "facebook"))
        for reading in READINGS
        for epsilon in published.EPSILONS
        for cell in _ablation_cells(task, graph, greedy(reading, epsilon), run)
    ]


def figure_4(records: Records, run: Run) -> Page:
    """Scores over ε; for ε = 1 every walk is first-order."""
    page, panels = Page({}, [legend(run.seeds)]), []
    known = {0.0: "none", 0.5: "epsilon"}  # ε of rows of tables 5 and 8
    groups: dict[str, dict[str, Any]] = {}
    links: dict[str, dict[str, Any]] = {}
    for graph, rows, metrics in (
        ("ppi", groups, {measure: measure for measure in MEASURES}),
        ("facebook", links, {way: OPERATORS[way] for way in ("hadamard", "l2")}),
    ):
        table = published.TABLE_8 if graph == "ppi" else published.TABLE_5
        for metric, name in metrics.items():
            own = {}
            for reading, label in READING_LABELS.items():
                for vectors, words in VECTORS.items():
                    row = own.setdefault(f"{label}{words}", {})
                    for epsilon in published.EPSILONS:
                        method = greedy(reading, epsilon)
                        if graph == "ppi":
                            cells = _ablation_cells(GROUPS, graph, method, run)
                            number = table.get(("js", known.get(epsilon, "")), {}).get(metric)
                            paper = number if vectors == "raw" else None
                            entry = group_entry(records, cells, vectors, metric, paper)
                        else:
                            cells = _ablation_cells(LINKS, graph, method, run)
                            entry = link_entry(records, cells, (vectors, "shared", metric))
                        row[f"ε = {epsilon:g}"] = entry
            rows |= {f"{name}, {label}": row for label, row in own.items()}
            points = [(epsilon, table["js", way][metric]) for epsilon, way in known.items()]
            what = (
                (TITLES[graph], f"{name} F1, %")
                if graph == "ppi"
                else (f"Facebook, {name}", "AUC, %")
            )
            x = list(published.EPSILONS)
            panels.append((what[0], "ε", what[1], x, frame_of(own, ""), points))
    page.tables["PPI: F1 by ε"] = frame_of(groups, "")
    page.tables["Facebook: AUC by ε, `shared`"] = frame_of(links, "")
    page.notes.append(
        "JS divergence with ε-greedy exploration. The paper has curves without numbers; those of "
        "Tables 5 (protocol `transfer`) and 8 for ε = 0 and 0.5 are drawn as stars. It finds the "
        f"best ε at {published.BEST_EPSILON['ppi']:g} on PPI and "
        f"{published.BEST_EPSILON['facebook']:g} on Facebook."
    )
    page.pictures["figure-4"] = ("Scores over ε on PPI and Facebook.", "curves", (panels, 4, False))
    return page


# -- our own studies: settings of one row, validation takes the best -----------------------------

_STUDIED = ("facebook", "blogcatalog", "ppi")  # training takes seconds on these
_WALKS_NOTE = (
    "Walks: *first-order* steps to any neighbour, as DeepWalk's; *released* is the walk of the "
    "authors' code, `ReinforcedWalk.released()`; *attraction* multiplies the weight of visited "
    "neighbours (below 1 the path repels the walk), and *candidates* is how many unvisited "
    "neighbours a step considers."
)


def _study_cells(graph: str, methods: Iterable[str], run: Run) -> list[Cell]:
    task = LINKS if graph in LINK_GRAPHS else GROUPS
    return cells_of(run, task, [graph], methods, "headline")


def _studied_metrics(graph: str) -> dict[str, str]:
    """Return the metrics of a graph, with their labels."""
    if graph in LINK_GRAPHS:
        return {"auc": "AUC, best operator"}
    return {measure: f"{measure} F1" for measure in MEASURES}


def budget_cells(run: Run) -> list[Cell]:
    names = [f"{walk}@{n}@{rate}" for walk in BY_BUDGET for n in BUDGETS for rate in RATES]
    return [cell for graph in _STUDIED for cell in _study_cells(graph, names, run)]


def budget(records: Records, run: Run) -> Page:
    """Quality by walks per node, for some walks; validation takes the learning rate."""
    notes = [legend(run.seeds, paper=False), _WALKS_NOTE]
    notes.append(f"The learning rate is chosen by validation from {', '.join(map(str, RATES))}.")
    page, panels = Page({}, notes), []
    for graph in _STUDIED:
        curves = {}
        for vectors, words in VECTORS.items():
            chosen = {
                walk: {
                    walks: best_of(
                        records,
                        {
                            f"rate {rate:g}": _study_cells(graph, [f"{walk}@{walks}@{rate}"], run)
                            for rate in RATES
                        },
                        (vectors,),
                    )
                    for walks in BUDGETS
                }
                for walk in BY_BUDGET
            }
            for number, (metric, label) in enumerate(_studied_metrics(graph).items()):
                rows = {
                    walk: {f"{walks}": choice.entries.get(metric) for walks, choice in own.items()}
                    for walk, own in chosen.items()
                }
                title = f"{TITLES[graph]}: {label}{words}"
                page.tables[title] = frame_of(rows, "walk, by walks per node")
                if number == 0:
                    curves |= {f"{walk}{words}": row for walk, row in rows.items()}
        y = "AUC, best operator, %" if graph in LINK_GRAPHS else "micro F1, %"
        frame = frame_of(curves, "")
        panels.append((TITLES[graph], "walks per node", y, list(BUDGETS), frame, []))
    caption = "Quality by amount of training"
    page.pictures["budget"] = (caption, "curves", (panels, 3, True))
    return page


def family_cells(run: Run) -> list[Cell]:
    names = [f"{walk}@5@0.05" for walk in FAMILY]
    return [cell for graph in _STUDIED for cell in _study_cells(graph, names, run)]


def family(records: Records, run: Run) -> Page:
    """All walks of the family with few walks per node."""
    notes = [
        legend(run.seeds, paper=False),
        f"{_WALKS_NOTE} *paper* is `ReinforcedWalk.paper()`, and *node2vec* `SecondOrderWalk(p, "
        "q)`.",
        "All at the learning rate 0.05, our default for so few walks.",
    ]
    page = Page({}, notes)
    for vectors, words in VECTORS.items():
        rows: dict[str, dict[str, Any]] = {}
        for graph in _STUDIED:
            by_walk = {walk: _study_cells(graph, [f"{walk}@5@0.05"], run) for walk in FAMILY}
            choices = {
                walk: best_of(records, {walk: cells}, (vectors,)) for walk, cells in by_walk.items()
            }
            choices["the best by validation"] = best_of(records, by_walk, (vectors,))
            for walk, choice in choices.items():
                rows.setdefault(walk, {}).update(
                    {
                        f"{TITLES[graph]} {label}": choice.entries.get(metric)
                        for metric, label in _studied_metrics(graph).items()
                    }
                )
        page.tables[f"The family of walks with 5 walks per node{words}"] = frame_of(rows, "walk")
    return page
