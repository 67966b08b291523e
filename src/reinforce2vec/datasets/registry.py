"""The data sets of the paper: where they are published, and how their contents are verified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit

from .._util.errors import InputError
from ..graph import Graph
from ..graph.dataset import Labels
from ..graph.fingerprint import GraphFingerprint, LabelFingerprint
from ._reading import (
    largest_component,
    lines_of_classes,
    matrix_groups,
    matrix_network,
    whole_graph,
)


@dataclass(frozen=True)
class PublishedFile:
    """A published file: its name on this machine, with or without .gz, and its address.

    What is larger than `most` bytes is not the published file. Without https, its hash is known.
    """

    name: str
    url: str
    sha256: str | None = None
    most: int = 8 << 20  # of all files here, the largest has some 4 MB

    @property
    def host(self) -> str:
        """Name of the server that publishes it."""
        return urlsplit(self.url).netloc

    def within(self, folder: Path) -> Path | None:
        """Return the path of the file in a folder, compressed or not; None if it is missing."""
        plain = self.name.removesuffix(".gz")
        names = (self.name, plain + ".gz", plain)
        return next((folder / name for name in names if (folder / name).is_file()), None)


@dataclass(frozen=True)
class DatasetEntry:
    """A data set: its description, its files, how to read them, and what they must hold."""

    name: str
    title: str
    description: str
    citation: str
    sources: tuple[PublishedFile, ...]
    paper_nodes: int
    paper_edges: int
    graph: GraphFingerprint
    read_graph: Callable[[Path], Graph]  # from the first file
    labels: LabelFingerprint | None = None
    read_labels: Callable[[Path, Graph], Labels] | None = None  # from the last file


_SNAP = "https://snap.stanford.edu"
# A fixed commit: at others these files hold another graph.
_PRONE = (
    "https://raw.githubusercontent.com/THUDM/ProNE/4284b74371ee093f163081a4e71b52b73acc981e/data"
)

_ENTRIES = (
    DatasetEntry(
        name="facebook",
        title="friendships on Facebook",
        description="Friendships among the users of ten ego networks of Facebook, put together.",
        citation="J. McAuley and J. Leskovec: Learning to discover social circles in ego "
        "networks. NIPS 2012",
        sources=(
            PublishedFile("facebook_combined.txt.gz", f"{_SNAP}/data/facebook_combined.txt.gz"),
        ),
        paper_nodes=4_039,
        paper_edges=88_234,
        graph=GraphFingerprint(
            4_039, 88_234, "898824ae3e259f0d433eb755f0703a4d1cb3ed294b68b447f622c541795a38b1"
        ),
        read_graph=whole_graph,
    ),
    DatasetEntry(
        name="ca-astroph",
        title="co-authors in astrophysics",
        description="Authors of papers on astrophysics in the arXiv, linked if they wrote one "
        "together: the largest connected component, 17,903 of 18,772 authors. 59 self-loops are "
        "left out, which the 197,031 edges of the paper count.",
        citation="J. Leskovec, J. Kleinberg and C. Faloutsos: Graph evolution: densification and "
        "shrinking diameters. ACM TKDD 1(1), 2007",
        sources=(PublishedFile("ca-AstroPh.txt.gz", f"{_SNAP}/data/ca-AstroPh.txt.gz"),),
        paper_nodes=17_903,
        paper_edges=197_031,
        graph=GraphFingerprint(
            17_903, 196_972, "6ef18a5cd2fbe02de86ae0eeeaf63e591f07d23bd3be1ef8ab53c4f56d83eb6e"
        ),
        read_graph=largest_component,
    ),
    DatasetEntry(
        name="blogcatalog",
        title="bloggers and their topics",
        description="Bloggers of BlogCatalog, linked by friendship. Classes are the topics of "
        "their blogs, 1 to 11 for each blogger.",
        citation="L. Tang and H. Liu: Relational learning via latent social dimensions. KDD 2009",
        sources=(
            PublishedFile(
                "blogcatalog.mat",
                "http://leitang.net/code/social-dimension/data/blogcatalog.mat",
                sha256="d4f4fb89ce1ccd4b7e2a183386c000773cc9362cc61f1be5b246a6d9c259da8f",
            ),
        ),
        paper_nodes=10_312,
        paper_edges=333_983,
        graph=GraphFingerprint(
            10_312, 333_983, "c39f44335ebbd2bedf048af5949af17c3c76bd112d5dbe996bb9d575cf58b2fd"
        ),
        labels=LabelFingerprint(
            39, "7891911af856ffe90146f1e8ca3290b5d47c2bb184a2df1a082a81388f72cc08"
        ),
        read_graph=matrix_network,
        read_labels=matrix_groups,
    ),
    DatasetEntry(
        name="ppi",
        title="human proteins that interact",
        description="Proteins of Homo sapiens, linked if they interact. Classes are biological "
        "states, 1 to 10 for each protein. The 76,584 edges of the paper are the entries of the "
        "matrix, which holds most edges twice: 37,845 edges and 894 self-loops. The self-loops "
        "are left out, so 30 proteins have no edge.",
        citation="A. Grover and J. Leskovec: node2vec: scalable feature learning for networks. "
        "KDD 2016",
        sources=(
            PublishedFile(
                "Homo_sapiens.mat",
                f"{_SNAP}/node2vec/Homo_sapiens.mat",
                sha256="8a32b88b0576276f02d7aaa3fd282e8617a3e6db8d39abb6212a283363bf1183",
            ),
        ),
        paper_nodes=3_890,
        paper_edges=76_584,
        graph=GraphFingerprint(
            3_890, 37_845, "bad6a3e8a7d260eaa6188eef4488999b1461b4d5b97f924d8f13e2fc9514e98a"
        ),
        labels=LabelFingerprint(
            50, "e26ade123babad2bb11d3c063e959b635df9f16c6cd7e255cc4cfccf2451b9f1"
        ),
        read_graph=matrix_network,
        read_labels=matrix_groups,
    ),
    DatasetEntry(
        name="dblp",
        title="computer scientists and their conferences",
        description="Authors in DBLP. Each is in one class, the conference where most of his or "
        "her papers appeared. All components are kept; the largest has 39,357 nodes.",
        citation="J. Zhang, Y. Dong, Y. Wang, J. Tang and M. Ding: ProNE: fast and scalable "
        "network representation learning. IJCAI 2019",
        sources=(
            PublishedFile("dblp.ungraph", f"{_PRONE}/aminer.ungraph"),
            PublishedFile("dblp.cmty", f"{_PRONE}/aminer.cmty"),
        ),
        paper_nodes=51_264,
        paper_edges=127_968,
        graph=GraphFingerprint(
            51_264, 127_968, "08d2e318e3b196e44cf39a3aa53dedfe9a6ebb98615f0f3d40f1071f3cd8f155"
        ),
        labels=LabelFingerprint(
            60, "537552263297cfce51d7cc040df77fcf6acde7634dd60f0e69fdd7ec7b0d9ba3"
        ),
        read_graph=whole_graph,
        read_labels=lines_of_classes,
    ),
)
REGISTRY = {entry.name: entry for entry in _ENTRIES}


def is_registered(name: str) -> bool:
    """Return whether there is a data set of that name, in upper or lower case."""
    return name.lower() in REGISTRY


def registered(name: str) -> DatasetEntry:
    """Return the entry of a data set, upper or lower case; InputError if there is none."""
    if isinstance(name, str) and is_registered(name):
        return REGISTRY[name.lower()]
    raise InputError(f"there is no data set {name!r}: {names_instead(name)}")


def names_instead(name: object) -> str:
    """Return what to say after a name that no data set has: the closest one, and all of them."""
    close = get_close_matches(str(name).lower(), REGISTRY, n=1)
    meant = f"did you mean {close[0]}? " if close else ""
    return f"{meant}choose one of {', '.join(REGISTRY)}"
