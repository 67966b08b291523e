"""Check that two commits give the same walks, vectors and files, bit for bit.

    python benchmarks/same_bits.py --json           # digests of this checkout
    python benchmarks/same_bits.py --against HEAD~9 # compare them with those of another commit

A fixed set of settings is computed, and each result becomes a digest. The script uses only public
names, so it also runs on commits older than itself. Vectors are trained with one thread, where one
seed always gives the same bits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from itertools import product
from pathlib import Path

from checkouts import ROOT, checkout_of, run_with


def digest(*arrays: object) -> str:
    """Return a digest of types, shapes and contents of arrays."""
    import numpy as np

    found = hashlib.sha256()
    for array in arrays:
        kept = np.ascontiguousarray(array)
        found.update(f"{kept.dtype.str} {kept.shape}".encode())
        found.update(repr(kept.tolist()).encode() if kept.dtype == object else kept.tobytes())
    return found.hexdigest()[:24]


def graphs(r2v):
    """Return the graphs: plain, weighted, directed, and both."""
    import numpy as np

    random = np.random.default_rng(5)
    base = r2v.rmat(9, 8, seed=3)
    sources = np.repeat(np.arange(base.n_nodes), base.degrees)
    arcs = np.column_stack([base.ids[sources], base.ids[base.indices]])
    weights = random.uniform(0.1, 5.0, len(arcs))
    names = [(f"n{a}", f"n{b}") for a, b in arcs[:3000].tolist()]
    return {
        "club": r2v.karate_club(),
        "rmat": base,
        "weighted": r2v.Graph.from_edges(arcs, weights),
        "directed": r2v.Graph.from_edges(names, directed=True, nodes=["alone"]),
        "directed, weighted": r2v.Graph.from_edges(arcs, weights, directed=True),
    }


def walks(r2v):
    """Return walks of every kind."""
    reinforced = r2v.ReinforcedWalk
    found = {"first-order": r2v.FirstOrderWalk(), "second-order": r2v.SecondOrderWalk(0.25, 4.0)}
    found["second-order, returning"] = r2v.SecondOrderWalk(0.1, 0.5)
    for make, reward, exploration in product(
        (reinforced.paper, reinforced.released), ("js", "kl", "vertex"), ("ucb", "epsilon", "none")
    ):
        found[f"{make.__name__} {reward} {exploration}"] = make(reward, exploration)
    found["repelled"] = reinforced(weight=0, attraction=0.03)
    found["attracted"] = reinforced(weight=0.5, attraction=30.0)
    found["sharp"] = reinforced(temperature=0.01)
    found["annealed"] = reinforced(annealing="linear")
    found["annealed exponentially"] = reinforced.released(annealing="exponential", weight=0.5)
    found["few candidates"] = reinforced(candidates=3)
    return found


def models(r2v):
    """Return models with usual and unusual settings, and the baselines."""
    few = {"walks_per_node": 4, "workers": 1, "backend": "cpu"}
    # all explicit, since defaults differ between commits
    few |= {"dimensions": 64, "window": 10, "smooth": False}

    def make(**changes):
        return r2v.Reinforce2Vec(**(few | changes))

    found = {
        "one window": make(),
        "smoothed": make(smooth=True),
        "odd sizes": make(dimensions=37, window=3, negatives=13, epochs=2),
        "subsampled": make(dimensions=128, subsample=1e-3, learning_rate=0.02, seed=7),
        "released": make(dimensions=16, walk=r2v.ReinforcedWalk.released()),
        "first-order": make(dimensions=200, walk=r2v.FirstOrderWalk(), negatives=1),
        "LINE": r2v.LINE(dimensions=32, workers=1),
        "HOPE": r2v.HOPE(dimensions=16),
        "GraRep": r2v.GraRep(dimensions=16, steps=2),
        "NetMF": r2v.NetMF(dimensions=16),
        "ProNE": r2v.ProNE(dimensions=16),
        "Spectral": r2v.Spectral(dimensions=16),
    }
    return found


def digests() -> dict[str, str]:
    """Compute everything with the package on the path; return digests by name."""
    import numpy as np

    import reinforce2vec as r2v

    found: dict[str, str] = {}
    for graph_name, graph in graphs(r2v).items():
        arrays = [graph.indptr, graph.indices, graph.ids]
        arrays += [] if graph.weights is None else [graph.weights]
        found[f"graph / {graph_name}"] = digest(*arrays)
        for name, walk in walks(r2v).items():
            options = {"length": 40, "per_node": 3, "seed": 11, "backend": "cpu"}
            found[f"walks / {graph_name} / {name}"] = digest(
                *(r2v.sample_walks(graph, walk, workers=n, **options) for n in (1, 3))
            )
        for name, model in models(r2v).items():
            vectors = model.fit(graph, progress=False).embedding_.vectors
            found[f"vectors / {graph_name} / {name}"] = digest(vectors)
    club = r2v.karate_club()
    given = r2v.sample_walks(club, per_node=10, backend="cpu")
    few = {"dimensions": 16, "walks_per_node": 5, "workers": 1, "backend": "cpu"}
    few |= {"window": 10, "smooth": False}
    found["vectors / given walks"] = digest(
        r2v.Reinforce2Vec(**few).fit_walks(given, ids=club, progress=False).embedding_.vectors
    )
    grown = r2v.Reinforce2Vec(**few).fit(club, progress=False)
    grown.partial_fit([("new", 34), ("new", 1)], progress=False)
    found["vectors / grown graph"] = digest(grown.embedding_.vectors)
    found["graph / planted"] = digest(*_planted(r2v))
    split = r2v.hold_out_edges(r2v.rmat(9, 8, seed=3), seed=2)
    found["evaluation / split"] = digest(split.graph.indices, split.edges, split.non_edges)
    found["communities"] = digest(r2v.find_communities(r2v.rmat(9, 8, seed=3), seed=1))
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("npz", "txt", "bin", "tsv"):
            path = Path(folder, f"vectors.{suffix}")
            r2v.Embedding(["a", "b c" if suffix in ("npz", "tsv") else "b"], np.eye(2, 5)).save(
                path
            )
            found[f"files / vectors.{suffix}"] = hashlib.sha256(_content(path)).hexdigest()[:24]
        for suffix in ("txt", "npy"):
            path = Path(folder, f"walks.{suffix}")
            r2v.write_walks(path, r2v.WalkSampler(club, per_node=2, backend="cpu"))
            found[f"files / walks.{suffix}"] = hashlib.sha256(path.read_bytes()).hexdigest()[:24]
    return found


def _planted(r2v) -> list:
    planted = r2v.planted_groups(300, 4, seed=3)
    return [planted.graph.indptr, planted.graph.indices]


def _content(path: Path) -> bytes:
    """Return a file's bytes; of an archive those of its members, without their times."""
    if path.suffix != ".npz":
        return path.read_bytes()
    import zipfile

    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in sorted(archive.namelist()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", metavar="COMMIT", help="a commit, or the folder of a checkout")
    parser.add_argument("--json", action="store_true", help="print the digests as JSON")
    options = parser.parse_args()
    if options.against is None:
        found = digests()
        print(json.dumps(found, indent=1) if options.json else f"{len(found)} digests")
        return
    with checkout_of(options.against) as other:
        before = run_with(other, __file__, "--json")
    after = run_with(ROOT, __file__, "--json")
    different = sorted(
        name for name in before.keys() | after if before.get(name) != after.get(name)
    )
    for name in different:
        print(f"differs: {name}")
    print(f"{len(before)} digests, {len(different)} differ")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
