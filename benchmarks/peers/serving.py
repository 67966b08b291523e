"""Common parts of the peers' scripts: options, the graph, and one request per line."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

import numpy as np


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--graph", help=".npz with indptr, indices and starts")
    parser.add_argument("--length", type=int, default=40, help="nodes in a walk")
    parser.add_argument("--per-node", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--order", choices=["first", "second"], default="first")
    parser.add_argument("--p", type=float, default=0.5)
    parser.add_argument("--q", type=float, default=2.0)
    parser.add_argument("--walks", help=".npy of walks, one a row, -1 after their end")
    parser.add_argument("--n-walks", type=int, help="how many of them to train on; default: all")
    parser.add_argument("--window", type=int, default=10)
    parser.add_argument("--negatives", type=int, default=5)
    parser.add_argument("--learning-rate", type=float, default=0.025)
    return parser.parse_args()


def serve(make_walks: Callable[[int], Callable[[], int]]) -> None:
    """Answer each request with the steps made and the seconds they took.

    `make_walks(seed)` does the work and returns a function that counts the steps afterwards. The
    first call, which may compile, is not reported.
    """

    def answer(seed: int) -> dict:
        start = time.perf_counter()
        count = make_walks(seed)
        seconds = time.perf_counter() - start
        return {"steps": count(), "seconds": seconds}

    make_walks(0)()
    answer_requests(answer)


def answer_requests(answer: Callable[..., dict]) -> None:
    """Print "ready", then answer each line, a JSON object of arguments, with a JSON object."""
    print("ready", flush=True)
    for seed, line in enumerate(sys.stdin, 1):
        found = answer(**{"seed": seed, **json.loads(line)})
        print(json.dumps(found), flush=True)


def load_graph(path: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    arrays = np.load(path)
    return arrays["indptr"], arrays["indices"], arrays["starts"]
