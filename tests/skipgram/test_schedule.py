"""The schedule of training: which buckets there are, when each is trained, what each may touch."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest

from reinforce2vec.skipgram import schedule
from reinforce2vec.skipgram.pairs import PairSorter
from reinforce2vec.skipgram.rules import POWER, noise_table
from reinforce2vec.skipgram.schedule import (
    blocks_for,
    dealt,
    in_turn,
    lanes_of,
    largest_pass,
    pass_size,
    rounds,
)

SIZES = [1, 2, 3, 4, 5, 8, 15, 31, 32, 33]  # how many blocks
MATRICES = pytest.mark.parametrize("one_matrix", [False, True], ids=["two", "one"])


@pytest.fixture
def deal(monkeypatch):
    """A function that deals nodes into so many blocks."""

    def _deal(n_blocks, n_nodes=500, seed=0):
        monkeypatch.setattr(schedule, "_LEAST_NODES", n_nodes // n_blocks)
        monkeypatch.setattr(schedule, "_MOST_BLOCKS", n_blocks)
        visits = np.random.default_rng(7).integers(1, 1000, n_nodes)
        return dealt(visits, seed)

    return _deal


# -- rounds --------------------------------------------------------------------------------------


def rows_of(bucket, found, one_matrix):
    """All rows that a bucket may change: the matrix and the number of each."""
    context_block, centre_block = bucket
    contexts, centres = (
        found.members[found.begins[block] : found.begins[block + 1]]
        for block in (context_block, centre_block)
    )
    outputs = "inputs" if one_matrix else "outputs"  # negatives are of the centres' block too
    return {("inputs", row) for row in contexts} | {(outputs, row) for row in centres}


def shared_rows(some, found, one_matrix):
    """Rows that more than one bucket of a round changes."""
    seen, twice = set(), set()
    for bucket in some:
        rows = rows_of(bucket, found, one_matrix)
        twice |= seen & rows
        seen |= rows
    return twice


@MATRICES
@pytest.mark.parametrize("n_blocks", SIZES)
def test_a_pass_has_every_bucket_once(n_blocks, one_matrix):
    found = [bucket for some in rounds(n_blocks, one_matrix) for bucket in some]
    assert sorted(found) == [(i, j) for i in range(n_blocks) for j in range(n_blocks)]


@MATRICES
@pytest.mark.parametrize("n_blocks", SIZES)
def test_two_buckets_of_a_round_have_no_row_in_common(deal, n_blocks, one_matrix):
    found = deal(n_blocks)
    assert found.n_blocks == n_blocks
    for some in rounds(n_blocks, one_matrix):
        assert not shared_rows(some, found, one_matrix)


@pytest.mark.parametrize("n_blocks", [2, 5, 8])
def test_a_bucket_touches_rows_of_its_own_blocks_alone(deal, n_blocks):
    """The draws included: every entry of a block's table names one of its members."""
    found = deal(n_blocks)
    sizes = np.diff(found.begins)
    others = (found.noise & np.uint64(0xFFFFFFFF)).astype(np.int64)
    assert (others < np.repeat(sizes, sizes)).all()
    for block in range(n_blocks):
        members = found.members[found.begins[block] : found.begins[block + 1]]
        assert (found.of[members] == block).all()


# -- what a bucket waits for ---------------------------------------------------------------------


@MATRICES
@pytest.mark.parametrize("n_blocks", SIZES)
def test_a_bucket_waits_for_all_earlier_ones_that_change_its_rows(n_blocks, one_matrix):
    order = in_turn(rounds(n_blocks, one_matrix), one_matrix)
    numbered = [
        (number, *bucket)
        for number, some in enumerate(rounds(n_blocks, one_matrix))
        for bucket in some
    ]
    assert order[["round", "context_block", "centre_block"]].tolist() == numbered
    changed = defaultdict(int)  # how often the rows of a block have been
    for turn in order:
        inputs = ("inputs", turn["context_block"])
        outputs = ("inputs" if one_matrix else "outputs", turn["centre_block"])
        assert turn["inputs_before"] == changed[inputs]
        assert turn["outputs_before"] == changed[outputs]
        changed[inputs] += 1
        changed[outputs] += 1


