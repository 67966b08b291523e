"""read_graph: a graph from a file."""

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
    .txt .tsv .csv .edgelist .edges      an edge a line: two node ids, perhaps a weight
    .mtx                                 MatrixMarket
    .mat                                 MATLAB, up to version 7.2
    .npz                                 what scipy.sparse.save_npz writes
    .parquet                             a table of edges; needs pyarrow
    .graphml                             GraphML
    ===================================  ======================================================

    Edge lists, MatrixMarket and GraphML may be compressed (.gz). In an edge list, blank lines and
    lines that start with # or % are passed over; ids are integers if all of them are, else
    strings. A field may stand in double quotes unless whitespace separates the fields. Nodes are
    numbered in the order in which the file names them.

    Parameters
    ----------
    path : path
        The file.
    format : str, optional
        A suffix to go by instead of the file's own, such as "txt" or "txt.gz".
    directed : bool, optional
        Whether an edge leads from its first node to its second only. By default what the file
        says (GraphML does), and undirected where it says nothing.
    weighted : bool, optional
        True: every edge must have a weight (the third column of an edge list). False: weights are
        left out. By default they are used if the first edge has one, or the matrix holds values
        other than 1.
    self_loops : bool, default False
        Keep edges from a node to itself. They are dropped, and counted, by default.
    delimiter : str, optional
        What separates the fields of an edge list: one character, or " " for any run of spaces and
        tabs. By default found from the first line: tabs, commas, semicolons, bars or whitespace.
    header : bool, optional
        Whether the first line of an edge list names the columns. By default it does if its names
        are known ones, such as source and target, or if it holds words where the next line holds
        integers as ids or a number as weight.
    key : str, default "network"
        The variable of a MATLAB file that holds the adjacency matrix. Nodes of a matrix, in
        whatever format, are numbered from 0.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        If the file cannot be read: the message names the file, and in text the line.

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
