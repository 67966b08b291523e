"""Check that two commits give the same walks, vectors and files, bit for bit.

    python benchmarks/same_bits.py --json           # digests of this checkout
    python benchmarks/same_bits.py --against HEAD~9 # compare them with those of another commit
    python benchmarks/same_bits.py --against benchmarks/results/same_bits.json  # with stored ones

A fixed set of settings is computed, and each result becomes a digest. The script uses only public
names, so it also runs on commits older than itself. The stored digests are those of commit e4b9ee8.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from contextlib import suppress
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
        path = Path(folder, "walks.txt")
        r2v.write_walks(path, r2v.WalkSampler(club, per_node=2, backend="cpu"))
        found["files / walks.txt"] = hashlib.sha256(path.read_bytes()).hexdigest()[:24]
        found |= default_model(r2v, Path(folder)) | given_walks(r2v, Path(folder))
        found |= readings(r2v, Path(folder))
    return found | after_training(r2v) | scores(r2v)


class Interrupted(Exception):
    """What a callback raises."""


def content_of(embedding) -> str:
    """Return a digest of ids and vectors."""
    return digest(embedding.ids, embedding.vectors)


def default_model(r2v, folder: Path) -> dict[str, str]:
    """Return digests of the default model: trained, resumed, saved and updated."""
    digests: dict[str, str] = {}
    base = graphs(r2v)["rmat"]
    new = [*zip(base.ids[:40].tolist(), base.ids[100:140].tolist(), strict=True)]
    ends = base.ids[[3, 30]].tolist()
    for workers in (1, 3):
        for name, graph in graphs(r2v).items():
            model = r2v.Reinforce2Vec(workers=workers).fit(graph, progress=False)
            digests[f"default / {name} / {workers}"] = content_of(model.embedding_)
        options = {"checkpoint": folder / f"{workers}.checkpoint", "checkpoint_every": 0}
        moments: list[object] = []

        def interrupt(moment: object, moments: list[object] = moments) -> None:
            moments.append(moment)
            if len(moments) == 40:
                raise Interrupted

        model = r2v.Reinforce2Vec(workers=workers, smooth=False)
        with suppress(Interrupted):
            model.fit(base, progress=False, callbacks=[interrupt], **options)
        model.fit(base, progress=False, resume=True, **options)
        digests[f"default / resumed / {workers}"] = content_of(model.embedding_)
        model = r2v.Reinforce2Vec(workers=workers).fit(base, progress=False)
        placed = model.transform_nodes([("new", ends[0]), ("new", ends[1])])
        digests[f"default / new nodes / {workers}"] = content_of(placed)
        model.save(folder / "model.r2v")
        model = r2v.Reinforce2Vec.load(folder / "model.r2v")
        for number in range(2):
            model.partial_fit([*new, (f"new {number}", ends[0])], progress=False)
            name = f"default / partial_fit {number} / {workers}"
            digests[name] = content_of(model.embedding_)
    weighted = r2v.Reinforce2Vec(workers=2).fit(graphs(r2v)["weighted"], progress=False)
    weighted.partial_fit([(*ends, 2.5), ("x", ends[0], 4.0)], progress=False)
    digests["default / partial_fit weighted"] = content_of(weighted.embedding_)
    for order in ("first", "both"):
        line = r2v.LINE(order=order, workers=3).fit(base).embedding_
        digests[f"LINE {order} / 3"] = content_of(line)
    paper = r2v.Reinforce2Vec.paper(workers=1).fit(r2v.karate_club(), progress=False)
    digests["paper"] = content_of(paper.embedding_)
    return digests


def given_walks(r2v, folder: Path) -> dict[str, str]:
    """Return digests of vectors learned from walks that are given as lists, or in a text."""
    walks = [["a", "b", "c"], ["c", "b"], ["b", "a", "b", "d", "a"]] * 20
    path = folder / "given.txt"
    path.write_text("\n".join(map(" ".join, walks)))
    digests = {}
    for name, source in {"list": walks, "text": r2v.read_walks(path)}.items():
        for smooth in (True, False):
            model = r2v.Reinforce2Vec(workers=3, smooth=smooth)
            vectors = model.fit_walks(source, progress=False).embedding_
            digests[f"given walks / {name} / {smooth}"] = content_of(vectors)
    return digests


LINK_SCORES = "auto combined allocation adamic-adar common three-steps odds cosine"


def after_training(r2v) -> dict[str, str]:
    """Return digests of what vectors are used for: neighbors, links, maps, smoothing."""
    digests: dict[str, str] = {}
    planted = r2v.planted_groups(400, 4, seed=3).graph
    for name, graph in (graphs(r2v) | {"planted": planted}).items():
        model = r2v.Reinforce2Vec(walks_per_node=5, workers=2)
        embedding = model.fit(graph, progress=False).embedding_
        near = r2v.nearest_neighbors(embedding, k=7, method="exact", progress=False)
        digests[f"neighbors / {name}"] = digest(near.rows, near.cosines)
        some = embedding.ids[3:30].tolist()
        digests[f"most similar / {name}"] = digest(repr(list(map(embedding.most_similar, some))))
        for score in LINK_SCORES.split():
            for nodes in (None, some):
                links = r2v.recommend_links(
                    embedding, graph, 5, nodes=nodes, score=score, progress=False
                )
                columns = links.sources, links.targets, links.scores
                way = "all" if nodes is None else "some"
                digests[f"links / {name} / {score} / {way}"] = digest(*columns, repr(links.scorer))
        for method in ("pca", "layout"):
            places = [r2v.project(embedding, method, seed=n, progress=False) for n in (0, 1)]
            digests[f"project / {name} / {method}"] = digest(*places)
        smoothed = [
            r2v.smooth(embedding.vectors, graph, order=6, workers=n, backend="cpu") for n in (1, 3)
        ]
        digests[f"smooth / {name}"] = digest(*smoothed)
        other = model.set_params(seed=1).fit(graph, progress=False).embedding_
        digests[f"align / {name}"] = content_of(r2v.align(other, embedding))
    return digests


def scores(r2v) -> dict[str, str]:
    """Return digests of evaluations."""
    planted = r2v.planted_groups(400, 4, seed=3)
    graph, labels = planted.graph, planted.labels
    vectors = r2v.Reinforce2Vec(walks_per_node=5, workers=2).fit_transform(graph, progress=False)
    split = r2v.hold_out_edges(graph, seed=1)
    digests = {}
    for c in (1.0, "validation"):
        digests[f"score_links / {c}"] = digest(repr(r2v.score_links(vectors, split, seed=2, c=c)))
        classes = r2v.classify_nodes(vectors, labels, seed=1, c=c)
        digests[f"classify_nodes / {c}"] = digest(repr(classes))
    moved = r2v.transfer_links(vectors, split, vectors, r2v.hold_out_edges(graph, seed=2))
    digests["transfer_links"] = digest(repr(moved))
    for protocol in ("shared", "transfer"):
        result = r2v.evaluate_link_prediction(
            graph, r2v.ProNE(dimensions=16), protocol=protocol, seeds=2, progress=False
        )
        digests[f"link prediction / {protocol}"] = digest(repr(result.scores))
    result = r2v.evaluate_node_classification(vectors, labels, train=(0.1, 0.5), progress=False)
    digests["node classification"] = digest(repr(result.scores))
    return digests


TEXTS: dict[str, tuple[str, dict[str, object]]] = {
    "snap.txt": ("# Nodes: 4\n# From\tTo\n7\t1\n1\t2\n2\t3\n3\t7\n1\t7\n", {}),
    "weights.txt": ("a b 0.1\nb c 0.2\na b 0.3\nc c 4\nb a 0.7\n", {}),
    "directed.txt": ("a b 0.1\nb c 0.2\na b 0.3\nc c 4\nb a 0.7\n", {"directed": True}),
    "header.csv": ('source,target,weight\n"a,b",c,1.5\nc,d,2\nd,"a,b",1e-3\n', {}),
    "columns.csv": ("w;t;s\n1;b;a\n2;c;b\n", {"source": "s", "target": "t", "weight": "w"}),
    "sides.csv": ("1,1,5\n1,2,3\n2,1,4\n", {"bipartite": True}),
    "listed.csv": ("5,9\n9,3\n", {"nodes": [3, 4, 5], "self_loops": True}),
    "graph.mtx": ("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 .5\n3 1 2\n", {}),
    "graph.graphml": (
        '<graphml><key id="w" for="edge" attr.name="weight"/><graph edgedefault="directed">'
        '<node id="x"/><edge source="b" target="a"><data key="w">2</data></edge>'
        '<edge source="a" target="x"/></graph></graphml>',
        {},
    ),
}


def readings(r2v, folder: Path) -> dict[str, str]:
    """Return digests of graphs read from texts and taken from other packages."""
    from importlib import import_module

    import numpy as np

    read = {}
    for name, (text, options) in TEXTS.items():
        (folder / name).write_text(text)
        read[name] = r2v.read_graph(folder / name, **options)
    large = graphs(r2v)["weighted"]
    for suffix in ("npz", "csv", "txt.gz", "edgelist", "parquet"):
        large.save(folder / f"graph.{suffix}")
        read[f"saved.{suffix}"] = r2v.read_graph(folder / f"graph.{suffix}")
    matrix = large.to_scipy()
    ends = np.array(matrix.nonzero())
    names = [f"n{end}" for end in ends.ravel().tolist()]
    columns = {"source": names[: len(names) // 2], "target": names[len(names) // 2 :]}
    columns["weight"] = np.linspace(0.5, 3, ends.shape[1])
    read["matrix"] = r2v.Graph.from_any(matrix)
    read["tuples"] = r2v.Graph.from_any([("b", "a", 0.5), ("a", "c", 2.5), ("b", "c", 1)])
    frames = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}
    for package, make in frames.items():
        frame = getattr(import_module(package), make)(columns)
        read[package] = r2v.Graph.from_any(frame)
    networks = import_module("networkx")
    read["networkx"] = r2v.Graph.from_any(networks.les_miserables_graph())
    digests = {}
    for name, graph in read.items():
        weights = [] if graph.weights is None else [graph.weights]
        arrays = (graph.indptr, graph.indices, graph.ids, *weights, np.array(graph.directed))
        digests[f"read / {name}"] = digest(*arrays)
    (folder / "labels.csv").write_text("id,class\n1,x\n2,y\n2,z\n34,x\n99,x\n")
    labels = r2v.read_labels(folder / "labels.csv", r2v.karate_club())
    digests["read / labels"] = digest(labels.matrix, repr(labels.names), repr(labels.strangers))
    return digests


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
    parser.add_argument(
        "--against", metavar="COMMIT", help="a commit, the folder of a checkout, or stored digests"
    )
    parser.add_argument("--json", action="store_true", help="print the digests as JSON")
    options = parser.parse_args()
    if options.against is None:
        found = digests()
        print(json.dumps(found, indent=1) if options.json else f"{len(found)} digests")
        return
    if options.against.endswith(".json"):
        before = json.loads(Path(options.against).read_text())
    else:
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
