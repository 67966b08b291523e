"""Common parts of the race's contestants: options, seconds of each stage, the vectors found.

A contestant reads an edge list of integer ids, two in each line, as its users would, and calls
`finish`. It runs in a process of its own, whose time is measured here from its start on.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

_parser = argparse.ArgumentParser()
_parser.add_argument("--edges", help="text file with two integer ids in each line")
_parser.add_argument("--out", help=".npz for ids, vectors and seconds")
_parser.add_argument("--seed", type=int, default=0)
_parser.add_argument("--threads", type=int, default=2)
_parser.add_argument("--dimensions", type=int, default=128)
_parser.add_argument("--walks", type=int, default=10, help="walks from every node")
_parser.add_argument("--length", type=int, default=40, help="nodes in a walk")
_parser.add_argument("--window", type=int, default=10)
_parser.add_argument("--negatives", type=int, default=5)
_parser.add_argument("--variant", default="", help="which of its methods or presets")
options = _parser.parse_args()

seconds: dict[str, float] = {}


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Measure the seconds of a stage: "read", "walk" or "train"."""
    begin = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - begin


def finish(ids: object, vectors: object) -> None:
    """Save the vectors, and print the seconds of the stages and the peak memory as JSON."""
    seconds["start"] = seconds_since_start() - sum(seconds.values())  # imports, most of all
    status = Path("/proc/self/status").read_text().splitlines()  # before a copy is made here
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    np.savez(options.out, ids=np.asarray(ids, np.int64), vectors=np.asarray(vectors, np.float32))
    print("\n" + json.dumps({"seconds": seconds, "peak": peak}))


def seconds_since_start() -> float:
    """Return how long this process has been running."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def finish_words(model: object) -> None:
    """Finish with the vectors of a gensim model, whose words are the ids."""
    finish([int(word) for word in model.wv.index_to_key], model.wv.vectors)


def skip_gram() -> dict:
    """Return the arguments of gensim's Word2Vec for the race's budget."""
    return {
        "vector_size": options.dimensions,
        "window": options.window,
        "negative": options.negatives,
        "sg": 1,
        "min_count": 1,
        "epochs": 1,
        "workers": options.threads,
        "seed": options.seed,
    }
