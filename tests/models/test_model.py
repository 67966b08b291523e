"""The estimator: its parameters, what it takes, what it says while it learns, how it grows."""

from __future__ import annotations

import pickle
import re
import sys
import threading
import warnings
from functools import partial

import networkx
import numpy as np
import pytest

import reinforce2vec
from helpers.memory import least_peak_of, peak_of
from helpers.models import vectors_of
from helpers.terminals import Terminal, without_styles
from helpers.toy_graphs import GROUP, N_GROUPS, planted_partition
from reinforce2vec import (
    FirstOrderWalk,
    Graph,
    InputError,
    Reinforce2Vec,
    ReinforcedWalk,
    karate_club,
    rmat,
    smooth,
)
from reinforce2vec._util import machine
from reinforce2vec._util.engine import ENGINES, VARIABLE
from reinforce2vec.files.walk_readers import walks_from
from reinforce2vec.graph import growing as updating
from reinforce2vec.models import reinforce2vec as model
from reinforce2vec.models import training
from reinforce2vec.skipgram.corpus import SampledWalks
from reinforce2vec.walks import WalkSampler

CLUB = karate_club()


# a model that learns fast and repeats; its vectors are as they were trained
quick = partial(Reinforce2Vec, dimensions=8, walks_per_node=5, window=10, smooth=False, workers=1)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def cosines(a, b):
    """Of each row of a matrix with the same row of another."""
    return (unit(a) * unit(b)).sum(1)


def never(*args, **options):
    raise AssertionError("this should not have been called")


# -- parameters --------------------------------------------------------------------------------


PARAMETERS = {
    "dimensions": 12,
    "walk": FirstOrderWalk(),
    "walk_length": 11,
    "walks_per_node": 3,
    "window": 4,
    "negatives": 7,
    "epochs": 2,
    "learning_rate": 0.01,
    "subsample": 0.001,
    "smooth": True,
    "seed": 9,
    "workers": 1,
    "backend": "cpu",
    "direction": "both",
    "scratch": None,
}


OPTIONAL = ("walk", "workers", "learning_rate", "scratch")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, 0) for name in ("dimensions", "walk_length", "walks_per_node", "window")],
        *[(name, 0) for name in ("negatives", "epochs", "workers", "learning_rate")],
        *[(name, 2.5) for name in ("dimensions", "walk_length", "walks_per_node", "window")],
        *[(name, "2") for name in ("negatives", "epochs", "workers", "learning_rate")],
        *[(name, None) for name in PARAMETERS if name not in OPTIONAL],
        *[(name, float("nan")) for name in ("learning_rate", "subsample", "seed")],
        ("dimensions", True),
        ("learning_rate", -0.1),
        ("learning_rate", float("inf")),
        ("subsample", -1e-3),
        ("smooth", 1),
        ("scratch", "no folder of this name"),
        ("seed", -1),
        ("walk", "first-order"),
        ("walk", FirstOrderWalk),
        ("walk", 5),
    ],
)
def test_a_bad_parameter_is_named_in_fit(name, value):
    broken = quick(**{name: value})
    with pytest.raises(InputError, match=name):
        broken.fit(CLUB)
    assert not hasattr(broken, "embedding_")


@pytest.mark.parametrize("every", [-1, "often", None, float("nan")])
def test_a_bad_interval_is_named_in_fit(every, tmp_path):
    with pytest.raises(InputError, match="checkpoint_every"):
        quick().fit(CLUB, checkpoint=tmp_path / "file", checkpoint_every=every)


def test_numbers_of_numpy_are_numbers():
    arrays = {name: np.array([value])[0] for name, value in PARAMETERS.items() if name != "walk"}
    assert isinstance(arrays["learning_rate"], np.floating)
    learned = Reinforce2Vec(walk=FirstOrderWalk(), **arrays).fit(CLUB)
    assert np.array_equal(vectors_of(learned), vectors_of(Reinforce2Vec(**PARAMETERS).fit(CLUB)))


def test_every_parameter_matters():
    expected = vectors_of(quick(walk=FirstOrderWalk()).fit(CLUB))
    for name, value in (PARAMETERS | {"walk": None, "walks_per_node": 6}).items():
        if name not in ("workers", "dimensions", "backend", "direction", "scratch"):
            other = quick(walk=FirstOrderWalk()).set_params(**{name: value})
            assert not np.array_equal(vectors_of(other.fit(CLUB)), expected), name


