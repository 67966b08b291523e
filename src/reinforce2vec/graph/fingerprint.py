"""What identifies a graph: digests that checkpoints, tuning studies and the registry store."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import digest
from .dataset import Labels
from .graph import Graph, edges_of


def fingerprint(graph: Graph, *more: Any, direction: bool = True) -> str:
    """Return a digest of a graph, and of further arrays that a result depends on.

    Graphs with the same nodes in the same order and the same edges and weights have the same
    fingerprint. Files store it, so its value must not change: checkpoints store it with
    `direction`, which adds whether the graph is directed, and tuning studies without.

    Examples
    --------
    >>> from reinforce2vec import karate_club
    >>> fingerprint(karate_club())
    'e92d38aa24fbfc7117fe99f19f5c5f97'
    """
    arrays = (graph.indptr, graph.indices, graph.weights, graph.ids)
    return digest(*arrays, *([np.array([graph.directed])] if direction else []), *more)


# The registry stores SHA-256 of published data sets, whatever the order of lines in their files:
# hence a second algorithm.


@dataclass(frozen=True)
class GraphFingerprint:
    """Sizes of a published undirected graph, and a digest of its edges as pairs of integer ids."""

    nodes: int
    edges: int
    digest: str

    @classmethod
    def of(cls, graph: Graph) -> GraphFingerprint:
        """Return the fingerprint of a graph whose ids are integers in ascending order."""
        pairs = np.ascontiguousarray(graph.ids[edges_of(graph)[0]], "<i8")
        return cls(graph.n_nodes, graph.n_edges, _sha256(pairs))

    def __str__(self) -> str:
        return f"{self.nodes:,} nodes, {self.edges:,} edges, digest {self.digest[:16]}"


@dataclass(frozen=True)
class LabelFingerprint:
    """Number of classes of published labels, and a digest of which node is in which."""

    classes: int
    digest: str

    @classmethod
    def of(cls, labels: Labels) -> LabelFingerprint:
        """Return the fingerprint of labels whose rows are in the order of the graph's ids."""
        return cls(labels.shape[1], _sha256(np.packbits(labels)))

    def __str__(self) -> str:
        return f"{self.classes:,} classes, digest {self.digest[:16]}"


def _sha256(array: NDArray[np.generic]) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()
