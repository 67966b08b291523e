"""Tables of the study of defaults: settings and graphs, mean and spread over the seeds."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean

from reporting import deviation, select, table

Row = dict
Table = dict[tuple[str, str], list[float]]  # for a setting and graph, a value for each seed

METRICS = {"nodes": ("micro", "macro"), "links": ("auc",)}


def report(rows: list[Row], parts: list[str], graphs: list[str], settings: list[str]) -> str:
    """Return all tables as Markdown, the parts apart."""
    failures = [row for row in rows if "error" in row]
    rows = [row for row in rows if "error" not in row]
    pages = []
    for part in parts:
        for title, scores in tables_of(select(rows, part=part)).items():
            pages.append(f"## {part}: {title}\n\n{markdown(scores, graphs, settings)}")
    pages.append(f"## seconds of training and smoothing\n\n{seconds(rows, graphs, settings)}")
    if failures:
        lines = [
            f"- {row['setting']}, {row['graph']}, seed {row['seed']}, {row['task']}: {row['error']}"
            for row in failures
        ]
        pages.append("## failures\n\n" + "\n".join(lines))
    return "\n\n".join(pages)


def tables_of(rows: list[Row]) -> dict[str, Table]:
    """Return the values of every metric; shuffles of one seed count as one."""
    values: dict[tuple[str, str, str, int], list[float]] = defaultdict(list)
    for row in rows:
        for metric in METRICS[row["task"]]:
            key = title_of(row, metric), row["setting"], row["graph"], row["seed"]
            values[key].append(row[metric])
    tables: dict[str, Table] = defaultdict(lambda: defaultdict(list))
    for (title, setting, graph, _), scores in sorted(values.items()):
        tables[title][setting, graph].append(mean(scores))
    return tables


def title_of(row: Row, metric: str) -> str:
    if row["task"] == "links":
        return f"links, AUC, {row['operator']}"
    few = "few" if row["share"] < 0.5 else "half"
    c = "C chosen" if row["c"] == "validation" else f"C = {row['c']:g}"
    return f"nodes, {metric} F1, {few} of the labels, {c}"


def markdown(scores: Table, graphs: list[str], settings: list[str]) -> str:
    """Return settings as lines and graphs as columns; the last column is the mean of the graphs.

    It is there only for settings that were scored on all graphs of the table.
    """
    columns = [graph for graph in graphs if any(key[1] == graph for key in scores)]
    common = [graph for graph in columns if graph != "planted-1m"]
    lines = []
    for setting in (title for title in settings if any(key[0] == title for key in scores)):
        cells = [deviation(scores.get((setting, graph), []), ".2f") for graph in columns]
        means = [mean(scores[setting, graph]) for graph in common if (setting, graph) in scores]
        overall = f"{mean(means):.2f}" if common and len(means) == len(common) else ""
        lines.append([setting, *cells, overall])
    return "\n".join(table(["setting", *columns, "mean"], lines))


def seconds(rows: list[Row], graphs: list[str], settings: list[str]) -> str:
    """Return the mean seconds of all components of a setting, for vectors of the whole graph."""
    spent: dict[tuple[str, str, int], float] = {
        (row["setting"], row["graph"], row["seed"]): row["train_s"] + row["smooth_s"]
        for row in rows
        if row["task"] == "nodes"
    }
    means: Table = defaultdict(list)
    for (setting, graph, _), value in spent.items():
        means[setting, graph].append(value)
    return markdown(means, graphs, settings)