def test_the_rate_of_given_walks_depends_on_how_many_there_are():
    few, many = np.zeros((2, 3), np.int8), np.zeros((2, 5000), np.int8)
    assert quick().fit_walks(few).learning_rate_ == 0.05
    assert quick().fit_walks(many).learning_rate_ == 0.025
    assert quick(epochs=2000).fit_walks(few).learning_rate_ == 0.025


# -- smoothing ---------------------------------------------------------------------------------


def test_smoothed_vectors_are_the_learned_ones_smoothed_along_the_graph():
    plain, smoothed = quick().fit(CLUB), quick(smooth=True).fit(CLUB)
    assert np.array_equal(vectors_of(smoothed), smooth(vectors_of(plain), CLUB))


def test_a_smoothed_model_grows_from_what_it_had_learned():
    """Rotated as a whole, perhaps: products of vectors stay as they are."""
    edges = [("new", 34), ("new", 33)]
    plain, smoothed = quick().fit(CLUB), quick(smooth=True).fit(CLUB)
    plain.partial_fit(edges)
    again = vectors_of(pickle.loads(pickle.dumps(smoothed)).partial_fit(edges))
    expected = smooth(vectors_of(plain), plain.graph_)
    np.testing.assert_allclose(again @ again.T, expected @ expected.T, atol=1e-5)


def test_given_walks_are_smoothed_along_their_steps():
    walks = [["a", "b", "c", "a"], ["b", "a", "d"], ["e"]] * 20
    plain, smoothed = (quick(smooth=yes).fit_walks(walks) for yes in (False, True))
    steps = [("a", "b", 2.0), ("b", "c", 1.0), ("a", "c", 1.0), ("a", "d", 1.0)]
    graph = Graph.from_edges(steps, nodes=plain.embedding_.ids)
    np.testing.assert_allclose(
        vectors_of(smoothed), smooth(vectors_of(plain), graph), rtol=1e-4, atol=1e-5
    )
    unweighted = Graph.from_edges([step[:2] for step in steps], nodes=plain.embedding_.ids)
    assert np.abs(vectors_of(smoothed) - smooth(vectors_of(plain), unweighted)).max() > 1e-2


def test_the_representation_shows_what_is_not_the_default():
    assert repr(Reinforce2Vec()) == "Reinforce2Vec()"
    changed = Reinforce2Vec(dimensions=64, walk=FirstOrderWalk(), workers=2, seed=0)
    assert repr(changed) == "Reinforce2Vec(dimensions=64, walk=FirstOrderWalk(), workers=2)"
    windows = Reinforce2Vec(window=(1, 10)), Reinforce2Vec(window=(2, 5)), Reinforce2Vec(window=5)
    assert [repr(one)[13:] for one in windows] == ["()", "(window=(2, 5))", "(window=5)"]


# -- as scikit-learn has it --------------------------------------------------------------------


def test_fit_begins_anew():
    once, twice = quick().fit(CLUB), quick().fit(rmat(6)).fit(CLUB)
    assert np.array_equal(vectors_of(once), vectors_of(twice))
    assert twice.graph_ is CLUB
    twice.partial_fit([(1, 30)])
    assert np.array_equal(vectors_of(twice.fit(CLUB)), vectors_of(once))
    again = [learned.partial_fit([(1, 30)]) for learned in (once, twice)]
    assert np.array_equal(*map(vectors_of, again))


@pytest.mark.parametrize("dimensions", [8, 16, 33])
def test_a_fitted_model_travels_in_a_pickle_and_goes_on(dimensions):
    learned = quick(dimensions=dimensions, walk=ReinforcedWalk.released()).fit(CLUB)
    copy = pickle.loads(pickle.dumps(learned))
    assert copy.get_params() == learned.get_params()
    assert np.array_equal(vectors_of(copy), vectors_of(learned))
    assert copy.embedding_.ids.tolist() == learned.embedding_.ids.tolist()
    assert np.array_equal(copy.loss_curve_, learned.loss_curve_)
    assert copy.n_tokens_ == learned.n_tokens_
    assert copy.embedding_.most_similar(1, 3) == learned.embedding_.most_similar(1, 3)
    for member in ("new", "newer"):
        edges = [(member, 1), (member, 2)]
        for one in (learned, copy):
            one.partial_fit(edges)
        assert np.array_equal(vectors_of(copy), vectors_of(learned))
        copy = pickle.loads(pickle.dumps(copy))


# -- what it takes -----------------------------------------------------------------------------