@MATRICES
@pytest.mark.parametrize("n_blocks", SIZES)
def test_lanes_divide_the_order_and_keep_it(n_blocks, one_matrix):
    """A lane has at most one bucket of a round: so no bucket waits for a later one of its lane."""
    order = in_turn(rounds(n_blocks, one_matrix), one_matrix)
    places, begins = lanes_of(order)
    assert sorted(places) == list(range(len(order)))
    assert len(begins) - 1 == n_blocks
    for begin, end in pairwise(begins):
        assert (np.diff(places[begin:end]) > 0).all()
        assert (np.diff(order["round"][places[begin:end]]) > 0).all()
        if not one_matrix:  # a thread that keeps to a lane keeps to a block
            assert len(set(order["context_block"][places[begin:end]])) == 1


# -- passes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("total", [1, 19, 20, 21, 399, 10**4, 10**6, 10**9])
@pytest.mark.parametrize("pairs", [1, 40, 440, 10**5])
@pytest.mark.parametrize("n_nodes", [1, 500, 10**4, 10**7])
def test_a_pass_is_bounded_and_there_are_enough_of_them(total, pairs, n_nodes):
    size = pass_size(total, pairs, n_nodes)
    assert 1 <= size <= total
    assert size == 1 or size * pairs <= largest_pass(n_nodes)
    assert size == 1 or total // size >= schedule._FEWEST_PASSES
    larger = size + 1  # would there be too few passes, too many pairs, or more than there need be?
    least = max(schedule._BUCKET_PAIRS * blocks_for(n_nodes) ** 2, schedule._LEAST_PAIRS)
    usual = max(schedule._NODE_PAIRS * n_nodes, least)
    most = largest_pass(n_nodes) / pairs
    assert larger > min(usual / pairs, total / schedule._FEWEST_PASSES, most)


# -- dealing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("visited", "count"),
    [(0, 1), (1, 1), (63, 1), (127, 1), (128, 2), (1000, 15), (2048, 32), (10**5, 32)],
)
def test_there_is_a_block_for_every_64_nodes_with_visits(visited, count):
    visits = np.append(np.ones(visited, np.int64), np.zeros(100, np.int64))
    assert blocks_for(visited) == count
    assert dealt(visits, 5).n_blocks == count
    assert dealt(np.random.default_rng(1).permutation(visits) * 1000.5, 5).n_blocks == count


@pytest.mark.parametrize("n_blocks", SIZES)
@pytest.mark.parametrize("n_nodes", [66, 500, 501])
def test_every_node_is_in_one_block_and_blocks_are_of_one_size(deal, n_blocks, n_nodes):
    found = deal(n_blocks, n_nodes)
    assert found.n_blocks == n_blocks
    assert sorted(found.members) == list(range(n_nodes))
    sizes = np.diff(found.begins)
    assert (np.bincount(found.of) == sizes).all()
    assert np.ptp(sizes) <= 1
    for block in range(n_blocks):
        members = found.members[found.begins[block] : found.begins[block + 1]]
        assert members.tolist() == np.flatnonzero(found.of == block).tolist()


def heavy_tailed(n_nodes=5000, idle=700):
    """Visits of all sizes; some nodes have none, and they are anywhere."""
    rng = np.random.default_rng(3)
    visits = (1e5 / np.arange(1, n_nodes + 1)).astype(np.int64)
    visits[n_nodes - idle :] = 0
    return rng.permutation(visits)


def test_the_visits_of_blocks_are_balanced():
    """The busiest nodes of two blocks differ; all that follow nearly cancel out."""
    visits = heavy_tailed()
    found = dealt(visits, 0)
    sums = np.bincount(found.of, visits)
    assert np.ptp(sums) <= visits.max()
    tail = np.where(visits > np.sort(visits)[-33], 0, visits)
    assert np.ptp(np.bincount(found.of, tail)) <= tail.max()
    equal = np.bincount(dealt(np.full(64 * 32, 10), 0).of, np.full(64 * 32, 10))
    assert np.ptp(equal) == 0


