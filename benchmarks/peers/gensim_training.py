"""Skip-gram by gensim's Word2Vec, served one request at a time.

Only `train` is timed: the vocabulary of all walks is built before, and the weights are initialized
for every request. `corpus="lists"` trains on lists of strings in memory, which is the usual way;
`corpus="file"` reads a text file in its threads, which is gensim's fast path.
"""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from gensim.models import Word2Vec
from gensim.models.word2vec import FAST_VERSION
from serving import options, serve

assert FAST_VERSION >= 0, "gensim runs without its compiled code"
walks = np.load(options.data)  # one a row, -1 after their end
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
    counts = {names[node]: int(visits[node]) for node in np.flatnonzero(visits)}
    model.build_vocab_from_freq(counts, corpus_count=len(sentences))
    return model


def train(
    seed: int, dimensions: int, corpus: str = "lists", save: str | None = None
) -> Callable[[], dict]:
    model = untrained(dimensions)
    model.seed = seed
    model.random = np.random.RandomState(seed)  # as gensim makes it
    model.wv.vectors = model.wv.vectors[:0]  # init_weights keeps rows that are there
    model.init_weights()
    data = {"corpus_iterable": sentences} if corpus == "lists" else {"corpus_file": str(file)}
    start = time.perf_counter()
    model.train(**data, total_examples=len(sentences), total_words=n_tokens, epochs=1)
    facts = {"tokens": n_tokens, "seconds": time.perf_counter() - start}
    if save:
        vectors = np.zeros((n_nodes, dimensions), np.float32)  # zeros where a node is in no walk
        vectors[np.array(model.wv.index_to_key, np.int64)] = model.wv.vectors
        np.save(save, vectors)
    return lambda: facts


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "walks.txt"
    file.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences))
    serve(train)
