"""Graphs for the study of defaults, beyond those of the paper: other sizes, kinds and shapes.

    python benchmarks/graphs.py FOLDER                     # makes them all, some seconds
    python benchmarks/graphs.py FOLDER --packages FILE     # from a saved index of Debian packages
    python benchmarks/graphs.py FOLDER --files FOLDER      # from two unpacked Debian packages, too

Three of them are made of the index of a Debian archive (`apt-cache dumpavail`, after `apt-get
update`), which changes from day to day: `graphs.json` in the folder holds its digest, and the size
and fingerprint of every graph. The largest one is not stored, but drawn when it is needed.

Those of packaged_graphs.py are files in the Debian packages python3-graph-tool and wordnet-base:
`apt-get download` gets them, `dpkg -x PACKAGE FOLDER` unpacks them.

| graph | nodes and edges | labels |
|---|---|---|
| grid | a lattice with gaps, as roads have them | 25 regions |
| debian-depends | packages and what they depend on, directed | sections |
| debian-tags | packages and their tags, bipartite | sections of the packages |
| debian-words | words that occur in the same descriptions, weighted | their typical sections |
| planted-1m | a million nodes in 100 groups, degrees by a power law | groups of 20,000 nodes |
| blogs | political blogs and their links, directed | left and right |
| pgp | who signed whose key, directed, strongly connected | none |
| wordnet | nouns and what they are a kind or part of, directed | 25 topics |
| enron | who wrote to whom | none |
| papers | authors of common papers on high-energy physics, sparse | none |
| power | a power grid | none |
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

import reinforce2vec as r2v
from packaged_graphs import PACKAGED, read_packaged
from reinforce2vec.graph.fingerprint import fingerprint

PAPER = ("facebook", "ca-astroph", "blogcatalog", "ppi", "dblp")
PLANTED = "planted-1m"
DIRECTED = ("debian-depends", "blogs", "pgp", "wordnet")
Made = tuple[r2v.Graph, np.ndarray | None]  # a graph, and its labels (nodes, classes)

LEAST_PACKAGES = 50  # in a section that is a class
LEAST_TAGGED = 3  # packages with a tag
LEAST_WITH_WORD, MOST_WITH_WORD = 20, 0.1  # packages, and their share
LEAST_WORDS = 20  # of a section


# -- graphs without data -------------------------------------------------------------------------


def grid(side: int = 150, gaps: float = 0.15, regions: int = 25) -> Made:
    """Return a lattice without some of its edges; a label is the nearest of some random points."""
    rng = np.random.default_rng(0)
    place = np.arange(side * side).reshape(side, side)
    across = np.column_stack([place[:, :-1].ravel(), place[:, 1:].ravel()])
    down = np.column_stack([place[:-1].ravel(), place[1:].ravel()])
    edges = np.concatenate([across, down])
    edges = edges[np.sort(rng.permutation(len(edges))[round(gaps * len(edges)) :])]
    graph = r2v.Graph.from_numbered(edges, None, np.arange(side * side))
    graph, kept = largest_component(graph)
    points = np.column_stack(np.divmod(kept, side))
    region = cKDTree(rng.random((regions, 2)) * side).query(points)[1]
    return graph, region[:, None] == np.arange(regions)


def planted(nodes: int = 1_000_000, groups: int = 100, labelled: int = 20_000) -> Made:
    """Return a large graph with planted groups, and the groups of some of its nodes."""
    data = r2v.planted_groups(nodes, groups, degree=10.0, mixing=0.3, seed=0)
    known = np.random.default_rng(0).permutation(nodes)[:labelled]
    labels = np.zeros_like(data.labels)
    labels[known] = data.labels[known]
    return data.graph, labels


def largest_component(graph: r2v.Graph) -> tuple[r2v.Graph, np.ndarray]:
    """Return the largest component, directions ignored, and the old rows of its nodes."""
    component = connected_components(graph.to_scipy(), directed=False)[1]
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    return only(graph, kept), kept


def only(graph: r2v.Graph, kept: np.ndarray) -> r2v.Graph:
    """Return the graph of some nodes, numbered from 0."""
    number = np.full(graph.n_nodes, -1, np.int32)
    number[kept] = np.arange(len(kept))
    ends, weights = r2v.graph.edges_of(graph)
    inside = (number[ends] >= 0).all(axis=1)
    return r2v.Graph.from_numbered(
        number[ends[inside]],
        weights[inside] if graph.weighted else None,
        np.arange(len(kept)),
        directed=graph.directed,
    )


# -- Debian packages -----------------------------------------------------------------------------


class Package(NamedTuple):
    """What the graphs need of a package."""

    name: str
    section: str
    needs: tuple[str, ...]
    tags: tuple[str, ...]
    summary: str


def read_packages(text: str) -> list[Package]:
    """Return the packages of an index, sorted by name; of several versions the first."""
    found: dict[str, Package] = {}
    for entry in text.split("\n\n"):
        fields = dict(fields_of(entry))
        name = fields.get("Package")
        if name is None or name in found:
            continue
        listed = ", ".join(fields[field] for field in ("Depends", "Recommends") if field in fields)
        found[name] = Package(
            name,
            fields.get("Section", "").rpartition("/")[2],
            tuple(dict.fromkeys(first_alternative(one) for one in listed.split(",") if one)),
            tuple(dict.fromkeys(filter(None, re.split(r"[,\s]+", fields.get("Tag", ""))))),
            fields.get("Description", fields.get("Description-en", "")).partition("\n")[0],
        )
    return [found[name] for name in sorted(found)]


def fields_of(entry: str) -> Iterator[tuple[str, str]]:
    """Yield the names and contents of the fields of an entry."""
    for field in re.split(r"\n(?! )", entry):  # a line that begins with a space goes on
        name, _, content = field.partition(":")
        yield name.strip(), content.strip()


def first_alternative(needed: str) -> str:
    """Return the package that "a (>= 1) | b" names first."""
    return re.split(r"[|(:\[<]", needed.strip(), maxsplit=1)[0].strip()


def depends(packages: list[Package]) -> Made:
    """Return which package depends on which, or recommends it; without virtual packages."""
    number = {package.name: row for row, package in enumerate(packages)}
    edges = [
        (row, number[needed])
        for row, package in enumerate(packages)
        for needed in package.needs
        if needed in number
    ]
    whole = r2v.Graph.from_numbered(np.array(edges), None, np.arange(len(packages)), directed=True)
    graph, kept = largest_component(whole)
    return graph, section_labels([packages[row].section for row in kept], LEAST_PACKAGES)


def tags(packages: list[Package]) -> Made:
    """Return packages, first, and the tags they have."""
    uses = Counter(tag for package in packages for tag in package.tags)
    common = sorted(tag for tag, count in uses.items() if count >= LEAST_TAGGED)
    tagged = [package for package in packages if set(package.tags) & set(common)]
    column = {tag: len(tagged) + place for place, tag in enumerate(common)}
    edges = [
        (row, column[tag])
        for row, package in enumerate(tagged)
        for tag in package.tags
        if tag in column
    ]
    graph = r2v.Graph.from_numbered(np.array(edges), None, np.arange(len(tagged) + len(common)))
    sections = [package.section for package in tagged] + [""] * len(common)
    return graph, section_labels(sections, LEAST_PACKAGES)


def words(packages: list[Package]) -> Made:
    """Return words, linked by the number of summaries with both.

    The label of a word is the section whose share of the word's packages is the most above the
    section's share of all packages, in standard deviations of a count.
    """
    texts = [set(re.findall(r"[a-z][a-z+-]*[a-z+]", one.summary.lower())) for one in packages]
    uses = Counter(word for text in texts for word in text)
    most = MOST_WITH_WORD * len(packages)
    common = sorted(word for word, count in uses.items() if LEAST_WITH_WORD <= count <= most)
    column = {word: place for place, word in enumerate(common)}
    listed = ((row, word) for row, text in enumerate(texts) for word in sorted(text))
    pairs = [(row, column[word]) for row, word in listed if word in column]
    rows, columns = np.array(pairs).T
    shape = len(packages), len(common)
    table = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    together = scipy.sparse.triu(table.T @ table, 1).tocoo()
    graph = r2v.Graph.from_numbered(
        np.column_stack([together.row, together.col]), together.data, np.arange(len(common))
    )
    graph, kept = largest_component(graph)
    sections = sorted({package.section for package in packages})
    member = np.array([sections.index(package.section) for package in packages])
    belongs = (member[:, None] == np.arange(len(sections))).astype(float)
    seen = table.T @ belongs
    expected = np.outer(seen.sum(axis=1), belongs.mean(axis=0))
    typical = ((seen - expected) / np.sqrt(expected)).argmax(axis=1)
    return graph, section_labels([sections[typical[row]] for row in kept], LEAST_WORDS)


def section_labels(sections: list[str], least: int) -> np.ndarray:
    """Return a column for each section that is large enough."""
    sizes = Counter(section for section in sections if section)
    classes = np.array(sorted(section for section, size in sizes.items() if size >= least))
    return np.array(sections)[:, None] == classes


FROM_PACKAGES: dict[str, Callable[[list[Package]], Made]] = {
    "debian-depends": depends,
    "debian-tags": tags,
    "debian-words": words,
}
NAMES = (*PAPER, "grid", *FROM_PACKAGES, *PACKAGED, PLANTED)


def packaged(name: str, folder: Path) -> Made:
    """Return the largest component of a graph that is a file of a Debian package."""
    found = read_packaged(name, folder)
    numbers = np.arange(found.nodes)
    whole = r2v.Graph.from_numbered(found.edges, None, numbers, directed=found.directed)
    graph, kept = largest_component(whole)
    return graph, None if found.labels is None else found.labels[kept]


# -- files ---------------------------------------------------------------------------------------


def save(path: Path, made: Made) -> None:
    """Write a graph and its labels; ids are the row numbers."""
    graph, labels = made
    arrays = {"indptr": graph.indptr, "indices": graph.indices, "directed": graph.directed}
    optional = {"weights": graph.weights, "labels": labels}
    arrays |= {name: array for name, array in optional.items() if array is not None}
    np.savez_compressed(path, **arrays)


def load(name: str, folder: Path, data: Path | None = None) -> Made:
    """Return a graph of the study, from a folder of stored ones or of the paper's files."""
    if name in PAPER:
        dataset = r2v.load_dataset(name, data, progress=False)
        return dataset.graph, dataset.labels
    if name == PLANTED:
        return planted()
    with np.load(folder / f"{name}.npz") as found:
        arrays = {key: found[key] for key in found.files}
    graph = r2v.Graph(
        arrays["indptr"],
        arrays["indices"],
        arrays.get("weights"),
        np.arange(len(arrays["indptr"]) - 1),
        bool(arrays["directed"]),
    )
    return graph, arrays.get("labels")


