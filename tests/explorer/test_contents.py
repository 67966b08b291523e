"""The explorer's page: what it holds, how it is told, and the command that makes it."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import re
import signal
import sys
from importlib.resources import files

import numpy as np
import pytest
import scipy.sparse

from helpers.command_line import run, started
from helpers.page_contents import contents, unpack
from helpers.paths import ROOT
from reinforce2vec import (
    Embedding,
    Graph,
    InputError,
    explore,
    find_communities,
    nearest_neighbors,
    planted_groups,
)
from reinforce2vec.embedding.nearest import nearest_rows, neighbor_graph
from reinforce2vec.explorer import make_page
from reinforce2vec.explorer._contents import Limits
from reinforce2vec.explorer._page import fixed_point, pack

WEB = ROOT / "web"


@pytest.fixture(scope="module")
def groups():
    """A graph of three groups, vectors for its nodes, and their groups."""
    dataset = planted_groups(120, 3, degree=8, seed=1)
    rng = np.random.default_rng(0)
    vectors = dataset.labels @ rng.normal(size=(3, 8)) + rng.normal(size=(120, 8)) / 3
    return dataset.graph, Embedding(dataset.graph.ids, vectors), dataset.labels


def linked_in(arrays, directed=False):
    """The edges in a page as a set of pairs of rows."""
    begins = np.repeat(np.arange(len(arrays["edge_counts"])), arrays["edge_counts"])
    ends = np.cumsum(arrays["edge_ends"].astype(np.int64))
    pairs = zip(begins.tolist(), ends.tolist(), strict=True)
    return {pair if directed else tuple(sorted(pair)) for pair in pairs}


@pytest.mark.parametrize("planes", [False, True])
def test_arrays_of_all_kinds_come_back_as_they_were(planes):
    arrays = {
        "small": np.array([0, 255]),
        "signed": np.array([[-1, 2], [300, 4]], np.int64),
        "large": np.array([2**32 - 1, 7]),
        "fractions": np.array([0.1, -2.5], np.float32),
        "times": np.array([1e9 + 0.5, np.inf, 7]),
        "none": np.array([], np.int32),
        "left out": None,
    }
    header, back = unpack(pack({"ids": ["</script>", "ü", "\udc80"]}, arrays, planes=planes))
    assert header == {"ids": ["</script>", "ü", "\udc80"]}
    assert {name: array.tolist() for name, array in back.items()} == {
        name: array.ravel().tolist() for name, array in arrays.items() if array is not None
    }
    assert (back["small"].itemsize, back["signed"].itemsize) == (1, 2)
    rounded = fixed_point(np.array([0.12351, -1, np.nan, 1e9, -1e9]), 3)
    assert rounded.tolist() == [124, -1000, -32768, 32767, -32767]  # a gap stays one


# -- what the page holds -----------------------------------------------------------------------


def test_the_page_holds_neighbours_edges_labels_and_new_links(groups):
    graph, embedding, labels = groups
    header, arrays = contents(embedding, graph, labels, title="three groups")
    assert header["title"] == "three groups"
    assert header["ids"] == [str(node) for node in range(120)]
    assert (header["nodes"], header["edges"], header["dimensions"]) == (120, graph.n_edges, 8)
    neighbors = nearest_neighbors(embedding)
    assert np.array_equal(arrays["nearest"].reshape(-1, 10), neighbors.rows)
    assert np.abs(arrays["cosines"].reshape(-1, 10) / 1000 - neighbors.cosines).max() < 0.000501
    assert np.array_equal(arrays["degree"], graph.degrees)
    assert np.array_equal(arrays["community"], find_communities(graph))
    sources = np.repeat(np.arange(120), graph.degrees).tolist()
    pairs = zip(sources, graph.indices.tolist(), strict=True)
    assert linked_in(arrays) == {tuple(sorted(pair)) for pair in pairs}
    names = np.array(header["label"]["names"])[arrays["label"]]
    assert names.tolist() == labels.argmax(axis=1).astype(str).tolist()
    for row, links in enumerate(arrays["missing"].reshape(120, -1).tolist()):
        new = {link for link in links if link >= 0}
        assert new
        assert not new & {row, *graph.neighbors(row).tolist()}


def test_vectors_alone_have_communities_but_no_degrees(groups):
    _, embedding, _ = groups
    header, arrays = contents(embedding)
    assert header["edges"] is None
    assert not {"degree", "missing", "edge_ends", "label"} & set(arrays)
    links = neighbor_graph(embedding, *nearest_rows(embedding.vectors, progress=False))
    assert np.array_equal(arrays["community"], find_communities(links))
    for count in (1, 2):
        header, arrays = contents(np.eye(count, 2), [(0, 1)])
        assert len(header["ids"]) == count
        assert np.isfinite(arrays["x"]).all()


def test_edges_keep_their_directions_and_weights():
    graph = Graph.from_edges([("a", "b"), ("b", "a"), ("c", "a")], [1.5, 2, 4], directed=True)
    _, arrays = contents(Embedding(["c", "a", "b"], np.eye(3)), graph)
    assert linked_in(arrays, directed=True) == {(1, 2), (2, 1), (0, 1)}
    assert arrays["edge_weights"].tolist() == [4, 1.5, 2]
    assert arrays["degree"].tolist() == [1, 3, 2]
    assert arrays["in_degree"].tolist() == [0, 2, 1]
    page = make_page(Embedding(["a", "b", "x"], np.eye(3)), graph)
    assert page.notes == ["Not in the graph: 1 node with a vector."]


SEVERAL = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1], [0, 0, 0]], bool)


@pytest.mark.parametrize(
    "labels",
    [
        SEVERAL.astype(int),
        scipy.sparse.csr_array(SEVERAL),
        {0: ["0", "2"], 1: "1", 2: ("2", "0", "2")},
        [["0", "2"], ["1"], ["2", "0"], None],
    ],
)
def test_a_node_shows_all_its_labels(labels):
    header, arrays = contents(Embedding(range(4), np.eye(4)), None, labels)
    sets = [header["label"]["sets"][number] for number in arrays["sets0"]]
    names = [[header["label"]["names"][label] for label in each] for each in sets]
    assert [sorted(each) for each in names] == [["0", "2"], ["1"], ["0", "2"], []]


def test_positions_and_labels_of_a_file_are_taken(groups, tmp_path):
    _, embedding, _ = groups
    places = np.random.default_rng(0).normal(size=(120, 2))
    header, arrays = contents(embedding, positions=places)
    assert header["method"] is None
    assert np.array_equal(np.column_stack([arrays["x"], arrays["y"]]), places.astype(np.float32))
    (tmp_path / "labels.txt").write_text("b\tred\na\tdark blue\n")
    header, arrays = contents(Embedding(["a", "b"], np.eye(2)), None, tmp_path / "labels.txt")
    assert [header["label"]["names"][label] for label in arrays["label"]] == ["dark blue", "red"]


@pytest.mark.parametrize(
    ("vectors", "options", "complaint"),
    [
        (np.empty((0, 3)), {}, "no nodes"),
        ([[np.nan]], {}, "not finite"),
        (np.eye(3), {"positions": np.eye(2)}, "positions must be 3 pairs"),
        (np.eye(3), {"positions": 1e39 * np.eye(3)[:, :2]}, "positions must be from"),
        (np.eye(3), {"graph": [("x", "y")]}, "no node of the embedding is in the graph"),
    ],
)
def test_what_cannot_be_drawn_is_refused(vectors, options, complaint):
    with pytest.raises(InputError, match=complaint):
        make_page(vectors, **options)


# -- too many ----------------------------------------------------------------------------------


def test_of_too_many_nodes_those_of_highest_degree_are_shown(groups):
    graph, embedding, labels = groups
    limits = Limits(in_file=30)
    header, arrays = contents(embedding, graph, labels, limits=limits)
    (note,) = header["notes"]
    assert note.startswith("The map has the 30 nodes of highest degree of 120")
    shown = np.array([int(node) for node in header["ids"]])
    assert len(shown) == 30
    others = np.setdiff1d(np.arange(120), shown)
    assert arrays["degree"].min() >= graph.degrees[others].max()
    assert np.array_equal(arrays["degree"], graph.degrees[shown])
    links = {tuple(shown[list(pair)]) for pair in linked_in(arrays)}
    assert links
    assert all(other in graph.neighbors(node) for node, other in links)
    assert np.array_equal(arrays["label"], labels[shown].argmax(axis=1))
    assert arrays["missing"].max() < 30
    ids = [contents(embedding, seed=seed, limits=limits)[0]["ids"] for seed in (1, 1, 2)]
    assert len(ids[0]) == 30  # a sample, without a graph
    assert ids[0] == ids[1] != ids[2]
    columns = {"number": list(range(120))}
    limits = Limits(in_file=6, served=8)
    for served, count in ((False, 6), (True, 8)):
        page = make_page(embedding, columns=columns, method="pca", served=served, limits=limits)
        assert page.n_nodes == count


def test_of_too_many_edges_every_node_keeps_its_heaviest():
    rng = np.random.default_rng(0)
    pairs = np.array([(a, b) for a in range(40) for b in range(a)])
    graph = Graph.from_edges(pairs, rng.random(len(pairs)) + 0.1, nodes=range(40))
    header, arrays = contents(rng.normal(size=(40, 4)), graph, limits=Limits(edges=500))
    kept = linked_in(arrays)
    assert len(kept) <= 500
    most = int(re.search(r"at least (\d+) are listed", header["notes"][0])[1])
    for row, weights in enumerate(graph.to_scipy().toarray()):
        heaviest = np.argsort(-weights)[:most].tolist()
        assert all(tuple(sorted((row, other))) in kept for other in heaviest)


@pytest.mark.slow
def test_a_map_of_many_nodes_is_the_same_served_and_in_a_file():
    vectors = np.random.default_rng(0).normal(size=(20_001, 4))
    how = {"method": "layout", "seed": 3}
    _, held = contents(vectors, **how)
    page = make_page(vectors, served=True, **how)
    header, served = unpack(page.data)
    assert "asks" in header
    assert np.array_equal(held["x"], served["x"])
    assert np.array_equal(held["y"], served["y"])
    exact = nearest_rows(vectors, range(50), progress=False)[0]  # what the panel lists
    assert np.array_equal(held["nearest"].reshape(-1, 10)[:50], exact)


# -- the page ----------------------------------------------------------------------------------


def test_nothing_in_ids_labels_columns_or_title_is_read_as_html():
    evil = '</script><script>alert(1)</script><img src=x onerror="alert(2)">{{data}}'
    embedding = Embedding([evil, "b"], np.eye(2))
    how = {"title": evil, "columns": {evil: [evil, "c"]}}
    html = make_page(embedding, None, [evil, "x"], **how).html.decode()
    assert "alert(" not in html.replace("&lt;script&gt;alert(1)", "").replace("&quot;alert(2)", "")
    assert html.count("<script") == 2
    assert contents(embedding, None, [evil, "x"])[0]["ids"] == [evil, "b"]


def test_the_page_may_run_only_its_own_script_and_speak_to_nobody():
    html = make_page(np.eye(3)).html.decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    assert "unsafe" not in policy
    assert not re.search(r"""(?:src|href)=["']?(?!data:)[^"'> ]""", html.split("<style>")[0])
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        code = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)[1]
        digest = hashlib.sha256(code.encode()).digest()
        assert f"'sha256-{base64.b64encode(digest).decode()}'" in rules[rule]


