"""Writes results as tables: .csv, .tsv or .parquet, block by block."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from ._parquet import import_arrow
from .targets import is_stdout, known_suffix, resolve_target, standard_output
from .writing import check_target, whole

Columns = Mapping[str, NDArray[Any]]
"""Columns of a table by their names, all of one length."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_SUFFIXES = (*_DELIMITERS, ".parquet")
_WRITTEN = "tables are written to"
# What a spreadsheet would run: any text after =, after the other signs of a formula a call, and
# after a sign numbers with another operator. Names such as @ann, -x or +49 30 are none.
_FORMULA = re.compile(
    r"\s*([=＝]|[+\-@＋－＠].*[(|!]|[+\-＋－][\d\s.,]*\d\s*[-+*/^&<>=])", re.DOTALL
)


def check_table_path(path: str | os.PathLike[str]) -> Path:
    """Return where a table will be written, links followed; InputError if that cannot work.

    The suffix must be known and the folder writable, which is tried out. "-" always works.
    """
    if is_stdout(path):
        return Path(path)
    if known_suffix(Path(path), _SUFFIXES, _WRITTEN) == ".parquet":
        import_arrow("writing a .parquet file")
    return check_target(path)


def write_table(path: str | os.PathLike[str], blocks: Iterable[Columns]) -> None:
    """Write a table, which appears when it is complete; "-" is CSV on standard output.

    Parameters
    ----------
    path : path
        A .csv, .tsv or .parquet file, or "-".
    blocks : iterable of mappings from names to arrays
        Rows, some at a time; at least one block, which may be empty. Arrays of objects are written
        as text.

    Such a table is often opened in a spreadsheet. A text that it would run as a formula has an
    apostrophe in front in .csv and .tsv files; Parquet files hold it as it is.
    """
    if is_stdout(path):
        with standard_output() as stream:
            _write_text(stream, blocks, ",")
        return
    suffix = known_suffix(Path(path), _SUFFIXES, _WRITTEN)
    with whole(resolve_target(path)) as stream:
        if suffix == ".parquet":
            _write_parquet(stream, blocks)
        else:
            _write_text(stream, blocks, _DELIMITERS[suffix])


def _write_text(stream: IO[bytes], blocks: Iterable[Columns], delimiter: str) -> None:
    """Write the names of the columns, then a row per line, in quotes where necessary."""
    text = io.TextIOWrapper(stream, "utf-8", "surrogateescape", newline="")
    options: dict[str, Any] = {"delimiter": delimiter, "lineterminator": "\n"}
    plain = csv.writer(text, **options)
    quoted = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, **options)
    try:
        for number, columns in enumerate(blocks):
            if number == 0:
                plain.writerow(columns)
            cells = [_escape_formulas(column) for column in columns.values()]
            # readers end a line at \r, too, which Python before 3.13 does not quote
            returns = any("\r" in cell for part in cells for cell in part if isinstance(cell, str))
            (quoted if returns else plain).writerows(zip(*cells, strict=True))
        text.flush()
    finally:
        text.detach()  # the stream stays open


def _escape_formulas(column: NDArray[Any]) -> list[Any]:
    """Return the values of a column; an apostrophe is in front of formulas."""
    return [
        f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
        for value in column.tolist()
    ]


def _write_parquet(stream: IO[bytes], blocks: Iterable[Columns]) -> None:
    """Write a row group for each block."""
    pyarrow, parquet = import_arrow("writing a .parquet file")

    def array(column: NDArray[Any]) -> Any:
        texts = column.dtype == object
        return (
            pyarrow.array([*map(str, column)], pyarrow.string()) if texts else pyarrow.array(column)
        )

    def table(columns: Columns) -> Any:
        return pyarrow.table({name: array(column) for name, column in columns.items()})

    tables = map(table, blocks)
    first = next(tables)
    with parquet.ParquetWriter(stream, first.schema) as writer:
        for part in chain([first], tables):
            writer.write_table(part)
