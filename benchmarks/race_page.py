"""The page, the pictures and the README's table of the race, from its results."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, median, quantiles

from reporting import distinct, select, spread, table, title

OURS = "reinforce2vec"
KINDS = ("walks", "preset", "other")
PRESETS = ("preset fast", "preset default", "preset best")
STAGES = ("start", "read", "walk", "train")
HEADS = ("contestant", *[f"{stage}, s" for stage in STAGES], "total, s", "×", "memory, MB")
INTRODUCTION = (
    "First in each table: walks, as many and as long for all, with skip-gram. `reinforce2vec` has "
    "its default walks and training (two windows, smoothed), `reinforce2vec, DeepWalk` what the "
    "peers have: first-order walks and one window. Then the presets, with as many walks as they "
    "have, and methods without walks. Seconds are medians over the rounds, in which contestants "
    "took turns. They are those of the whole process, whose start is mostly imports; PecanPy, "
    "fastnode2vec and nodevectors compile in every process, ours was compiled before and cached. "
    "Where `walk` is empty, walks are made while training. × is the total beside that of "
    "`reinforce2vec` in the same round, median and range. Memory is the peak of all processes of "
    "a contestant. Facebook: half of the edges held out, AUC (Hadamard) of predicting them; "
    "BlogCatalog and DBLP: micro and macro F1 of node classification; in percent. What differs in "
    "the peers: GRAPE draws negatives once for each centre, PyTorch Geometric trains with one "
    "negative walk for each walk, as in its example, karateclub has no option for negatives."
)


# -- numbers of a contestant ---------------------------------------------------------------------


def graph_title(name: str) -> str:
    return {"rmat": "R-MAT, 2^20 nodes"}.get(name, title(name))


def of(rows: list[dict], label: str, *path: str) -> list[float]:
    """Return a number of a contestant, from each round that it finished."""
    values = []
    for row in select(rows, contestant=label):
        value = {} if "error" in row else row
        for key in path:
            value = value.get(key, {})
        if value != {}:
            values.append(value)
    return values


def ratios(rows: list[dict], label: str) -> list[float]:
    """Return how many times as long a contestant took as ours, in each round."""
    total = {(row["contestant"], row["round"]): row["total"] for row in rows if "error" not in row}
    rounds = [number for name, number in total if name == label and (OURS, number) in total]
    return [total[label, number] / total[OURS, number] for number in rounds]


def error_of(rows: list[dict], label: str) -> str:
    """Return how a contestant failed; nothing if it did not."""
    return next((row["error"] for row in select(rows, contestant=label) if "error" in row), "")


def failure_of(rows: list[dict], label: str) -> str:
    """Return how a contestant failed in a word or two."""
    error = error_of(rows, label)
    return error if error.startswith("stopped") else "fails" if error else ""


def labels(rows: list[dict], *kinds: str) -> list[str]:
    """Return the contestants of some kinds, in the order in which they first ran."""
    return [name for name, kind in distinct(rows, "contestant", "kind") if kind in kinds]


def metrics(rows: list[dict]) -> list[str]:
    return list(dict.fromkeys(metric for row in rows for metric in row.get("scores", {})))


def is_ours(label: str) -> bool:
    return label.startswith(OURS) or label in PRESETS


# -- tables --------------------------------------------------------------------------------------


def render(results: dict) -> str:
    """Return the page."""
    budget, machine = results["budget"], results["machine"]
    lines = [
        "# Race from an edge list to vectors",
        f"\n{budget['dimensions']} dimensions, {budget['threads']} threads, window "
        f"{budget['window']}, {budget['negatives']} negatives. {INTRODUCTION} "
        f"{machine['processor']}, {machine['date']}, commit {machine['commit']}.",
    ]
    for name, course in results["graphs"].items():
        rows = course["rows"]
        contestants = labels(rows, "walks") + labels(rows, "preset", "other")
        text = (
            f"{course['walks']} walk{'s' * (course['walks'] > 1)} of {course['length']} nodes from "
            f"every node, rounds: {1 + max(row['round'] for row in rows)}, at most "
            f"{course['limit']} s for a contestant. {course.get('remark', '')}"
        )
        lines += [
            f"\n## {graph_title(name)}\n",
            f"{text.rstrip()}\n",
            *table(
                [*HEADS, *metrics(rows)], ([label, *cells(rows, label)] for label in contestants)
            ),
        ]
    return "\n".join(lines) + "\n"


def cells(rows: list[dict], label: str) -> list[str]:
    """Return the numbers of a contestant, or its error."""
    if error := error_of(rows, label):
        return [error.replace("|", "/"), *[""] * (len(HEADS) + len(metrics(rows)) - 2)]
    stages = [of(rows, label, "seconds", stage) for stage in STAGES]
    times = ratios(rows, label)
    return [
        *[f"{median(values):.1f}" if values else "" for values in stages],
        f"{median(of(rows, label, 'total')):.1f}",
        spread(times, ".1f") if len(times) > 1 else f"{median(times):.1f}",
        f"{max(of(rows, label, 'peak')) / 1e6:,.0f}",
        *[f"{mean(of(rows, label, 'scores', metric)):.1f}" for metric in metrics(rows)],
    ]


def readme_table(results: dict) -> str:
    """Return the table of the README: seconds of ours, how many times that of others, quality."""
    graphs = {graph_title(name): course["rows"] for name, course in results["graphs"].items()}
    names = dict.fromkeys(label for rows in graphs.values() for label in labels(rows, "walks"))
    lines = []
    for label in names:
        name = f"**{label}**" if is_ours(label) else label
        lines.append([name, *(short(rows, label) for rows in graphs.values())])
    return "\n".join(table(["file to vectors", *graphs], lines))


def short(rows: list[dict], label: str) -> str:
    """Return time and quality of a contestant in one cell."""
    times = of(rows, label, "total")
    if failure := failure_of(rows, label):
        return failure
    if not times:
        return "–"
    text = f"{median(times):.1f} s" if is_ours(label) else f"{median(ratios(rows, label)):.1f} ×"
    scores = [f"{mean(of(rows, label, 'scores', name)):.1f}" for name in metrics(rows)[:1]]
    return " · ".join([text, *scores])


# -- pictures ------------------------------------------------------------------------------------


def draw(results: dict, folder: Path) -> None:
    """Draw the two pictures: total seconds, and quality against seconds."""
    from reinforce2vec.plotting.style import new_figure, save, styled

    graphs = {graph_title(name): course["rows"] for name, course in results["graphs"].items()}
    scored = {name: rows for name, rows in graphs.items() if metrics(rows)}
    with styled():
        figure = new_figure(8, 5.6)
        panels = figure.subplots(2, 2).flat
        for panel, (name, rows) in zip(panels, graphs.items(), strict=False):
            draw_speed(panel, rows)
            panel.set_title(name)
        for panel in panels:  # of graphs that were not raced
            panel.remove()
        save(figure, folder / "race-speed.png", dpi=200)

        looks = point_looks([label for rows in scored.values() for label in labels(rows, *KINDS)])
        figure = new_figure(8, 4.6)
        panels = figure.subplots(1, max(1, len(scored)), squeeze=False).flat
        handles = {}
        for panel, (name, rows) in zip(panels, scored.items(), strict=True):
            handles |= draw_quality(panel, rows, looks)
            panel.set_title(name)
        shown = [handles[label] for label in looks if label in handles]
        figure.legend(handles=shown, loc="outside lower center", ncols=4, fontsize=7)
        save(figure, folder / "race-quality.png", dpi=200)


def point_looks(names: list[str]) -> dict[str, dict]:
    """Return the colour and marker of each contestant: ours blue, others by package."""
    from reinforce2vec.plotting.style import BLUE, COLOURS, MARKERS

    looks: dict[str, dict] = {}
    for own in (True, False):
        members = [label for label in dict.fromkeys(names) if is_ours(label) == own]
        for place, label in enumerate(members):
            colour = BLUE if own else COLOURS[1 + place % (len(COLOURS) - 1)]
            looks[label] = {"color": colour, "marker": MARKERS[place % len(MARKERS)]}
    return looks


def draw_speed(panel, rows: list[dict]) -> None:
    """Draw the total seconds of those that walk, and which of them failed."""
    from reinforce2vec.plotting.style import BLUE, FAINT, GREY

    totals = {label: of(rows, label, "total") for label in labels(rows, "walks")}
    shown = sorted((median(values), label) for label, values in totals.items() if values)
    for place, (seconds, label) in enumerate(shown):
        panel.barh(place, seconds, color=BLUE if is_ours(label) else GREY)
        panel.text(seconds, place, f" {seconds:.1f} s", va="center", fontsize=7)
    failed = [label for label, values in totals.items() if not values]
    for place, label in enumerate(failed, len(shown)):
        text = f" {failure_of(rows, label)}"
        panel.text(0, place, text, va="center", fontsize=7, color=FAINT)
    names = [label for _, label in shown] + failed
    panel.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -0.6))
    panel.set_xlim(0, max((seconds for seconds, _ in shown), default=1) * 1.25)
    panel.tick_params(labelsize=7)
    panel.grid(axis="y", visible=False)


def draw_quality(panel, rows: list[dict], looks: dict[str, dict]) -> dict[str, object]:
    """Draw the first metric against the total seconds; a line connects the best of ours.

    Points far below the others are drawn at the lower edge, with their value.
    """
    from reinforce2vec.plotting.style import BLUE

    [metric, *_] = metrics(rows)
    points = {
        label: (median(of(rows, label, "total")), mean(of(rows, label, "scores", metric)))
        for label in labels(rows, *KINDS)
        if of(rows, label, "scores", metric)
    }
    front: list[tuple[float, float]] = []
    for seconds, quality in sorted(point for label, point in points.items() if is_ours(label)):
        if not front or quality > front[-1][1]:
            front.append((seconds, quality))
    panel.plot(*zip(*front, strict=True), color=BLUE, linewidth=1)
    low, _, high = quantiles([quality for _, quality in points.values()], n=4)
    floor = low - 1.5 * (high - low)
    handles = {}
    for label, (seconds, quality) in points.items():
        look = {"linestyle": "", "markersize": 5, "label": label, **looks[label]}
        [handles[label]] = panel.plot(seconds, max(quality, floor), **look)
        if quality < floor:
            where = {"xytext": (-6, 4), "textcoords": "offset points", "ha": "right"}
            panel.annotate(f"{quality:.1f} ↓", (seconds, floor), fontsize=7, **where)
    panel.set(xscale="log", xlabel="seconds from file to vectors", ylabel=f"{metric}, %")
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.xaxis.set_minor_formatter(
        lambda value, _: f"{value:g}" if f"{value:g}"[0] in "25" else ""
    )
    return handles
