"""Spectral embedding or SVD of scikit-network: no walks, so no budget but the dimensions."""

from __future__ import annotations

from racing import finish, options, stage
from sknetwork.data import from_csv
from sknetwork.embedding import GSVD, Spectral

with stage("read"):
    graph = from_csv(options.edges, delimiter=" ", directed=False, matrix_only=False, reindex=True)
with stage("train"):
    model = (GSVD if options.variant == "GSVD" else Spectral)(options.dimensions)
    vectors = model.fit_transform(graph.adjacency)
finish(graph.names, vectors)
