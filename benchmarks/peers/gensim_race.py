"""What most people write: networkx for the graph, a loop for the walks, gensim for the vectors."""

from __future__ import annotations

import random

import networkx
from gensim.models import Word2Vec
from racing import finish_words, options, skip_gram, stage

random.seed(options.seed)
with stage("read"):
    graph = networkx.read_edgelist(options.edges)
with stage("walk"):
    neighbors = {node: list(graph.neighbors(node)) for node in graph}
    nodes, walks = list(graph), []
    for _ in range(options.walks):
        random.shuffle(nodes)
        for node in nodes:
            walk = [node]
            while len(walk) < options.length and neighbors[walk[-1]]:
                walk.append(random.choice(neighbors[walk[-1]]))
            walks.append(walk)
with stage("train"):
    model = Word2Vec(walks, **skip_gram())
finish_words(model)
