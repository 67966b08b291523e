"""The command `datasets`: which data sets there are, and where they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError
from .._util.hyperparameters import DATASETS
from . import _options as options
from ._app import examples
from ._exit_codes import FAILURE, USAGE, exit_code
from ._messages import print_json

if TYPE_CHECKING:
    from ..datasets.registry import DatasetEntry

EPILOG = examples("datasets", "datasets --download facebook ppi", "datasets ppi --json")
_ROW = "{:<12} {:>7} {:>8} {:>8}  {}"


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
                    load_dataset(entry.name)
            places = [find_files(entry) for entry in entries]
        found = list(zip(entries, places, strict=True))
        if as_json:
            print_json(context, datasets=[_facts(*one) for one in found])
        else:
            typer.echo("\n".join(_table(found, data_dir)))


def _table(found: list[tuple[DatasetEntry, list[Path | None]]], data_dir: Path | None) -> list[str]:
    """Return two lines for each data set: what it is, and where it is."""
    lines = [_ROW.format("name", "nodes", "edges", "classes", "what it is")]
    for entry, paths in found:
        sizes = [f"{entry.graph.nodes:,}", f"{entry.graph.edges:,}"]
        sizes.append("-" if entry.labels is None else f"{entry.labels.classes:,}")
        lines.append(_ROW.format(entry.name, *sizes, entry.title))
        here = [str(path) for path in paths if path is not None]
        if None in paths and data_dir is None:
            here.append(f"not downloaded yet; source: {entry.sources[0].host}")
        elif None in paths:
            here.append(f"not in {data_dir}")
        lines += [f"{'':13}{line}" for line in here]
    return lines


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