@pytest.mark.skipif(not WEB.is_dir(), reason="the sources of the page are in the repository only")
def test_the_bundle_is_made_from_the_sources_of_the_page():
    sources = (path for path in (WEB / "src").rglob("*") if path.is_file())
    names = [path.relative_to(WEB).as_posix() for path in sources]
    names += ["build.mjs", "package.json", "package-lock.json"]
    lines = [
        f"{hashlib.sha256((WEB / name).read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(names)
    ]
    made_from = hashlib.sha256("".join(lines).encode()).hexdigest()
    bundle = files("reinforce2vec.explorer") / "static" / "explorer.js"
    assert made_from in bundle.read_text(encoding="utf-8").split("\n", 1)[0], "run `make page`"
    assert '"resolved"' not in (WEB / "package-lock.json").read_text(encoding="utf-8")


# -- Python and the command --------------------------------------------------------------------


def test_explore_writes_a_file_whole_or_not_at_all(groups, tmp_path):
    graph, embedding, _ = groups
    how = {"method": "pca"}
    assert explore(embedding, graph, export=tmp_path / "map.html", **how) == tmp_path / "map.html"
    before = (tmp_path / "map.html").read_bytes()
    assert before.endswith(b"</html>\n")
    explore(embedding, graph, export=tmp_path / "map.html", **how)
    assert (tmp_path / "map.html").read_bytes() == before  # one seed, one page
    with pytest.raises(InputError, match="does not exist"):
        explore(embedding, export=tmp_path / "nowhere" / "map.html")
    with pytest.raises(InputError, match="method must be"):
        explore(embedding, export=tmp_path / "map.html", method="guess")
    assert (tmp_path / "map.html").read_bytes() == before
    assert os.listdir(tmp_path) == ["map.html"]


