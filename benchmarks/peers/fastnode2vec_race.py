"""fastnode2vec: walks by numba in the threads of gensim; an epoch is a walk from every node.

Its own seed makes every batch the same, so none is given.
"""

from __future__ import annotations

from fastnode2vec import Graph, Node2Vec
from racing import finish_words, options, stage

with stage("read"):
    with open(options.edges) as file:
        edges = [tuple(line.split()) for line in file]
    graph = Graph(edges, directed=False, weighted=False)
with stage("train"):  # walks are made while training
    model = Node2Vec(
        graph,
        dim=options.dimensions,
        walk_length=options.length,
        window=options.window,
        negative=options.negatives,
        workers=options.threads,
    )
    model.train(epochs=options.walks, verbose=False)
finish_words(model)
