"""The paper's equations in closed form, one small function each.

Notation (the paper's): at decision n the path is X(0), ..., X(n); N nodes; c is how often a
candidate x occurs in the walk's memory, and c_u how often the start u does. There are two
variants:

=====================  ======================================  ===================================
occupation             "graph": the equations as printed       "path": what the released code does
=====================  ======================================  ===================================
memory holds           X(1), ..., X(n)                         X(0), ..., X(n)
local time z of x      1 + c                                   c
total T                n + N                                   n + 1
JS reward              the divergence                          its square root, the distance
=====================  ======================================  ===================================

Everything depends on the small integers n, c and c_u only. Logarithms come from tables filled
once here; all else adds, multiplies, divides and takes square roots, which IEEE 754 rounds one
way, and the series for logarithms and `exp` below are made of those. So a score has the same bits
on every machine and device. For small counts even this is looked up (`_softmax_tables`).
"""

from __future__ import annotations

from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.compiled import inlined, inner

_VERTEX, _KL, _JS = 0, 1, 2
_REWARDS = {"vertex": _VERTEX, "kl": _KL, "js": _JS}

_TABLE_COUNTS = 32  # counts below this are looked up in _softmax_tables
_TABLE_DECISIONS = 1 << 14  # longer walks have no tables, which would take more than 4 MB
_LARGEST_EXPONENT = 600.0  # tables hold exp of scores only where nothing overflows


class Scores(NamedTuple):
    """Everything a kernel needs to score a candidate, for walks of one length on one graph."""

    reward: int
    path: bool  # occupation over the path, not over the whole graph
    inverse_temperature: float
    attraction: float  # times the weight of whatever was visited
    explore: NDArray[np.float64]  # by n: the weight of the exploration score, annealed
    total: NDArray[np.float64]  # by n: T
    of_total: NDArray[np.float64]  # by n: the divergence's part that depends on T alone
    unvisited_js: NDArray[np.float64]  # by n: log(1 - 1/(2T+1))
    of_count: NDArray[np.float64]  # by z: z log(1 + 1/z) (KL), log(1 - 1/(2z+1)) (JS)
    of_next_count: NDArray[np.float64]  # by z: log(1 + 1/(2z+1)) (JS)
    log_visits: NDArray[np.float64]  # by c: log(1 + c)
    vertex_bonus: NDArray[np.float64]  # by c: 0.9^(1+c) for VRRW with UCB on the path, else 0
    explore_table: NDArray[np.float64]  # by c_u, c: exp of the UCB score
    exploit_table: NDArray[np.float64]  # by n, c: exp of the score that c_u does not touch


def make_scores(
    reward: str,
    path: bool,
    temperature: float,
    attraction: float,
    explore: NDArray[np.float64],
    n_nodes: int,
) -> Scores:
    """Fill the tables for walks that make len(explore) decisions."""
    decisions = len(explore)
    T = np.arange(decisions, dtype=np.float64) + (1 if path else max(n_nodes, 1))
    z = np.arange(decisions + 2, dtype=np.float64)
    divergence_of = _REWARDS[reward]
    if divergence_of == _KL:
        of_total = _log_one_plus_inverse(T)
        of_count = z * _log_one_plus_inverse(np.maximum(z, 1))  # 0 log 0 = 0
    else:
        of_total = _log_one_minus_inverse((2 * T + 1) ** 2)
        of_count = _log_one_minus_inverse(2 * np.maximum(z, 1) + 1)
    bonus = np.cumprod(np.full(z.size, 0.9)) if path else np.zeros_like(z)
    scores = Scores(
        reward=divergence_of,
        path=path,
        inverse_temperature=1 / temperature,
        attraction=attraction,
        explore=explore,
        total=T,
        of_total=of_total,
        unvisited_js=_log_one_minus_inverse(2 * T + 1),
        of_count=of_count,
        of_next_count=_log_one_plus_inverse(2 * z + 1),
        log_visits=np.cumsum(np.append(0.0, _log_one_plus_inverse(z[1:]))),
        vertex_bonus=bonus if divergence_of == _VERTEX else np.zeros_like(z),
        exploit_table=np.zeros((0, 0)),
        explore_table=np.zeros((0, 0)),
    )
    if decisions > _TABLE_DECISIONS:
        return scores
    exploit_table, explore_table = _softmax_tables(scores, min(_TABLE_COUNTS, decisions + 1))
    return scores._replace(exploit_table=exploit_table, explore_table=explore_table)


