"""DeepWalk with skip-gram by GRAPE (embiggen's DeepWalkSkipGramEnsmallen), one request at a time.

The whole fit is timed, walks included. The meaning of its parameters, from its source and confirmed
by its times: `iterations` walks start at every node in each of `epochs`; the window is never
shrunk; and the negatives are drawn once per centre, not per context, so that at the same window
and negatives it updates about 22 rows per token where word2vec updates about 59.
"""

from __future__ import annotations

import os
import time

from serving import answer_requests, load_graph, parse_options

options = parse_options()
os.environ["RAYON_NUM_THREADS"] = str(options.threads)  # read when ensmallen is imported

import numpy as np  # noqa: E402
from embiggen.embedders.ensmallen_embedders.deepwalk_skipgram import DeepWalkSkipGramEnsmallen  # noqa: E402
from grape_graph import ensmallen_graph  # noqa: E402

indptr, indices, _ = load_graph(options.graph)
connected = np.diff(indptr) > 0
graph = ensmallen_graph(indptr, indices)
del indices


def fit(seed: int, dimensions: int, save: str | None = None, **changed: object) -> dict:
    parameters = {
        "embedding_size": dimensions,
        "epochs": 1,
        "walk_length": options.length,
        "iterations": options.per_node,
        "window_size": options.window,
        "number_of_negative_samples": options.negatives,
        "learning_rate": options.learning_rate,
        "max_neighbours": graph.get_number_of_nodes(),  # all of them: exact walks
        "random_state": seed,
        "verbose": False,
        **changed,
    }
    start = time.perf_counter()
    model = DeepWalkSkipGramEnsmallen(**parameters)
    central, _contextual = model.fit_transform(
        graph, return_dataframe=False
    ).get_all_node_embedding()
    seconds = time.perf_counter() - start
    if save:
        vectors = np.zeros((len(connected), dimensions), np.float32)
        vectors[connected] = central
        np.save(save, vectors)
    walks = graph.get_number_of_nodes() * parameters["iterations"] * parameters["epochs"]
    return {"tokens": walks * parameters["walk_length"], "seconds": seconds}


answer_requests(fit)
