"""GRAPE: DeepWalk with skip-gram of embiggen and ensmallen, which read, walk and train in Rust."""

from __future__ import annotations

import numpy as np
from embiggen.embedders.ensmallen_embedders.deepwalk_skipgram import DeepWalkSkipGramEnsmallen
from ensmallen import Graph
from racing import finish, options, stage

with stage("read"):
    graph = Graph.from_csv(
        name="graph",
        edge_path=options.edges,
        edge_list_separator=" ",
        edge_list_header=False,
        sources_column_number=0,
        destinations_column_number=1,
        edge_list_is_complete=False,
        directed=False,
        verbose=False,
    )
with stage("train"):  # walks and training are one call
    model = DeepWalkSkipGramEnsmallen(
        embedding_size=options.dimensions,
        epochs=1,
        walk_length=options.length,
        iterations=options.walks,
        window_size=options.window,
        number_of_negative_samples=options.negatives,
        learning_rate=0.025,
        max_neighbours=graph.get_number_of_nodes(),  # all of them: exact walks
        random_state=options.seed,
        verbose=False,
    )
    vectors, _ = model.fit_transform(graph, return_dataframe=False).get_all_node_embedding()
finish(np.array(graph.get_node_names(), np.int64), vectors)
