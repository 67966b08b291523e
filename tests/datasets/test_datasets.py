"""Data sets: where their files are found, how they are fetched, and that they are the right ones.

Downloads come from a server on this machine. The tests on the paper's own graphs need the files
of shared/data and are skipped without them.
"""

from __future__ import annotations

import gc
import gzip
import hashlib
import inspect
import json
import re
import threading
import time
from contextlib import suppress
from dataclasses import FrozenInstanceError
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from helpers.command_line import run, run_python
from helpers.paths import DATA
from helpers.real_data import load_real
from reinforce2vec import InputError, load_dataset
from reinforce2vec.datasets import _reading, loading
from reinforce2vec.datasets.registry import REGISTRY, DatasetEntry, PublishedFile
from reinforce2vec.graph.fingerprint import GraphFingerprint, LabelFingerprint

# pooch leaves connections open after an error
pytestmark = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
)

# -- a small data set, and a server that publishes it ---------------------------------------------

EDGES = "# a comment\n7 3\n3 12\n12 7\n12 5\n5 5\n"  # a triangle, a tail and a self-loop
CLASSES = "3\t7\n5\t12\n"


def sha256(content):
    return hashlib.sha256(bytes(content)).hexdigest()


class Server:
    """Publishes files; knows which were requested."""

    def __init__(self):
        self.files = {}
        self.requested = []
        self.breaks_off = False
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                name = self.path[1:]
                server.requested.append(name)
                if name not in server.files:
                    self.send_error(404)
                    return
                content = server.files[name]
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if server.breaks_off else content)

            def log_message(self, *words):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.http.server_port}"


@pytest.fixture(scope="module")
def running():
    server = Server()
    with server.http as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield server
        http.shutdown()
        thread.join()


@pytest.fixture
def server(running):
    running.files = {
        "published.ungraph": EDGES.encode(),
        "published.cmty": CLASSES.encode(),
    }
    running.requested, running.breaks_off = [], False
    return running


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, and no folder of data."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("REINFORCE2VEC_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield loading.cache_folder()
    gc.collect()  # connections that pooch leaves open are closed here, and not in another test


@pytest.fixture
def toy(server, monkeypatch):
    """A data set of two files, named toy."""
    entry = DatasetEntry(
        name="toy",
        title="a toy",
        description="A toy.",
        citation="Nobody.",
        sources=(
            PublishedFile("toy.ungraph", f"http://{server.host}/published.ungraph"),
            PublishedFile("toy.cmty", f"http://{server.host}/published.cmty"),
        ),
        paper_nodes=4,
        paper_edges=5,
        graph=GraphFingerprint(4, 4, sha256(np.array([[3, 7], [3, 12], [5, 12], [7, 12]], "<i8"))),
        read_graph=_reading.whole_graph,
        labels=LabelFingerprint(2, sha256([0b10011001])),
        read_labels=_reading.lines_of_classes,
    )
    monkeypatch.setitem(REGISTRY, "toy", entry)
    return entry