@pytest.fixture
def club(labelled):
    """A folder to work in, with vectors.npz, edges.txt, labels.txt and nodes.csv."""
    vectors = np.random.default_rng(0).normal(size=(34, 4))
    Embedding(range(1, 35), vectors).save("vectors.npz")
    (labelled / "nodes.csv").write_text("id,age\n3,17\n99,5\n")
    return labelled


def test_the_command_writes_a_page(club):
    words = ["edges.txt", "--labels", "labels.txt", "--columns", "nodes.csv", "-o", "map.html"]
    result = run("explore", "vectors.npz", *words, "--json", "--method", "pca")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["files"] == ["map.html"]
    assert (facts["nodes"], facts["shown"], facts["method"], facts["url"]) == (34, 34, "pca", None)
    assert facts["bytes"] == (club / "map.html").stat().st_size
    assert "34 nodes in 2 classes" in result.stderr
    assert re.search(r"nodes\.csv: .*left out 1 line", result.stderr)
    assert b"<title>vectors " in (club / "map.html").read_bytes()


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["nothing.npz"], 1, "nothing.npz"),
        (["edges.txt"], 1, "edges.txt"),
        (["vectors.npz", "--columns", "nodes.csv", "--id", "nothing"], 1, "nothing"),
        (["vectors.npz", "--id", "x"], 2, "--id"),
        (["vectors.npz", "--method", "guess"], 2, "guess"),
        (["vectors.npz", "-o", "vectors.npz"], 2, "vectors.npz"),
        (["vectors.npz", "-o", "no/map.html"], 2, "does not exist"),
        (["vectors.npz", "--directed"], 2, "--directed"),
        (["vectors.npz", "-o", "map.html", "--port", "1"], 2, "--port"),
    ],
)
def test_mistakes_are_told_in_a_sentence(club, words, code, complaint):
    result = run("explore", *words)
    assert result.exit_code == code
    assert complaint in result.stderr
    assert not (club / "map.html").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_stopped(club, number):
    with started("explore", "vectors.npz", "--no-browser", "--method", "pca") as command:
        url = command.stdout.readline().strip()
        port, path = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[\w-]+/)", url).groups()
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
        connection.request("GET", path)
        assert connection.getresponse().status == 200
        connection.close()
        command.send_signal(number)
        said = command.communicate(timeout=60)[1]
    assert command.returncode == 0, said
    assert said.endswith("the server has ended\n")
