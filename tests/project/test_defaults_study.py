"""The study of defaults runs from end to end, and its graphs are what they are said to be."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from helpers.paths import ROOT
from reinforce2vec import classify_nodes, planted_groups, score_links, smooth
from reinforce2vec.graph import edges_of

INDEX = """\
Package: hub
Section: libs
Tag: role::shared-lib,
 implemented-in::c
Description: shared sockets

Package: tool
Section: contrib/net
Depends: hub (>= 1) | other, virtual, hub:any
Recommends: extra [amd64]
Tag: role::program, implemented-in::c
Description: network tool with sockets

Package: tool
Section: old
Depends: lonely

Package: extra
Section: net
Depends: tool
Tag: role::program, implemented-in::c, rare::tag
Description: extra network plots

Package: lonely
Section: net
Description: nothing to say
"""


@pytest.fixture
def graphs(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import graphs

    return graphs


@pytest.fixture
def study(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import defaults

    return defaults


# -- graphs --------------------------------------------------------------------------------------


def test_an_index_of_packages_is_read(graphs):
    packages = {package.name: package for package in graphs.read_packages(INDEX)}
    assert list(packages) == ["extra", "hub", "lonely", "tool"]
    assert packages["tool"].needs == ("hub", "virtual", "extra")
    assert packages["tool"].section == "net"
    assert packages["hub"].tags == ("role::shared-lib", "implemented-in::c")
    assert packages["extra"].summary == "extra network plots"


def test_packages_depend_on_packages(graphs, monkeypatch):
    monkeypatch.setattr(graphs, "LEAST_PACKAGES", 1)
    graph, labels = graphs.depends(graphs.read_packages(INDEX))
    assert labels.sum(axis=0).tolist() == [1, 2]  # libs, net
    assert graph.directed
    assert sorted(map(tuple, edges_of(graph)[0].tolist())) == [(0, 2), (2, 0), (2, 1)]
    assert graph.n_nodes == 3  # without the package that has nothing to do with the others


def test_packages_and_their_tags_are_bipartite(graphs, monkeypatch):
    monkeypatch.setattr(graphs, "LEAST_TAGGED", 2)
    graph, labels = graphs.tags(graphs.read_packages(INDEX))
    ends = edges_of(graph)[0]
    assert sorted(map(tuple, ends.tolist())) == [(0, 3), (0, 4), (1, 3), (2, 3), (2, 4)]
    assert not labels[3:].any()


def test_words_are_linked_by_the_number_of_their_packages(graphs, monkeypatch):
    monkeypatch.setattr(graphs, "LEAST_WITH_WORD", 2)
    monkeypatch.setattr(graphs, "MOST_WITH_WORD", 1.0)
    monkeypatch.setattr(graphs, "LEAST_WORDS", 1)
    graph, labels = graphs.words(graphs.read_packages(INDEX + "\n" + INDEX.replace(": ", ": re")))
    assert graph.weighted
    assert graph.n_nodes == labels.shape[0]
    assert (labels.sum(axis=1) == 1).all()


def test_labels_are_sections_that_are_large_enough(graphs):
    labels = graphs.section_labels(["a"] * 3 + ["b"] * 2 + [""] * 9 + ["c"] * 3, least=3)
    assert labels.sum(axis=0).tolist() == [3, 3]
    assert np.flatnonzero(labels[:, 1]).tolist() == [14, 15, 16]


def test_a_grid_has_gaps_and_one_component(graphs):
    graph, labels = graphs.grid(20, 0.15, 5)
    assert graph.n_components == 1
    assert 350 < graph.n_nodes <= 400
    assert graph.n_edges <= round(0.85 * 760)
    assert (labels.sum(axis=1) == 1).all()
    assert max(graph.degrees) <= 4


def test_a_stored_graph_is_the_same(graphs, tmp_path):
    made = graphs.grid(9, 0.15, 3)
    graphs.save(tmp_path / "grid.npz", made)
    assert graphs.facts(graphs.load("grid", tmp_path)) == graphs.facts(made)


# -- the study -----------------------------------------------------------------------------------


@pytest.fixture
def groups(study, monkeypatch):
    data = planted_groups(120, 3, degree=8, seed=1)
    monkeypatch.setattr(study, "load", lambda name, folder, data_dir: (data.graph, data.labels))
    return data


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def options_of(study, **changes):
    return study.Options(backend="cpu", shuffles=1, per_node=0.02)._replace(**changes)


def test_scores_are_those_of_the_components_side_by_side(study, groups, tmp_path):
    setting = study.scales("1+4", "4/6", walks=100, factors=(2.0, 1.0), length=3.0)
    options = options_of(study)
    keys = study.planned(["ppi"], {"two": setting}, [3], options)
    assert (
        study.Study(tmp_path / "out", tmp_path, None, options).run(keys, {"two": setting}, np.inf)
        == 0
    )
    rows = lines_of(tmp_path / "out")
    assert Counter(row["task"] for row in rows) == {"nodes": 8, "links": 4}
    model = {"walks": 100, "rate": None, "method": "reinforce2vec"}
    trained = study.Trained(groups.graph, 3, "cpu", 0.02)
    parts = [
        smooth(trained.raw(study.Component(window, size, **model))[0], groups.graph)
        for window, size in ((1, 4), (4, 6))
    ]
    side_by_side = 3 / np.sqrt(5) * np.hstack([2 * parts[0], parts[1]])
    expected = classify_nodes(side_by_side, groups.labels, train=0.1, seed=300, part="validation")
    first = next(row for row in rows if row["share"] == 0.1 and row["c"] == 1)
    assert first["part"] == "validation"
    assert first["micro"] == pytest.approx(expected["micro"], abs=0.01)
    case = study.Case("ppi", (groups.graph, groups.labels), 3, options)
    split, rest = case.rest
    found = score_links(rest.vectors(setting)[0], split, seed=3)
    last = rows[-1]
    assert (last["part"], last["operator"]) == ("test", "l2")
    assert last["auc"] == found["l2"]["auc"]


def test_no_component_is_trained_twice(study, groups, tmp_path, monkeypatch):
    trained = []
    make = study.Trained._model

    def counted(self, component):
        trained.append((self.graph.n_edges, self.seed, component))
        return make(self, component)

    monkeypatch.setattr(study.Trained, "_model", counted)
    names = ["", ", length 2", ", mu 0", ", equal factors"]
    names = [f"1+10, 32/96{name}" for name in names]
    settings = {name: study.replace_dimensions(study.SETTINGS[name], 0.1) for name in names}
    options = options_of(study, parts=("validation",), rates=(1.0,))
    keys = study.planned(["ppi", "dblp"], settings, [0], options)
    assert study.Study(tmp_path / "out", tmp_path, None, options).run(keys, settings, np.inf) == 0
    assert len(trained) == 2 * 2 * 2  # two graphs, whole and without edges, two components


def test_important_settings_come_first_on_all_graphs(study):
    options = study.Options()
    names = ["facebook", "ppi", study.PLANTED]
    keys = study.planned(names, study.SETTINGS, [0, 1], options)
    assert len(set(keys)) == len(keys)
    ranks = [study.SETTINGS[title].rank for _, title, _, _ in keys]
    assert ranks == sorted(ranks)
    large = [key for key in keys if key[0] == study.PLANTED]
    assert {seed for _, _, seed, _ in large} == {0}
    assert {study.SETTINGS[title].rank for _, title, _, _ in large} == {0}
    shares = study.shares_of_work(keys, 3)
    assert sorted(key for share in shares for key in share) == sorted(keys)
    cases = [{(name, seed) for name, _, seed, _ in share} for share in shares]
    assert not cases[0] & cases[1]


def test_settings_are_within_their_ranges(study):
    for setting in study.SETTINGS.values():
        assert setting.smooth or len(setting.components) == 1
        assert len(setting.factors) >= len(setting.components)
        assert sum(part.dimensions for part in setting.components) in (64, 128)


def test_time_that_is_over_leaves_work(study, groups, tmp_path):
    options = options_of(study)
    keys = study.planned(["ppi"], {"raw": study.single(0, smooth=False)}, [0], options)
    assert study.Study(tmp_path / "out", tmp_path, None, options).run(keys, {}, 0.0) == len(keys)


def test_training_that_fails_is_recorded(study, groups, tmp_path):
    settings = {"bad": study.single(0, dimensions=4, rate=50.0), "good": study.single(0)}
    options = options_of(study, parts=("validation",), rates=(1.0,), tasks=("nodes",))
    keys = study.planned(["ppi"], settings, [0], options)
    assert study.Study(tmp_path / "out", tmp_path, None, options).run(keys, settings, np.inf) == 0
    bad, *good = study.read_rows(tmp_path / "out")
    assert "too large" in bad["error"]
    assert [row["setting"] for row in good] == ["good", "good"]
    page = study.report([bad, *good], ["validation"], ["ppi"], ["bad", "good"])
    assert f"- bad, ppi, seed 0, nodes: {bad['error']}" in page
    assert "| bad |" not in page


def run_main(study, monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["defaults.py", *map(str, words)])
    study.main()


def test_a_run_can_be_continued_and_reported(study, groups, tmp_path, monkeypatch, capsys):
    out = tmp_path / "scores.jsonl"
    words = ["run", "--study", tmp_path, "--out", out, "--graphs", "ppi,dblp", "--seeds", "0,1"]
    words += ["--backend", "cpu", "--walks-factor", "0.02", "--dimensions-factor", "0.1"]
    words += ["--shuffles", "1", "--c", "1", "--settings", "raw 10, R80;smooth 10"]
    run_main(study, monkeypatch, *words)
    rows = study.read_rows(out)
    assert len(rows) == 2 * 2 * 2 * (4 + 4)
    with out.open("a") as file:
        file.write('{"graph": "ppi", "set')  # a run that was killed
    run_main(study, monkeypatch, *words, "--done", out)
    assert "0 to run" in capsys.readouterr().out
    assert len(study.read_rows(out)) == len(rows)
    run_main(study, monkeypatch, "report", out, "--part", "test")
    page = capsys.readouterr().out
    assert "## test: links, AUC, hadamard" in page
    assert "validation" not in page
    values = {
        (row["graph"], row["seed"]): row["micro"]
        for row in rows
        if row["task"] == "nodes" and row["part"] == "test" and row["share"] == 0.5
        if row["setting"] == "smooth 10"
    }
    mean = np.mean([values["ppi", seed] for seed in (0, 1)])
    assert f"| smooth 10 | {mean:.2f} ± " in page


def test_an_unknown_setting_is_refused(study, tmp_path, monkeypatch):
    words = ["run", "--study", tmp_path, "--out", tmp_path / "out", "--settings", "none such"]
    with pytest.raises(SystemExit, match="no such graph or setting: none such"):
        run_main(study, monkeypatch, *words)


@pytest.mark.slow
def test_the_study_runs_on_a_gpu(study, groups, cuda, tmp_path, monkeypatch):
    small = {name: study.replace_dimensions(one, 0.05) for name, one in study.SETTINGS.items()}
    monkeypatch.setattr(study, "SETTINGS", small)
    options = options_of(study, backend="cuda", parts=("validation",))
    settings = {"two": study.scales("1+3", "4/4", 0), "raw": study.single(0, dimensions=4)}
    keys = study.planned(["ppi"], settings, [0], options)
    assert study.Study(tmp_path / "out", tmp_path, None, options).run(keys, settings, np.inf) == 0
    rows = lines_of(tmp_path / "out")
    assert {row["setting"] for row in rows} == {"two", "raw"}
    assert all(np.isfinite(row.get("micro", row.get("auc"))) for row in rows)


# -- files of packages ----------------------------------------------------------------------------


def test_graphs_of_packages_are_read(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import gzip
    import struct

    import packaged_graphs as reader

    def text(words):
        return struct.pack("<Q", len(words)) + words.encode()

    lists = b"".join(struct.pack(f"<Q{len(to)}B", len(to), *to) for to in ([1, 2], [2], []))
    properties = struct.pack("<QB", 2, 0) + text("readme") + b"\x06" + text("about")
    properties += b"\x01" + text("value") + b"\x04" + struct.pack("<3d", 0, 1, 0)
    data = "⛾ gt".encode() + b"\x01\x00" + text("made by hand") + b"\x01"
    data += struct.pack("<Q", 3) + lists + properties
    folder = tmp_path / reader.COLLECTION
    folder.mkdir(parents=True)
    (folder / "polblogs.gt.gz").write_bytes(gzip.compress(data))
    blogs = reader.read_packaged("blogs", tmp_path)
    assert blogs.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert blogs.directed
    assert blogs.labels.tolist() == [[True, False], [False, True], [True, False]]

    nouns = tmp_path / reader.NOUNS
    nouns.parent.mkdir(parents=True)
    nouns.write_text(
        "  1 a licence\n"
        "00000001 03 n 01 thing 0 000 | what there is\n"
        "00000002 05 n 02 animal 0 beast 0 002 @ 00000001 n 0000 ~ 00000003 n 0000 | lives\n"
        "00000003 05 n 01 dog 0 002 @ 00000002 n 0000 + 00000009 v 0101 | barks\n"
    )
    words = reader.read_packaged("wordnet", tmp_path)
    assert words.edges.tolist() == [[1, 0], [2, 1]]
    assert words.labels.tolist() == [[False], [True], [True]]  # without the topmost topic
