"""The command `datasets`: which data sets there are, and where they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError
from .._util.hyperparameters import DATASETS
from .._util.terminal import is_rich
from . import _options as options
from ._exit_codes import FAILURE, USAGE, exit_code
from ._help import examples
from ._messages import print_json
from ._tables import print_table, print_text

if TYPE_CHECKING:
    from ..datasets.registry import DatasetEntry

_HEAD = ("name", "nodes", "edges", "classes", "what it is")
_ROW = "{:<12} {:>7} {:>8} {:>8}  {}"
EPILOG = examples("datasets", "datasets --download facebook ppi", "datasets ppi --json")


def datasets(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Which ones. Default: all.",
            autocompletion=options.completed(*DATASETS),
        ),
    ] = None,
    data_dir: options.DataDir = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download missing data sets and verify them.")
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List the data sets of the paper: what they are, and where they are."""
    with exit_code(USAGE):
        from ..datasets import load_dataset
        from ..datasets.loading import find_files
        from ..datasets.registry import REGISTRY, registered

        if download and data_dir is not None:
            raise InputError(
                "--download writes to the cache folder, not to --data-dir: give one of them"
            )
    with exit_code(FAILURE):
        entries = [registered(name) for name in names or REGISTRY]
        places = [find_files(entry, data_dir) for entry in entries]
        if download:
            for entry, paths in zip(entries, places, strict=True):
                if None in paths:
                    load_dataset(entry.name, progress=not quiet)
            places = [find_files(entry) for entry in entries]
        found = list(zip(entries, places, strict=True))
        if as_json:
            print_json(context, datasets=[_facts(*one) for one in found])
        else:
            _print(found, data_dir)


def _print(found: list[tuple[DatasetEntry, list[Path | None]]], data_dir: Path | None) -> None:
    """Print what data sets are, and where: two lines for each, or a table on a terminal."""
    if is_rich(sys.stdout):
        print_table(_HEAD, (_row(entry) for entry, _ in found), left=(0, 4))
        typer.echo()
        for entry, paths in found:
            for place in _places(entry, paths, data_dir):
                print_text(f"{entry.name}: {place}")
        return
    typer.echo(_ROW.format(*_HEAD))
    for entry, paths in found:
        typer.echo(_ROW.format(*_row(entry)))
        for place in _places(entry, paths, data_dir):
            typer.echo(f"{'':13}{place}")


def _row(entry: DatasetEntry) -> list[str]:
    """Return what a data set is, for the table."""
    sizes = [f"{entry.graph.nodes:,}", f"{entry.graph.edges:,}"]
    sizes.append("-" if entry.labels is None else f"{entry.labels.classes:,}")
    return [entry.name, *sizes, entry.title]


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
