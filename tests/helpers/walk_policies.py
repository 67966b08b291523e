"""Reinforced walks of all kinds: every preset, and every parameter away from its default."""

from __future__ import annotations

from reinforce2vec import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk

PRESETS = {
    f"{reading.__name__}-{reward}-{exploration}": reading(reward, exploration)
    for reading in (ReinforcedWalk.paper, ReinforcedWalk.released)
    for reward in ("vertex", "kl", "js")
    for exploration in ("none", "epsilon", "ucb")
}

VARIATIONS = {
    "cold": ReinforcedWalk(temperature=0.2),
    "hot": ReinforcedWalk(temperature=5.0),
    "cold-vertex": ReinforcedWalk("vertex", temperature=0.2),
    "hot-vertex": ReinforcedWalk("vertex", temperature=5.0),
    "cold-released": ReinforcedWalk.released(temperature=0.2),
    "hot-released": ReinforcedWalk.released("kl", temperature=5.0),
    "hot-released-vertex": ReinforcedWalk.released("vertex", temperature=5.0),
    # without exploration a low temperature makes small differences of the divergence plain
    "only-kl": ReinforcedWalk("kl", weight=0.0, temperature=0.01),
    "only-js": ReinforcedWalk("js", weight=0.0, temperature=0.002),
    "only-path-kl": ReinforcedWalk("kl", weight=0.0, occupation="path", temperature=0.05),
    "only-path-js": ReinforcedWalk("js", weight=0.0, occupation="path", temperature=0.05),
    "strong-ucb": ReinforcedWalk("kl", weight=4.0),
    "strong-path-ucb": ReinforcedWalk.released("js", weight=2.0),
    "strong-path-vertex-ucb": ReinforcedWalk.released("vertex", weight=3.0),
    "linear-ucb": ReinforcedWalk("js", weight=3.0, annealing="linear"),
    "exponential-ucb": ReinforcedWalk("kl", weight=3.0, annealing="exponential"),
    "exponential-vertex-ucb": ReinforcedWalk("vertex", weight=3.0, annealing="exponential"),
    "linear-released-ucb": ReinforcedWalk.released("js", weight=3.0, annealing="linear"),
    "linear-released-vertex-ucb": ReinforcedWalk.released("vertex", weight=3, annealing="linear"),
    "linear-epsilon": ReinforcedWalk("js", "epsilon", weight=1.0, annealing="linear"),
    "exponential-epsilon": ReinforcedWalk("vertex", "epsilon", annealing="exponential"),
    "exponential-released-epsilon": ReinforcedWalk.released(
        "kl", "epsilon", annealing="exponential"
    ),
    "rare-epsilon": ReinforcedWalk("vertex", "epsilon", weight=0.05),
    "always-epsilon": ReinforcedWalk("js", "epsilon", weight=1.0),
    "never-epsilon": ReinforcedWalk("kl", "epsilon", weight=0.0),
    "path-uncapped": ReinforcedWalk(occupation="path", candidates=None),
    "path-capped-vertex": ReinforcedWalk("vertex", occupation="path", candidates=3),
    "graph-2-candidates": ReinforcedWalk(occupation="graph", candidates=2),
    "graph-1-candidate": ReinforcedWalk("kl", candidates=1),
    "graph-capped-vertex": ReinforcedWalk("vertex", "epsilon", candidates=2),
    "graph-capped-vertex-ucb": ReinforcedWalk("vertex", candidates=2, temperature=2.0),
    "path-1-candidate": ReinforcedWalk.released("js", candidates=1),
    "attracted": ReinforcedWalk(attraction=3.0),
    "strongly-attracted": ReinforcedWalk("kl", attraction=30.0),
    "repelled": ReinforcedWalk(attraction=0.03),
    "attracted-3-candidates": ReinforcedWalk(candidates=3, attraction=3.0),
    "repelled-3-candidates": ReinforcedWalk("kl", candidates=3, attraction=0.03),
    "attracted-path": ReinforcedWalk.released("kl", attraction=2.0),
    "repelled-path": ReinforcedWalk.released("js", attraction=0.1),
    "attracted-vertex": ReinforcedWalk("vertex", "epsilon", attraction=3.0),
    "repelled-vertex": ReinforcedWalk("vertex", attraction=0.1),
    "repelled-annealed": ReinforcedWalk("js", weight=3.0, annealing="linear", attraction=0.1),
    "path-1000-candidates": ReinforcedWalk.released("js", candidates=1000),
}

# one for each kernel
KERNELS = {
    "first_order": FirstOrderWalk(),
    "second_order": SecondOrderWalk(0.3, 4.0),
    "open": ReinforcedWalk.paper("js", "ucb"),
    "capped": ReinforcedWalk.released("js", "ucb"),
    "reinforced": ReinforcedWalk("vertex", "ucb"),
}

# all that remember their path
REMEMBERING = {
    "open": ReinforcedWalk.paper("kl", "ucb"),
    "capped": ReinforcedWalk.released("kl", "ucb"),
    "softmax": ReinforcedWalk("js", temperature=0.01),
    "capped-softmax": ReinforcedWalk("kl", candidates=2, temperature=0.01),
    "linear": ReinforcedWalk("vertex", "epsilon"),
    "greedy": ReinforcedWalk.released("js", "epsilon"),
}

# weights that the tables do not hold, or that no floating-point number does
EXTREMES = {
    "open": ReinforcedWalk("js", weight=1e6),
    "open-annealed": ReinforcedWalk("kl", weight=1e5, annealing="linear"),
    "capped": ReinforcedWalk.released("js", weight=1e6),
    "capped-repelled": ReinforcedWalk.released("kl", weight=1e4, candidates=2, attraction=0.01),
    "softmax-js": ReinforcedWalk("js", temperature=1e-3, annealing="linear"),
    "softmax-path-js": ReinforcedWalk.released("js", temperature=0.02, annealing="exponential"),
    "softmax-path-kl": ReinforcedWalk.released("kl", temperature=1e-5),
    "softmax-vertex": ReinforcedWalk("vertex", temperature=1e-3),
    "softmax-path-vertex": ReinforcedWalk("vertex", occupation="path", temperature=1e-3),
    "softmax-capped-vertex": ReinforcedWalk.released("vertex", candidates=1, temperature=0.01),
}
