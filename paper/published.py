"""The paper's own numbers, in percent, for comparison.

Xiao, Zhao, Zheng and Song, "Vertex-reinforced Random Walk for Network Embedding" (SDM 2020).
Tables are numbered as in the paper. It gives no spread; its figures give no numbers.
"""

from __future__ import annotations

OPERATOR_NAMES = ("hadamard", "average", "l1", "l2")

_LinkScores = dict[str, float]  # by operator: AUC
_F1Scores = dict[str, float]  # "micro" and "macro": F1


def _links(*scores: float) -> _LinkScores:
    return dict(zip(OPERATOR_NAMES, scores, strict=True))


def _groups(*scores: float) -> _F1Scores:
    return dict(zip(("micro", "macro"), scores, strict=False))


# Table 4: AUC of link prediction, half of the edges removed; by graph and method.
TABLE_4: dict[str, dict[str, _LinkScores]] = {
    "facebook": {
        "deepwalk": _links(96.8, 72.4, 95.7, 95.8),
        "node2vec": _links(96.8, 72.7, 96.0, 96.1),
        "line": _links(95.9, 70.3, 93.8, 94.1),
        "hope": _links(94.9, 42.1, 92.8, 94.3),
        "grarep": _links(94.7, 39.8, 76.0, 84.7),
        "reinforce2vec": _links(95.3, 56.1, 98.9, 98.9),
    },
    "ca-astroph": {
        "deepwalk": _links(93.4, 70.7, 82.8, 83.1),
        "node2vec": _links(93.7, 72.2, 84.7, 84.8),
        "line": _links(89.0, 65.2, 88.1, 88.6),
        "hope": _links(93.1, 34.6, 89.2, 90.8),
        "grarep": _links(87.7, 41.3, 87.5, 83.4),
        "reinforce2vec": _links(84.0, 63.3, 97.4, 97.5),
    },
}


# Table 5: AUC of link prediction on Facebook; by reward and exploration.
TABLE_5: dict[tuple[str, str], _LinkScores] = {
    ("vertex", "none"): _links(70.6, 53.9, 72.8, 73.8),
    ("vertex", "epsilon"): _links(94.3, 59.2, 95.4, 95.7),
    ("vertex", "ucb"): _links(96.2, 54.9, 96.2, 96.4),
    ("kl", "none"): _links(66.8, 51.2, 62.5, 63.4),
    ("kl", "epsilon"): _links(93.8, 56.0, 98.3, 98.4),
    ("kl", "ucb"): _links(94.5, 53.8, 98.3, 98.4),
    ("js", "none"): _links(70.0, 53.5, 61.0, 61.7),
    ("js", "epsilon"): _links(96.1, 63.5, 98.6, 98.7),
    ("js", "ucb"): _links(95.3, 56.1, 98.9, 98.9),
}

# Table 7: micro F1 with 50% of the nodes labelled (DBLP: 5%); by graph and method.
TABLE_7: dict[str, dict[str, _F1Scores]] = {
    "blogcatalog": {
        "deepwalk": _groups(38.2),
        "node2vec": _groups(40.1),
        "line": _groups(22.2),
        "grarep": _groups(33.5),
        "hope": _groups(34.1),
        "reinforce2vec": _groups(41.4),
    },
    "ppi": {
        "deepwalk": _groups(21.2),
        "node2vec": _groups(21.5),
        "line": _groups(20.1),
        "grarep": _groups(20.5),
        "hope": _groups(21.1),
        "reinforce2vec": _groups(22.5, 18.6),  # macro F1 from Table 8
    },
    "dblp": {
        "deepwalk": _groups(57.8),
        "node2vec": _groups(58.1),
        "line": _groups(49.6),
        "grarep": _groups(53.2),
        "hope": _groups(56.8),
        "reinforce2vec": _groups(58.7),
    },
}


def best_f1(graph: str) -> _F1Scores:
    """Return the best micro and macro F1 of Table 7 on a graph, as far as the paper has them."""
    rows = TABLE_7.get(graph, {}).values()
    found = {name: [row[name] for row in rows if name in row] for name in ("micro", "macro")}
    return {name: max(scores) for name, scores in found.items() if scores}


# Table 8: micro and macro F1 on PPI with 50% of the nodes labelled; by reward and exploration.
TABLE_8: dict[tuple[str, str], _F1Scores] = {
    ("vertex", "none"): _groups(10.9, 8.9),
    ("vertex", "epsilon"): _groups(19.0, 16.2),
    ("vertex", "ucb"): _groups(18.9, 16.3),
    ("kl", "none"): _groups(10.9, 9.3),
    ("kl", "epsilon"): _groups(21.4, 17.5),
    ("kl", "ucb"): _groups(22.0, 18.2),
    ("js", "none"): _groups(10.7, 9.1),
    ("js", "epsilon"): _groups(21.9, 18.3),
    ("js", "ucb"): _groups(22.5, 18.6),
}

# Figure 2: distinct nodes in the last 100 of 10,000 steps of VRRW on PPI, by its caption.
STUCK_NODES = 4

# Figure 4: the ε tried, and the best of them, by the text.
EPSILONS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
BEST_EPSILON = {"ppi": 0.5, "facebook": 0.3}
