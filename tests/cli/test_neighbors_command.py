"""The commands that find neighbours and missing links: what they print, and how they fail."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas
import pytest

from helpers.command_line import check, checked, run
from reinforce2vec import (
    Embedding,
    Reinforce2Vec,
    karate_club,
    nearest_neighbors,
    recommend_links,
)
from reinforce2vec.cli import _nodes


@pytest.fixture
def folder(folder):
    """The karate club in edges.txt, vectors of its members, and of some people."""
    vectors = np.random.default_rng(0).normal(size=(34, 4))
    Embedding(karate_club().ids, vectors).save(folder / "club.npz")
    people = Embedding(["ann lee", "Bob", "cid", "-5"], [[1, 0], [0.8, 0.6], [0, 2], [-1, 0.1]])
    people.save(folder / "people.npz")
    return folder


# -- neighbors -----------------------------------------------------------------------------------


def test_neighbours_in_a_table(folder):
    result = checked("neighbors", "people.npz", "cid", "ann lee", "-k", 2)
    assert result.stdout.splitlines() == [
        "node     neighbor  cosine",
        "cid      Bob       0.6000",
        "cid      -5        0.0995",
        "ann lee  Bob       0.8000",
        "ann lee  cid       0.0000",
    ]
    assert result.stderr == "people.npz: Embedding(4 nodes, 2 dimensions, 32 bytes)\n"


def test_neighbours_as_json(folder):
    result = checked("neighbors", "club.npz", 34, 1, "-k", 3, "--json", "--quiet")
    told = json.loads(result.stdout)
    expected = nearest_neighbors(Embedding.load("club.npz"), [34, 1], k=3)
    assert told["method"] == "exact"  # by auto
    assert [entry["node"] for entry in told["neighbors"]] == [34, 1]
    for entry in told["neighbors"]:
        nodes, cosines = zip(*expected[entry["node"]], strict=True)
        assert [other["node"] for other in entry["neighbors"]] == list(nodes)
        assert [other["cosine"] for other in entry["neighbors"]] == pytest.approx(cosines, abs=1e-6)
    assert result.stderr == ""


def test_a_negative_name_comes_after_two_dashes(folder):
    result = checked("neighbors", "people.npz", "-k", 1, "--", "-5")
    assert result.stdout.splitlines()[1].split() == ["-5", "cid", "0.0995"]


@pytest.mark.parametrize(
    ("vectors", "node", "sentence"),
    [
        ("people.npz", "bob", "node 'bob' has no vector: did you mean Bob?"),
        ("people.npz", "ann le", "node 'ann le' has no vector: did you mean ann lee?"),
        ("people.npz", "zzz", "node 'zzz' has no vector\n"),
        ("club.npz", "35", "node '35' has no vector: ids are integers, from 1 to 34"),
        ("club.npz", "ann", "node 'ann' has no vector: ids are integers, from 1 to 34"),
        ("missing.npz", "1", "missing.npz"),
        ("edges.txt", "1", "expected vectors, which `reinforce2vec embed` makes"),
    ],
)
def test_nodes_that_are_not_there_are_told(folder, vectors, node, sentence):
    result = checked("neighbors", vectors, node, code=1)
    assert sentence in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("name", ["found.csv", "found.tsv", "found.parquet", "-"])
def test_neighbours_of_all_nodes_go_to_a_table(folder, name, monkeypatch):
    monkeypatch.setattr(_nodes, "_BLOCK", 5)  # rows are written in several blocks
    result = checked("neighbors", "club.npz", "-k", 2, "-o", name)
    rows = table(result.stdout if name == "-" else folder / name)
    expected = nearest_neighbors(Embedding.load("club.npz"), k=2)
    assert [(node, other) for node, other, _ in rows] == [
        (node, other) for node in expected for other, _ in expected[node]
    ]
    cosines = expected.to_frame()["cosine"].tolist()
    assert [cosine for *_, cosine in rows] == pytest.approx(cosines, abs=1e-6)
    assert f"{name}: the neighbours of 34 nodes\n" in result.stderr
    if name != "-":
        assert result.stdout == ""


def table(source):
    """The rows of a table in a file, or of CSV on stdout, with numbers as numbers."""
    if isinstance(source, str):
        frame = pandas.read_csv(io.StringIO(source))
    elif source.suffix == ".parquet":
        frame = pandas.read_parquet(source)
    else:
        frame = pandas.read_csv(source, sep="\t" if source.suffix == ".tsv" else ",")
    return list(frame.itertuples(index=False, name=None))


@pytest.mark.parametrize("given", ["ids.txt", "-"])
def test_nodes_may_be_named_in_a_file(folder, given):
    text = '\ufeffcid\r\n\n  "ann lee"  \ncid\n'
    (folder / "ids.txt").write_text(text, encoding="utf-8")
    words = ["neighbors", "people.npz", "-k", 1, "--quiet", "--ids", given]
    result = check(run(*words, input=text.lstrip("\ufeff") if given == "-" else None))
    expected = checked("neighbors", "people.npz", "-k", 1, "--quiet", "cid", "ann lee").stdout
    assert result.stdout == expected
    both = check(run(*words, "Bob", input=text.lstrip("\ufeff")))
    assert [line.split("  ")[0] for line in both.stdout.splitlines()[1:]] == [
        *("Bob", "cid", "ann lee")
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1\n2\n99\n", "ids.txt, line 3: node '99' has no vector: ids are integers, from 1 to 34"),
        ("1\nann\n", "ids.txt, line 2: node 'ann' has no vector"),
        ("\n \n", "ids.txt: expected node ids, but the file is empty"),
    ],
)
def test_a_file_of_nodes_that_are_not_there_is_told(folder, text, sentence):
    (folder / "ids.txt").write_text(text)
    assert sentence in checked("neighbors", "club.npz", "--ids", "ids.txt", code=1).stderr
    assert "no such file" in checked("neighbors", "club.npz", "--ids", "none.txt", code=1).stderr


# -- recommend -----------------------------------------------------------------------------------


def test_links_of_a_node_are_those_of_the_library(folder):
    result = checked("recommend", "club.npz", "edges.txt", 34, "-k", 3)
    expected = recommend_links(Embedding.load("club.npz"), karate_club(), 3, nodes=34)
    head, *lines = [line.split() for line in result.stdout.splitlines()]
    assert head == ["source", "target", "score"]
    assert [(int(a), int(b)) for a, b, _ in lines] == [link[:2] for link in expected]
    assert "edges.txt: Graph(34 nodes" in result.stderr
    assert f"score: {expected.scorer}, which finds most hidden links\n" in result.stderr
    named = checked("recommend", "club.npz", "edges.txt", 34, "--score", "allocation").stderr
    assert "hidden links" not in named


def test_without_nodes_the_likeliest_of_all_are_printed(folder):
    result = checked("recommend", "club.npz", "edges.txt", "--json")
    links = recommend_links(Embedding.load("club.npz"), karate_club())
    told = json.loads(result.stdout)
    assert told["method"] == "exact"  # by auto
    assert told["score"] == links.scorer != "auto"
    assert [tuple(link.values()) for link in told["links"]] == list(links.best(20))
    assert len(checked("recommend", "club.npz", "edges.txt").stdout.splitlines()) == 21
    assert len(checked("recommend", "club.npz", "edges.txt", "--best", 3).stdout.splitlines()) == 4


@pytest.mark.parametrize("score", ["cosine", "allocation", "three-steps"])
def test_links_are_between_nodes_and_candidates_in_files(folder, score):
    users, items = range(1, 12), range(20, 30)
    (folder / "users.txt").write_text("\n".join(map(str, users)))
    (folder / "items.txt").write_text("\n".join(map(str, items)))
    words = ["--ids", "users.txt", "--candidates", "items.txt", "--score", score, "-k", 3]
    checked("recommend", "club.npz", "edges.txt", *words, "-o", "links.csv")
    links = table(folder / "links.csv")
    everything = recommend_links(
        Embedding.load("club.npz"), karate_club(), 34, nodes=users, score=score
    )
    expected = []
    for user in users:
        expected += [link for link in everything if link[0] == user and link[1] in items][:3]
    assert [link[:2] for link in links] == [link[:2] for link in expected]
    assert [link[2] for link in links] == pytest.approx([link[2] for link in expected])


@pytest.fixture
def learned(folder):
    """Vectors of the karate club, read as a directed graph."""
    model = Reinforce2Vec(dimensions=4, walks_per_node=2, workers=1)
    model.fit(karate_club()).embedding_.save("undirected.npz")
    checked("embed", "edges.txt", "-o", "directed.npz", "--directed", "-d", 4, "--quiet")
    return folder


@pytest.mark.parametrize("command", ["recommend", "explore"])
def test_another_graph_than_that_of_the_vectors_is_told(learned, command):
    def warning(vectors, graph, *words):
        if command == "recommend":
            said = checked("recommend", vectors, graph, *words, 1)
        else:
            said = checked("explore", vectors, graph, "-o", "m.html", *words)
        found = [line for line in said.stderr.splitlines() if line.startswith("warning: ")]
        assert len(found) <= 1
        return "".join(found)

    assert warning("undirected.npz", "edges.txt") == ""
    assert warning("directed.npz", "edges.txt", "--directed") == ""
    assert warning("club.npz", "edges.txt") == ""  # of which nothing is known
    assert warning("directed.npz", "edges.txt") == (
        "warning: the vectors were learned from a directed graph, but this is an undirected one: "
        "read it with --directed"
    )
    assert warning("undirected.npz", "edges.txt", "--directed").endswith("--undirected")
    lines = (learned / "edges.txt").read_text().splitlines()
    (learned / "shuffled.txt").write_text("\n".join(lines[::-1]))
    assert warning("undirected.npz", "shuffled.txt") == ""
    (learned / "fewer.txt").write_text("\n".join(lines[:-1]))
    assert "learned from another graph" in (warning("undirected.npz", "fewer.txt"))
    assert warning("undirected.npz", "fewer.txt", "--quiet") == ""


def test_nodes_that_are_only_in_one_of_the_files_are_told(folder):
    assert "without" not in checked("recommend", "club.npz", "edges.txt", 1).stderr
    with (folder / "edges.txt").open("a") as file:
        file.write("1 101\n102 103\n")
    club = Embedding.load("club.npz")
    Embedding([*club.ids.tolist(), 200], np.ones((35, 2))).save("more.npz")
    result = checked("recommend", "more.npz", "edges.txt", 1)
    assert "edges.txt: 3 nodes without a vector, left out\n" in result.stderr
    assert "more.npz: 1 node not in the graph, without links so far\n" in result.stderr
    assert checked("recommend", "more.npz", "edges.txt", 1, "--quiet").stderr == ""


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ("neighbors club.npz", 2, "name nodes, or give --ids FILE"),
        ("neighbors club.npz -o - --json", 2, "-o - and --json both write to stdout"),
        ("recommend club.npz edges.txt -o - --json", 2, "-o - and --json both"),
        ("recommend club.npz edges.txt --ids - --candidates -", 2, "both read stdin"),
        ("recommend club.npz edges.txt 99", 1, "node '99' has no vector"),
        ("recommend people.npz edges.txt", 1, "no node of the embedding is in the graph"),
    ],
)
def test_misunderstandings_are_told(folder, words, code, sentence):
    result = checked(*words.split(), code=code)
    assert sentence in result.stderr
    assert result.stdout == ""
    assert not list(folder.glob("links*"))
