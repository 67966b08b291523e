"""`read_graph`: a graph from a file."""

from __future__ import annotations

import os

from .graph import Graph, graph_from_file


def read_graph(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    self_loops: bool = False,
    delimiter: str | None = None,
    header: bool | None = None,
    key: str = "network",
) -> Graph:
    """Read a graph from a file, in the format that the file's suffix names.

    ===================================  ======================================================
    .txt .tsv .csv .edgelist .edges      one edge per line: two node ids, perhaps a weight
    .mtx                                 MatrixMarket
    .mat                                 MATLAB, up to version 7.2
    .npz                                 a sparse matrix from scipy.sparse.save_npz
    .parquet                             a table of edges; needs pyarrow
    .graphml                             GraphML
    ===================================  ======================================================

    Edge lists, MatrixMarket and GraphML files may be compressed (.gz). In an edge list, blank lines
    and lines that start with # or % are skipped; ids are integers if all of them are, else
    strings. Fields may be in double quotes unless whitespace separates them. Nodes are numbered in
    the order in which the file names them.

    Parameters
    ----------
    path : path
        The file to read.
    format : str, optional
        The format, as a suffix such as "txt" or "txt.gz", if the file's own suffix does not name
        it.
    directed : bool, optional
        Whether edges lead from their first node to their second only. By default as the file says,
        which only GraphML does, and undirected otherwise.
    weighted : bool, optional
        True: every edge must have a weight, the third column of an edge list. False: weights are
        ignored. By default weights are used if the first edge of an edge list has one, or if a
        matrix has values other than 1.
    self_loops : bool, default False
        Whether to keep edges from a node to itself. By default they are dropped and counted.
    delimiter : str, optional
        The separator of fields in an edge list: one character, or " " for any run of spaces and
        tabs. By default it is detected from the first line: tabs, commas, semicolons, bars or
        whitespace.
    header : bool, optional
        Whether the first line of an edge list names the columns. By default this is detected: it
        does if the names are known ones, such as source and target, or if it has words where the
        next line has integers as ids or a number as weight.
    key : str, default "network"
        The variable of a MATLAB file that holds the adjacency matrix. The nodes of a matrix, in any
        format, are numbered from 0.

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
    return graph_from_file(
        path,
        self_loops,
        format=format,
        directed=directed,
        weighted=weighted,
        delimiter=delimiter,
        header=header,
        key=key,
    )
