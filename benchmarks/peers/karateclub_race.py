"""DeepWalk of karateclub, whose nodes must be numbered from 0."""

from __future__ import annotations

import networkx
from karateclub import DeepWalk
from racing import finish, options, stage

with stage("read"):
    graph = networkx.convert_node_labels_to_integers(
        networkx.read_edgelist(options.edges, nodetype=int), label_attribute="id"
    )
    ids = [graph.nodes[node]["id"] for node in range(len(graph))]
with stage("train"):  # walks and training are one call
    model = DeepWalk(
        walk_number=options.walks,
        walk_length=options.length,
        dimensions=options.dimensions,
        workers=options.threads,
        window_size=options.window,
        epochs=1,
        seed=options.seed,
    )
    model.fit(graph)
finish(ids, model.get_embedding())
