"""Embedding: node ids and their vectors."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import Vectors, row_blocks
from .._util.checks import check_choice, check_count
from .._util.errors import InputError, import_package, pandas_for, short_repr
from .._util.html import html_table
from .._util.ids import Ids, Lookup, as_ids
from .._util.progress import counted, readable_bytes
from ..files.array_files import decode_info, encode_info
from ..files.id_texts import ids_as_text
from ..files.opening import naming
from ..files.vector_files import load_vectors, save_vectors
from ..files.vector_tables import StoredVectors, arrow_table, column_names
from ..graph import Graph, edges_of
from ._exact_search import Floats, cosines, highest, norms, row_products

_SHOWN_NODES, _SHOWN_NUMBERS = 5, 8  # in a notebook

# How the vectors of two nodes are combined into a vector of the pair.
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "hadamard": lambda a, b: a * b,
    "average": lambda a, b: (a + b) / 2,
    "l1": lambda a, b: np.abs(a - b),
    "l2": lambda a, b: (a - b) ** 2,
}


class Embedding:
    """Node ids and their vectors.

    Index it with a node id to get a vector, or with a list of ids to get a matrix. Iterating over
    it yields the ids; `np.asarray(embedding)` is the matrix of all vectors.

    Parameters
    ----------
    ids : sequence of node ids
        Anything hashable; all different.
    vectors : array (n_nodes, dimensions)
        The vector of each node. An array of float32 is not copied, so it must not be changed
        afterwards; anything else is converted.
    scales : sequence of int, optional
        The number of columns of each scale, if vectors of several scales are side by side: (32, 96)
        for 32 columns of one and 96 of another. By default all columns are one scale.
    info : mapping, optional
        What is known of the vectors, by names; models fill it in. Values are kept as JSON has them.

    Attributes
    ----------
    ids : int64 or object array (n_nodes,)
        The node ids, in row order; read-only.
    vectors : float32 array (n_nodes, dimensions)
        One row for each node; read-only.
    scales : tuple of int
        The number of columns of each scale; they add up to `dimensions`.
    info : mapping
        What is known of the vectors; read-only, and empty if nothing is. Models write the `method`,
        its `settings`, the `version` of reinforce2vec and, of the graph, whether it is `directed`
        and `weighted`, the numbers of `nodes` and `edges`, and `graph`, a digest of them;
        :func:`smooth` adds `smoothed`.
        :func:`recommend_links` and :func:`explore` use it to warn if they get another graph.

    Examples
    --------
    >>> from reinforce2vec import Embedding
    >>> people = Embedding(["ann", "bob", "cid"], [[1, 0], [0.8, 0.6], [0, 2]])
    >>> people
    Embedding(3 nodes, 2 dimensions, 24 bytes)
    >>> people["bob"]
    array([0.8, 0.6], dtype=float32)
    >>> people[["cid", "ann"]]
    array([[0., 2.],
           [1., 0.]], dtype=float32)
    """

    def __init__(
        self,
        ids: Iterable[Hashable],
        vectors: Any,
        *,
        scales: Iterable[int] | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> None:
        self.ids: Ids = _checked_ids(ids)
        self.vectors: Vectors = checked_vectors(vectors)
        if len(self.ids) != len(self.vectors):
            raise InputError(
                f"expected a vector for each of {counted(len(self.ids), 'node id')}, got "
                f"{len(self.vectors):,}"
            )
        self.scales: tuple[int, ...] = _checked_scales(scales, self.dimensions)
        self.info: Mapping[str, Any] = MappingProxyType(decode_info(encode_info(info or {})))
        self.ids.flags.writeable = self.vectors.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(type(self), scales=self.scales, info=dict(self.info))
        return make, (self.ids, self.vectors)

    # -- properties and look-ups ---------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.ids)

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.ids, "the embedding")

    def row(self, node: Hashable) -> int:
        """Return the row number of a node id; UnknownNode, a KeyError, if it has no vector."""
        return self._lookup.row(node)

    def rows(self, nodes: Iterable[Hashable]) -> NDArray[np.int32]:
        """Return the row numbers of several node ids."""
        return self._lookup.rows(nodes)

    def __len__(self) -> int:
        return self.n_nodes

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the node ids."""
        return iter(self.ids.tolist())

    def __contains__(self, node: Hashable) -> bool:
        return node in self._lookup

    def __getitem__(self, nodes: Any) -> Vectors:
        """Return the vector of a node, read-only, or a copied matrix for several nodes.

        A list, an array or a column of a table means several nodes. So does a tuple, unless it is
        itself a node id.
        """
        rows = self.rows(nodes) if are_several(nodes, self) else self.row(nodes)
        chosen: Vectors = self.vectors[rows]
        return chosen

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the vectors, for NumPy: read-only unless they are copied."""
        if copy is None:  # which numpy.array takes from NumPy 2 on
            return np.asarray(self.vectors, dtype)
        return np.array(self.vectors, dtype, copy=copy)

    def __repr__(self) -> str:
        nodes, dimensions = counted(self.n_nodes, "node"), counted(self.dimensions, "dimension")
        return f"Embedding({nodes}, {dimensions}, {readable_bytes(self.vectors.nbytes)})"

    def _repr_html_(self) -> str:
        head = ["node", *column_names(self.dimensions)[:_SHOWN_NUMBERS]]
        shown = self.ids[:_SHOWN_NODES].tolist(), self.vectors[:, :_SHOWN_NUMBERS].tolist()
        rows = [(node, *numbers) for node, numbers in zip(*shown, strict=False)]
        return html_table(head, rows, repr(self))

    def to_numpy(self) -> Vectors:
        """Return a copy of the vectors that you may change; rows in `ids` order."""
        return np.array(self.vectors, order="C")

    def to_frame(self) -> Any:
        """Return the vectors as a pandas DataFrame: one row for each node, indexed by its id.

        Columns are named "d0", "d1" and so on, as in a .csv file.

        Examples
        --------
        >>> table = Embedding(["ann", "bob"], [[1, 0], [0.5, 2]]).to_frame()
        >>> table.loc["bob", "d1"].item()
        2.0
        """
        pandas = pandas_for("to_frame()")
        nodes = pandas.Index(self.ids, name="node", tupleize_cols=False)
        return pandas.DataFrame(self.to_numpy(), nodes, column_names(self.dimensions))

    def to_arrow(self) -> Any:
        """Return the vectors as a pyarrow Table with the columns "node" and "vector".

        A vector is a list of float32 of fixed size, without a copy. Vector databases, DuckDB and
        polars read such tables, and the .parquet files that :meth:`save` writes, as they are.

        Examples
        --------
        >>> Embedding(["ann", "bob"], [[1, 0], [0.5, 2]]).to_arrow().to_pylist()[1]
        {'node': 'bob', 'vector': [0.5, 2.0]}
        """
        return arrow_table(self._stored())

    def to_networkx(self, graph: Any = None, name: str = "vector") -> Any:
        """Return a networkx graph with the vectors as an attribute of its nodes.

        Parameters
        ----------
        graph : networkx graph, or anything that :meth:`Graph.from_any` takes, optional
            The edges; every node must have a vector. A networkx graph is copied and keeps its
            attributes. Without a graph, the result has no edges.
        name : str, default "vector"
            Name of the attribute.

        Examples
        --------
        >>> people = Embedding(["ann", "bob"], [[1, 0], [0.5, 2]])
        >>> people.to_networkx([("ann", "bob")]).nodes["bob"]["vector"]
        array([0.5, 2. ], dtype=float32)
        """
        networkx = import_package("networkx", "to_networkx()")
        if graph is None:
            whole = networkx.Graph()
            whole.add_nodes_from(self)
        elif isinstance(graph, networkx.Graph):
            whole = graph.copy()
        else:
            graph = Graph.from_any(graph)
            whole = networkx.DiGraph() if graph.directed else networkx.Graph()
            whole.add_nodes_from(graph.ids.tolist())
            ends, weights = edges_of(graph)
            pairs = [tuple(pair) for pair in graph.ids[ends].tolist()]
            whole.add_edges_from(pairs)
            if graph.weighted:
                of_edges = dict(zip(pairs, weights.tolist(), strict=True))
                networkx.set_edge_attributes(whole, of_edges, "weight")
        vectors = self.vectors[self.rows(whole.nodes)]
        networkx.set_node_attributes(whole, dict(zip(whole.nodes, vectors, strict=True)), name)
        return whole

    def to_pyg(self, graph: Any = None) -> Any:
        """Return a PyTorch Geometric `Data` with the vectors as node features, in `ids` order.

        Parameters
        ----------
        graph : Graph, or anything that :meth:`Graph.from_any` takes, optional
            Its edges become `edge_index`, undirected ones in both directions, and its weights, if
            it has any, `edge_weight`. Every node must have a vector; the order does not matter.

        Returns
        -------
        torch_geometric.data.Data
            With `x`, a copy of the vectors as a float32 tensor, `num_nodes`, and `ids`, the list
            of node ids.

        Examples
        --------
        >>> people = Embedding(["ann", "bob"], [[1, 0], [0.5, 2]])
        >>> people.to_pyg([("ann", "bob")])  # doctest: +SKIP
        Data(x=[2, 2], num_nodes=2, ids=[2], edge_index=[2, 2])
        """
        torch = import_package("torch", "to_pyg()")
        data = import_package("torch_geometric.data", "to_pyg()").Data(
            x=torch.from_numpy(self.to_numpy()), num_nodes=self.n_nodes, ids=self.ids.tolist()
        )
        if graph is not None:
            graph = Graph.from_any(graph)
            ends, weights = edges_of(graph, both_ways=True)
            index = self.rows(graph.ids)[ends.T].astype(np.int64)
            data.edge_index = torch.from_numpy(index)
            if graph.weighted:
                data.edge_weight = torch.from_numpy(weights.astype(np.float32))
        return data

    def to_gensim(self) -> Any:
        """Return the vectors as gensim's `KeyedVectors`; keys are the ids as text.

        The files that :meth:`save` writes as .txt, .vec or .bin hold the same; gensim reads them
        with `KeyedVectors.load_word2vec_format`.

        Examples
        --------
        >>> people = Embedding(["ann", "bob"], [[1, 0], [0.5, 2]])
        >>> people.to_gensim()["bob"]  # doctest: +SKIP
        array([0.5, 2. ], dtype=float32)
        """
        keys = ids_as_text(self.ids, Path("to_gensim()"))
        vectors = import_package("gensim.models", "to_gensim()").KeyedVectors(self.dimensions)
        if keys:
            vectors.add_vectors(keys, self.vectors)
        return vectors

    # -- similarity ----------------------------------------------------------------------------

    def similarity(self, a: Hashable, b: Hashable) -> float:
        """Return the cosine similarity of two nodes: 1 if their vectors have the same direction.

        Examples
        --------
        >>> round(Embedding(["ann", "bob"], [[1, 0], [3, 4]]).similarity("ann", "bob"), 3)
        0.6
        """
        first, second = self.vectors[[self.row(a)]], self.vectors[[self.row(b)]]
        return float(cosines(row_products(first, second), norms(first) * norms(second))[0])

    def most_similar(self, node: Any, k: int = 10) -> list[tuple[Any, float]]:
        """Return the nodes with the highest cosine similarity to a node or a vector.

        Compares with every node, so the result is exact. Needs memory for a few numbers per node.
        :func:`reinforce2vec.nearest_neighbors` does it for many nodes at once.

        Parameters
        ----------
        node : node id, or array or list of numbers
            A node, or a vector to compare all nodes with.
        k : int, default 10
            Number of nodes to return.

        Returns
        -------
        list of (id, cosine)
            The most similar first, equally similar ones in row order, without `node` itself. A
            vector of zeros has the similarity 0 to every other.

        Examples
        --------
        >>> people = Embedding(["ann", "bob", "cid"], [[1, 0], [0.8, 0.6], [0, 2]])
        >>> [(node, round(cosine, 3)) for node, cosine in people.most_similar("ann")]
        [('bob', 0.8), ('cid', 0.0)]
        >>> people.most_similar([0, 1], k=1)
        [('cid', 1.0)]
        """
        k = check_count("k", k, 1)
        if isinstance(node, (np.ndarray, list)):
            own, vector = -1, self._as_vector(node)
        else:
            own = self.row(node)
            vector = self.vectors[own]
        products = row_products(self.vectors, np.broadcast_to(vector, self.vectors.shape))
        similar = cosines(products, self._norms * norms(vector[None]))
        best = highest(similar, k + 1)
        best = best[best != own][:k]
        return list(zip(self.ids[best].tolist(), similar[best].tolist(), strict=True))

    def _as_vector(self, numbers: Any) -> Floats:
        try:
            vector = np.asarray(numbers, np.float64)
        except (TypeError, ValueError):
            vector = np.empty(0)
        if vector.shape != (self.dimensions,):
            raise InputError(
                "most_similar takes a node id or a vector of "
                f"{counted(self.dimensions, 'number')}, not {short_repr(numbers)}"
            )
        return vector

    @cached_property
    def _norms(self) -> Floats:
        return norms(self.vectors)

    # -- edges ---------------------------------------------------------------------------------

    def edge_features(self, pairs: Any, operator: str = "hadamard") -> Vectors:
        """Return a vector for each pair of nodes, computed from the vectors a and b of the two.

        Parameters
        ----------
        pairs : iterable of pairs of node ids, or array (m, 2)
            The edges, or the candidates for edges.
        operator : {"hadamard", "average", "l1", "l2"}
            The product a·b, the mean (a + b)/2, the distance |a − b| or its square (a − b)²,
            element by element.

        Returns
        -------
        float32 array (m, dimensions)

        Examples
        --------
        >>> people = Embedding(["ann", "bob", "cid"], [[1, 0], [0.5, 2], [3, 4]])
        >>> people.edge_features([("ann", "bob"), ("cid", "bob")], "l1")
        array([[0.5, 2. ],
               [2.5, 2. ]], dtype=float32)
        """
        check_choice("operator", operator, OPERATORS)
        ends = self.rows(node for pair in _listed_pairs(pairs) for node in pair).reshape(-1, 2)
        features = np.empty((len(ends), self.dimensions), np.float32)
        for rows in row_blocks(features):
            a, b = self.vectors[ends[rows, 0]], self.vectors[ends[rows, 1]]
            features[rows] = OPERATORS[operator](a, b)
        return features

    # -- files ---------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write ids and vectors to a file, in the format that the file's suffix names.

        ===================  =======================================================================
        .npz                 NumPy arrays: small and fast
        .csv .csv.gz         a column "node" of ids and columns "d0", "d1", ... of numbers
        .txt .vec .txt.gz    word2vec text: a line of counts, then an id and its numbers per line
        .bin                 word2vec binary
        .parquet             columns "node" and "vector"; needs pyarrow
        .tsv                 TensorBoard projector: vectors; next to them, NAME.metadata.tsv holds
                             the ids, one per line
        ===================  =======================================================================

        All formats are exact: loading returns the same numbers. Ids are written as text, except
        that .npz and .parquet distinguish integers from strings; .npz refuses ids that are
        neither. Only .npz and .parquet keep `scales` and `info`. The file is written atomically:
        after an error or an interrupt, an older file of this name is unchanged.

        Parameters
        ----------
        path : path
            The file to write; its folder must exist. "-" writes the text of a .csv file to standard
            output.

        Raises
        ------
        InputError
            If the suffix is unknown, the folder cannot be written to, the disk is too full, or a
            node id does not fit the format; this is checked before anything is written.
        """
        save_vectors(path, self._stored())

    def _stored(self) -> StoredVectors:
        return StoredVectors(self.ids, self.vectors, self.scales, self.info)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Embedding:
        """Read a file that :meth:`save`, or another program, wrote in one of its formats.

        Ids in text are integers if all of them are, else strings.

        Parameters
        ----------
        path : path
            The file to read; its suffix names the format.

        Returns
        -------
        Embedding

        Raises
        ------
        InputError
            If the file cannot be read; the message names the file, and the line of a text file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "people.txt")
        ...     Embedding(["ann", "bob"], [[1, 0], [0.5, 2]]).save(file)
        ...     print(file.read_text().splitlines(), Embedding.load(file))
        ['2 2', 'ann 1 0', 'bob 0.5 2'] Embedding(2 nodes, 2 dimensions, 16 bytes)
        """
        stored = load_vectors(path)
        with naming(str(path)):
            return cls(stored.ids, stored.vectors, scales=stored.scales, info=stored.info)


