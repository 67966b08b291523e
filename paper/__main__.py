"""The tables and figures of the paper, computed anew with the public interface of the library.

    python paper                                # all of the paper's, from paper/cells.jsonl
    python paper table-4 figure-3 --out results # some, in another folder
    python paper wide --seeds 5 --jobs 16 --backend cuda

Cells that the file has are not computed again; a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import tables
import walk_figures
from cells import Cell, compute_missing
from cells import read_cells as read_cells
from methods import SMALL, Scale
from tables import Entry, Page, Records, Run, markdown

HERE = Path(__file__).parent
RESULTS = HERE.parent / "docs" / "results"


class Experiment(NamedTuple):
    """A table, a figure or a study: its cells, its page, and what the published page has."""

    title: str
    cells: Callable[[Run], list[Cell]]
    page: Callable[[Records, Run], Page]
    seeds: int = 1
    backend: str = "cpu"
    beyond: bool = False  # not in the paper


EXPERIMENTS = {
    "table-4": Experiment(
        "Table 4. Link prediction: methods and operators",
        tables.table_4_cells,
        tables.table_4,
        3,
        "cuda",
    ),
    "table-5": Experiment(
        "Table 5. Link prediction on Facebook: rewards and explorations",
        tables.table_5_cells,
        tables.table_5,
        3,
    ),
    "table-7": Experiment(
        "Table 7. Node classification: methods", tables.table_7_cells, tables.table_7, 3, "cuda"
    ),
    "wide": Experiment(
        "Tables 4 and 7 with 128 dimensions, as in most other publications",
        tables.wide_cells,
        tables.wide,
        3,
        "cuda",
        beyond=True,
    ),
    "table-8": Experiment(
        "Table 8. Node classification on PPI: rewards and explorations",
        tables.table_8_cells,
        tables.table_8,
    ),
    "figure-1": Experiment(
        "Figure 1. The toy example step by step, and how occupation vectors settle",
        walk_figures.figure_1_cells,
        walk_figures.figure_1,
    ),
    "figure-2": Experiment(
        "Figure 2. Where walks get stuck on PPI", walk_figures.figure_2_cells, walk_figures.figure_2
    ),
    "figure-3": Experiment(
        "Figure 3. Node classification over the share of nodes that train",
        tables.table_7_cells,
        tables.figure_3,
        3,
        "cuda",
    ),
    "figure-4": Experiment(
        "Figure 4. ε-greedy exploration from ε = 0 to 1", tables.figure_4_cells, tables.figure_4
    ),
    "budget": Experiment(
        "Quality by amount of training", tables.budget_cells, tables.budget, beyond=True
    ),
    "family": Experiment(
        "The family of walks with 5 walks per node",
        tables.family_cells,
        tables.family,
        beyond=True,
    ),
}


def run_of(experiment: Experiment, given: argparse.Namespace | None = None) -> Run:
    """Return what an experiment is computed with: as published, unless something else is given."""
    seeds = (given and given.seeds) or experiment.seeds
    backend = (given and given.backend) or experiment.backend
    return Run(range(seeds), SMALL if given and given.small else Scale(), backend)


def page_text(name: str, page: Page, records: Records, run: Run, pictures: list[str]) -> str:
    """Return the page of an experiment as Markdown."""
    used = [records[cell] for cell in EXPERIMENTS[name].cells(run) if cell in records]
    seeds = len({record["cell"]["seed"] for record in used})
    facts = f"{seeds} seed{'s' * (seeds > 1)}, reinforce2vec {used[0]['version']}"
    facts += f", {run.backend}" if run.backend != "cpu" else ""
    commits = sorted({record["commit"] for record in used if record.get("commit")})
    if commits:
        facts += f", computed at commit {', '.join(commits)}"
    parts = [
        f"# {EXPERIMENTS[name].title}\n",
        f"*{facts}.*\n",
        *(f"{note}\n" for note in page.notes),
    ]
    for picture in pictures:
        caption = page.pictures[picture][0]
        parts.append(f"![{caption}]({picture}.png)\n\n*{caption}*\n")
    for title, table in page.tables.items():
        parts.append(markdown(title, table, page.table_notes.get(title, "")))
    return "\n".join(parts)


def table_data(page: Page) -> dict[str, Any]:
    """Return the tables of a page as data: mean, spread, values and the paper's number."""

    def plain(entry: Any) -> Any:
        if not isinstance(entry, Entry):
            return entry
        return {"mean": entry.mean, "spread": entry.spread} | entry._asdict()

    return {
        title: {
            str(label): {column: plain(entry) for column, entry in row.items()}
            for label, row in table.iterrows()
        }
        for title, table in page.tables.items()
    }


def index_text(folder: Path) -> str:
    """Return a page of links to all experiments whose pages are in the folder."""
    links = [
        f"- [{experiment.title}]({name}.md)"
        for name, experiment in EXPERIMENTS.items()
        if (folder / f"{name}.md").exists()
    ]
    intro = (
        "Every number comes from `make paper`, which computes the scores in `paper/cells.jsonl`. "
        "Numbers of the paper, where it has one, are in brackets, with the difference. "
        "[results.json](results.json) holds the same as data."
    )
    return "\n".join(["# All tables and figures", "", intro, "", *links, ""])


def main() -> None:
    """Compute what is missing, and write pages, pictures and data."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(EXPERIMENTS)}")
    parser.add_argument("--seeds", type=int, help="how many: 0, 1, ...")
    parser.add_argument("--backend", choices=("cpu", "cuda"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cells at a time")
    parser.add_argument("--data-dir", help="a folder with the data sets")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where pages are written")
    parser.add_argument("--cells", type=Path, default=HERE / "cells.jsonl")
    parser.add_argument("--small", action="store_true", help="tiny graphs, to try it out")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"there is no experiment {unknown[0]}: choose from {', '.join(EXPERIMENTS)}")
    names = given.names or [name for name, one in EXPERIMENTS.items() if not one.beyond]
    runs = {name: run_of(EXPERIMENTS[name], given) for name in names}
    wanted = [cell for name, run in runs.items() for cell in EXPERIMENTS[name].cells(run)]
    scale = SMALL if given.small else Scale()
    records = compute_missing(wanted, given.cells, scale, given.jobs, given.data_dir)
    write_pages(runs, records, given.out)
    print(f"{given.out}: {', '.join(names)}")


def write_pages(runs: dict[str, Run], records: Records, folder: Path) -> None:
    """Write the pages of experiments, their pictures, the data of all, and the page of links."""
    import figures

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name, run in runs.items():
        page = EXPERIMENTS[name].page(records, run)
        for picture, (_, kind, drawn) in page.pictures.items():
            figures.save(folder, picture, kind, drawn)
        text = page_text(name, page, records, run, list(page.pictures))
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        data[name] = table_data(page)
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "results.md").write_text(index_text(folder), encoding="utf-8")


if __name__ == "__main__":
    main()