def softmax_bounds(scores: Scores) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds of a candidate's weight relative to an unvisited one's, for DRRW with UCB.

    By n: an upper bound, since no divergence is below 0 and U is largest where c is 0. By c_u: a
    lower bound, since Q grows with c and U stays above 0. The margins outweigh all rounding.
    """
    tops = _exponentials(_divergences(scores, 1)[:, 0] * scores.inverse_temperature)
    tops *= max(scores.attraction, 1.0)
    steepest = scores.explore.max(initial=0.0) * scores.inverse_temperature
    floors = _exponentials(-np.sqrt(scores.log_visits) * steepest)
    floors *= min(scores.attraction, 1.0)
    return tops * (1 + 1e-12), floors * (1 - 1e-12)


# -- the functions kernels call ------------------------------------------------------------------


@inner
def _kl_divergence(scores, n, z):
    """Return D_KL(w(n) || w^x(n)) = log((T+1)/T) - (z/T) log((z+1)/z)."""
    return scores.of_total[n] - scores.of_count[z] / scores.total[n]


@inner
def _js_divergence(scores, n, z):
    """Return D_JS(w(n), w^x(n)) in nats.

    With e = log(1 - 1/((2z+1)(2T+1))) the N-term sums fold into
    2 D = log(1 - 1/(2T+1)^2) + (z/T) (log(2z/(2z+1)) - e) + ((z+1)/(T+1)) (log((2z+2)/(2z+1)) - e).
    """
    T = scores.total[n]
    if z == 0:
        e = scores.unvisited_js[n]
    else:
        y = 1.0 / ((2.0 * z + 1.0) * (2.0 * T + 1.0))
        e = _log_one_minus(y)
    seen = (z / T) * (scores.of_count[z] - e)
    added = ((z + 1.0) / (T + 1.0)) * (scores.of_next_count[z] - e)
    return 0.5 * (scores.of_total[n] + seen + added)


@inner
def divergence(scores, n, c):
    """Return how far the occupation vector moves if a node seen c times comes next (DRRW's Q')."""
    z = c if scores.path else c + 1
    if scores.reward == _KL:
        return _kl_divergence(scores, n, z)
    d = _js_divergence(scores, n, z)
    return np.sqrt(max(d, 0.0)) if scores.path else d


@inner
def exploitation(scores, n, c):
    """Return Q: 1 + c for VRRW (with its bonus on the path), 1 - divergence for DRRW."""
    if scores.reward == _VERTEX:
        return 1.0 + c + scores.explore[n] * scores.vertex_bonus[c]
    return 1.0 - divergence(scores, n, c)


@inner
def exploration(scores, c_u, c):
    """Return U = sqrt(log(1 + c_u) / (1 + c)); 0 where VRRW on the path has its bonus instead."""
    if scores.path and scores.reward == _VERTEX:
        return 0.0
    return np.sqrt(scores.log_visits[c_u] / (1.0 + c))


@inner
def exponent(scores, n, c_u, c):
    """Return (Q + weight U) / temperature of a node seen c times, less that of an unvisited one."""
    exploit = exploitation(scores, n, c) - exploitation(scores, n, 0)
    explore = exploration(scores, c_u, c) - exploration(scores, c_u, 0)
    return (exploit + scores.explore[n] * explore) * scores.inverse_temperature


@inlined
def softmax_weight(scores, n, c_u, c, shift):
    """Return exp(exponent - shift) of a node seen c times, times the attraction if it was visited.

    Looked up in the tables where they reach.
    """
    tabled = scores.explore_table.shape[0]
    if c < tabled and c_u < tabled and shift == 0.0:
        return (
            scores.exploit_table[n, np.uint32(c)]
            * scores.explore_table[np.uint32(c_u), np.uint32(c)]
        )
    weight = exp(exponent(scores, n, c_u, c) - shift)
    return weight * scores.attraction if c > 0 else weight


# -- tables of them ------------------------------------------------------------------------------
# The same equations, operation by operation, for arrays: numpy does not have to be compiled.


def _softmax_tables(scores: Scores, counts: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return exp of the scores of counts below `counts`, relative to an unvisited node's.

    There are two factors: exploit_table[n, c] * explore_table[c_u, c] is the weight. Both
    are empty where the exploration weight changes along the walk or a score is too large: kernels
    then compute.
    """
    exploit = _exploitations(scores, counts)
    explore = _explorations(scores, counts)
    exploit = (exploit - exploit[:, :1]) * scores.inverse_temperature
    weight = scores.explore[:1].sum()  # of the first decision, if there is one
    explore = weight * (explore - explore[:, :1]) * scores.inverse_temperature
    small = [(np.abs(table) <= _LARGEST_EXPONENT).all() for table in (exploit, explore)]
    if not all(small) or (scores.explore != weight).any():
        return np.empty((0, 0)), np.empty((0, 0))
    exploit, explore = _exponentials(exploit), _exponentials(explore)
    exploit[:, 1:] *= scores.attraction
    return exploit, explore