# -- checking ----------------------------------------------------------------------------------


def _checked_ids(ids: Any) -> Ids:
    """Return node ids as a new array or view; InputError if one occurs twice."""
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise InputError(f"ids must be a list of node ids, not {short_repr(ids)}")
    if isinstance(ids, np.ndarray) and ids.dtype == np.int64 and ids.ndim == 1:
        array: Ids = ids.view()
        if _is_ascending(ids) or _is_ascending(np.sort(ids)):  # without a set of them
            return array
    else:
        array = as_ids(ids.tolist() if isinstance(ids, np.ndarray) else list(ids))
    try:
        counts = Counter(array.tolist())
    except TypeError as error:
        raise InputError(f"node ids must be hashable: {error}") from None
    if len(counts) < len(array):
        node = counts.most_common(1)[0][0]
        raise InputError(f"node {short_repr(node)} occurs twice among the ids: it has one vector")
    return array


def _checked_scales(scales: Any, dimensions: int) -> tuple[int, ...]:
    """Return the number of columns of each scale; InputError if they are not the dimensions."""
    if scales is None:
        return (dimensions,)
    if isinstance(scales, (str, bytes)) or not isinstance(scales, Iterable):
        raise InputError(f"scales must be a list of numbers of columns, not {short_repr(scales)}")
    sizes = tuple(check_count("every item of scales", size, 1) for size in scales)
    if sum(sizes) != dimensions:
        raise InputError(
            f"scales must add up to the {counted(dimensions, 'dimension')} of the vectors, not to "
            f"{sum(sizes):,}: pass the number of columns of each scale"
        )
    return sizes