# -- callbacks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [CLUB, rmat(9)], ids=len)
@pytest.mark.parametrize("workers", [1, 2])
def test_callbacks_are_told_about_a_hundred_times_how_it_goes(graph, workers):
    moments, seen = [], []

    def note(moment):
        moments.append(moment)
        seen.append(moment.vectors.copy())

    learned = quick(workers=workers, walks_per_node=10, epochs=2).fit(graph, callbacks=[note])
    assert 50 <= len(moments) <= 100
    walks = [moment.walks for moment in moments]
    assert walks == sorted(set(walks))
    assert {moment.n_walks for moment in moments} == {graph.n_nodes * 20}
    assert np.all(np.diff([moment.tokens for moment in moments]) > 0)
    rates = [moment.learning_rate for moment in moments]
    assert rates == sorted(rates, reverse=True)
    for moment in moments[:-1]:
        left = 1 - moment.walks / moment.n_walks
        assert moment.learning_rate == pytest.approx(0.05 * left)
    assert rates[-1] == pytest.approx(0.05e-4)
    assert all(moment.loss > 0 and moment.seconds >= 0 for moment in moments)
    last = moments[-1]
    assert last.walks == last.n_walks
    assert last.tokens == learned.n_tokens_
    assert last.loss == learned.loss_curve_[-1]
    assert np.array_equal(seen[-1], vectors_of(learned))
    assert not np.array_equal(seen[0], seen[-1])


@pytest.mark.parametrize("window", [5, (1, 5)])
def test_callbacks_cannot_change_the_vectors_of_the_training(window):
    def change(moment):
        with pytest.raises(ValueError, match="read-only"):
            moment.vectors[:] = np.nan

    model = quick(window=window, smooth=False).fit(CLUB, callbacks=[change])
    assert np.isfinite(vectors_of(model)).all()


@pytest.mark.parametrize("callbacks", [None, print, "print", [print, 3]])
def test_callbacks_that_are_no_list_of_functions_are_refused_before_training(callbacks):
    model = quick()
    with pytest.raises(InputError, match="callbacks must be a list of functions, not "):
        model.fit(CLUB, callbacks=callbacks)
    model.fit(CLUB)
    with pytest.raises(InputError, match="callbacks must be a list of functions, not "):
        model.partial_fit([("new", 1)], callbacks=callbacks)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, StopIteration])
def test_an_error_in_a_callback_ends_the_training(error, workers):
    calls = []

    def stop(moment):
        calls.append(moment.walks)
        if len(calls) == 3:
            raise error("enough")

    before = threading.active_count()
    learned = quick(workers=workers, walks_per_node=50)
    with pytest.raises(error, match="enough"):
        learned.fit(CLUB, callbacks=[stop])
    assert len(calls) == 3
    assert threading.active_count() == before
    assert not hasattr(learned, "embedding_")
    learned.fit(CLUB)  # and nothing keeps it from learning later


def test_callbacks_are_told_of_partial_fits_and_given_walks():
    moments = []
    learned = quick().fit(CLUB).partial_fit([("new", 1)], callbacks=[moments.append])
    assert moments[-1].walks == moments[-1].n_walks == 2 * 5
    assert moments[-1].tokens == learned.n_tokens_
    moments.clear()
    quick().fit_walks([[1, 2], [2, 3, 1]], callbacks=[moments.append])
    assert [moment.walks for moment in moments] == [1, 2]


# -- the line on the terminal ------------------------------------------------------------------


