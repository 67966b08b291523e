"""reinforce2vec: a preset, a baseline, or DeepWalk's walks and one window at the race's budget."""

from __future__ import annotations

from racing import finish, options, stage

import reinforce2vec as r2v
from reinforce2vec._util.hyperparameters import PRESETS

budget = {"walks_per_node": options.walks, "walk_length": options.length}
plain = {"walk": r2v.FirstOrderWalk(), "window": options.window, "smooth": False}
SETTINGS = {
    "DeepWalk": budget | plain,
    "same walks": budget,
    "fast": PRESETS["fast"],
    "default": {},
    "best": PRESETS["best"],
}
BASELINES = {"ProNE": r2v.ProNE, "Spectral": r2v.Spectral}
with stage("read"):
    graph = r2v.read_graph(options.edges)
with stage("train"):  # walks are made while training
    if options.variant in BASELINES:
        model = BASELINES[options.variant](dimensions=options.dimensions, seed=options.seed)
    else:
        model = r2v.Reinforce2Vec(
            dimensions=options.dimensions,
            negatives=options.negatives,
            seed=options.seed,
            workers=options.threads,
            **SETTINGS[options.variant],
        )
    model.fit(graph, progress=False)
finish(model.embedding_.ids, model.embedding_.vectors)