def are_several(nodes: Any, embedding: Embedding) -> bool:
    """Return whether several nodes are given, as by a list, but not by a tuple that is a node."""
    if isinstance(nodes, (str, bytes)) or not isinstance(nodes, Iterable):
        return False
    try:
        return nodes not in embedding
    except TypeError:  # what cannot be hashed is no node
        return True


def _is_ascending(numbers: NDArray[np.int64]) -> bool:
    """Return whether every number is larger than the one before."""
    return bool((numbers[1:] > numbers[:-1]).all())


def as_embedding(vectors: Any) -> Embedding:
    """Return an embedding as it is, and a matrix as an embedding with row numbers as ids."""
    if isinstance(vectors, Embedding):
        return vectors
    matrix = checked_vectors(vectors)
    return Embedding(range(len(matrix)), matrix)


def checked_vectors(vectors: Any) -> Vectors:
    """Return vectors as a matrix of float32, a new one or a view; InputError if they are none."""
    matrix: Vectors = as_numbers(vectors, np.float32).view()
    return matrix


def as_numbers(vectors: Any, dtype: Any = None) -> NDArray[Any]:
    """Return vectors as a matrix; InputError if they are none."""
    if hasattr(vectors, "fit_transform"):
        raise InputError("expected vectors, not a model: pass model.embedding_ after fit")
    try:
        matrix = np.asarray(vectors, dtype)
    except (TypeError, ValueError):
        raise InputError("vectors must be numbers, equally many for each node") from None
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise InputError(
            f"vectors must be a matrix with a row for each node, not of shape {matrix.shape}"
        )
    return matrix


def _listed_pairs(pairs: Any) -> Any:
    """Return pairs of node ids as a list; InputError for the first item that is not a pair."""
    if isinstance(pairs, (str, bytes)) or not isinstance(pairs, Iterable):
        raise InputError(f"expected pairs of node ids, not {short_repr(pairs)}")
    listed = np.atleast_1d(pairs).tolist() if isinstance(pairs, np.ndarray) else list(pairs)
    for number, pair in enumerate(listed):
        if not isinstance(pair, (tuple, list, np.ndarray)) or len(pair) != 2:
            raise InputError(
                f"pair {number:,} (counted from 0) is {short_repr(pair)}: expected a pair of node "
                "ids"
            )
    return listed
