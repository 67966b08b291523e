"""PecanPy in its mode for unweighted first-order walks, and gensim, as its command does."""

from __future__ import annotations

from gensim.models import Word2Vec
from pecanpy import pecanpy
from racing import finish_words, options, skip_gram, stage

with stage("read"):
    graph = pecanpy.FirstOrderUnweighted(
        p=1, q=1, workers=options.threads, random_state=options.seed
    )
    graph.read_edg(options.edges, weighted=False, directed=False, delimiter=" ")
with stage("walk"):
    walks = graph.simulate_walks(num_walks=options.walks, walk_length=options.length - 1)
with stage("train"):
    model = Word2Vec(walks, **skip_gram())
finish_words(model)
