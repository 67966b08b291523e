"""nodevectors: its Node2Vec with gensim, or its ProNE, on a graph of csrgraph."""

from __future__ import annotations

import csrgraph
import nodevectors
from racing import finish, options, stage

with stage("read"):
    graph = csrgraph.read_edgelist(options.edges, directed=False, sep=" ", header=None)
with stage("train"):  # walks and training are one call
    if options.variant == "ProNE":
        model = nodevectors.ProNE(n_components=options.dimensions, verbose=False)
    else:
        model = nodevectors.Node2Vec(
            n_components=options.dimensions,
            walklen=options.length,
            epochs=options.walks,
            threads=options.threads,
            verbose=False,
            w2vparams={
                "window": options.window,
                "negative": options.negatives,
                "epochs": 1,
                "batch_words": 128,
            },
        )
    model.fit(graph)
ids = [int(name) for name in graph.nodes()]
finish(ids, [model.predict(name) for name in graph.nodes()])
