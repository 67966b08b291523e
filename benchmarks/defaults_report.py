"""Tables of the study of defaults: settings and graphs, mean and spread over the seeds."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean, stdev

Row = dict
Table = dict[tuple[str, str], list[float]]  # for a setting and graph, a value for each seed

METRICS = {"nodes": ("micro", "macro"), "links": ("auc",)}


def report(rows: list[Row], parts: list[str], graphs: list[str], settings: list[str]) -> str:
    """Return all tables as Markdown, the parts apart."""
    failures = [row for row in rows if "error" in row]
    rows = [row for row in rows if "error" not in row]
    pages = []
    for part in parts:
        for title, table in tables_of([row for row in rows if row["part"] == part]).items():
            pages.append(f"## {part}: {title}\n\n{markdown(table, graphs, settings)}")
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
    found: dict[str, dict[tuple[str, str, int], list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        for metric in METRICS[row["task"]]:
            found[title_of(row, metric)][row["setting"], row["graph"], row["seed"]].append(
                row[metric]
            )
    tables: dict[str, Table] = {}
    for title in sorted(found):
        tables[title] = defaultdict(list)
        for (setting, graph, _), values in sorted(found[title].items()):
            tables[title][setting, graph].append(mean(values))
    return tables


def title_of(row: Row, metric: str) -> str:
    if row["task"] == "links":
        return f"links, AUC, {row['operator']}"
    few = "few" if row["share"] < 0.5 else "half"
    c = "C chosen" if row["c"] == "validation" else f"C = {row['c']:g}"
    return f"nodes, {metric} F1, {few} of the labels, {c}"


def markdown(table: Table, graphs: list[str], settings: list[str]) -> str:
    """Return settings as lines and graphs as columns; the last column is the mean of the graphs.

    It is there only for settings that were scored on all graphs of the table.
    """
    columns = [graph for graph in graphs if any(key[1] == graph for key in table)]
    lines = [setting for setting in settings if any(key[0] == setting for key in table)]
    common = [graph for graph in columns if graph != "planted-1m"]
    text = [f"| setting | {' | '.join(columns)} | mean |", "|---" * (len(columns) + 2) + "|"]
    for setting in lines:
        cells = [cell(table.get((setting, graph), [])) for graph in columns]
        means = [mean(table[setting, graph]) for graph in common if (setting, graph) in table]
        overall = f"{mean(means):.2f}" if common and len(means) == len(common) else ""
        text.append(f"| {setting} | {' | '.join(cells)} | {overall} |")
    return "\n".join(text)


def cell(values: list[float]) -> str:
    """Return mean and standard deviation over the seeds."""
    if not values:
        return ""
    return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")


def seconds(rows: list[Row], graphs: list[str], settings: list[str]) -> str:
    """Return the mean seconds of all components of a setting, for vectors of the whole graph."""
    spent: dict[tuple[str, str, int], float] = {
        (row["setting"], row["graph"], row["seed"]): row["train_s"] + row["smooth_s"]
        for row in rows
        if row["task"] == "nodes"
    }
    table: Table = defaultdict(list)
    for (setting, graph, _), value in spent.items():
        table[setting, graph].append(value)
    return markdown(table, graphs, settings)
