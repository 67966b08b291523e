"""Writing results: a page, JSON and figures for each experiment, and a page of links to all."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from .._util.errors import InputError
from .._util.machine import available_cpus
from .._util.progress import counted
from ..files.writing import whole
from .catalogue import EXPERIMENTS, Experiment
from .scale import Scale
from .views import Picture, Results, View

RESULTS_JSON, _RESULTS_PAGE = "results.json", "results.md"
_FORMATS = ("png", "svg")


def write_report(
    out: Path,
    experiments: Sequence[Experiment],
    results: Results,
    seeds: Sequence[int],
    scale: Scale,
    say: Callable[[str], None],
) -> None:
    """Write the files of each experiment, and the contents and the data of all in the folder."""
    results_data = _read_data(out / RESULTS_JSON)
    drawing = True
    for experiment in experiments:
        view = experiment.view(results, seeds, scale)
        if drawing:
            try:
                for picture in view.pictures:
                    draw_picture(out, picture)
            except InputError as error:
                say(f"{error}; the tables are written without them")
                drawing = False
        cells = experiment.cells(seeds, scale)
        facts = _Facts(sorted({cell.seed for cell in cells}), results.commits(cells), scale.backend)
        text = _page(experiment, view, facts, out)
        _write_text(out / f"{experiment.name}.md", text)
        results_data["experiments"][experiment.name] = _data(experiment, view, facts)
    results_data |= {
        "version": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {available_cpus()} CPUs",
    }
    _write_text(out / RESULTS_JSON, json.dumps(results_data, indent=1, ensure_ascii=False) + "\n")
    _write_text(out / _RESULTS_PAGE, _index(out))


class _Facts(NamedTuple):
    """Where the numbers of an experiment come from."""

    seeds: list[int]
    commits: list[str]
    backend: str

    def __str__(self) -> str:
        words = [counted(len(self.seeds), "seed"), f"reinforce2vec {__version__}", self.backend]
        if self.commits:
            words.append(f"computed at commit {', '.join(self.commits)}")
        return ", ".join(words)


def _page(experiment: Experiment, view: View, facts: _Facts, out: Path) -> str:
    """Return an experiment as Markdown."""
    parts = [f"# {experiment.title}\n"]
    parts.append(f"*{facts}.*\n")
    parts += [f"{note}\n" for note in view.notes]
    for picture in view.pictures:
        if (out / f"{picture.name}.png").exists():
            parts.append(f"![{picture.caption}]({picture.name}.png)\n\n*{picture.caption}*\n")
    parts += [table.markdown() for table in view.tables]
    return "\n".join(parts)


def _data(experiment: Experiment, view: View, facts: _Facts) -> dict[str, Any]:
    """Return an experiment as data for the JSON file."""
    return {
        "title": experiment.title,
        **facts._asdict(),
        "tables": [table.data() for table in view.tables],
        "notes": view.notes,
    } | view.more


def _index(out: Path) -> str:
    """Return a page of links to all experiments whose files are in the folder."""
    links = [
        f"- [{one.title}]({one.name}.md)"
        for one in EXPERIMENTS.values()
        if (out / f"{one.name}.md").exists()
    ]
    intro = (
        "Every number comes from `reinforce2vec reproduce`. Numbers of the paper, where it has "
        "one, are in brackets, with the difference. [results.json](results.json) holds the same "
        "as data."
    )
    return "\n".join(["# All tables and figures", "", intro, "", *links, ""])


def draw_picture(out: Path, picture: Picture) -> None:
    """Draw a figure, and write its files."""
    from ..plotting.style import styled

    with styled() as package, package.rc_context({"savefig.bbox": "tight"}):  # legends are below
        figure = picture.draw()
        for suffix in _FORMATS:
            stream = BytesIO()
            about = {"Date": None} if suffix == "svg" else {"Software": None}
            figure.savefig(stream, format=suffix, dpi=160, metadata=about)
            with whole(out / f"{picture.name}.{suffix}") as file:
                file.write(stream.getvalue())


def _read_data(path: Path) -> dict[str, Any]:
    """Read what earlier runs left in the JSON file; nothing if it cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("experiments"), dict):
        return {"experiments": {}}
    return found


def _write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with whole(path) as stream:
        stream.write(text.encode())
