"""The explorer: what its page holds, who may have it, and the command that makes it."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import re
import signal
import sys
from pathlib import Path

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
from reinforce2vec.embedding import nearest
from reinforce2vec.embedding.nearest import nearest_rows, neighbor_graph
from reinforce2vec.explorer import _contents, _page, make_page
from reinforce2vec.explorer._contents import Limits
from reinforce2vec.explorer._page import _NO_VALUE, fixed_point, pack
from reinforce2vec.files.label_files import NamedLabels

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


# -- packing -----------------------------------------------------------------------------------


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
    assert back["small"].itemsize == 1
    assert back["signed"].itemsize == 2


def test_cosines_are_rounded_and_gaps_stay_gaps():
    assert fixed_point(np.array([0.12351, -1, np.nan]), 3).tolist() == [124, -1000, _NO_VALUE]
    assert fixed_point(np.array([1e9, -1e9]), 2).tolist() == [32767, -32767]


# -- what the page holds -----------------------------------------------------------------------


def test_the_page_holds_the_neighbours_the_edges_and_the_labels(groups):
    graph, embedding, labels = groups
    header, arrays = contents(embedding, graph, labels, title="three groups")
    assert header["title"] == "three groups"
    assert header["ids"] == [str(node) for node in range(120)]
    assert (header["nodes"], header["edges"], header["dimensions"]) == (120, graph.n_edges, 8)
    found = nearest_neighbors(embedding)
    assert np.array_equal(arrays["nearest"].reshape(-1, 10), found.rows)
    assert np.abs(arrays["cosines"].reshape(-1, 10) / 1000 - found.cosines).max() <= 0.0005001
    assert np.array_equal(arrays["degree"], graph.degrees)
    rows = np.repeat(np.arange(120), graph.degrees)
    pairs = zip(rows.tolist(), graph.indices.tolist(), strict=True)
    assert linked_in(arrays) == {tuple(sorted(pair)) for pair in pairs}
    names = np.array(header["label"]["names"])[arrays["label"]]
    assert names.tolist() == labels.argmax(axis=1).astype(str).tolist()


def test_likely_links_are_new_ones(groups):
    graph, embedding, _ = groups
    _, arrays = contents(embedding, graph)
    missing = arrays["missing"].reshape(120, -1)
    for row in range(120):
        new = set(missing[row][missing[row] >= 0].tolist())
        assert new
        assert not new & {row, *graph.neighbors(row).tolist()}


def test_vectors_alone_have_communities_but_no_degrees(groups):
    _, embedding, _ = groups
    header, arrays = contents(embedding)
    assert header["edges"] is None
    assert "community" in arrays
    assert not {"degree", "missing", "edge_ends", "label"} & set(arrays)
    links = neighbor_graph(embedding, *nearest_rows(embedding.vectors, progress=False))
    alone = find_communities(links)
    assert np.array_equal(arrays["community"], alone)


def test_neighbours_are_looked_for_once_and_quietly(groups, monkeypatch):
    searches = []

    def counting(*given, progress=True, **options):
        searches.append(progress)
        return nearest_rows(*given, progress=progress, **options)

    monkeypatch.setattr(_contents, "nearest_rows", counting)
    monkeypatch.setattr(nearest, "nearest_rows", counting)
    make_page(groups[1], method="pca", progress=False)
    assert searches == [False]


def test_edges_keep_their_directions_and_weights():
    graph = Graph.from_edges([("a", "b"), ("b", "a"), ("c", "a")], [1.5, 2, 4], directed=True)
    embedding = Embedding(["c", "a", "b"], np.eye(3))
    _, arrays = contents(embedding, graph)
    assert linked_in(arrays, directed=True) == {(1, 2), (2, 1), (0, 1)}
    assert arrays["edge_weights"].tolist() == [4, 1.5, 2]
    assert arrays["degree"].tolist() == [1, 3, 2]
    assert arrays["in_degree"].tolist() == [0, 2, 1]


def test_nodes_that_the_graph_lacks_are_told():
    embedding = Embedding([1, 2, 3], np.eye(3))
    made = make_page(embedding, [(1, 2), (2, 9)])
    assert made.notes == ["Not in the graph: 1 node with a vector."]
    with pytest.raises(InputError, match="no node of the embedding is in the graph"):
        make_page(embedding, [("x", "y")])


SEVERAL = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1], [0, 0, 0]], bool)


@pytest.mark.parametrize(
    "labels",
    [
        NamedLabels(SEVERAL, ["0", "1", "2"], []),
        SEVERAL.astype(int),
        scipy.sparse.csr_array(SEVERAL),
        {0: ["0", "2"], 1: "1", 2: ("2", "0", "2")},
        [["0", "2"], ["1"], ["2", "0"], None],
    ],
)
def test_a_node_shows_all_its_labels(labels):
    embedding = Embedding(range(4), np.eye(4))
    header, arrays = contents(embedding, None, labels)
    sets = [header["label"]["sets"][number] for number in arrays["sets0"]]
    names = [{header["label"]["names"][label] for label in each} for each in sets]
    assert names == [{"0", "2"}, {"1"}, {"0", "2"}, set()]
    assert [len(each) for each in sets] == [2, 1, 2, 0]


def test_positions_that_are_known_are_kept(groups):
    _, embedding, _ = groups
    places = np.random.default_rng(0).normal(size=(120, 2))
    header, arrays = contents(embedding, positions=places)
    assert header["method"] is None
    assert np.array_equal(np.column_stack([arrays["x"], arrays["y"]]), places.astype(np.float32))
    with pytest.raises(InputError, match="positions must be 120 pairs"):
        make_page(embedding, positions=places[1:])
    with pytest.raises(InputError, match=r"positions must be from -1e.30 to 1e.30"):
        make_page(embedding, positions=places * 1e39)


def test_labels_come_from_a_file(tmp_path):
    file = tmp_path / "labels.txt"
    file.write_text("b\tred\na\tdark blue\n")
    header, arrays = contents(Embedding(["a", "b"], np.eye(2)), None, file)
    assert [header["label"]["names"][label] for label in arrays["label"]] == ["dark blue", "red"]


def test_of_too_many_nodes_those_of_highest_degree_are_shown(groups, monkeypatch):
    graph, embedding, labels = groups
    made = make_page(embedding, graph, labels, method="pca", limits=Limits(in_file=30))
    assert made.n_nodes == 30
    assert made.notes[0].startswith("The map has the 30 nodes of highest degree of 120")
    header, arrays = contents(embedding, graph, labels, limits=Limits(in_file=30))
    shown = np.array([int(node) for node in header["ids"]])
    others = np.setdiff1d(np.arange(120), shown)
    assert arrays["degree"].min() >= graph.degrees[others].max()
    assert np.array_equal(arrays["degree"], graph.degrees[shown])
    links = {tuple(shown[list(pair)]) for pair in linked_in(arrays)}
    assert links
    assert all(other in graph.neighbors(node) for node, other in links)
    assert np.array_equal(arrays["label"], labels[shown].argmax(axis=1))
    assert arrays["missing"].max() < 30


def test_without_a_graph_a_sample_is_shown(groups, monkeypatch):
    _, embedding, _ = groups
    limits = Limits(in_file=30)
    ids = [contents(embedding, seed=seed, limits=limits)[0]["ids"] for seed in (1, 1, 2)]
    assert len(ids[0]) == 30
    assert ids[0] == ids[1] != ids[2]


def test_of_too_many_edges_every_node_keeps_its_heaviest(monkeypatch):
    rng = np.random.default_rng(0)
    pairs = np.array([(a, b) for a in range(40) for b in range(a)])
    graph = Graph.from_edges(pairs, rng.random(len(pairs)) + 0.1, nodes=range(40))
    embedding = Embedding(range(40), rng.normal(size=(40, 4)))
    made = make_page(embedding, graph, method="pca", limits=Limits(edges=500))
    _, arrays = contents(embedding, graph, limits=Limits(edges=500))
    kept = linked_in(arrays)
    assert len(kept) <= 500
    most = int(re.search(r"at least (\d+) are listed", made.notes[0])[1])
    matrix = graph.to_scipy().toarray()
    for row in range(40):
        heaviest = np.argsort(-matrix[row])[:most]
        assert all(tuple(sorted((row, int(other)))) in kept for other in heaviest)


@pytest.mark.parametrize(
    ("vectors", "complaint"), [(np.empty((0, 3)), "no nodes"), ([[np.nan]], "not finite")]
)
def test_what_cannot_be_drawn_is_refused(vectors, complaint):
    with pytest.raises(InputError, match=complaint):
        make_page(vectors)


@pytest.mark.parametrize("count", [1, 2])
def test_very_few_nodes_have_a_page(count):
    header, arrays = contents(np.eye(count, 2), [(0, 1)])
    assert len(header["ids"]) == count
    assert np.isfinite(arrays["x"]).all()


# -- the page ----------------------------------------------------------------------------------


def test_nothing_in_ids_labels_or_title_is_read_as_html():
    evil = '</script><script>alert(1)</script><img src=x onerror="alert(2)">{{data}}'
    embedding = Embedding([evil, "b"], np.eye(2))
    html = make_page(embedding, None, [evil, "x"], title=evil).html.decode()
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


def test_one_seed_makes_one_page(groups):
    graph, embedding, labels = groups
    first, second = (make_page(embedding, graph, labels, method="pca").html for _ in range(2))
    assert first == second


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
    bundle = Path(_page.__file__).with_name("static") / "explorer.js"
    assert made_from in bundle.read_text(encoding="utf-8").split("\n", 1)[0], (
        "web/ has changed: run `npm ci && npm run build` there"
    )
    assert '"resolved"' not in (WEB / "package-lock.json").read_text(encoding="utf-8")


# -- Python and the command --------------------------------------------------------------------


def test_explore_writes_a_file_whole_or_not_at_all(groups, tmp_path):
    graph, embedding, _ = groups
    made = explore(embedding, graph, export=tmp_path / "map.html", method="pca")
    assert made == tmp_path / "map.html"
    before = (tmp_path / "map.html").read_bytes()
    assert before.endswith(b"</html>\n")
    with pytest.raises(InputError, match="does not exist"):
        explore(embedding, export=tmp_path / "nowhere" / "map.html")
    with pytest.raises(InputError, match="method must be"):
        explore(embedding, export=tmp_path / "map.html", method="guess")
    assert (tmp_path / "map.html").read_bytes() == before
    assert os.listdir(tmp_path) == ["map.html"]


@pytest.fixture
def club(labelled):
    """A folder to work in, with vectors.npz, edges.txt and labels.txt."""
    vectors = np.random.default_rng(0).normal(size=(34, 4))
    Embedding(range(1, 35), vectors).save("vectors.npz")
    return labelled


def test_the_command_writes_a_page(club):
    given = ("edges.txt", "--labels", "labels.txt", "-o", "map.html")
    result = run("explore", "vectors.npz", *given, "--json", "--method", "pca")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["files"] == ["map.html"]
    assert (facts["nodes"], facts["shown"], facts["method"], facts["url"]) == (34, 34, "pca", None)
    assert facts["bytes"] == (club / "map.html").stat().st_size
    assert "34 nodes in 2 classes" in result.stderr
    assert b"<title>vectors " in (club / "map.html").read_bytes()


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["nothing.npz"], 1, "there is no such file"),
        (["vectors.npz", "--method", "guess"], 2, "method must be one of"),
        (["vectors.npz", "-o", "vectors.npz"], 2, "choose another"),
        (["vectors.npz", "-o", "no/map.html"], 2, "does not exist"),
        (["vectors.npz", "--directed"], 2, "--directed is for a graph"),
        (["vectors.npz", "-o", "map.html", "--port", "1"], 2, "--port is for a server"),
        (["edges.txt"], 1, "expected vectors"),
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
