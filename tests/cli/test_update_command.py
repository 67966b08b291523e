"""Models on the command line: saved by embed, updated every night, unchanged without news."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest

from helpers.command_line import check, checked, run
from reinforce2vec import Embedding, ProNE, Reinforce2Vec, karate_club

FEW = ("--dimensions", 8, "--walks-per-node", 3, "--workers", 1)


@pytest.fixture
def saved(folder):
    """A folder with a model of the karate club, and a day's new edges."""
    checked("embed", "edges.txt", "-o", "vectors.npz", "--model", "model.r2v", *FEW)
    (folder / "new.csv").write_text("source,target\n35,1\n35,2\n1,2\n1,30\n")
    return folder


def test_embed_writes_the_model_beside_the_vectors_or_alone(folder):
    checked("embed", "edges.txt", "-o", "vectors.npz", "--model", "model.r2v", *FEW)
    model = Reinforce2Vec.load("model.r2v")
    vectors = Embedding.load("vectors.npz")
    assert np.array_equal(model.embedding_.vectors, vectors.vectors)
    checked("embed", "edges.txt", "--model", "alone.r2v", *FEW)
    assert (folder / "alone.r2v").read_bytes() == (folder / "model.r2v").read_bytes()
    told = check(run("embed", "edges.txt", *FEW), 2).stderr
    assert "give --output FILE for the vectors, --model FILE, or both" in told


def test_an_update_is_that_of_the_library(saved):
    result = checked("update", "model.r2v", "new.csv", "-o", "day2.npz")
    assert "day2.npz, model.r2v: 1 new node, 3 new edges" in result.stderr
    model = Reinforce2Vec(dimensions=8, walks_per_node=3, workers=1).fit("edges.txt")
    model.partial_fit([(35, 1), (35, 2), (1, 2), (1, 30)])
    expected = model.embedding_
    for found in (Embedding.load("day2.npz"), Reinforce2Vec.load("model.r2v").embedding_):
        assert found.ids.tolist() == expected.ids.tolist()
        assert np.array_equal(found.vectors, expected.vectors)
    day1 = Embedding.load("vectors.npz")
    cosines = np.einsum("ij,ij->i", day1.vectors, expected.vectors[: len(day1)])
    assert np.median(cosines) > 0.9


@pytest.mark.parametrize(
    "news", ["source,target\n", "", "source,target\n2,1\n1,3\n", None], ids=repr
)
def test_without_news_the_model_file_stays_as_it_is(saved, news):
    checked("update", "model.r2v", "new.csv")
    if news is not None:
        (saved / "new.csv").write_text(news)
    before, stamp = (saved / "model.r2v").read_bytes(), (saved / "model.r2v").stat()
    result = checked("update", "model.r2v", "new.csv", "-o", "again.npz", "--workers", 2)
    assert "new.csv: nothing new: the model is unchanged" in result.stderr
    assert (saved / "model.r2v").read_bytes() == before
    assert (saved / "model.r2v").stat().st_mtime_ns == stamp.st_mtime_ns
    model = Reinforce2Vec.load("model.r2v")
    assert np.array_equal(Embedding.load("again.npz").vectors, model.embedding_.vectors)
    told = json.loads(checked("update", "model.r2v", "new.csv", "--json", "--quiet").stdout)
    assert (told["changed"], told["new_nodes"], told["new_edges"]) == (False, 0, 0)
    assert told["files"] == []


def test_the_same_weights_twice_are_added_once(folder):
    (folder / "edges.csv").write_text("source,target,weight\na,b,2\nb,c,3\nc,d,1\n")
    (folder / "new.csv").write_text("source,target,weight\na,b,1\ne,a,1\n")
    checked("embed", "edges.csv", "--model", "model.r2v", *FEW)
    checked("update", "model.r2v", "new.csv")
    before = (folder / "model.r2v").read_bytes()
    with pytest.warns(UserWarning, match="were added before"):
        result = checked("update", "model.r2v", "new.csv")
    assert "nothing new: the model is unchanged" in result.stderr
    assert (folder / "model.r2v").read_bytes() == before
    result = checked("update", "model.r2v", "new.csv", "--again")
    assert "model.r2v: weights have changed" in result.stderr
    assert Reinforce2Vec.load("model.r2v").graph_.to_scipy().sum() == 2 * (6 + 2 + 2)


