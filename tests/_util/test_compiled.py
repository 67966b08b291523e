"""Functions that only kernels call become part of their code; none is compiled by itself."""

from __future__ import annotations

import gc
import importlib.util
import sys

import numpy as np
import pytest
from numba.core.caching import NullCache

from reinforce2vec._util import compiled
from reinforce2vec._util.compiled import INTERPRETED, inlined, inner, kernel

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


@inner
def scaled(array, at, weights):
    """An entry, weighted if there are weights."""
    if weights is None:
        return array[at]
    return array[at] * weights[at]


@inlined
def shifted(value, by):
    return value + by


@kernel
def fill(array, weights, out):
    for at in range(array.size):
        out[at] = shifted(scaled(array, 0, weights), 1) + shifted(scaled(array, at, weights), at)


if not INTERPRETED:
    fill._cache = NullCache()  # compiled in every run of the tests


def filled(weights):
    array, out = np.arange(4.0), np.empty(4)
    fill(array, weights, out)
    return out.tolist()


@pytest.mark.slow
def test_a_kernel_computes_with_the_functions_that_are_part_of_it():
    assert filled(None) == [1, 3, 5, 7]
    assert filled(np.full(4, 2.0)) == [1, 4, 7, 10]


@pytest.mark.skipif(compiled.LeanCompiler is None, reason="numba compiles them in its own way")
def test_no_machine_code_is_made_of_them_and_constants_make_no_second_version():
    filled(None)
    for function in (scaled, shifted):
        assert function.overloads
        for code in function.overloads.values():
            assert not any(hasattr(kind, "literal_value") for kind in code.signature.args)
            assert code.library._compiled_object is None
    assert all(code.library._compiled_object for code in fill.overloads.values())


@pytest.mark.slow
def test_another_version_of_numba_compiles_them_in_its_own_way(monkeypatch):
    monkeypatch.setitem(sys.modules, "reinforce2vec._util.lean_compiler", None)
    spec = importlib.util.spec_from_file_location("reinforce2vec._util.again", compiled.__file__)
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    other = again.kernel(fill.py_func)
    other._cache = NullCache()
    parts = {"scaled": again.inner(scaled.py_func), "shifted": again.inlined(shifted.py_func)}
    for name, part in parts.items():
        monkeypatch.setitem(globals(), name, part)
    out = np.empty(4)
    other(np.arange(4.0), None, out)
    assert out.tolist() == [1, 3, 5, 7]
    assert len(parts["scaled"].signatures) == 2  # with a constant index, too


def test_python_can_call_them_too():
    for _ in range(2):  # the second call finds what the first one compiled
        assert scaled(np.array([3.0, 4.0]), 1, None) == 4.0
        assert shifted(2, 3) == 5
    assert filled(None) == [1, 3, 5, 7]


def test_compiling_leaves_garbage_collection_on():
    @kernel
    def last(array):
        return array[array.size - 1]

    assert last(np.arange(3)) == 2
    assert gc.isenabled()
