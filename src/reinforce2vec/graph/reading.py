"""`read_graph`: a graph from a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .graph import Graph


def read_graph(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    self_loops: bool = False,
    duplicates: str = "merge",
    id_type: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comments: str | None = None,
    key: str = "network",
    columns: Sequence[str | int] | str | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    bipartite: bool | None = None,
    nodes: Any = None,
) -> Graph:
    """Read a graph from a file, in the format that the file's suffix names.

    ===================================  ======================================================
    .txt .tsv .csv .edgelist .edges      one edge per line: two node ids, perhaps a weight, and
                                         other columns
    .mtx                                 MatrixMarket
    .mat                                 MATLAB, up to version 7.2
    .npz                                 a sparse matrix from scipy.sparse.save_npz
    .parquet                             a table of edges; needs pyarrow
    .graphml                             GraphML
    ===================================  ======================================================

    Edge lists, MatrixMarket and GraphML files may be compressed (.gz). In an edge list, blank lines
    and comments are skipped; ids are integers if all of them are, else strings. Unless whitespace
    separates the fields, they may be in double quotes, and then hold delimiters, line breaks and
    doubled quotes (RFC 4180). Nodes are numbered in the order in which the file names them.

    Whatever is detected and not given by a parameter is in `notes` of the graph: header, delimiter,
    columns, weights and the type of the ids. Commands print it.

    Parameters
    ----------
    path : path
        The file to read; "-" is standard input, as an edge list unless `format` says otherwise.
    format : str, optional
        The format, as a suffix such as "txt" or "txt.gz", if the file's own suffix does not name
        it.
    directed : bool, optional
        Whether edges lead from their first node to their second only. By default as the file says,
        which GraphML and the `.npz` files of :meth:`Graph.save` do, and undirected otherwise.
    weighted : bool, optional
        True: every edge must have a weight. False: weights are ignored. By default weights are used
        if there are any: the column `weight` of a table, the third of three columns in an edge list
        without a header, and in a matrix, values other than 1. Numbers that may be weights or not
        are refused: pass `weight` or `weighted`.
    self_loops : bool, default False
        Whether to keep edges from a node to itself. By default they are dropped and counted.
    duplicates : {"merge", "refuse"}, default "merge"
        What to do with edges that repeat another: make one edge of them, whose weight is the sum of
        theirs, and count them, or raise InputError.
    id_type : {"int", "str"}, optional
        What ids become. "int" refuses ids that are no integers; "str" keeps numbers as text. By
        default ids in text are integers if all of them are, and others are as they are stored.
    delimiter : str, optional
        The separator of fields in an edge list: one character, or " " for any run of spaces and
        tabs. By default it is detected from the first line: tabs, commas, semicolons, bars or
        whitespace.
    header : bool, optional
        Whether the first line of an edge list names the columns. By default this is detected: it
        does if the names are known ones, such as source and target, or if it has words where the
        lines below have numbers or dates.
    comments : str, optional
        The character that begins comments in an edge list, anywhere; "" if it has none. By default
        lines that begin with # or % are comments before the first line of data, and nowhere else,
        and where whitespace separates fields, also what follows an edge and "# ": "1 2 # note".
    key : str, default "network"
        The variable of a MATLAB file that holds the adjacency matrix. The nodes of a matrix, in any
        format, are numbered from 0.
    columns : sequence of str or int, optional
        The two or three columns of an edge list or Parquet file that hold source, target and
        weight, by name, or by position from 1: ("src", "dst", "weight") or (1, 2, 3); all others
        are left out. If some of the names are numbers, a number is a name. A string is split at its
        commas.
    source, target, weight : str or int, optional
        The same columns, one by one; not together with `columns`. By
        default the ids are in columns with known names, such as source and target or src and dst,
        wherever they stand; else in the only two columns there are beside the index of a pandas
        frame, times and weights. Without a header, they are the first two columns.
    bipartite : bool, optional
        Whether sources and targets are nodes of two kinds, which are different nodes even if their
        ids are equal: 7 in the columns user and item becomes "user:7" and "item:7" (without a
        header "source:7" and "target:7"). By default they are not, and columns that share ids are
        refused if their names do not tell, as user and item.
    nodes : list of ids, column of a table, or path, optional
        Nodes that come first, in this order, whether or not an edge names them. Use it to include
        isolated nodes, or to choose the order of the rows. A file has one id a line, or a first
        column of ids. With `bipartite`, ids are written as "user:7".

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        If the file cannot be read; the message names the file, and the line of an edge list.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from reinforce2vec import read_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "friends.csv")
    ...     _ = file.write_text("source,target,weight\\nann,bob,2\\nbob,cid,0.5\\n")
    ...     read_graph(file)
    Graph(3 nodes, 2 edges, undirected, weighted, 1 component, 0 isolated, 104 bytes)
    """
    return Graph.from_any(
        Path(path),
        format=format,
        directed=directed,
        weighted=weighted,
        self_loops=self_loops,
        duplicates=duplicates,
        id_type=id_type,
        delimiter=delimiter,
        header=header,
        comments=comments,
        key=key,
        columns=columns,
        source=source,
        target=target,
        weight=weight,
        bipartite=bipartite,
        nodes=nodes,
    )
