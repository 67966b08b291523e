"""What the peers' scripts share: options, the graph, and answering one request a line."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

import numpy as np


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--graph", required=True, help=".npz with indptr, indices and starts")
    parser.add_argument("--length", type=int, default=40, help="nodes in a walk")
    parser.add_argument("--per-node", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--order", choices=["first", "second"], default="first")
    parser.add_argument("--p", type=float, default=0.5)
    parser.add_argument("--q", type=float, default=2.0)
    return parser.parse_args()


def serve(make_walks: Callable[[int], Callable[[], int]]) -> None:
    """Answer each line of standard input with the steps made and the seconds they took.

    `make_walks(seed)` does the work and returns a function that counts the steps afterwards. The
    first call, which may compile, is not reported.
    """
    make_walks(0)()
    print("ready", flush=True)
    for seed, _ in enumerate(sys.stdin, 1):
        start = time.perf_counter()
        count = make_walks(seed)
        seconds = time.perf_counter() - start
        print(json.dumps({"steps": count(), "seconds": seconds}), flush=True)


def load_graph(path: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    arrays = np.load(path)
    return arrays["indptr"], arrays["indices"], arrays["starts"]