def _divergences(scores: Scores, counts: int) -> NDArray[np.float64]:
    """Return :func:`divergence` by n, and by c below `counts`."""
    z = np.arange(counts) + (0 if scores.path else 1)
    T, of_total = scores.total[:, None], scores.of_total[:, None]
    if scores.reward == _KL:
        return of_total - scores.of_count[z] / T
    y = 1.0 / ((2.0 * z + 1.0) * (2.0 * T + 1.0))
    e = np.where(z == 0, scores.unvisited_js[:, None], _log_one_minus_array(y))
    seen = (z / T) * (scores.of_count[z] - e)
    added = ((z + 1.0) / (T + 1.0)) * (scores.of_next_count[z] - e)
    d = 0.5 * (of_total + seen + added)
    return np.sqrt(np.maximum(d, 0.0)) if scores.path else d


def _exploitations(scores: Scores, counts: int) -> NDArray[np.float64]:
    """Return :func:`exploitation` by n, and by c below `counts`."""
    if scores.reward == _VERTEX:
        bonus = scores.explore[:, None] * scores.vertex_bonus[:counts]
        return 1.0 + np.arange(counts) + bonus
    return 1.0 - _divergences(scores, counts)


def _explorations(scores: Scores, counts: int) -> NDArray[np.float64]:
    """Return :func:`exploration` by c_u and c, both below `counts`."""
    if scores.path and scores.reward == _VERTEX:
        return np.zeros((counts, counts))
    return np.sqrt(scores.log_visits[:counts, None] / (1.0 + np.arange(counts)))


# -- elementary functions with one result everywhere ---------------------------------------------

_POWERS_OF_TWO = np.ldexp(1.0, np.arange(-1074, 1024))
_TAYLOR = np.array([1 / factorial(i) for i in range(14)])
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490  # exact in 32 bits, so that k * _LN2_HIGH is exact
_LN2_LOW = 1.90821492927058770002e-10


@inner
def exp(x):
    """Return e^x to within 2 units in the last place, from adds and multiplies only.

    Below -700 it gives 0, above 700 infinity.
    """
    if not x >= -700.0:
        return 0.0
    if x > 700.0:
        return np.inf
    k = np.int64(np.floor(x * _LOG2_E + 0.5))
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    series = _TAYLOR[13]
    for i in range(12, -1, -1):
        series = series * r + _TAYLOR[i]
    return series * _POWERS_OF_TWO[k + 1074]


@inner
def _log_one_minus(y):
    """Return log(1 - y) for 0 < y <= 1/9, as -2 artanh(y / (2 - y)); the rest is below 1e-17."""
    s = y / (2.0 - y)
    square = s * s
    series = 0.0
    for i in range(15, 0, -2):
        series = 1.0 / i + series * square
    return -2.0 * s * series


def _exponentials(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return :func:`exp` of an array."""
    inside = np.clip(x, -700.0, 700.0)
    k = np.floor(inside * _LOG2_E + 0.5)
    r = (inside - k * _LN2_HIGH) - k * _LN2_LOW
    series = np.full_like(r, _TAYLOR[13])
    for i in range(12, -1, -1):
        series = series * r + _TAYLOR[i]
    powers = series * _POWERS_OF_TWO[k.astype(np.int64) + 1074]
    return np.where(x > 700.0, np.inf, np.where(x >= -700.0, powers, 0.0))


def _log_one_minus_array(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return :func:`_log_one_minus` of an array."""
    s = y / (2.0 - y)
    square = s * s
    series = np.zeros_like(s)
    for i in range(15, 0, -2):
        series = 1.0 / i + series * square
    return -2.0 * s * series


def _log_one_plus_inverse(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(1 + 1/x) for x >= 1, as 2 artanh(1 / (2x + 1))."""
    return 2.0 * _artanh(1.0 / (2.0 * x + 1.0))


def _log_one_minus_inverse(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(1 - 1/x) for x >= 3, as -2 artanh(1 / (2x - 1))."""
    return -2.0 * _artanh(1.0 / (2.0 * x - 1.0))


def _artanh(s: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return artanh(s) for 0 < s <= 1/3 by its series, whose rest is below 1e-17."""
    square = s * s
    series = np.zeros_like(s)
    for i in range(37, 0, -2):
        series = 1.0 / i + series * square
    return s * series
