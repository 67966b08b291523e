"""Skip-gram by gensim's Word2Vec, served one request at a time.

Only `train` is timed: the vocabulary of all walks is built before, and the weights are initialized
for every request. `corpus="lists"` trains on lists of strings in memory, which is the usual way;
`corpus="file"` reads a text file in its threads, which is gensim's fast path.
"""

from __future__ import annotations

import functools
import tempfile
import time
from pathlib import Path

import numpy as np
from gensim.models import Word2Vec
from gensim.models.word2vec import FAST_VERSION
from serving import answer_requests, parse_options

assert FAST_VERSION >= 0, "gensim runs without its compiled code"
options = parse_options()
walks = np.load(options.walks)
n_nodes = int(walks.max()) + 1
visits = np.bincount(walks[walks >= 0], minlength=n_nodes)
names = [str(node) for node in range(n_nodes)]
trained = walks[: options.n_walks]
sentences = [[names[node] for node in walk if node >= 0] for walk in trained.tolist()]
n_tokens = int(np.count_nonzero(trained >= 0))
del walks, trained


@functools.cache
def untrained(dimensions: int) -> Word2Vec:
    """Return an untrained model with its vocabulary."""
    model = Word2Vec(
        sg=1,
        hs=0,
        vector_size=dimensions,
        window=options.window,
        negative=options.negatives,
        sample=0,
        min_count=1,
        workers=options.threads,
        alpha=options.learning_rate,
        epochs=1,
    )
    model.build_vocab_from_freq(
        {names[node]: int(visits[node]) for node in np.flatnonzero(visits)},
        corpus_count=len(sentences),
    )
    return model


def vectors_of(model: Word2Vec) -> np.ndarray:
    """Return one row per node; zeros where it is in no walk."""
    vectors = np.zeros((n_nodes, model.vector_size), np.float32)
    vectors[np.array(model.wv.index_to_key, np.int64)] = model.wv.vectors
    return vectors


def train(seed: int, dimensions: int, corpus: str = "lists", save: str | None = None) -> dict:
    model = untrained(dimensions)
    model.seed = seed
    model.random = np.random.RandomState(seed)  # as gensim makes it
    model.wv.vectors = model.wv.vectors[:0]  # init_weights keeps rows that are there
    model.init_weights()
    data = {"corpus_iterable": sentences} if corpus == "lists" else {"corpus_file": str(file)}
    start = time.perf_counter()
    model.train(**data, total_examples=len(sentences), total_words=n_tokens, epochs=1)
    seconds = time.perf_counter() - start
    if save:
        np.save(save, vectors_of(model))
    return {"tokens": n_tokens, "seconds": seconds}


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "walks.txt"
    file.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences))
    answer_requests(train)
