"""Graphs that are files of Debian packages: graph-tool's collection, and WordNet.

The binary files of graph-tool hold the out-neighbours of each node and then properties; WordNet's
`data.noun` has a line for each meaning, with pointers to others.
"""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

COLLECTION = "usr/lib/python3/dist-packages/graph_tool/collection"
NOUNS = "usr/share/wordnet/data.noun"
PACKAGED = {
    "blogs": "polblogs",
    "pgp": "pgp-strong-2009",
    "wordnet": None,
    "enron": "email-Enron",
    "papers": "hep-th",
    "power": "power",
}
UPWARDS = ("@", "@i", "#p", "#m", "#s")  # a kind, an instance, a part, a member, a material of


class Found(NamedTuple):
    """What a file holds; labels are a matrix (nodes, classes)."""

    nodes: int
    edges: np.ndarray
    directed: bool
    labels: np.ndarray | None = None


def read_packaged(name: str, folder: Path) -> Found:
    """Read a graph by its name in PACKAGED, from the folder of the unpacked packages."""
    file = PACKAGED[name]
    if file is None:
        return read_wordnet(folder / NOUNS)
    return read_collection(folder / COLLECTION / f"{file}.gt.gz", labelled=name == "blogs")


class Bytes:
    """Reads numbers and texts from the beginning of a binary file of graph-tool."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 8
        self.order = ">" if data[7] else "<"

    def number(self, letter: str = "Q") -> int:
        (found,) = struct.unpack_from(self.order + letter, self.data, self.place)
        self.place += struct.calcsize(letter)
        return found

    def text(self) -> str:
        size = self.number()
        self.place += size
        return self.data[self.place - size : self.place].decode()

    def array(self, kind: str, count: int) -> np.ndarray:
        found = np.frombuffer(self.data, self.order + kind, count, self.place)
        self.place += found.nbytes
        return found


def read_collection(path: Path, labelled: bool) -> Found:
    """Read a graph of graph-tool's collection; labels are the node property "value"."""
    file = Bytes(gzip.decompress(path.read_bytes()))
    file.text()  # which version wrote it
    directed, nodes = bool(file.number("B")), file.number()
    kind = next(f"u{size}" for size in (1, 2, 4, 8) if nodes < 256**size)
    lists = [file.array(kind, file.number()) for _ in range(nodes)]
    begins = np.repeat(np.arange(nodes), [len(one) for one in lists])
    edges = np.column_stack([begins, np.concatenate(lists)]).astype(np.int64)
    if not labelled:
        return Found(nodes, edges, directed)
    values = property_of(file, "value", nodes)
    return Found(nodes, edges, directed, values[:, None] == np.unique(values))


def property_of(file: Bytes, wanted: str, nodes: int) -> np.ndarray:
    """Return a number for each node; what comes before it is a property of texts."""
    for _ in range(file.number()):
        of_nodes, name, kind = file.number("B") == 1, file.text(), file.number("B")
        if of_nodes and name == wanted:
            return file.array("f8", nodes)
        if kind != 6:
            raise ValueError(f"cannot skip the property {name} of kind {kind}")
        for _ in range(nodes if of_nodes else 1):
            file.text()
    raise ValueError(f"no property {wanted}")


def read_wordnet(path: Path) -> Found:
    """Read the nouns of WordNet: a meaning points to what it is a kind, part or member of."""
    lines = [line.split(" ") for line in path.read_text().splitlines() if line[0] != " "]
    number = {fields[0]: row for row, fields in enumerate(lines)}
    topics = np.array([int(fields[1]) for fields in lines])
    edges = []
    for row, fields in enumerate(lines):
        first = 4 + 2 * int(fields[3], 16)  # behind the words of this meaning
        pointers = fields[first + 1 : first + 1 + 4 * int(fields[first])]
        for symbol, target, kind in zip(pointers[::4], pointers[1::4], pointers[2::4], strict=True):
            if symbol in UPWARDS and kind == "n":
                edges.append((row, number[target]))
    return Found(len(lines), np.array(edges), True, topics[:, None] == np.unique(topics)[1:])
