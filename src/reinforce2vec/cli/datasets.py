"""The command `datasets`: which data sets there are, and where they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import reinforce2vec as r2v

from .._util.errors import InputError
from .._util.hyperparameters import DATASETS
from . import _options as options
from ._app import command
from ._messages import print_table, print_text
from ._options import READING
from ._run import Run

if TYPE_CHECKING:
    from ..datasets.registry import DatasetEntry


@command(
    options.argument(
        "names NAME",
        "Which ones. Default: all.",
        list[str] | None,
        default=None,
        autocompletion=options.completed(*DATASETS),
    ),
    *options.shared("data_dir"),
    READING.flag("download", "Download missing data sets and verify them."),
    *options.shared("as_json", "quiet"),
    examples=("datasets", "datasets --download facebook ppi", "datasets ppi --json"),
)
def datasets(run: Run) -> None:
    """List the data sets of the paper: what they are, and where they are."""
    from ..datasets.loading import find_files
    from ..datasets.registry import REGISTRY, registered

    given = run.given
    if given.download and given.data_dir is not None:
        raise InputError(
            "--download writes to the cache folder, not to --data-dir: give one of them"
        )
    run.begin()
    entries = [registered(name) for name in given.names or REGISTRY]
    for entry in entries if given.download else ():
        if None in find_files(entry):
            r2v.load_dataset(entry.name, progress=not run.quiet)
    files = [(entry, find_files(entry, given.data_dir)) for entry in entries]
    if given.as_json:
        run.print_json(datasets=[_facts(entry, paths) for entry, paths in files])
        return
    head = ("name", "nodes", "edges", "classes", "what it is")
    print_table(head, map(_row, entries), left=(0, 4))
    print_text("")
    for entry, paths in files:
        for place in _places(entry, paths, given.data_dir):
            print_text(f"{entry.name}: {place}")


def _row(entry: DatasetEntry) -> list[str]:
    """Return what a data set is, for the table."""
    classes = "-" if entry.labels is None else f"{entry.labels.classes:,}"
    return [entry.name, f"{entry.graph.nodes:,}", f"{entry.graph.edges:,}", classes, entry.title]


def _places(entry: DatasetEntry, paths: list[Path | None], data_dir: Path | None) -> list[str]:
    """Return where the files of a data set are."""
    here = [str(path) for path in paths if path is not None]
    if None in paths and data_dir is None:
        here.append(f"not downloaded yet; source: {entry.sources[0].host}")
    elif None in paths:
        here.append(f"not in {data_dir}")
    return here


def _facts(entry: DatasetEntry, paths: list[Path | None]) -> dict[str, Any]:
    """Return what JSON has on a data set."""
    return {
        "name": entry.name,
        "title": entry.title,
        "nodes": entry.graph.nodes,
        "edges": entry.graph.edges,
        "classes": 0 if entry.labels is None else entry.labels.classes,
        "nodes_in_paper": entry.paper_nodes,
        "edges_in_paper": entry.paper_edges,
        "description": entry.description,
        "citation": entry.citation,
        "here": None not in paths,
        "files": [
            {"name": source.name, "url": source.url, "path": None if path is None else str(path)}
            for source, path in zip(entry.sources, paths, strict=True)
        ],
    }
