"""Pictures show what they claim, can be read, and are written whole."""

from __future__ import annotations

import re
import sys
from functools import cache
from itertools import combinations, pairwise
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

import reinforce2vec as r2v
from helpers.command_line import run_python
from reinforce2vec import plotting
from reinforce2vec._util.errors import InputError
from reinforce2vec.evaluation.node_classification import NodeClassificationResult
from reinforce2vec.files.label_files import NamedLabels
from reinforce2vec.plotting import palette
from reinforce2vec.plotting.classes import Classes, classes_of

CLUB = r2v.karate_club()


def vectors_in_groups(n=90, n_groups=3, seed=0):
    """An embedding whose nodes, named n0, n1, ..., point one way within a group."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % n_groups
    vectors = np.eye(max(n_groups, 2))[group] * 5 + rng.normal(size=(n, max(n_groups, 2)))
    return r2v.Embedding([f"n{row}" for row in range(n)], vectors), group


def stuck_walk(length=301):
    walk = r2v.ReinforcedWalk("js", "none")
    return r2v.sample_walks(CLUB, walk, length=length, per_node=1, starts=[1])[0]


def free_walk(length=301):
    walk = r2v.FirstOrderWalk()
    return r2v.sample_walks(CLUB, walk, length=length, per_node=1, starts=[1])[0]


def legend_of(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def names_on(axes):
    return [text.get_text() for text in axes.texts]


# -- maps --------------------------------------------------------------------------------------


def test_every_node_is_a_point_in_the_colour_of_its_class():
    embedding, group = vectors_in_groups()
    labels = np.array(["red", "blue", "green"])[group]
    figure = plotting.embedding_map(embedding, labels, method="pca")
    (points,) = figure.axes[0].collections
    assert points.get_offsets().shape == (90, 2)
    _, counts = np.unique(points.get_facecolors(), axis=0, return_counts=True)
    assert counts.tolist() == [30, 30, 30]
    assert legend_of(figure) == ["blue  (30)", "green  (30)", "red  (30)"]


def test_communities_are_found_with_and_without_a_graph():
    embedding, group = vectors_in_groups(44, 4)  # each has as many neighbours as are looked for
    pairs = combinations(range(44), 2)
    graph = [(f"n{a}", f"n{b}") for a, b in pairs if group[a] == group[b]]
    for given in (graph, None):
        figure = plotting.embedding_map(embedding, graph=given, method="pca")
        assert legend_of(figure) == [f"{number}  (11)" for number in (1, 2, 3, 4)]
        assert figure.axes[0].get_xlabel().endswith("coloured by community")


def test_a_quiet_map_writes_nothing_on_the_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    embedding, _ = vectors_in_groups()
    plotting.embedding_map(embedding, method="pca")
    assert capsys.readouterr().err != ""
    plotting.embedding_map(embedding, method="pca", progress=False)
    assert capsys.readouterr().err == ""


def test_nodes_are_as_large_as_their_degree():
    vectors = np.random.default_rng(0).normal(size=(34, 4))
    embedding = r2v.Embedding(CLUB.ids[::-1], vectors)  # in another order than the graph
    figure = plotting.embedding_map(embedding, graph=CLUB, method="pca", colour_by="none")
    points = figure.axes[0].collections[-1]
    spots = [tuple(spot) for spot in points.get_offsets()]
    area = dict(zip(spots, points.get_sizes(), strict=True))
    expected = r2v.project(embedding, "pca").astype(float)
    by_node = [area[tuple(expected[embedding.row(node)])] for node in CLUB.ids]
    order = np.argsort(CLUB.degrees, kind="stable")
    assert (np.diff(np.array(by_node)[order]) >= 0).all()
    assert by_node[33] > 3 * by_node[11]
    assert figure.axes[0].get_xlabel().endswith("sized by degree (1 to 17)")


def test_degrees_as_colours():
    vectors = np.random.default_rng(0).normal(size=(34, 4))
    embedding = r2v.Embedding(CLUB.ids, vectors)
    figure = plotting.embedding_map(embedding, graph=CLUB, method="pca", colour_by="degree")
    assert sorted(figure.axes[0].collections[-1].get_array()) == sorted(CLUB.degrees)
    assert figure.axes[1].get_ylabel() == "degree"


def test_nodes_may_be_missing_from_labels_and_graph():
    embedding, _ = vectors_in_groups()
    graph = [("n1", "n2"), ("n2", "n3"), ("stranger", "n1")]
    figure = plotting.embedding_map(embedding, {"n1": "a", "n2": "b"}, graph, method="pca")
    assert legend_of(figure) == ["a  (1)", "b  (1)", "no label  (88)"]


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_map_of_a_few_nodes(n):
    figure = plotting.embedding_map(np.eye(4)[:n])
    assert len(figure.axes[0].collections[0].get_offsets()) == n


def test_a_map_can_be_drawn_into_a_panel():
    embedding, group = vectors_in_groups()
    figure = matplotlib.figure.Figure()
    left, _ = figure.subplots(1, 2)
    assert plotting.embedding_map(embedding, group, method="pca", axes=left) is figure
    assert len(left.collections[0].get_offsets()) == 90


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"labels": [1, 2, 3]}, "each of 90 nodes, got 3"),
        ({"labels": 7}, "labels must be"),
        ({"labels": {"x": 1}}, "none of the nodes with labels has a vector"),
        ({"labels": np.full((90, 2), 3)}, "holds 0 and 1 only"),
        ({"colour_by": "age"}, "one of label, community, degree, none"),
        ({"colour_by": "label"}, "needs labels"),
        ({"colour_by": "degree"}, "needs the graph"),
        ({"graph": [(1, 2)]}, "no node of the embedding is in the graph"),
        ({"positions": np.zeros((3, 2))}, "90 pairs of finite numbers"),
        ({"width": 0.1}, "width must be"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, told):
    with pytest.raises(InputError, match=told):
        plotting.embedding_map(vectors_in_groups()[0], **({"method": "pca"} | options))


# -- classes -----------------------------------------------------------------------------------


def test_labels_of_all_kinds_give_the_same_classes():
    pandas = pytest.importorskip("pandas")
    embedding, group = vectors_in_groups(6)
    words = [f"g{number}" for number in group]
    matrix = np.eye(3, dtype=bool)[group]
    by_id = dict(zip(embedding.ids.tolist(), words, strict=True))
    for labels in (words, np.array(words), by_id, pandas.Series(by_id), [[word] for word in words]):
        found = classes_of(labels, embedding)
        assert [found.names[code] for code in found.codes] == words
    named = classes_of(NamedLabels(matrix, ["g0", "g1", "g2"], []), embedding)
    assert [named.names[code] for code in named.codes] == words
    assert classes_of(matrix.astype(int), embedding).codes.tolist() == group.tolist()


def test_the_path_of_a_file_is_taken_for_labels(tmp_path):
    file = tmp_path / "labels.txt"
    file.write_text("n1\tred\nn0\tdark blue\n")
    embedding, _ = vectors_in_groups(3)
    for path in (file, str(file)):
        figure = plotting.embedding_map(embedding, path, method="pca")
        assert legend_of(figure) == ["dark blue  (1)", "red  (1)", "no label  (1)"]
    with pytest.raises(InputError, match="no such file"):
        plotting.embedding_map(embedding, "abc", method="pca")


@pytest.mark.parametrize(("header", "name"), [("id\tteam\n", "team"), ("", "label")])
def test_caption_and_legend_call_labels_as_their_column(tmp_path, header, name):
    file = tmp_path / "labels.txt"
    file.write_text(header + "".join(f"n{row}\t{'ab'[row % 2]}\n" for row in range(29)))
    figure = plotting.embedding_map(vectors_in_groups(30)[0], file, method="pca")
    assert figure.axes[0].get_xlabel().endswith(f", coloured by {name}")
    assert figure.axes[0].get_legend().get_title().get_text() == name
    assert legend_of(figure)[-1] == f"no {name}  (1)"


def test_of_several_classes_the_largest_is_shown():
    embedding, _ = vectors_in_groups(4, 2)
    found = classes_of([["a", "b"], ["b"], [], None], embedding)
    assert [found.names[code] if code >= 0 else None for code in found.codes] == [
        *("b", "b", None, None)
    ]


@pytest.mark.parametrize("n_classes", [8, 40, 49])
def test_forty_classes_have_a_look_each_the_largest_first(n_classes):
    codes = np.repeat(np.arange(n_classes), np.arange(n_classes) + 1).astype(np.int32)
    looks, rest = Classes(codes, [f"c{number}" for number in range(n_classes)]).looks()
    largest = [f"c{number}" for number in reversed(range(n_classes))]
    assert [look.name for look in looks] == largest[:40]
    assert [(look.colour, look.shape) for look in looks] == [
        (look.light, look.shape) for look in palette.LOOKS[: len(looks)]
    ]
    assert (rest is not None) == (n_classes > 40)
    if rest is not None:
        assert rest.name == "9 others"
        assert len(rest.rows) == sum(range(10))


def test_classes_of_one_size_are_ranked_by_name_in_pictures_and_pages():
    embedding, _ = vectors_in_groups(5)
    found = classes_of(["b", "10", "a", "2", "b"], embedding)
    assert [look.name for look in found.looks()[0]] == ["b", "2", "10", "a"]
    assert found.names == ["2", "10", "a", "b"]  # pages rank classes of one size by their number
    several = classes_of([["b", "a"], ["b"], [], "a", "b"], embedding)
    assert several.names == ["a", "b"]
    assert several.sets == [(0, 1), (1,), (), (0,), (1,)]
    assert several.codes.tolist() == [1, 1, -1, 0, 1]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(3.4, 2.6), (3.4, 4.5), (6, 4.5)])
@pytest.mark.parametrize("n_classes", [2, 16, 40])
def test_text_can_be_read_and_the_map_has_room(width, height, n_classes):
    rng = np.random.default_rng(n_classes)
    names = [f"Probabilistic $methods$ and speech {code}" for code in range(n_classes)]
    labels = [names[row % n_classes] for row in range(400)]
    figure = plotting.embedding_map(
        np.eye(400),
        labels,
        positions=rng.normal(size=(400, 2)),
        title="Papers by the papers that they cite",
        width=width,
        height=height,
    )
    figure.draw_without_rendering()
    (axes,) = figure.axes
    legend = axes.get_legend()
    texts = [axes._left_title, axes.xaxis.label, legend.get_title(), *legend.get_texts()]
    boxes = {text.get_text(): text.get_window_extent() for text in texts}
    assert len(boxes) == len(texts)  # names that are cut stay different
    for (one, a), (other, b) in combinations(boxes.items(), 2):
        shared = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert min(shared) <= 1, (one, other)  # pixels
    for name, box in boxes.items():
        assert min(box.x0, box.y0) > -1, name
        assert box.x1 < width * figure.dpi + 1, name
    room = axes.get_window_extent()
    assert min(room.width, room.height) > 0.45 * min(width, height) * figure.dpi
    listed = legend_of(figure)
    if len(listed) < n_classes:
        assert listed[-1] == f"and {n_classes - len(listed) + 1} more"


HOSTILE = (
    "$$",
    r"$\frac{",
    "<script>alert(1)</script>&amp;]]>",
    "nul\0 bell\a escape\x1b[31m",
    "line\nline\ttab",
    "emoji 🦜 and 漢字 \ud800",
    "_begins with an underscore",
    "long " * 2000,
    " ",
)


def test_text_of_users_is_drawn_as_it_is(tmp_path):
    """No formula, no markup, and no warning about a missing glyph."""
    embedding, group = vectors_in_groups(len(HOSTILE) * 3, len(HOSTILE))
    labels = Classes(group.astype(np.int32), list(HOSTILE), "$$\a")
    paths = {name: [0, 1, 2, 0, 1] for name in HOSTILE[:3]}
    ids = [HOSTILE[row % len(HOSTILE)] for row in range(34)]
    foreign = matplotlib.figure.Figure().add_subplot()
    figures = [
        plotting.embedding_map(embedding, labels, method="pca", title=r"$$ \x {"),
        plotting.embedding_map(embedding, labels, method="pca", title="$$", axes=foreign),
        plotting.walk_path(CLUB, paths),
        plotting.stuck_set(CLUB, paths),
        plotting.occupation_over_time(paths, 34, ids=ids),
        plotting.evaluation_scores(dict.fromkeys(HOSTILE[:4], evaluation())),
    ]
    for figure in figures:
        for suffix in (".png", ".svg", ".pdf"):
            plotting.save(figure, tmp_path / f"figure{suffix}", dpi=30)
        text = (tmp_path / "figure.svg").read_text(encoding="utf-8")
        assert not re.search("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", text)  # not XML
        assert "<script" not in text


def test_figures_of_others_keep_their_formulas(tmp_path):
    axes = matplotlib.figure.Figure().add_subplot()
    axes.plot([1, 10], [1, 1000])
    axes.set_yscale("log")
    axes.set_title("$x^2$")
    plotting.save(axes.figure, tmp_path / "figure.svg")
    assert all(text.get_parse_math() for text in (axes.title, *axes.get_yticklabels()))


# -- walks -------------------------------------------------------------------------------------


def test_a_path_is_drawn_step_by_step():
    path = free_walk(41)
    figure = plotting.walk_path(CLUB, path, title="a walk")
    edges, everyone, arcs, visited, _start = figure.axes[0].collections
    assert len(edges.get_segments()) == 78
    assert len(everyone.get_offsets()) == 34
    assert arcs.get_array().tolist() == list(range(1, 41))
    spots = everyone.get_offsets()
    ends = [(segment[0], segment[-1]) for segment in arcs.get_segments()]
    for (a, b), (begin, end) in zip(pairwise(path), ends, strict=True):
        assert np.allclose([begin, end], spots[[a, b]])
    met, visits = np.unique(path, return_counts=True)
    assert len(visited.get_offsets()) == len(met)
    assert (
        np.argsort(visited.get_sizes(), kind="stable") == np.argsort(visits, kind="stable")
    ).all()
    assert names_on(figure.axes[0]) == ["start"]
    assert figure.axes[0].get_title(loc="left") == "a walk"


def test_occupation_adds_up_and_tells_the_most_visited():
    wide = np.tile([0, 1, 0, 2, 0, 3, 0, 4, 5, 6, 7, 8, 9], 9)
    narrow = np.tile([4, 0, 4], 30)
    figure = plotting.occupation_over_time(
        {"wide": wide, "narrow": narrow}, 10, top=3, ids="abcdefghij"
    )
    left, right = figure.axes
    assert names_on(left) == ["node a", "b", "c", "others"]
    assert names_on(right) == ["node e", "a"]
    heights = [area.get_paths()[0].vertices[:, 1] for area in left.collections]
    assert heights[0].max() == pytest.approx(1)  # at the start there was nothing else
    assert heights[-1].max() == pytest.approx(1)
    assert np.array_equal(left.collections[0].get_facecolor(), right.collections[1].get_facecolor())
    colours = [area.get_facecolor() for panel in figure.axes for area in panel.collections[:-1]]
    assert len(np.unique(colours, axis=0)) == 4


def test_the_stuck_set_is_marked_and_compared():
    figure = plotting.stuck_set(CLUB, {"free": free_walk(), "stuck": stuck_walk()}, last=50)
    free, stuck, compared = figure.axes
    nodes, _ = r2v.stuck_set(stuck_walk(), last=50)
    marked = stuck.collections[-1].get_offsets()
    assert np.allclose(marked, stuck.collections[1].get_offsets()[nodes])
    assert stuck.get_xlabel() == f"last 50 steps: {len(nodes)} nodes"
    assert len(free.collections[-1].get_offsets()) > len(marked)
    lines = {line.get_label(): line.get_ydata() for line in compared.lines}
    assert lines["stuck"][-1] == len(nodes)
    assert min(lines["free"]) > max(lines["stuck"])


@pytest.mark.parametrize("draw", [plotting.walk_path, plotting.stuck_set])
def test_walks_that_ended_early_or_at_once(draw):
    assert draw(CLUB, [0, 1, 2, -1, -1]).axes
    assert draw(CLUB, [5]).axes
    assert draw(r2v.Graph.from_edges([], nodes=["alone"]), [0]).axes


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ([], "at least one"),
        ([0, 99], "row 99, but the graph has 34"),
        ({}, "no walk"),
        ([[1], [2]], "1-D"),
    ],
)
def test_paths_that_cannot_be_drawn_are_refused(path, told):
    with pytest.raises(InputError, match=told):
        plotting.walk_path(CLUB, path)


# -- scores ------------------------------------------------------------------------------------


def evaluation(shift=0.0, shares=(0.1, 0.5, 0.9), seeds=(0, 1)):
    scores = tuple(
        {share: {"micro": 50 + shift + seed, "macro": 40 + 10 * share} for share in shares}
        for seed in seeds
    )
    return NodeClassificationResult(seeds, scores)


def test_scores_over_shares_are_curves_with_a_band():
    figure = plotting.evaluation_scores({"one": evaluation(), "other": evaluation(3.0)})
    micro, macro = figure.axes
    assert [panel.get_ylabel() for panel in (micro, macro)] == ["micro-F1, %", "macro-F1, %"]
    assert micro.lines[0].get_xdata().tolist() == [10, 50, 90]
    assert micro.lines[1].get_ydata() == pytest.approx([53.5] * 3)
    band = micro.collections[1].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((53.5 - 0.5**0.5, 53.5 + 0.5**0.5))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "other"]


def test_scores_by_operator_are_dots():
    graph = r2v.planted_groups(60, 2, degree=8).graph
    model = r2v.Reinforce2Vec(dimensions=8, walks_per_node=2, workers=1)
    found = r2v.evaluate_link_prediction(graph, model, seeds=2, fraction=0.3, progress=False)
    figure = plotting.evaluation_scores(found, ["auc"])
    (panel,) = figure.axes
    assert [text.get_text() for text in panel.get_yticklabels()] == list(found.mean)
    assert panel.lines[0].get_xdata() == pytest.approx([one["auc"] for one in found.mean.values()])
    assert panel.get_xlabel() == "AUC, %"


def test_the_table_marks_the_best():
    table = plotting.evaluation_table({"one": evaluation(), "other": evaluation(3.0, seeds=(0,))})
    assert table.splitlines()[2:4] == [
        "| 10% | one | 50.5 ± 0.7 | **41.0 ± 0.0** |",
        "| 10% | other | **53.0** | **41.0** |",
    ]
    assert plotting.evaluation_table(evaluation()).splitlines()[0] == "|  | micro-F1 | macro-F1 |"


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ({}, "no results"),
        ([1], "not \\[1\\]"),
        ({"a": evaluation(), "b": evaluation(shares=(0.3,))}, "different tasks"),
    ],
)
def test_what_is_no_evaluation_is_refused(results, told):
    with pytest.raises(InputError, match=told):
        plotting.evaluation_scores(results)
    with pytest.raises(InputError, match="there is no 'f2'"):
        plotting.evaluation_scores(evaluation(), ["f2"])


# -- figures and files -------------------------------------------------------------------------


@cache
def figures():
    embedding, group = vectors_in_groups(120, 10)
    graph = [(f"n{a}", f"n{a + 10}") for a in range(110)]
    paths = {"free": free_walk(), "stuck": stuck_walk()}
    return {
        "map": plotting.embedding_map(embedding, group, graph, method="pca", title="A map"),
        "small map": plotting.embedding_map(embedding, group, graph, "pca", width=3.4, height=2.6),
        "walks": plotting.walk_path(CLUB, paths),
        "occupation": plotting.occupation_over_time(paths, 34),
        "stuck": plotting.stuck_set(CLUB, paths),
        "scores": plotting.evaluation_scores({"one": evaluation(), "other": evaluation(2)}),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["map", "small map", "walks", "occupation", "stuck", "scores"])
def test_all_that_is_written_lies_within_the_figure(name):
    figure = figures()[name]
    figure.draw_without_rendering()
    (left, bottom), (right, top) = figure.get_tightbbox().get_points()
    width, height = figure.get_size_inches()
    assert -0.02 < left < right < width + 0.02
    assert -0.02 < bottom < top < height + 0.02
    for legend in figure.findobj(matplotlib.legend.Legend):
        box = legend.get_window_extent()
        assert -1 <= box.x0 < box.x1 <= width * figure.dpi + 1


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_picture_is_the_same_file(tmp_path, suffix):
    files = [tmp_path / f"{number}{suffix}" for number in range(2)]
    for file in files:
        embedding, group = vectors_in_groups()
        plotting.save(plotting.embedding_map(embedding, group, method="pca"), file, dpi=100)
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name for file in files]


def test_files_open(tmp_path):
    figure = plotting.walk_path(CLUB, free_walk(20))
    plotting.save(figure, tmp_path / "a.png", dpi=100)
    height, width, _ = matplotlib.image.imread(tmp_path / "a.png").shape
    assert (width, height) == tuple(np.floor(figure.get_size_inches() * 100))
    plotting.save(figure, tmp_path / "a.svg")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")
    plotting.save(figure, tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert figure._repr_png_().startswith(b"\x89PNG")  # in a notebook


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    figure = plotting.walk_path(CLUB, [0, 1])
    with pytest.raises(InputError, match=r"\.png \.svg \.pdf"):
        plotting.save(figure, tmp_path / "a.gif")
    with pytest.raises(InputError, match="does not exist"):
        plotting.save(figure, tmp_path / "nowhere" / "a.png")
    figure.axes[0].title.set(text="$\\frac{$", parse_math=True)  # cannot be set
    with pytest.raises(ValueError, match="frac"):
        plotting.save(figure, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


UNTOUCHED = """
import sys, matplotlib
matplotlib.rcParams["font.size"] = 31
matplotlib.rcParams["backend"] = "svg"
before = dict(matplotlib.rcParams)
import reinforce2vec as r2v
figure = r2v.plotting.walk_path(r2v.karate_club(), [0, 1, 2])
r2v.plotting.save(figure, sys.argv[1])
assert dict(matplotlib.rcParams) == before
assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
label = figure.axes[-1].get_xlabel()
assert label == "step" and figure.axes[-1].xaxis.label.get_size() == 9
"""


@pytest.mark.slow
def test_settings_of_the_user_stay_and_do_not_spoil_ours(tmp_path):
    run_python(UNTOUCHED, tmp_path / "a.png")


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plotting.embedding_map(np.eye(3)),
        lambda: plotting.walk_path(CLUB, [0, 1]),
        lambda: plotting.evaluation_scores(evaluation()),
    ],
)
def test_without_matplotlib_it_is_told_what_to_install(monkeypatch, draw):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'reinforce2vec\[plots\]'"):
        draw()