def write(folder, edges=EDGES, classes=CLASSES, compressed=False):
    """Put the toy's files in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("toy.ungraph", edges), ("toy.cmty", classes)):
        if compressed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / name).write_text(text)
    return folder


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


def check_toy(dataset):
    assert dataset.graph.ids.tolist() == [3, 5, 7, 12]
    assert dataset.graph.indptr.tolist() == [0, 2, 3, 5, 8]
    assert dataset.graph.indices.tolist() == [2, 3, 3, 0, 3, 0, 1, 2]
    assert dataset.labels.astype(int).tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]


# -- the paper's graphs --------------------------------------------------------------------------


@pytest.fixture(params=["facebook", "ca-astroph", "blogcatalog", "ppi", "dblp"])
def real(request):
    """Each data set of the paper."""
    return request.param, load_real(request.param)


@pytest.mark.study
def test_the_graphs_of_the_paper_have_their_sizes(real):
    name, dataset = real
    sizes = {
        "facebook": (4_039, 88_234, 0, None),
        "ca-astroph": (17_903, 196_972, 59, None),
        "blogcatalog": (10_312, 333_983, 0, 39),
        "ppi": (3_890, 37_845, 894, 50),
        "dblp": (51_264, 127_968, 0, 60),
    }
    nodes, edges, self_loops, classes = sizes[name]
    graph = dataset.graph
    assert (graph.n_nodes, graph.n_edges, graph.dropped_self_loops) == (nodes, edges, self_loops)
    assert not graph.weighted
    assert not graph.directed
    assert (np.diff(graph.ids) > 0).all()
    if classes is None:
        assert dataset.labels is None
    else:
        assert dataset.labels.shape == (nodes, classes)
        assert dataset.labels.dtype == np.bool_
        assert dataset.labels.any(axis=0).all()
        assert dataset.labels.any(axis=1).all()


def test_sizes_in_the_paper_are_ours_but_for_what_the_description_says():
    for entry in REGISTRY.values():
        assert entry.paper_nodes == entry.graph.nodes
        if entry.paper_edges != entry.graph.edges:
            assert f"{entry.paper_edges:,} edges of the paper" in entry.description


@pytest.mark.study
def test_labels_of_a_matrix_stand_in_the_rows_of_its_nodes():
    proteins = load_real("ppi")
    known = inspect.signature(scipy.io.loadmat).parameters
    options = {"spmatrix": False} if "spmatrix" in known else {}  # without it newer versions warn
    held = scipy.io.loadmat(DATA / "Homo_sapiens.mat", **options)
    for row in (0, 17, 3_889):
        linked = set(held["network"].tocsr()[[row]].indices.tolist()) - {row}
        assert set(proteins.graph.neighbors(row).tolist()) == linked
        classes = held["group"].tocsr()[[row]].indices
        assert np.flatnonzero(proteins.labels[row]).tolist() == sorted(classes.tolist())


@pytest.mark.study
def test_the_file_that_snap_publishes_is_the_same_graph(tmp_path):
    """It names every edge in both directions, but self-loops once, below lines of comment."""
    ours = load_real("ca-astroph")
    with gzip.open(DATA / "ca-AstroPh.txt.gz") as file:
        pairs = np.array(file.read().split(), int).reshape(-1, 2)
    both = np.concatenate([pairs, pairs[pairs[:, 0] != pairs[:, 1], ::-1]])
    assert len(both) == 396_160
    np.random.default_rng(0).shuffle(both)
    comment = "# Directed graph (each unordered pair of nodes is saved once): CA-AstroPh.txt"
    with gzip.open(tmp_path / "ca-AstroPh.txt.gz", "wt", 1, newline="\r\n") as file:
        file.write(f"{comment}\n# FromNodeId\tToNodeId\n")
        file.write("".join(f"{a}\t{b}\n" for a, b in both.tolist()))
    snaps = load_dataset("ca-astroph", tmp_path)
    assert np.array_equal(snaps.graph.ids, ours.graph.ids)
    assert np.array_equal(snaps.graph.indices, ours.graph.indices)


def test_the_docstring_lists_what_the_registry_holds():
    row = r"^([a-z-]+)  +(.+?)  +([\d,]+) +([\d,]+) *(\d*)$"
    rows = re.findall(row, inspect.getdoc(load_dataset), re.MULTILINE)
    listed = {row[0]: row[1:] for row in rows}
    for name, entry in REGISTRY.items():
        classes = "" if entry.labels is None else f"{entry.labels.classes}"
        sizes = (f"{entry.graph.nodes:,}", f"{entry.graph.edges:,}", classes)
        assert listed.pop(name) == (entry.title, *sizes)
    assert not listed


# -- what a data set is --------------------------------------------------------------------------


def test_a_data_set_does_not_change(toy, tmp_path):
    dataset = load_dataset("toy", write(tmp_path / "mine"))
    with pytest.raises(ValueError, match="read-only"):
        dataset.labels[0, 0] = False
    with pytest.raises(FrozenInstanceError):
        dataset.labels = None


def test_the_largest_component_is_cut_out(tmp_path):
    file = tmp_path / "edges.txt"
    file.write_text("1 2\n9 8\n8 4\n8 8\n1 1\n6 6\n")
    graph = _reading.largest_component(file)
    assert graph.ids.tolist() == [4, 8, 9]
    assert (graph.n_edges, graph.dropped_self_loops) == (2, 1)


def test_weights_in_a_matrix_are_left_out(tmp_path):
    network = scipy.sparse.csc_array(np.array([[0, 2.5, 0], [2.5, 1, 0], [0, 0, 0]]))
    group = scipy.sparse.csc_array(np.array([[1, 0], [0, 3], [1, 1]]))
    scipy.io.savemat(tmp_path / "small.mat", {"network": network, "group": group})
    graph = _reading.matrix_network(tmp_path / "small.mat")
    assert (graph.n_nodes, graph.n_edges, graph.dropped_self_loops) == (3, 1, 1)
    assert not graph.weighted
    labels = _reading.matrix_groups(tmp_path / "small.mat", graph)
    assert labels.tolist() == [[True, False], [False, True], [True, True]]


# -- where files are looked for ------------------------------------------------------------------


def test_order_and_direction_of_lines_do_not_matter(toy, tmp_path):
    other = "12 3\n5 12\n7 12\n12 7\n3 7\n12 12\n"
    check_toy(load_dataset("toy", write(tmp_path / "mine", edges=other)))


def test_the_folder_given_is_the_only_one(toy, server, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("REINFORCE2VEC_DATA", str(write(tmp_path / "variable")))
    write(cache)
    mine = write(tmp_path / "mine")
    (mine / "toy.cmty").unlink()
    sentence = f"{mine}: there is no toy.cmty in this folder, for toy"
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        load_dataset("toy", mine)
    assert not server.requested


def test_the_folder_of_the_variable_comes_before_the_cache(toy, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("REINFORCE2VEC_DATA", str(write(tmp_path / "variable")))
    write(cache, edges="not the graph")
    check_toy(load_dataset("toy"))


def test_a_folder_that_is_not_there_is_a_sentence(toy, tmp_path, monkeypatch):
    nowhere = tmp_path / "nowhere"
    with pytest.raises(InputError, match=r"nowhere: there is no such folder \(data_dir names it"):
        load_dataset("toy", nowhere)
    monkeypatch.setenv("REINFORCE2VEC_DATA", str(nowhere))
    with pytest.raises(InputError, match=r"no such folder \(REINFORCE2VEC_DATA names it"):
        load_dataset("toy")


@pytest.mark.parametrize("name", ["karate", 3, None, ["ppi"]])
def test_an_unknown_name_is_a_sentence_with_those_known(name):
    with pytest.raises(InputError, match=r"no data set .*choose one of facebook, ca-astroph, "):
        load_dataset(name)


@pytest.mark.slow
def test_what_downloads_is_imported_only_to_download(tmp_path):
    (tmp_path / "facebook_combined.txt.gz").write_bytes(gzip.compress(b"1 2\n"))
    code = f"""
