"""node2vec of eliorc, p = q = 1: first the probabilities of all pairs of edges, then gensim."""

from __future__ import annotations

import networkx
from node2vec import Node2Vec
from racing import finish_words, options, skip_gram, stage

with stage("read"):
    graph = networkx.read_edgelist(options.edges)
with stage("walk"):
    walker = Node2Vec(
        graph,
        dimensions=options.dimensions,
        walk_length=options.length,
        num_walks=options.walks,
        workers=options.threads,
        seed=options.seed,
        quiet=True,
    )
with stage("train"):
    model = walker.fit(**skip_gram())
finish_words(model)
