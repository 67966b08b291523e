"""With NUMBA_DISABLE_JIT=1 Python runs the kernels: same graphs, and not a single warning."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import pathlib, sys
import numpy as np
import reinforce2vec as r2v
from reinforce2vec.graph.fingerprint import fingerprint

file = pathlib.Path(sys.argv[1], "edges.csv")

def read(text):
    file.write_text(text, encoding="utf-8")
    return r2v.read_graph(file)

graphs = [
    r2v.karate_club(),
    r2v.Graph.from_edges(np.array([[2**63 - 1, -(2**63)], [-(2**63), 5], [5, -1]])),
    r2v.Graph.from_edges([("a", "b", 2.0), ("b", "c", 1.5), ("b", "a", 1.0)], directed=True),
    r2v.rmat(6, 20, seed=1),
    read("# comment\\n1 2\\n2 3\\n"),
    read("9223372036854775807 -9223372036854775808\\n99999999999999999999 3\\n"),
    read("ann bob 2.5\\nbob cid 1e3\\ncid \\u00e9 12345678901234567890\\n"),
    read('source,target,weight\\n"a b",c,.5\\n'),
    read("".join(f"n{i} n{i * 7 % 2100}\\n" for i in range(2100)) + "x 5\\n"),
]
for graph in graphs:
    alias = () if graph.alias is None else graph.alias
    print(fingerprint(graph, *alias), graph.n_components)
print(r2v.find_communities(graphs[0]).tolist())
vectors = r2v.Embedding(range(34), graphs[0].to_scipy().toarray())
vectors.save(file.with_suffix(".txt"))
loaded = r2v.Embedding.load(file.with_suffix(".txt"))
assert np.array_equal(loaded.vectors, vectors.vectors)
print(r2v.nearest_neighbors(loaded, k=3).rows.tolist())
print(list(r2v.recommend_links(loaded, (graphs[0].ids[graphs[0].indices[:20]] - 1).reshape(-1, 2))))
file.with_suffix(".txt").write_text("a\\tb\\nb\\tc\\td\\n")
print(r2v.read_walks(file.with_suffix(".txt")).nodes.tolist())
"""


@pytest.mark.slow
def test_small_graphs_are_built_and_read_without_the_compiler(tmp_path):
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path)]
    found = [
        subprocess.run(
            command,
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        for disabled in ("0", "1")
    ]
    for process in found:
        assert process.returncode == 0, process.stderr
        assert process.stderr == ""
    compiled, plain = (process.stdout.splitlines() for process in found)
    assert len(plain) == 13
    assert plain == compiled