import sys
from reinforce2vec import InputError, load_dataset
try:
    load_dataset("facebook", {str(tmp_path)!r})
except InputError as error:
    print(error)
assert not {{"pooch", "requests"}} & set(sys.modules)
"""
    assert "found 2 nodes, 1 edges" in run_python(code)


# -- files that are not the published ones -------------------------------------------------------


def test_another_graph_is_refused(toy, tmp_path):
    mine = write(tmp_path / "mine", edges=EDGES.replace("12 5", "7 5"))
    sentence = (
        rf"^{re.escape(str(mine / 'toy.ungraph'))}: this is not the file that was published: "
        r"expected 4 nodes, 4 edges, digest a9620159dfb66ce1, "
        r"found 4 nodes, 4 edges, digest [0-9a-f]{16} \(published at http://127"
    )
    with pytest.raises(InputError, match=sentence):
        load_dataset("toy", mine)


def test_a_graph_with_a_node_more_is_refused(toy, tmp_path):
    mine = write(tmp_path / "mine", edges=EDGES + "20 20\n", classes=CLASSES.strip() + " 20")
    with pytest.raises(InputError, match=r"expected 4 nodes, .*, found 5 nodes, 4 edges"):
        load_dataset("toy", mine)


@pytest.mark.parametrize("classes", ["3 12\n5 7\n", "3 7 5 12\n", "3\n7 5 12\n"])
def test_other_labels_are_refused(toy, tmp_path, classes):
    mine = write(tmp_path / "mine", classes=classes)
    with pytest.raises(InputError, match=r"toy\.cmty: this is not .* 2 classes, .*, found [12] cl"):
        load_dataset("toy", mine)


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        ("3 7\n5 12 99\n", r"toy\.cmty: line 2: .*99"),
        ("3 7\nfive\n", r"toy\.cmty: line 2: .*five"),
    ],
)
def test_a_class_of_no_known_node_is_a_sentence(toy, tmp_path, classes, sentence):
    with pytest.raises(InputError, match=sentence):
        load_dataset("toy", write(tmp_path / "mine", classes=classes))


def test_ids_that_are_no_integers_are_a_sentence(toy, tmp_path):
    with pytest.raises(InputError, match=r"toy\.ungraph: expected integers as node ids, found"):
        load_dataset("toy", write(tmp_path / "mine", edges="ann bob\n"))


def test_a_matlab_file_must_have_its_sha256(tmp_path):
    matrix = scipy.sparse.csc_array(np.eye(3))
    scipy.io.savemat(tmp_path / "Homo_sapiens.mat", {"network": matrix, "group": matrix})
    found = sha256((tmp_path / "Homo_sapiens.mat").read_bytes())
    sentence = rf"sapiens\.mat: this is not .* expected SHA-256 8a32b88b.*, found SHA-256 {found}"
    with pytest.raises(InputError, match=sentence):
        load_dataset("ppi", tmp_path)


# -- downloads -----------------------------------------------------------------------------------


def test_what_is_not_here_is_fetched_once(toy, server, cache):
    check_toy(load_dataset("toy"))
    assert files_in(cache) == ["toy.cmty", "toy.ungraph"]
    check_toy(load_dataset("toy"))
    assert server.requested == ["published.ungraph", "published.cmty"]


def test_only_the_files_that_are_not_here_are_fetched(toy, server, cache, tmp_path, monkeypatch):
    folder = write(tmp_path / "variable")
    (folder / "toy.ungraph").unlink()
    monkeypatch.setenv("REINFORCE2VEC_DATA", str(folder))
    check_toy(load_dataset("toy"))
    assert server.requested == ["published.ungraph"]
    assert files_in(cache) == ["toy.ungraph"]


@pytest.mark.parametrize("content", [b"7 3\n3 12\n", b"<html> </html>\n", b"", b"\x00\xff\xfe"])
def test_a_wrong_download_is_not_kept(toy, server, cache, content):
    server.files["published.ungraph"] = content
    with pytest.raises(InputError, match=r"^toy: the download is not right: toy\.ungraph[:,] "):
        load_dataset("toy")
    assert files_in(cache) == []


def test_a_download_that_breaks_off_leaves_nothing(toy, server, cache):
    """Old versions of urllib3 do not notice; the check of what was fetched does."""
    server.breaks_off = True
    with pytest.raises(InputError, match=r"could not be downloaded|the download is not right"):
        load_dataset("toy")
    assert files_in(cache) == []


def test_a_file_that_is_gone_is_a_sentence(toy, server, cache):
    del server.files["published.cmty"]
    with pytest.raises(InputError, match=r"/published\.cmty: 404 .*Not Found"):
        load_dataset("toy")
    assert files_in(cache) == []


def test_without_a_network_the_message_says_what_to_do_by_hand(toy, cache, monkeypatch):
    away = PublishedFile("toy.ungraph", "http://127.0.0.1:9/toy.ungraph")  # nobody listens there
    monkeypatch.setitem(toy.__dict__, "sources", (away, *toy.sources[1:]))
    with pytest.raises(InputError, match=f"no connection .* save it as {cache / 'toy.ungraph'}"):
        load_dataset("toy")


def test_a_cache_that_cannot_be_made_is_a_sentence(toy, cache):
    cache.parent.mkdir()
    cache.write_text("a file where the folder should be")
    with pytest.raises(InputError, match=r"toy cannot be saved in this folder: .*REINFORCE2VEC_"):
        load_dataset("toy")


class Endless(BaseHTTPRequestHandler):
    """Sends without an end: quickly, or byte by byte."""

    def do_GET(self):
        self.send_response(200)
        if self.path == "/declared":
            self.send_header("Content-Length", str(10**12))
        self.end_headers()
        with suppress(OSError):  # the client has gone, as it should
            while True:
                self.wfile.write(bytes(1 << 12))
                time.sleep(0.01)

    def log_message(self, *words):
        pass


@pytest.mark.parametrize(
    ("path", "longest", "message"),
    [
        ("/", 900, "sends more than 65.5 kB"),
        ("/declared", 900, "sends more than 65.5 kB"),
        ("/", 0.1, "took more than"),
    ],
)
def test_a_download_ends_within_its_limits(toy, cache, monkeypatch, path, longest, message):
    monkeypatch.setattr(loading, "_LONGEST", longest)
    with ThreadingHTTPServer(("127.0.0.1", 0), Endless) as http:
        http.daemon_threads = True
        threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{http.server_port}{path}"
        source = PublishedFile("toy.ungraph", url, most=1 << 16 if longest == 900 else 10**12)
        monkeypatch.setitem(toy.__dict__, "sources", (source, *toy.sources[1:]))
        with pytest.raises(InputError, match=message):
            load_dataset("toy")
        http.shutdown()
    assert files_in(cache) == []


def test_a_changed_matlab_file_is_refused_before_it_is_opened(tmp_path):
    (tmp_path / "blogcatalog.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(200))
    with pytest.raises(InputError, match="expected SHA-256"):
        load_dataset("blogcatalog", tmp_path)


@pytest.mark.parametrize("name", ["TOY", "Toy", "toy"])
def test_names_ignore_case(toy, cache, name):
    write(cache)
    assert load_dataset(name).name == "toy"
    assert datasets(name).stdout == datasets("toy").stdout


def test_a_misspelt_name_is_answered_with_the_right_one(folder):
    with pytest.raises(InputError, match=r"no data set 'ca-AstroPhys': did you mean ca-astroph\? "):
        load_dataset("ca-AstroPhys")
    done = run("evaluate", "link-prediction", "Facebok")
    assert done.exit_code == 1
    assert "no data set of this name: did you mean facebook? choose one of" in done.stderr


def test_a_download_is_silent_where_there_is_no_terminal(toy, capsys):
    load_dataset("toy")
    assert capsys.readouterr() == ("", "")


# -- the command ---------------------------------------------------------------------------------


def datasets(*words):
    return run("datasets", *words)


def test_the_list_says_what_each_is_and_that_it_is_not_here(toy, server):
    done = datasets()
    assert done.exit_code == 0
    assert re.search(r"^ppi +3,890 +37,845 +50  human proteins", done.stdout, re.MULTILINE)
    assert done.stdout.count("not downloaded yet; source: ") == len(REGISTRY)
    assert "\nppi: not downloaded yet; source: snap.stanford.edu\n" in done.stdout
    assert not server.requested


def test_the_list_says_where_a_data_set_was_found(toy, cache):
    write(cache, compressed=True)
    listed = datasets("toy").stdout
    assert re.search(r"^toy +4 +4 +2  a toy$", listed, re.MULTILINE)
    for name in ("toy.ungraph.gz", "toy.cmty.gz"):
        assert f"toy: {cache / name}\n" in listed


def test_the_command_downloads_the_named_data_set(toy, server, cache):
    done = datasets("--download", "toy")
    assert done.exit_code == 0
    assert str(cache / "toy.ungraph") in done.stdout
    assert sorted(server.requested) == ["published.cmty", "published.ungraph"]
    assert datasets("--download", "toy").exit_code == 0
    assert len(server.requested) == 2


def test_a_failed_download_is_a_sentence_and_a_code(toy, server):
    server.files.clear()
    done = datasets("--download", "toy")
    assert done.exit_code == 1
    assert done.stderr.startswith("error: toy: toy.ungraph is not on this machine")


def test_programs_can_read_the_list(toy, cache):
    write(cache)
    found = {entry["name"]: entry for entry in json.loads(datasets("--json").stdout)["datasets"]}
    assert list(found) == list(REGISTRY)
    assert found["toy"]["here"]
    assert found["toy"]["files"][1]["path"] == str(cache / "toy.cmty")
    assert not found["ppi"]["here"]
    assert found["ppi"]["files"][0]["path"] is None
    assert (found["ppi"]["edges"], found["ppi"]["edges_in_paper"]) == (37_845, 76_584)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["karate"], 1, "no data set 'karate'"),
        (["--data-dir", "nowhere"], 1, "nowhere: there is no such folder"),
        (["--download", "--data-dir", "."], 2, "--download writes to the cache folder"),
    ],
)
def test_a_wrong_use_is_a_sentence_and_a_code(words, code, sentence):
    done = datasets(*words)
    assert done.exit_code == code
    assert sentence in done.stderr
