"""Common parts of the peers' scripts: options as JSON, the graph, and one request per line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

options = SimpleNamespace(**json.loads(sys.argv[1]))


def serve(work: Callable[..., Callable[[], dict]]) -> None:
    """Print "ready", then answer each line, a JSON object of arguments, with a JSON object.

    `work(seed, ...)` returns a function that reports afterwards what was done; the answer has the
    seconds beside it.
    """
    print("ready", flush=True)
    for seed, line in enumerate(sys.stdin, 1):
        start = time.perf_counter()
        facts = work(seed=seed, **json.loads(line))
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, **facts()}), flush=True)


def load_graph() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indptr, indices and the nodes where walks start."""
    arrays = np.load(options.graph)
    return arrays["indptr"], arrays["indices"], arrays["starts"]