def test_the_model_decides_on_directions_and_weights(folder):
    circle = "".join(f"{node} {(node + 1) % 9}\n" for node in range(9))
    (folder / "circle.txt").write_text(circle)
    (folder / "new.txt").write_text("9 0 5.5\n9 1 2.5\n")
    checked("embed", "circle.txt", "--directed", "--model", "model.r2v", *FEW)
    checked("update", "model.r2v", "new.txt")
    graph = Reinforce2Vec.load("model.r2v").graph_
    assert graph.directed
    assert not graph.weighted
    assert graph.neighbors(9).tolist() == [0, 1]
    assert graph.neighbors(0).tolist() == [1]
    checked("embed", "circle.txt", "--directed", "--model", "model.r2v", *FEW)
    checked("update", "model.r2v", "new.txt", "--weighted")
    assert Reinforce2Vec.load("model.r2v").graph_.weighted


def test_another_file_may_take_the_new_model(saved):
    before = (saved / "model.r2v").read_bytes()
    told = json.loads(
        checked("update", "model.r2v", "new.csv", "--model", "b.r2v", "--json").stdout
    )
    assert (saved / "model.r2v").read_bytes() == before
    assert told["files"] == ["b.r2v"]
    assert (told["changed"], told["new_nodes"], told["new_edges"]) == (True, 1, 3)
    assert (told["nodes"], told["edges"], told["command"]) == (35, 81, "update")
    assert len(Reinforce2Vec.load("b.r2v").embedding_) == 35
    shutil.copy("model.r2v", "copy.r2v")
    checked("update", "copy.r2v", "new.csv", "--workers", 2)
    assert (saved / "copy.r2v").read_bytes() == (saved / "b.r2v").read_bytes()


def test_models_that_cannot_be_updated_are_refused(saved):
    ProNE(4).fit(karate_club()).save("prone.r2v")
    told = check(run("update", "prone.r2v", "new.csv"), 1).stderr
    assert "a model of ProNE, not of Reinforce2Vec" in told
    assert "only Reinforce2Vec can be updated" in told
    Reinforce2Vec(dimensions=4, workers=1).fit_walks([[1, 2, 3]]).save("walks.r2v")
    told = check(run("update", "walks.r2v", "new.csv"), 1).stderr
    assert "trained on given walks, so it has no graph" in told
    told = check(run("update", "vectors.npz", "new.csv"), 1).stderr
    assert "vectors.npz: expected a model" in told


def test_a_failed_update_leaves_the_model(saved):
    before = (saved / "model.r2v").read_bytes()
    (saved / "new.csv").write_text("source,target\n1,words\n")
    told = check(run("update", "model.r2v", "new.csv"), 1).stderr
    assert "new.csv: the node id 'words' is no 64-bit integer, but all ids of the model are" in told
    assert (saved / "model.r2v").read_bytes() == before
    assert {"model.r2v", "vectors.npz", "new.csv", "edges.txt"} == set(os.listdir(saved))


def test_integers_are_nodes_of_a_model_of_strings(folder):
    """A file's ids are integers only if all of them are."""
    (folder / "mixed.csv").write_text("source,target\na,1\n1,2\n2,a\n2,3\n")
    (folder / "new.csv").write_text("source,target\n4,1\n4,2\n")
    checked("embed", "mixed.csv", "--model", "model.r2v", *FEW)
    result = checked("update", "model.r2v", "new.csv")
    assert "1 new node, 2 new edges" in result.stderr
    assert Reinforce2Vec.load("model.r2v").embedding_.ids.tolist() == ["a", "1", "2", "3", "4"]


