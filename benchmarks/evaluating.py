"""How good vectors are: labels of nodes, and edges that were taken away."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reinforce2vec.embedding import OPERATORS

# -- node classification -------------------------------------------------------------------------


def classify_nodes(
    vectors: np.ndarray, labels: np.ndarray, shuffle: int, train: float = 0.5
) -> dict[str, float]:
    """Micro and macro F1 in percent, one-vs-rest, the number of labels of a node being known."""
    order = np.random.default_rng(shuffle).permutation(len(vectors))
    known, asked = np.split(order, [int(train * len(order))])
    classifier = OneVsRestClassifier(LogisticRegression(solver="liblinear", C=1.0))
    classifier.fit(vectors[known], labels[known])
    found = most_likely(classifier.predict_proba(vectors[asked]), labels[asked].sum(axis=1))
    return {
        f"{kind}-F1": 100 * f1_score(labels[asked], found, average=kind, zero_division=0)
        for kind in ("micro", "macro")
    }


def most_likely(scores: np.ndarray, how_many: np.ndarray) -> np.ndarray:
    """Of each row as many labels as it has, those with the highest scores."""
    rank = (-scores).argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    return (rank < how_many[:, None]).astype(np.int64)


# -- link prediction, the `shared` protocol --------------------------------------------------------


def hold_out_edges(
    adjacency: sparse.csr_array, seed: int, part: float = 0.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges kept, edges taken away and as many pairs that are none, each an (m, 2) array.

    What is kept holds a random spanning tree, so that it is as connected as the graph was.
    """
    rng = np.random.default_rng(seed)
    upper = sparse.triu(adjacency, k=1).tocoo()
    weights = rng.uniform(1, 2, upper.nnz)
    order = np.lexsort((upper.col, upper.row))
    edges = np.column_stack([upper.row[order], upper.col[order]]).astype(np.int64)
    shape = adjacency.shape
    tree = minimum_spanning_tree(sparse.csr_array((weights, edges.T), shape=shape)).tocoo()
    keys = pair_keys(edges, shape[0])
    removable = ~np.isin(keys, pair_keys(np.column_stack([tree.row, tree.col]), shape[0]))
    removed = rng.choice(np.flatnonzero(removable), int(part * len(edges)), replace=False)
    kept = np.delete(edges, removed, axis=0)
    return kept, edges[removed], draw_non_edges(keys, shape[0], len(removed), rng)


def draw_non_edges(
    keys: np.ndarray, n_nodes: int, how_many: int, rng: np.random.Generator
) -> np.ndarray:
    """Different random pairs that are no edges."""
    found = np.empty(0, np.int64)
    while len(found) < how_many:
        pairs = np.sort(rng.integers(0, n_nodes, (2 * how_many, 2)), axis=1)
        drawn = pair_keys(pairs[pairs[:, 0] != pairs[:, 1]], n_nodes)
        found = np.union1d(found, drawn[~np.isin(drawn, keys)])
    chosen = rng.choice(found, how_many, replace=False)
    return np.column_stack(np.divmod(chosen, n_nodes))


def pair_keys(pairs: np.ndarray, n_nodes: int) -> np.ndarray:
    """One number for each pair, whichever end comes first."""
    low, high = np.sort(pairs.astype(np.int64), axis=1).T
    return low * n_nodes + high


def predict_links(
    vectors: np.ndarray, edges: np.ndarray, non_edges: np.ndarray, shuffle: int
) -> dict[str, float]:
    """AUC in percent of each operator; half of the pairs train the classifier, half test it."""
    pairs = np.concatenate([edges, non_edges])
    truth = np.repeat([1, 0], [len(edges), len(non_edges)])
    order = np.random.default_rng(shuffle).permutation(len(pairs))
    known, asked = np.split(order, 2)
    found = {}
    for name, operator in OPERATORS.items():
        features = operator(vectors[pairs[:, 0]], vectors[pairs[:, 1]])
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        classifier.fit(features[known], truth[known])
        scores = classifier.decision_function(features[asked])
        found[f"AUC {name}"] = 100 * roc_auc_score(truth[asked], scores)
    return found
