"""The contestants of the race, each run by the Python of its own environment.

A contestant reads an edge list of integer ids, two in each line, as its users would, and returns
ids and vectors. The first argument names it; the second holds the options as JSON: `edges`, `out`,
`seed`, `threads`, `dimensions`, `walks` from every node, `length` (nodes in a walk), `window`,
`negatives`, and `variant`: which of its methods or presets. Seconds count from the process's start.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

options = SimpleNamespace(**json.loads(sys.argv[2]))
seconds: dict[str, float] = {}


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Measure the seconds of a stage: "read", "walk" or "train"."""
    begin = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - begin


def skip_gram() -> dict:
    """Return the arguments of gensim's Word2Vec for the race's budget."""
    return {
        "vector_size": options.dimensions,
        "window": options.window,
        "negative": options.negatives,
        "sg": 1,
        "min_count": 1,
        "epochs": 1,
        "workers": options.threads,
        "seed": options.seed,
    }


def words_of(model: Any) -> tuple[list[int], np.ndarray]:
    """Return ids and vectors of a gensim model, whose words are the ids."""
    return [int(word) for word in model.wv.index_to_key], model.wv.vectors


# -- contestants ---------------------------------------------------------------------------------


def reinforce2vec() -> tuple:
    """Run a preset, a baseline, or DeepWalk's walks and one window at the race's budget."""
    import reinforce2vec as r2v
    from reinforce2vec._util.hyperparameters import PRESETS

    budget = {"walks_per_node": options.walks, "walk_length": options.length}
    plain = {"walk": r2v.FirstOrderWalk(), "window": options.window, "smooth": False}
    settings = {"DeepWalk": budget | plain, "same walks": budget, "default": {}, **PRESETS}
    baselines = {"ProNE": r2v.ProNE, "Spectral": r2v.Spectral}
    with stage("read"):
        graph = r2v.read_graph(options.edges)
    with stage("train"):  # walks are made while training
        if options.variant in baselines:
            model = baselines[options.variant](options.dimensions, seed=options.seed)
        else:
            model = r2v.Reinforce2Vec(
                options.dimensions,
                negatives=options.negatives,
                seed=options.seed,
                workers=options.threads,
                **settings[options.variant],
            )
        model.fit(graph, progress=False)
    return model.embedding_.ids, model.embedding_.vectors


def gensim() -> tuple:
    """Run what most people write: networkx for the graph, a loop for the walks, gensim."""
    import networkx
    from gensim.models import Word2Vec

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
    return words_of(model)


def node2vec() -> tuple:
    """Run eliorc's, p = q = 1: first the probabilities of all pairs of edges, then gensim."""
    import networkx
    from node2vec import Node2Vec

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
    return words_of(model)


def pecanpy() -> tuple:
    """Run its mode for unweighted first-order walks, and gensim, as its command does."""
    from gensim.models import Word2Vec
    from pecanpy.pecanpy import FirstOrderUnweighted

    with stage("read"):
        graph = FirstOrderUnweighted(p=1, q=1, workers=options.threads, random_state=options.seed)
        graph.read_edg(options.edges, weighted=False, directed=False, delimiter=" ")
    with stage("walk"):
        walks = graph.simulate_walks(num_walks=options.walks, walk_length=options.length - 1)
    with stage("train"):
        model = Word2Vec(walks, **skip_gram())
    return words_of(model)


def fastnode2vec() -> tuple:
    """Run walks by numba in the threads of gensim; an epoch is a walk from every node.

    Its own seed makes every batch the same, so it gets none.
    """
    from fastnode2vec import Graph, Node2Vec

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
    return words_of(model)


def nodevectors() -> tuple:
    """Run its Node2Vec with gensim, or its ProNE, on a graph of csrgraph."""
    import csrgraph
    import nodevectors

    with stage("read"):
        graph = csrgraph.read_edgelist(options.edges, directed=False, sep=" ", header=None)
    with stage("train"):  # walks and training are one call
        if options.variant == "ProNE":
            model = nodevectors.ProNE(n_components=options.dimensions, verbose=False)
        else:
            words = {"window": options.window, "negative": options.negatives}
            model = nodevectors.Node2Vec(
                n_components=options.dimensions,
                walklen=options.length,
                epochs=options.walks,
                threads=options.threads,
                verbose=False,
                w2vparams={**words, "epochs": 1, "batch_words": 128},
            )
        model.fit(graph)
    names = graph.nodes()
    return [int(name) for name in names], [model.predict(name) for name in names]


def karateclub() -> tuple:
    """Run its DeepWalk, whose nodes must be numbered from 0."""
    import networkx
    from karateclub import DeepWalk

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
    return ids, model.get_embedding()


def grape() -> tuple:
    """Run DeepWalk with skip-gram of embiggen and ensmallen, which do everything in Rust."""
    from grape_model import deepwalk, read_edges

    with stage("read"):
        graph = read_edges(options.edges, separator=" ", edge_list_is_complete=False)
    with stage("train"):  # walks and training are one call
        vectors = deepwalk(graph, options, options.dimensions, options.seed)
    return np.array(graph.get_node_names(), np.int64), vectors


def pyg() -> tuple:
    """Run Node2Vec of PyTorch Geometric on the CPU, trained as in its example.

    Its walks are those of torch-cluster, which is compiled when the environment is made: some
    minutes. Newer versions than 2.6 need pyg-lib instead, which the package index does not have.
    """
    import torch
    from torch_geometric.nn import Node2Vec

    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    with stage("read"):
        edges = np.loadtxt(options.edges, np.int64)
        ids, numbers = np.unique(edges, return_inverse=True)
        pairs = torch.from_numpy(numbers.reshape(-1, 2).T)
        both = torch.cat([pairs, pairs.flip(0)], dim=1)
    with stage("train"):  # walks are made by its loader while training
        model = Node2Vec(
            both,
            embedding_dim=options.dimensions,
            walk_length=options.length - 1,  # it counts steps
            context_size=options.window,
            walks_per_node=options.walks,
            num_negative_samples=1,
            sparse=True,
        )
        optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
        model.train()
        for positive, negative in model.loader(batch_size=128, shuffle=True):
            optimizer.zero_grad()
            model.loss(positive, negative).backward()
            optimizer.step()
    return ids, model().detach().numpy()


def sknetwork() -> tuple:
    """Run spectral embedding or SVD of scikit-network: no walks, so no budget but dimensions."""
    from sknetwork import embedding
    from sknetwork.data import from_csv

    how = {"directed": False, "matrix_only": False, "reindex": True}
    with stage("read"):
        graph = from_csv(options.edges, delimiter=" ", **how)
    with stage("train"):
        model = getattr(embedding, options.variant)(options.dimensions)
        vectors = model.fit_transform(graph.adjacency)
    return graph.names, vectors


if __name__ == "__main__":
    ids, vectors = globals()[sys.argv[1]]()
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    running = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    seconds["start"] = running - sum(seconds.values())  # imports, most of all
    status = Path("/proc/self/status").read_text().splitlines()  # before a copy is made here
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    np.savez(options.out, ids=np.asarray(ids, np.int64), vectors=np.asarray(vectors, np.float32))
    print("\n" + json.dumps({"seconds": seconds, "peak": peak}))
