"""Text of maps can be read, at the width of a column or a page, with few and with many classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.legend import Legend

from reinforce2vec.plotting import embedding_map

TOPICS = (
    *("Neural Networks", "Probabilistic Methods", "Genetic Algorithms", "Theory", "Case Based"),
    *("Reinforcement Learning", "Rule Learning", "Computational Linguistics and Speech"),
    *("Human-Computer Interaction", "Data $base$"),
)


def map_of_classes(n_classes, width, height, n=400):
    """A map whose classes are clouds that partly overlap, with long names; and the names."""
    rng = np.random.default_rng(n_classes)
    codes = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    names = [f"{TOPICS[code % 10]} {code // 10 + 1}" for code in range(n_classes)]
    centres = rng.uniform(0, 10, (n_classes, 2))
    figure = embedding_map(
        np.eye(n),
        [names[code] for code in codes],
        positions=centres[codes] + rng.normal(scale=0.4, size=(n, 2)),
        graph=[(row, int(rng.integers(n))) for row in range(n)],
        title="Papers by the papers that they cite",
        width=width,
        height=height,
    )
    return figure, names


def texts_of(figure):
    """All texts of a map: names, title, caption, and the lines of legends."""
    (axes,) = figure.axes
    found = [*axes.texts, axes._left_title, axes.xaxis.label]
    for legend in axes.findobj(Legend):
        found += [*legend.get_texts(), legend.get_title()]
    return [text for text in found if text.get_text()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "height"), [(3.4, 2.6), (3.4, 4.5), (6, 4.5), (7, 5)], ids=lambda one: str(one)
)
def test_text_is_large_enough_inside_the_figure_and_does_not_overlap(width, height):
    for n_classes in (2, 8, 16, 40):
        figure, _ = map_of_classes(n_classes, width, height)
        figure.draw_without_rendering()
        texts = texts_of(figure)
        assert min(text.get_fontsize() for text in texts) >= 6.5
        boxes = {text.get_text(): text.get_window_extent() for text in texts}
        assert len(boxes) == len(texts)  # nothing is written twice
        for (one, a), (other, b) in combinations(boxes.items(), 2):
            shared = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
            assert min(shared) <= 1, (n_classes, one, other)  # pixels
        for name, box in boxes.items():
            assert min(box.x0, box.y0) > -1, name
            assert box.x1 < width * figure.dpi + 1, name
            assert box.y1 < height * figure.dpi + 1, name
        room = figure.axes[0].get_window_extent()
        assert min(room.width, room.height) > 0.45 * min(width, height) * figure.dpi


@pytest.mark.parametrize(
    ("n_classes", "width", "at_nodes"), [(2, 3.4, True), (8, 6, False), (39, 3.4, False)]
)
def test_all_classes_are_named_at_their_nodes_or_all_in_the_legend(n_classes, width, at_nodes):
    figure, names = map_of_classes(n_classes, width, 4.5)
    on_map = [text.get_text().replace("\n", " ") for text in figure.axes[0].texts]
    legend = figure.axes[0].get_legend()
    listed = [text.get_text().split("  (")[0] for text in legend.get_texts()] if legend else []
    assert (len(on_map), len(listed)) == ((n_classes, 0) if at_nodes else (0, n_classes))
    whole = [name for name in (*on_map, *listed) if "…" not in name]
    assert len(set(whole)) == len(whole)
    assert set(whole) <= set(names)


def map_of_groups(size, **options):
    """A map of six groups in two rows, all of one size, and the points."""
    rng, codes = np.random.default_rng(0), np.arange(6 * size) % 6
    points = rng.normal(scale=0.4, size=(len(codes), 2))
    points += np.column_stack([codes % 3, codes // 3]) * 2.5
    labels = [f"group {code}" if row >= 12 else None for row, code in enumerate(codes)]
    return embedding_map(np.eye(len(codes)), labels, positions=points, **options), points, codes


def nodes_under(text, axes, points):
    """The nodes that a name covers."""
    box = text.get_window_extent()
    return [row for row, spot in enumerate(axes.transData.transform(points)) if box.contains(*spot)]


@pytest.mark.parametrize("size", [12, 120])
def test_a_name_is_at_nodes_of_its_class_and_covers_few(size):
    figure, points, codes = map_of_groups(size)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert len(axes.texts) == 6
    for text in axes.texts:
        near = np.argsort(((points - text.get_position()) ** 2).sum(axis=1))[:5]
        assert np.bincount(codes[near]).argmax() == int(text.get_text()[-1])
        assert len(nodes_under(text, axes, points)) <= (0.12 * size if size > 50 else 0)


def test_nodes_without_a_label_take_a_line_below_a_map_of_names():
    figure, _, _ = map_of_groups(120)
    (axes,) = figure.axes
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["no label  (12)"]
    figure.draw_without_rendering()
    assert legend.get_window_extent().y1 < axes.get_window_extent().y0
    assert axes.get_window_extent().width > 0.95 * 6 * figure.dpi


def test_shapes_of_many_classes_are_larger_than_dots():
    rng = np.random.default_rng(0)
    n, points = 3000, rng.normal(size=(3000, 2))
    smallest = {}
    for n_classes in (6, 39):
        labels = np.arange(n) % n_classes
        figure = embedding_map(points, labels, positions=points, width=3.4, height=2.6)
        sizes = np.concatenate([one.get_sizes() for one in figure.axes[0].collections])
        smallest[n_classes] = sizes.min()
    assert smallest[39] > 1.5 * smallest[6]


def test_names_that_begin_alike_stay_different_when_cut():
    names = [f"a name that is far too long for any legend, number {number}" for number in "12"]
    mixed = np.arange(200) % 2
    points = np.random.default_rng(0).normal(size=(200, 2))
    figure = embedding_map(
        np.eye(200), [names[code] for code in mixed], positions=points, width=3.4
    )
    written = [text.get_text() for text in texts_of(figure) if "a name" in text.get_text()]
    assert len(set(written)) == len(written) == 2
    assert max(map(len, written)) <= 28


def test_more_classes_than_fit_into_a_small_map_are_counted():
    rng = np.random.default_rng(0)
    codes, points = np.arange(200) % 40, rng.normal(size=(200, 2))
    labels = [f"{TOPICS[code % 10]} {code}" for code in codes]
    figure = embedding_map(np.eye(200), labels, positions=points, width=3.4, height=2)
    *listed, last = (text.get_text() for text in figure.axes[0].get_legend().get_texts())
    assert last == f"and {40 - len(listed) - len(figure.axes[0].texts)} more"


def test_the_smallest_of_very_many_classes_are_hollow_points():
    codes = np.concatenate([np.arange(42), np.repeat(np.arange(40), 3)])
    points = np.random.default_rng(0).normal(size=(len(codes), 2))
    figure = embedding_map(np.eye(len(codes)), codes, positions=points)
    hollow = figure.axes[0].collections[0]
    assert len(hollow.get_offsets()) == 2
    assert len(hollow.get_facecolors()) == 0
