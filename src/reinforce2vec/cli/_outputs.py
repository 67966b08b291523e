"""What `embed` and `update` write: vectors and models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from ._options import OUTPUT

VectorsOutput = Annotated[
    Path | None,
    typer.Option(
        *("--output", "-o"),
        metavar="FILE",
        help="Where the vectors go: .npz (ids and vectors; Embedding.load reads it), .csv, "
        ".csv.gz, .txt, .txt.gz or .vec (word2vec text), .bin (word2vec binary), .parquet, or "
        ".tsv (for the TensorBoard projector; ids in NAME.metadata.tsv). - is CSV on stdout.",
        rich_help_panel=OUTPUT,
    ),
]


class _Outputs(NamedTuple):
    """Files that a command writes: as they were typed, and where they are, links followed."""

    typed: list[Path]
    written: list[Path]


def checked_outputs(vectors: Path | None, model: Path | None) -> _Outputs:
    """Return the files for vectors and a model; InputError if one of them cannot be written."""
    from ..files.vector_files import check_vectors_path, metadata_path
    from ..models.model_file import check_model_path

    typed, written = list[Path](), list[Path]()
    if vectors is not None:
        typed.append(vectors)
        written.append(check_vectors_path(vectors))
        if written[0].suffix == ".tsv":
            beside = metadata_path(written[0])
            typed.append(beside)
            written.append(beside)
    if model is not None:
        typed.append(model)
        written.append(check_model_path(model))
    return _Outputs(typed, written)
