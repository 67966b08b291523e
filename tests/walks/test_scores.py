"""The closed forms say what the equations say, on whole vectors and in full precision."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.stats import entropy

from reinforce2vec.walks import scores as scoring

DECISIONS = 2_001
GRAPH_SIZES = [2, 3, 10, 500, 20_000]
CLOSE = 1e-14  # absolute; the sums of whole vectors are themselves this exact


def scores_for(
    reward, *, path=False, n_nodes=100, decisions=DECISIONS, alpha=0.0, temperature=1.0,
    attraction=1.0,
):  # fmt: skip
    explore = np.full(decisions, alpha)
    return scoring.make_scores(reward, path, temperature, attraction, explore, n_nodes)


def history(n, c, others, rng):
    """Visits of x (c of them) and of `others` more nodes, n in all."""
    return np.concatenate([[c], rng.multinomial(n - c, np.full(others, 1 / others))])


def whole_vector_divergence(reward, local_time):
    """The divergence between w(n) and w^x(n), where x is the first node."""
    moved = local_time.copy()
    moved[0] += 1
    w, w_x = local_time / local_time.sum(), moved / moved.sum()
    if reward == "kl":
        return entropy(w, w_x)
    m = (w + w_x) / 2
    return (entropy(w, m) + entropy(w_x, m)) / 2


def histories():
    """(n, c): short and long ones, rare and frequent nodes."""
    for n in (0, 1, 2, 5, 39, 200, 2_000):
        for c in sorted({0, 1, 2, 7, n // 3, n // 2, n}):
            if c <= n:
                yield n, c


# -- divergences ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_nodes", GRAPH_SIZES)
@pytest.mark.parametrize("reward", ["kl", "js"])
def test_printed_divergences_equal_those_of_whole_vectors(reward, n_nodes):
    scores = scores_for(reward, n_nodes=n_nodes)
    rng = np.random.default_rng(n_nodes)
    for n, c in histories():
        local_time = 1 + history(n, c, n_nodes - 1, rng)
        expected = whole_vector_divergence(reward, local_time)
        assert scoring.divergence(scores, n, c) == pytest.approx(expected, rel=0, abs=CLOSE)


@pytest.mark.parametrize("reward", ["kl", "js"])
def test_released_divergences_equal_those_of_visited_nodes(reward):
    scores = scores_for(reward, path=True)
    rng = np.random.default_rng(1)
    for n, c in histories():
        if c < n:  # the start counts, and may be another node than x
            local_time = history(n + 1, c, 30, rng)
            visited = local_time[(local_time > 0) | (np.arange(31) == 0)]
            expected = whole_vector_divergence(reward, visited)
            found = scoring.divergence(scores, n, c)
            if reward == "js":
                found = found**2  # the distance
            assert found == pytest.approx(expected, rel=0, abs=CLOSE)


def decimal_divergence(reward, z, T):
    """In 50 digits. Nodes other than x all move by one ratio: together they are one entry."""
    with localcontext() as context:
        context.prec = 50
        w = [Decimal(z) / T, Decimal(T - z) / T]
        w_x = [Decimal(z + 1) / (T + 1), Decimal(T - z) / (T + 1)]
        m = [(a + b) / 2 for a, b in zip(w, w_x, strict=True)]

        def kl(p, q):
            return sum(a * (a / b).ln() for a, b in zip(p, q, strict=True) if a)

        return float(kl(w, w_x) if reward == "kl" else (kl(w, m) + kl(w_x, m)) / 2)


@pytest.mark.parametrize("n_nodes", GRAPH_SIZES)
@pytest.mark.parametrize("reward", ["kl", "js"])
def test_even_tiny_divergences_have_right_digits(reward, n_nodes):
    scores = scores_for(reward, n_nodes=n_nodes)
    for n, c in histories():
        expected = decimal_divergence(reward, 1 + c, n + n_nodes)
        assert scoring.divergence(scores, n, c) == pytest.approx(expected, rel=1e-8, abs=0)


# -- scores --------------------------------------------------------------------------------------


def test_ucb_score_is_the_papers():
    scores = scores_for("js", alpha=1.0)
    for c_u, c in [(0, 3), (1, 0), (5, 2), (40, 7)]:
        expected = math.sqrt(math.log(1 + c_u) / (1 + c))
        assert scoring.exploration(scores, c_u, c) == pytest.approx(expected, abs=1e-15)


def test_ucb_score_of_released_vertex_walks_fades_with_the_visits():
    scores = scores_for("vertex", path=True, alpha=0.3)
    for c in (0, 1, 10):
        score = scoring.exploitation(scores, 20, c)
        assert score == pytest.approx(1 + c + 0.3 * 0.9 ** (1 + c), abs=1e-15)
        assert scoring.exploration(scores, 5, c) == 0.0


@pytest.mark.parametrize("path", [False, True])
@pytest.mark.parametrize("reward", ["vertex", "kl", "js"])
def test_exponent_compares_a_node_with_an_unvisited_one(reward, path):
    alpha, temperature = 0.7, 0.4
    scores = scores_for(reward, path=path, alpha=alpha, temperature=temperature)
    for n, c_u, c in [(30, 0, 0), (30, 4, 0), (30, 0, 5), (30, 4, 5)]:
        of_node, of_unvisited = (
            scoring.exploitation(scores, n, visits)
            + alpha * scoring.exploration(scores, c_u, visits)
            for visits in (c, 0)
        )
        expected = (of_node - of_unvisited) / temperature
        assert scoring.exponent(scores, n, c_u, c) == pytest.approx(expected, abs=1e-13)


# -- tables --------------------------------------------------------------------------------------

WALKS = [
    (reward, path, alpha, temperature)
    for reward in ("kl", "js")
    for path in (False, True)
    for alpha, temperature in [(1.0, 1.0), (0.01, 1.0), (2.0, 0.1), (0.0, 5.0)]
]


@pytest.mark.parametrize(
    ("reward", "path", "alpha", "temperature"),
    [*WALKS, ("vertex", False, 1.0, 1.0), ("vertex", True, 0.01, 1.0)],
)
def test_tables_hold_the_softmax_weights(reward, path, alpha, temperature):
    scores = scores_for(reward, path=path, decisions=60, alpha=alpha, temperature=temperature)
    counts = scores.explore_table.shape[0]
    assert counts == scoring._TABLE_COUNTS
    for n in (0, 1, 30, 59):
        for c_u in range(0, counts, 5):
            for c in range(counts):
                product = scores.exploit_table[n, c] * scores.explore_table[c_u, c]
                expected = math.exp(scoring.exponent(scores, n, c_u, c))
                assert product == pytest.approx(expected, rel=1e-14)


def test_scores_too_large_for_floats_have_no_tables():
    scores = scores_for("vertex", alpha=1.0, temperature=0.01)
    assert scores.explore_table.size == scores.exploit_table.size == 0


@pytest.mark.parametrize("attraction", [0.03, 1.0, 7.0])
@pytest.mark.parametrize(("reward", "path", "alpha", "temperature"), WALKS)
def test_bounds_hold_for_every_weight(reward, path, alpha, temperature, attraction):
    scores = scores_for(
        reward, path=path, decisions=80, alpha=alpha, temperature=temperature, attraction=attraction
    )
    tops, floors = scoring.softmax_bounds(scores)
    for n in range(0, 80, 7):
        for c_u in range(0, n + 1, 3):
            for c in range(n + 1):
                weight = scoring.exp(scoring.exponent(scores, n, c_u, c))
                weight *= attraction if c else 1.0
                assert floors[c_u] <= weight <= tops[n]


# -- the exponential -----------------------------------------------------------------------------


def test_exp_is_right_to_two_units_in_the_last_place():
    rng = np.random.default_rng(0)
    spread = [rng.uniform(-700, 700, 50_000), rng.uniform(-2, 2, 50_000)]
    halfway = (np.arange(-1009, 1010) + 0.5) * math.log(2)  # where the power of two changes
    edges = [0.0, 1e-300, -1e-300, 1e-17, 700.0, -700.0, np.log(2), -np.log(2)]
    for x in np.concatenate([*spread, halfway, edges]):
        true = math.exp(x)
        assert abs(scoring.exp(x) - true) <= 2 * math.ulp(true), x


# -- tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [False, True])
@pytest.mark.parametrize("reward", ["js", "kl", "vertex"])
def test_tables_have_the_bits_that_kernels_compute(reward, path):
    scores = scores_for(reward, path=path, decisions=50, alpha=0.7, temperature=0.5, attraction=2.5)
    explore = scores.explore_table
    for c in range(32):
        for c_u in range(32):
            exponent = scoring.exploration(scores, c_u, c) - scoring.exploration(scores, c_u, 0)
            assert explore[c_u, c] == scoring.exp(0.7 * exponent * scores.inverse_temperature)
        for n in range(50):
            q = scoring.exploitation(scores, n, c) - scoring.exploitation(scores, n, 0)
            weight = scoring.exp(q * scores.inverse_temperature) * (2.5 if c else 1.0)
            assert scores.exploit_table[n, c] == weight