def on_a_terminal(monkeypatch):
    """Pretend that there is one; not a fixture, because pytest captures anew after those."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


NUMBER = r"[\d.,]+( million)?"
LEFT = r"(  [\d:]+ left)?"  # once it is known
LINE = rf".* training +\d+%{LEFT}  {NUMBER} tokens/s  loss \d+\.\d{{3}}"


def test_a_terminal_shows_speed_and_loss(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    quick().fit(CLUB)
    first, *_, last = without_styles(terminal.getvalue()).split("\r\033[K")[1:]
    assert re.fullmatch(LINE, first)
    assert last == ""  # the line is taken away at the end
    assert "\n" not in terminal.getvalue()


def test_without_progress_a_terminal_stays_empty(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    learned = quick().fit(CLUB, progress=False)
    learned.partial_fit([(1, "new")], progress=False)
    learned.fit_transform(CLUB, progress=False)
    learned.fit_walks([[1, 2, 3]], progress=False)
    assert terminal.getvalue() == ""


# -- memory ------------------------------------------------------------------------------------


def test_the_estimate_counts_two_matrices():
    graph = rmat(12)
    sizes = {
        windows: [quick(dimensions=d, window=windows).estimate_memory(graph) for d in (64, 128)]
        for windows in (10, (1, 10))
    }
    for small, large in sizes.values():
        # of two windows, the vectors are put side by side at the end
        assert 2 * 4 * 64 * graph.n_nodes <= large - small <= 3.1 * 4 * 64 * graph.n_nodes
    one, two = (quick(workers=w).estimate_memory(graph) for w in (1, 2))
    assert one < two


def test_the_estimate_counts_long_walks_and_many_negatives():
    usual = quick().estimate_memory(CLUB)
    assert quick(walk_length=10**8).estimate_memory(CLUB) > usual + 10**9
    assert quick(negatives=10**7).estimate_memory(CLUB) > usual + 10**8
    stored = walks_from(np.zeros((1, 10**6), np.int8))
    assert quick().estimate_memory(stored) > quick().estimate_memory(walks_from([[0]])) + 10**7


def test_the_estimate_holds_where_nearly_all_is_weighted_edges():
    pairs = np.column_stack(np.triu_indices(1200, 1))
    graph = Graph.from_edges(pairs, np.random.default_rng(0).uniform(1, 2, len(pairs)))
    model = quick(smooth=True, walks_per_node=1)
    model.fit(Graph.from_edges(pairs[:2], [1, 2]), progress=False)  # compiles
    peak = least_peak_of(lambda: model.fit(graph, progress=False))
    assert peak <= model.estimate_memory(graph)


def test_the_estimate_counts_long_walks_in_a_row():
    rng = np.random.default_rng(0)
    long, short = rng.integers(0, 300, (60, 3000)), rng.integers(0, 300, (60_000, 2))
    stored = walks_from([*long.tolist(), *short.tolist()])
    model = Reinforce2Vec(dimensions=16, smooth=False, window=10, workers=1)
    model.fit_walks([[0, 1]], progress=False)  # compiles
    peak = peak_of(lambda: model.fit_walks(stored, progress=False))
    assert peak < model.estimate_memory(stored) < 1.5 * peak


def test_too_little_memory_is_an_error_before_anything_is_made(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "available_bytes", lambda: 10_000_000)
    monkeypatch.setattr(training, "begin", never)
    message = r"1,024 nodes with dimensions=100000 needs about 8.* MB .*, and 10\.0 MB are free"
    with pytest.raises(InputError, match=message):
        quick(dimensions=100_000).fit(rmat(10), checkpoint=tmp_path / "c")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="needs about"):
        quick(dimensions=100_000).fit_walks([[0, 1]] * 100, ids=range(1000))
    monkeypatch.setattr(machine, "available_bytes", lambda: 0)
    with pytest.raises(InputError, match="use a smaller graph"):
        quick(dimensions=1).fit(CLUB)


def test_a_partial_fit_for_which_memory_is_too_small_changes_nothing(monkeypatch):
    learned = quick().fit(CLUB)
    before = learned.embedding_
    monkeypatch.setattr(machine, "available_bytes", lambda: 1000)
    with pytest.raises(InputError, match="35 nodes"):
        learned.partial_fit([(1, "new")])
    assert learned.embedding_ is before
    assert learned.graph_ is CLUB


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("window", [10, (1, 10), (1, 3, 10)], ids=str)
def test_what_would_fit_fits(monkeypatch, window, smoothed):
    """The number of dimensions that the error names can be learned in the memory there is."""
    graph, named = rmat(12), 0
    corpus = SampledWalks(WalkSampler(graph))
    model = partial(Reinforce2Vec, window=window, smooth=smoothed, workers=1)

    def check(learner):
        learner._check_memory(corpus, learner._settings(corpus), "cpu")

    for dimensions in (17, 33, 64, 100, 128):
        needed = model(dimensions=dimensions).estimate_memory(graph)
        for missing in (1, 10**3, 10**5, 5 * 10**5, 10**6, 2 * 10**6):
            free = 2 * (needed - missing)  # as the allocator may keep as much as is taken
            monkeypatch.setattr(machine, "available_bytes", lambda free=free: free)
            with pytest.raises(InputError) as refusal:
                check(model(dimensions=dimensions))
            said = str(refusal.value).rpartition("dimensions=")[2].removesuffix(" would fit")
            if said.isdecimal():
                named += 1
                assert 0 < int(said) < dimensions
                check(model(dimensions=int(said)))
    assert named > 5


def test_memory_is_checked_before_the_start_and_with_what_the_allocator_keeps(monkeypatch):
    graph, learner = rmat(8), quick(smooth=True, dimensions=16)
    answers = [2 * learner.estimate_memory(graph) - 1]  # small arrays: all of them may be kept
    monkeypatch.setattr(machine, "available_bytes", lambda: answers.pop() if answers else 0)
    with pytest.raises(InputError, match="training 256 nodes"):
        learner.fit(graph)
    answers.append(2 * learner.estimate_memory(graph))
    learner.fit(graph)  # though there seems to be none left when training is done
    assert not answers


def test_a_container_may_have_less_memory_than_its_machine(tmp_path, monkeypatch):
    """What it used to read files, it gets back."""
    (tmp_path / "memory.current").write_text("900\n")
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.stat").write_text("anon 300\ninactive_anon 1\ninactive_file 600\n")
    group = (str(tmp_path), "memory.max", "memory.current", "inactive_file")
    monkeypatch.setattr(machine, "_CGROUPS", (group,))
    assert machine.available_bytes() == 700
    (tmp_path / "memory.stat").unlink()
    assert machine.available_bytes() == 100
    (tmp_path / "memory.max").write_text("max\n")
    free = machine.available_bytes()
    assert free is None or free > 10**6


@pytest.mark.parametrize("kinds", ["memory", "cpu,memory"])
@pytest.mark.parametrize("limited", ["", "docker", "docker/job"])
def test_groups_of_the_first_version_are_limited_at_any_level(
    tmp_path, monkeypatch, kinds, limited
):
    (tmp_path / "docker" / "job").mkdir(parents=True)
    for folder in ("", "docker", "docker/job"):
        most = 1000 if folder == limited else 2**63 - 4096  # no limit
        (tmp_path / folder / "memory.limit_in_bytes").write_text(f"{most}\n")
        (tmp_path / folder / "memory.usage_in_bytes").write_text("900\n")
        (tmp_path / folder / "memory.stat").write_text("inactive_file 0\ntotal_inactive_file 200\n")
    (tmp_path / "own").write_text(f"9:pids:/else\n4:{kinds}:/docker/job\n0::/\n")
    monkeypatch.setattr(machine, "_CGROUPS", ((str(tmp_path), *machine._CGROUPS[1][1:]),))
    monkeypatch.setattr(machine, "_GROUPS_OF_THIS_PROCESS", tmp_path / "own")
    assert machine.available_bytes() == 300


# -- growing -----------------------------------------------------------------------------------


def cut(whole, gone):
    """A graph without some nodes, and the edges that bring them back."""
    rest = whole.subgraph([node for node in whole if node not in gone]).copy()
    return rest, [edge for edge in whole.edges if set(edge) & set(gone)]


@pytest.fixture(scope="module")
def halfway():
    """A model that has not seen a tenth of the nodes, and the edges that it lacks."""
    gone = np.random.default_rng(1).choice(N_GROUPS * GROUP, N_GROUPS * GROUP // 10, replace=False)
    rest, edges = cut(planted_partition(), gone.tolist())
    return quick(dimensions=32, walks_per_node=20).fit(rest), edges


def grown(halfway, edges):
    """A copy of it that has learned from edges."""
    return pickle.loads(pickle.dumps(halfway)).partial_fit(edges)


def test_new_nodes_come_to_their_groups(halfway):
    before, edges = halfway
    after = grown(before, edges)
    n_old = len(before.embedding_)
    assert len(after.embedding_) == N_GROUPS * GROUP
    assert after.embedding_.ids[:n_old].tolist() == before.embedding_.ids.tolist()
    labels = after.embedding_.ids // GROUP
    vectors = unit(vectors_of(after))
    centres = [vectors[:n_old][labels[:n_old] == label].mean(0) for label in range(N_GROUPS)]
    nearest = np.argmax(vectors[n_old:] @ unit(np.stack(centres)).T, axis=1)
    assert (nearest == labels[n_old:]).mean() > 0.9
    assert np.median(cosines(vectors_of(before), vectors[:n_old])) > 0.8


def test_old_nodes_stay_about_where_they_were(halfway):
    """A node with its nine friends is new, which the other 260 hardly notice."""
    before, edges = halfway
    new = next(node for node in edges[0] if node not in before.embedding_)
    few = [edge for edge in edges if new in edge and set(edge) - {new} <= set(before.graph_.ids)]
    after = grown(before, few)
    far = ~np.isin(before.embedding_.ids, np.array(few))
    turned = cosines(vectors_of(before), vectors_of(after)[:-1])
    assert turned[far].min() > 0.85
    assert np.median(turned[far]) > 0.95


@pytest.mark.parametrize("window", [10, (1, 10)], ids=str)
def test_smoothed_vectors_stay_comparable(window, monkeypatch):
    """They are rotated back; without that, hardly a vector would be where it was."""
    rest, edges = cut(planted_partition(), [3, 4])
    learned = quick(dimensions=32, walks_per_node=20, window=window, smooth=True).fit(rest)
    old = vectors_of(learned)
    touched = {node for edge in edges for node in edge}
    far = ~np.isin(learned.embedding_.ids, list(touched))
    assert far.sum() > 200
    turned = cosines(old, vectors_of(grown(learned, edges))[: len(old)])
    assert turned[far].mean() > 0.95
    monkeypatch.setattr(model, "aligned", lambda vectors, *options: vectors)
    loose = cosines(old, vectors_of(grown(learned, edges))[: len(old)])
    assert loose[far].mean() < 0.6


def test_what_no_walk_reaches_stays_exactly_where_it_was():
    two = networkx.disjoint_union(networkx.complete_graph(6), networkx.complete_graph(6))
    learned = quick().fit(two)
    before = vectors_of(learned)
    after = vectors_of(learned.partial_fit([(0, "new"), ("new", 1)]))
    assert np.array_equal(after[6:12], before[6:])
    assert not np.isclose(after[:6], before[:6]).all(axis=1).any()


def test_new_nodes_come_after_the_old_in_the_order_of_the_edges():
    learned = quick().fit([("b", "a"), ("c", "b")])
    learned.partial_fit([("z", "a"), ("y", "z"), ("b", "x")])
    assert learned.embedding_.ids.tolist() == ["b", "a", "c", "z", "y", "x"]
    assert learned.graph_.ids.tolist() == learned.embedding_.ids.tolist()
    assert learned.graph_.neighbors("z").tolist() == ["a", "y"]
    assert learned.graph_.neighbors("a").tolist() == ["b", "z"]
    learned.partial_fit([(7, "a")])
    assert learned.embedding_.ids.tolist() == ["b", "a", "c", "z", "y", "x", 7]
    assert learned.n_tokens_ == 2 * 5 * 40


def test_earlier_embeddings_do_not_change():
    learned = quick(dimensions=16).fit(CLUB)
    first, kept, array = learned.embedding_, learned.embedding_.to_numpy(), vectors_of(learned)
    learned.partial_fit([(1, "new"), (2, 30)])
    second = learned.embedding_
    kept_second = second.to_numpy()
    learned.partial_fit([(1, "newer")])
    assert np.array_equal(first.vectors, kept)
    assert np.array_equal(array, kept)
    assert np.array_equal(second.vectors, kept_second)
    assert (len(first), len(second), len(learned.embedding_)) == (34, 35, 36)


def test_an_edge_that_was_there_already_is_still_one_edge():
    learned = quick().fit(CLUB).partial_fit([(1, 2), (2, 1), (1, 30)])
    assert learned.graph_.n_edges == CLUB.n_edges + 1
    assert not learned.graph_.weighted
    assert learned.n_tokens_ == 2 * 5 * 40  # walks from 1 and 30, whose edge is new


# -- the same edges twice ------------------------------------------------------------------------


def all_of(learned):
    """Everything that an update could change."""
    matrices = [matrix.tobytes() for one in learned._state.scales for matrix in one[:2]]
    return matrices, vectors_of(learned).tobytes(), learned._state.visits.tobytes()


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize(
    "nothing",
    [[], networkx.Graph(), np.empty((0, 2), int), [(1, 2)], [(2, 1), (34, 33)], CLUB],
    ids=["empty", "networkx", "array", "edge", "edges", "all"],
)
def test_without_new_edges_nothing_changes_at_all(nothing, smoothed):
    learned = quick(smooth=smoothed, window=(1, 10)).fit(CLUB).partial_fit([("new", 1)])
    graph, embedding, before = learned.graph_, learned.embedding_, all_of(learned)
    assert learned.partial_fit(nothing) is learned
    assert learned.graph_ is graph
    assert learned.embedding_ is embedding
    assert all_of(learned) == before
    other = quick(smooth=smoothed, window=(1, 10)).fit(CLUB).partial_fit([("new", 1)])
    for one in (learned, other):
        one.partial_fit([("newer", 1)])
    assert all_of(learned) == all_of(other)  # nor does it count as an update


@pytest.mark.parametrize("directed", [False, True])
def test_edges_whose_weights_were_added_are_known_again(directed):
    first = [("a", "b", 2.0), ("b", "c", 3.0), ("c", "a", 1.0), ("c", "d", 1.0)]
    learned = quick().fit(Graph.from_edges(first, directed=directed))
    second, third = [("a", "b", 1.0), ("e", "a", 2.0)], [("f", "e", 1.0), ("b", "a", 1.0)]
    learned.partial_fit(second).partial_fit(third)
    graph, before = learned.graph_, all_of(learned)
    for repeated in (second, second[::-1], third, first):
        with pytest.warns(UserWarning, match="were added before, .* again=True") as caught:
            learned.partial_fit(repeated)
        assert caught[0].filename == __file__
        assert learned.graph_ is graph
        assert all_of(learned) == before
    assert weight_of(learned.graph_, "e", "a") == 2.0
    learned.partial_fit(second, again=True)
    assert weight_of(learned.graph_, "e", "a") == 4.0
    learned.partial_fit([("a", "b", 1.0), ("e", "a", 2.5)])  # another weight: other edges
    assert weight_of(learned.graph_, "e", "a") == 6.5


# -- what becomes of graphs ----------------------------------------------------------------------


def weight_of(graph, a, b):
    return graph.to_scipy()[graph.row(a), graph.row(b)]


def test_weights_are_added_and_missing_ones_are_one():
    weighted = quick().fit([(0, 1, 2.0), (1, 2, 3.0)])
    graph = weighted.partial_fit([(0, 1), (2, 3)]).graph_
    assert [weight_of(graph, *edge) for edge in ((0, 1), (1, 0), (1, 2), (2, 3))] == [3, 3, 3, 1]
    graph = weighted.partial_fit([(1, 0, 0.5)]).graph_
    assert weight_of(graph, 0, 1) == 3.5
    unweighted = quick().fit([(0, 1), (1, 2)])
    graph = unweighted.partial_fit([(0, 1, 4.0), (3, 0, 0.5)]).graph_
    assert [weight_of(graph, *edge) for edge in ((0, 1), (1, 2), (0, 3))] == [5, 1, 0.5]


def test_an_undirected_edge_leads_both_ways_on_a_directed_graph():
    learned = quick().fit(Graph.from_edges([(0, 1), (1, 2)], directed=True))
    graph = learned.partial_fit(Graph.from_edges([(3, 1, 2.0)])).graph_
    assert graph.directed
    assert (weight_of(graph, 3, 1), weight_of(graph, 1, 3)) == (2, 2)
    assert (weight_of(graph, 0, 1), weight_of(graph, 1, 0)) == (1, 0)
    undirected = quick().fit([(0, 1), (1, 2)])
    graph = undirected.partial_fit(Graph.from_edges([(3, 1)], directed=True)).graph_
    assert not graph.directed
    assert graph.neighbors(1).tolist() == [0, 2, 3]


def test_new_nodes_begin_at_the_mean_of_their_neighbours():
    """With a learning rate of almost nothing they are still there at the end."""
    learned = quick().fit([("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0)])
    a, b = learned.embedding_["a"].copy(), learned.embedding_["b"].copy()
    learned.set_params(learning_rate=1e-12)
    learned.partial_fit([("new", "a", 3.0), ("new", "b", 1.0), ("stranger", "friend", 1.0)])
    np.testing.assert_allclose(learned.embedding_["new"], 0.75 * a + 0.25 * b, rtol=1e-4, atol=1e-6)
    assert np.abs(learned.embedding_["stranger"]).max() <= 0.5 / 8
    assert not np.array_equal(learned.embedding_["stranger"], learned.embedding_["friend"])


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges([], nodes=["alone"]),
        Graph.from_edges([], nodes=["alone", 2, 3]),
        Graph.from_edges([("alone", "b")]),
    ],
    ids=repr,
)
def test_the_smallest_graphs_grow(graph):
    learned = quick().fit(graph).partial_fit([("alone", "new")])
    assert np.isfinite(vectors_of(learned)).all()
    assert len(learned.embedding_) == graph.n_nodes + 1


def test_growing_repeats_to_the_last_bit_and_never_takes_the_same_walks(halfway):
    before, edges = halfway
    assert np.array_equal(vectors_of(grown(before, edges)), vectors_of(grown(before, edges)))
    learned = quick(walks_per_node=50, learning_rate=1e-9).fit(CLUB)
    curves = [learned.partial_fit([edge]).loss_curve_ for edge in ((1, 30), (1, 27))]
    assert not np.array_equal(*curves)


def test_a_model_that_has_not_learned_learns_from_all_edges():
    learned = quick().partial_fit(CLUB)
    assert np.array_equal(vectors_of(learned), vectors_of(quick().fit(CLUB)))
    learned.partial_fit([(1, "new")])
    assert len(learned.embedding_) == 35


def test_what_cannot_grow_is_refused_and_stays_as_it_was():
    learned = quick().fit(CLUB)
    before = learned.embedding_
    with pytest.raises(InputError, match="cannot make a graph"):
        learned.partial_fit(7)
    with pytest.raises(InputError, match="8 dimensions of 1 window, not 9 of 1: reset dimensions"):
        learned.set_params(dimensions=9).partial_fit([(1, 30)])
    with pytest.raises(InputError, match="8 dimensions of 1 window, not 16 of 1"):
        learned.set_params(dimensions=16).partial_fit([(1, 30)])
    with pytest.raises(InputError, match=r"8 dimensions of 1 window, not 8 of 2: .* and window"):
        learned.set_params(dimensions=8, window=(1, 10)).partial_fit([(1, 30)])
    with pytest.raises(InputError, match="window must be"):
        learned.set_params(window=0).partial_fit([(1, 30)])
    with pytest.raises(InputError, match="learning_rate"):
        learned.set_params(window=10, learning_rate=1e30).partial_fit([(1, 30)])
    assert learned.embedding_ is before
    assert learned.graph_ is CLUB
    learned.set_params(learning_rate=0.025).partial_fit([(1, 30)])


def test_a_whole_graph_that_has_grown_is_taken_as_it_is():
    before = [("a", "b", 2.0), ("b", "c", 3.0), ("c", "a", 1.0)]
    learner = quick().fit(before)
    learner.partial_fit([*before[:2], ("c", "a", 5.0), ("new", "b", 4.0)])
    assert learner.graph_.to_scipy().sum() == 2 * (2 + 3 + 5 + 4)
    touched = updating.grown(learner.graph_, [*before[:2], ("c", "a", 5.0), ("b", "new", 7.0)])[1]
    assert learner.graph_.ids[touched].tolist() == ["b", "new"]
    vectors = vectors_of(learner)
    assert vectors_of(learner.partial_fit(learner.graph_)) is vectors
    learner.partial_fit([("a", "b", 1.0)])  # a part of it adds up
    assert learner.graph_.to_scipy().sum() == 2 * (3 + 3 + 5 + 4)


def test_an_unknown_option_is_named_with_the_method_that_was_called():
    for fit in (quick().fit, quick().fit_walks, quick().partial_fit):
        with pytest.raises(TypeError, match=rf"{fit.__name__}\(\) got an unexpected .* 'typo'"):
            fit([[1, 2]], typo=1)


def test_walks_alone_cannot_grow():
    learned = quick().fit_walks([[1, 2, 3]])
    assert learned.graph_ is None
    with pytest.raises(InputError, match="partial_fit needs a graph"):
        learned.partial_fit([(1, 2)])
    learned.fit(CLUB).partial_fit([(1, 30)])


# -- defaults train everywhere -------------------------------------------------------------------


def star(leaves):
    return Graph.from_edges([(0, leaf) for leaf in range(1, leaves + 1)])


STAR = star(3000)


@pytest.mark.parametrize(
    "make", [partial(Reinforce2Vec, walks_per_node=2), partial(reinforce2vec.LINE, dimensions=16)]
)
@pytest.mark.parametrize("graph", [star(300), rmat(8)], ids=["star", "rmat"])
def test_defaults_train_with_any_number_of_threads_and_give_the_same(make, graph):
    vectors = [vectors_of(make(workers=workers).fit(graph)) for workers in (1, 16, 32)]
    assert np.isfinite(vectors[0]).all()
    assert vectors[0].tobytes() == vectors[1].tobytes() == vectors[2].tobytes()


@pytest.mark.parametrize("engine", ENGINES)
def test_hubs_train_at_the_default_rate(engine, monkeypatch):
    monkeypatch.setenv(VARIABLE, engine)
    pairs = [(star * 301, star * 301 + leaf) for star in range(20) for leaf in range(1, 301)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for graph in (STAR, Graph.from_edges(pairs)):
            found = Reinforce2Vec(16, walks_per_node=1, workers=2).fit(graph, progress=False)
            assert found._state.rates == ()  # it did not begin again
            assert found.loss_curve_[-1].max() < 2.5  # guessing has 4.16
    near = found.embedding_.most_similar(1, 10)
    assert {node // 301 for node, _ in near} == {0}  # leaves of the same star


@pytest.mark.parametrize(("known", "new"), [(int, str), (str, int)])
def test_new_edges_with_ids_of_another_type_are_refused(known, new):
    ring = [(known(a), known((a + 1) % 9)) for a in range(9)]
    model = Reinforce2Vec(4, walks_per_node=1, workers=1).fit(ring, progress=False)
    with pytest.raises(InputError, match="is new, but there is a node"):
        model.partial_fit([(new(70), new(3))], progress=False)
    model.partial_fit([("stranger", known(3))], progress=False)
    assert len(model.embedding_) == 10
