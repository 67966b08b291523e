"""Limits of memory are known before they are hit."""

from __future__ import annotations

import sys

import pytest

from helpers.command_line import MAIN, run_python, started

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux"),
]


def limit_to(n_bytes):
    """A function that limits the addresses of the process which calls it."""

    def limit():
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))

    return limit


@pytest.mark.parametrize("megabytes", [150, 400, 700])
def test_too_few_addresses_are_refused_before_a_library_aborts(folder, megabytes):
    limit = limit_to(megabytes * 10**6)
    with started("embed", "edges.txt", "-o", "v.npz", code=MAIN, preexec_fn=limit) as process:
        out, said = process.communicate(timeout=100)
    assert (process.returncode, out) == (1, "")
    assert said.startswith(f"error: `ulimit -v` leaves {megabytes}.0 MB of address space")
    assert "raise that limit" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("megabytes", "first"),
    [
        *((megabytes, "reinforce2vec.Graph") for megabytes in (300, 500, 700)),
        (1000, "import_module('reinforce2vec.models')"),
    ],
)
def test_python_refuses_too_few_addresses_by_a_sentence(megabytes, first):
    code = f"""
import reinforce2vec
from importlib import import_module
try:
    {first}
except reinforce2vec.InputError as error:
    print(error)
"""
    said = run_python(code, preexec_fn=limit_to(megabytes * 10**6))
    assert said.startswith("`ulimit -v` leaves ")
    assert len(said.splitlines()) == 1


def test_addresses_that_are_left_count_as_free_memory():
    code = "from reinforce2vec._util.machine import available_bytes; print(available_bytes())"
    free = int(run_python(code, preexec_fn=limit_to(2 * 10**9)))
    assert 10**9 < free < 2 * 10**9