def facts(made: Made) -> dict[str, object]:
    """Return the sizes and the digest of a graph and its labels."""
    graph, labels = made
    found = {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "components": graph.n_components,
        "directed": graph.directed,
        "weighted": graph.weighted,
        "fingerprint": fingerprint(graph, labels),
    }
    if labels is not None:
        sizes = labels.sum(axis=0)
        found |= {
            "classes": labels.shape[1],
            "labelled": int(labels.any(axis=1).sum()),
            "class_sizes": [int(sizes.min()), int(sizes.max())],
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to write the graphs")
    parser.add_argument("--packages", type=Path, help="an index of Debian packages, as text")
    parser.add_argument("--files", type=Path, help="folder of unpacked Debian packages")
    parser.add_argument("--planted", action="store_true", help="record the largest graph too")
    options = parser.parse_args()
    if options.packages is None:
        command = ["apt-cache", "dumpavail"]
        index = subprocess.run(command, capture_output=True, check=True).stdout
    else:
        index = options.packages.read_bytes()
    packages = read_packages(index.decode())
    makers: dict[str, Callable[[], Made]] = {"grid": grid}
    for name, make in FROM_PACKAGES.items():
        makers[name] = lambda make=make: make(packages)
    for name in PACKAGED if options.files else ():
        makers[name] = lambda name=name: packaged(name, options.files)
    if options.planted:
        makers[PLANTED] = planted
    found = {
        "packages": {"count": len(packages), "sha256": hashlib.sha256(index).hexdigest()},
        "graphs": {},
    }
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, make in makers.items():
        made = make()
        if name != PLANTED:
            save(options.folder / f"{name}.npz", made)
        found["graphs"][name] = facts(made)
        print(name, found["graphs"][name], flush=True)
    (options.folder / "graphs.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