def test_the_seed_changes_the_deal_and_nothing_else_does():
    visits = heavy_tailed()
    one, again, other = dealt(visits, 1), dealt(visits.copy(), 1), dealt(visits, 2)
    for name in one._fields:
        assert getattr(one, name).tobytes() == getattr(again, name).tobytes()
    same = np.mean(one.of == other.of)
    assert abs(same - 1 / 32) < 5 * (1 / 32 / len(visits)) ** 0.5  # 5 sigma: 1 in a million
    halves = dealt(visits.astype(np.float64), 1)
    assert np.array_equal(halves.of, one.of)


# -- negatives of blocks -------------------------------------------------------------------------


def chances_of(table):
    """How likely each entry of a block's table is to be drawn."""
    kept = (table >> np.uint64(32)) / 2.0**32
    others = (table & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return (kept + np.bincount(others, 1 - kept, len(table))) / len(table)


def test_a_block_has_negatives_by_the_visits_of_its_own_nodes():
    visits = heavy_tailed()
    found = dealt(visits, 0)
    for begin, end in pairwise(found.begins):
        expected = visits[found.members[begin:end]] ** POWER
        np.testing.assert_allclose(
            chances_of(found.noise[begin:end]), expected / expected.sum(), rtol=1e-6, atol=1e-9
        )


def test_in_a_block_without_visits_all_nodes_have_the_same_chance():
    begins = np.array([0, 3, 7, 9])
    table = noise_table(np.array([1, 0, 1, 0, 0, 0, 0, 5, 5]), begins)
    np.testing.assert_allclose(chances_of(table[:3]), [0.5, 0, 0.5], atol=1e-9)
    np.testing.assert_allclose(chances_of(table[3:7]), [0.25] * 4, rtol=1e-9)
    np.testing.assert_allclose(chances_of(table[7:]), [0.5, 0.5], rtol=1e-9)
    nothing = dealt(np.zeros(5, np.int64), 0)
    np.testing.assert_allclose(chances_of(nothing.noise), [0.2] * 5, rtol=1e-9)


# -- pairs of a pass -----------------------------------------------------------------------------


class ListedPairs:
    """Finds pairs in a list: a part is a slice of it."""

    def __init__(self, pairs, of):
        self.pairs, self.of = pairs, of

    def count(self, part, counts):
        for context, centre in self.pairs[part]:
            counts[self.of[context], self.of[centre]] += 1
        return part

    def place(self, found, places, pairs):
        for context, centre in self.pairs[found]:
            bucket = self.of[context], self.of[centre]
            pairs[places[bucket]] = context << 32 | centre
            places[bucket] += 1


def sorted_by(finder, parts, n_blocks, rng, room):
    """Pairs and bounds, with parts counted and placed in a random order."""
    sorter = PairSorter(finder, parts, n_blocks)
    for number in rng.permutation(len(parts)):
        sorter.count(number)
    sorter.assign(np.full(room, 7, np.uint64))
    for number in rng.permutation(len(parts)):
        sorter.place(number)
    assert sorter.found == parts
    assert len(sorter.pairs) == max(room, sorter.bounds[-1])
    return sorter.pairs[: sorter.bounds[-1]], sorter.bounds


@pytest.mark.parametrize(
    "ends", [[], [200], [0, 0, 1], [3, 50, 50, 199], list(range(200))], ids=str
)
@pytest.mark.parametrize("n_blocks", [1, 3])
@pytest.mark.parametrize("room", [0, 199, 200, 300])
def test_pairs_are_sorted_by_bucket_and_keep_their_order_whatever_the_parts(ends, n_blocks, room):
    rng = np.random.default_rng(5)
    of, pairs = rng.integers(0, n_blocks, 20), rng.integers(0, 20, (200, 2)).tolist()
    parts = [slice(*two) for two in zip([0, *ends], [*ends, 200], strict=True)]
    expected = sorted(pairs, key=lambda pair: of[pair[0]] * n_blocks + of[pair[1]])  # stable
    found, bounds = sorted_by(ListedPairs(pairs, of), parts, n_blocks, rng, room)
    assert [[int(pair) >> 32, int(pair) & 0xFFFFFFFF] for pair in found] == expected
    sizes = np.bincount([of[a] * n_blocks + of[b] for a, b in pairs], minlength=n_blocks**2)
    assert bounds.tolist() == [0, *np.cumsum(sizes)]