@pytest.mark.parametrize("ids", [["0", "100"], ["1", "9" * 25]], ids=str)
def test_strings_that_are_integers_are_nodes_of_a_model_of_integers(saved, ids):
    """As in a Parquet file with a column of strings, or beside an id of more than 64 bits."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"source": ids, "target": ["1", "2"]}), "new.parquet")
    if ids[1] == "100":
        assert "2 new nodes" in checked("update", "model.r2v", "new.parquet").stderr
        assert Reinforce2Vec.load("model.r2v").graph_.neighbors(100).tolist() == [2]
        return
    told = check(run("update", "model.r2v", "new.parquet"), 1).stderr
    assert f"new.parquet: the node id '{ids[1]}' is no 64-bit integer" in told


@pytest.mark.parametrize("third", ["", ",weight"])
def test_new_nodes_without_any_edges_are_added(folder, third):
    weight = third and ",2"
    (folder / "edges.csv").write_text(f"source,target{third}\na,b{weight}\nb,c{weight}\n")
    (folder / "new.csv").write_text(f"source,target{third}\n")
    checked("embed", "edges.csv", "--model", "model.r2v", *FEW)
    for day in ("x", "y"):
        (folder / "nodes.txt").write_text(f"{day}\n")
        result = checked("update", "model.r2v", "new.csv", "--nodes", "nodes.txt")
        assert "1 new node, 0 new edges" in result.stderr
    assert Reinforce2Vec.load("model.r2v").embedding_.ids.tolist() == ["a", "b", "c", "x", "y"]


def test_new_ids_that_do_not_fit_the_vectors_file_leave_the_model(folder):
    (folder / "edges.csv").write_text("source,target\na,b\nb,c\n")
    (folder / "new.csv").write_text('source,target\n"d e",a\n')
    checked("embed", "edges.csv", "--model", "model.r2v", *FEW)
    before = (folder / "model.r2v").read_bytes()
    assert "'d e'" in check(run("update", "model.r2v", "new.csv", "-o", "new.bin"), 1).stderr
    assert (folder / "model.r2v").read_bytes() == before


# -- bipartite graphs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("news", "given"),
    [
        ("user,item\n1,3\n4,1\n", ()),
        ("user,item\n1,3\n4,1\n", ("--bipartite",)),
        ("user,item\nuser:1,item:3\nuser:4,item:1\n", ()),
    ],
    ids=repr,
)
def test_new_edges_of_a_bipartite_model_have_two_kinds_of_nodes(folder, news, given):
    (folder / "edges.csv").write_text("user,item\n1,1\n1,2\n2,2\n3,3\n")
    (folder / "new.csv").write_text(news)
    checked("embed", "edges.csv", "--bipartite", "--model", "model.r2v", *FEW)
    for day in (2, 3):
        result = checked("update", "model.r2v", "new.csv", *given)
        assert ("1 new node, 2 new edges" in result.stderr) == (day == 2)
    graph = Reinforce2Vec.load("model.r2v").graph_
    assert graph.sides == ("user", "item")
    assert sorted(graph.neighbors("user:1")) == ["item:1", "item:2", "item:3"]
    assert graph.n_nodes == 7


@pytest.mark.parametrize("news", ["buyer,item\n1,3\n", "1,3\n", ""])
def test_nodes_on_no_side_of_a_bipartite_model_are_refused(folder, news):
    (folder / "edges.csv").write_text("user,item\n1,1\n1,2\n2,2\n")
    (folder / "new.csv").write_text(news)
    (folder / "nodes.txt").write_text("7\n")
    checked("embed", "edges.csv", "--bipartite", "--model", "model.r2v", *FEW)
    more = () if news else ("--nodes", "nodes.txt")
    told = check(run("update", "model.r2v", "new.csv", *more), 1).stderr
    assert 'is neither "user:..." nor "item:..."' in told


@pytest.mark.parametrize(
    ("command", "suffix"),
    [
        (("update", "model.r2v", "new.csv", "-o"), ".txt"),
        (("plot", "vectors.npz", "edges.txt", "-o"), ".png"),
        (("tune", "edges.txt", "--trials", 2, "--resume", "-o"), ".json"),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else given,
)
def test_a_list_of_nodes_is_never_written_over(saved, command, suffix):
    nodes = saved / f"nodes{suffix}"
    nodes.write_text("1\n40\n")
    told = check(run(*command, nodes.name, "--nodes", nodes.name), 2).stderr
    assert "the command reads this file" in told
    assert nodes.read_text() == "1\n40\n"
