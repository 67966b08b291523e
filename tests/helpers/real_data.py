"""The paper's data sets, where this machine has them."""

from __future__ import annotations

import pytest

from helpers.paths import DATA
from reinforce2vec import load_dataset


def real_file(name):
    """Return the path of a file of the paper's data; the test is skipped where it is not there."""
    if not (DATA / name).exists():
        pytest.skip(f"needs {DATA / name}")
    return DATA / name


def load_real(name):
    """Return a data set of the paper; the test is skipped where its files are not there."""
    if not DATA.exists():
        pytest.skip(f"needs {DATA}")
    return load_dataset(name, DATA)
