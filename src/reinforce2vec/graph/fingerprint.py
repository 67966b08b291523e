"""What tells a data set from any other, however its files were compressed or sorted."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .dataset import Labels
from .graph import Graph, edges_of


@dataclass(frozen=True)
class GraphFingerprint:
    """Sizes of an undirected graph, and a digest of its edges as pairs of integer ids."""

    nodes: int
    edges: int
    digest: str

    @classmethod
    def of(cls, graph: Graph) -> GraphFingerprint:
        """The fingerprint of a graph whose ids ascend."""
        pairs = np.ascontiguousarray(graph.ids[edges_of(graph)[0]], "<i8")
        return cls(graph.n_nodes, graph.n_edges, digest(pairs))

    def __str__(self) -> str:
        return f"{self.nodes:,} nodes, {self.edges:,} edges, digest {self.digest[:16]}"


@dataclass(frozen=True)
class LabelFingerprint:
    """Number of classes, and a digest of who is in which."""

    classes: int
    digest: str

    @classmethod
    def of(cls, labels: Labels) -> LabelFingerprint:
        """The fingerprint of labels, rows in the order of the graph's ids."""
        return cls(labels.shape[1], digest(np.packbits(labels)))

    def __str__(self) -> str:
        return f"{self.classes:,} classes, digest {self.digest[:16]}"


def digest(array: NDArray[np.generic]) -> str:
    """SHA-256 of an array's bytes."""
    return hashlib.sha256(array.tobytes()).hexdigest()
