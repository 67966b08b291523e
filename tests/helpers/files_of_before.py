"""Files that an earlier version wrote, and what every later version must make of them.

    PYTHONPATH=tests python -m helpers.files_of_before   # with that version: writes them again

Version 0.1.0 at commit e4b9ee8 wrote those in tests/files_of_before/. They are never written anew:
a new format gets new files beside them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import reinforce2vec as r2v
from helpers.paths import ROOT

FOLDER = ROOT / "tests" / "files_of_before"
DIGESTS = FOLDER / "digests.json"
NEW_EDGES = [(1, 34), (50, 3), (50, 30)]
NAMED = [("ann", "bob", 2.0), ("bob", "cid", 0.5), ("cid", "ann", 3.0), ("d,e", "ann", 1.5)]
NAMED += [("é", "d,e", 0.25), ("é", "bob", 7.0), ("two", "é", 1.0), ("#7", "two", 40.0)]


def digest(*parts):
    """A digest of arrays, bytes, and whatever has a repr."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            digest.update(f"{part.dtype.str} {part.shape}".encode() + part.tobytes())
        else:
            digest.update(repr(part.tolist() if isinstance(part, np.ndarray) else part).encode())
    return digest.hexdigest()[:24]


# -- writing, with the earlier version -----------------------------------------------------------


def graphs():
    named = r2v.Graph.from_edges([edge[:2] for edge in NAMED], [edge[2] for edge in NAMED])
    return {"club": r2v.karate_club(), "named": named}


def models():
    """Fitted models, by the names of their files."""
    few = {"dimensions": 16, "walks_per_node": 5, "workers": 2}
    club, named = graphs().values()
    directed = r2v.Graph.from_edges([edge[:2] for edge in NAMED] + [("bob", "ann")], directed=True)
    updated = r2v.Reinforce2Vec(**few).fit(club, progress=False)
    updated.partial_fit([(40, 1), (40, 41), (2, 34)], progress=False)
    paper = r2v.Reinforce2Vec.paper(dimensions=12, walks_per_node=6, workers=2)
    walks = [["a", "b", "c", "a"], ["c", "d"], ["d", "b"]] * 9
    return {
        "default": r2v.Reinforce2Vec(**few).fit(club, progress=False),
        "unsmoothed": r2v.Reinforce2Vec(**few, window=(2, 3, 5), smooth=False).fit(
            club, progress=False
        ),
        "paper": paper.fit(club, progress=False),
        "weighted": r2v.Reinforce2Vec(**few).fit(named, progress=False),
        "directed": r2v.Reinforce2Vec(**few).fit(directed, progress=False),
        "updated": updated,
        "second-order": r2v.Reinforce2Vec(**few, walk=r2v.SecondOrderWalk(0.5, 2.0)).fit(
            club, progress=False
        ),
        "given-walks": r2v.Reinforce2Vec(**few).fit_walks(walks, progress=False),
        "line": r2v.LINE(dimensions=8, samples=20_000, workers=2).fit(club),
        "prone": r2v.ProNE(dimensions=8).fit(club),
    }


def write():
    """Write all files, and the digests of what this version makes of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, model in models().items():
        model.save(FOLDER / f"{name}.r2v")
    club = r2v.Reinforce2Vec.load(FOLDER / "default.r2v").embedding_
    named = r2v.Reinforce2Vec.load(FOLDER / "weighted.r2v").embedding_
    for suffix in ("npz", "txt", "vec", "csv", "bin", "parquet", "txt.gz", "csv.gz"):
        club.save(FOLDER / f"vectors.{suffix}")
    for suffix in ("npz", "txt", "csv", "bin"):
        named.save(FOLDER / f"named-vectors.{suffix}")
    for name, graph in graphs().items():
        sampler = r2v.WalkSampler(graph, length=6, per_node=2)
        for suffix in ("txt", "txt.gz"):
            r2v.write_walks(FOLDER / f"{name}-walks.{suffix}", sampler)
        for suffix in ("npz", "csv", "tsv", "parquet", "csv.gz"):
            graph.save(FOLDER / f"{name}-graph.{suffix}")
    with tempfile.TemporaryDirectory() as folder:
        outcomes = {path.name: outcome_of(path, Path(folder)) for path in files()}
    DIGESTS.write_text(json.dumps(outcomes, indent=1) + "\n")


# -- reading, updating and continuing, with every later version ----------------------------------


def files():
    return sorted(path for path in FOLDER.iterdir() if path != DIGESTS)


def content_of(embedding):
    return digest(embedding.ids, embedding.vectors)


def bytes_of(path):
    """A digest of a file's bytes: of what is packed, without times and descriptions."""
    if path.suffix != ".npz":
        content = path.read_bytes()
        return digest(gzip.decompress(content) if path.suffix == ".gz" else content)
    with zipfile.ZipFile(path) as archive:
        names = sorted(set(archive.namelist()) - {"about.npy"})
        return digest([(name, archive.read(name)) for name in names])


def outcome_of(path, folder):
    """What becomes of a file: digests of what is read, of the file written again, of its use."""
    name = path.name
    part = name.partition(".")[0].rpartition("-")[2]
    if name.endswith(".r2v"):
        return outcome_of_model(path, folder)
    outcome = {}
    copy = folder / name
    if part == "vectors":
        embedding = r2v.Embedding.load(path)
        embedding.save(copy)
        near = [embedding.most_similar(node, 3) for node in embedding.ids.tolist()]
        outcome = {"read": content_of(embedding), "used": digest(near)}
    elif part == "graph":
        graph = r2v.read_graph(path)
        graph.save(copy)
        weights = graph.weights if graph.weighted else "no weights"
        walks = r2v.sample_walks(graph, length=5, per_node=2)
        outcome = {"read": digest(graph.ids, graph.indptr, graph.indices, weights)}
        outcome["used"] = digest(np.asarray(walks))
    else:
        walks = r2v.read_walks(path)
        listed = walks.ids, np.asarray(walks.nodes[:]), walks.begins
        model = r2v.Reinforce2Vec(dimensions=8, workers=2)
        fitted = model.fit_walks(walks, progress=False).embedding_
        return {"read": digest(*listed), "trained": content_of(fitted)}
    # Parquet and packed bytes depend on versions of other packages
    return outcome if name.endswith("parquet") else outcome | {"written": bytes_of(copy)}


def outcome_of_model(path, folder):
    estimator = {"line": r2v.LINE, "prone": r2v.ProNE}.get(path.stem, r2v.Reinforce2Vec)
    model = estimator.load(path)
    outcome = {"read": content_of(model.embedding_)}
    parameters = {name: repr(value) for name, value in model.get_params().items()}
    outcome["parameters"] = digest(sorted(parameters.items()))
    model.save(folder / path.name)
    again = estimator.load(folder / path.name)
    outcome["read again"] = content_of(again.embedding_)
    if estimator is not r2v.Reinforce2Vec or model.graph_ is None:
        return outcome
    edges = NEW_EDGES
    if "ann" in again.embedding_:
        edges = [("two", "bob", 1.0), ("new", "ann", 2.0), ("new", "bob", 1.0)]
        edges = edges if model.graph_.weighted else [edge[:2] for edge in edges]
    outcome["placed"] = content_of(again.transform_nodes(edges[1:]))
    for one in ("trained", "trained again"):
        again.partial_fit(edges, progress=False)
        outcome[one] = content_of(again.embedding_)
        again.save(folder / path.name)
        again = estimator.load(folder / path.name)
        edges = [("newer" if "ann" in again.embedding_ else 51, *edges[0][1:])]
    return outcome


if __name__ == "__main__":
    write()
