"""What earlier versions wrote is read, updated and continued with the same bytes."""

from __future__ import annotations

import json
import platform
import sys

import pytest

from helpers.files_of_before import DIGESTS, files, outcome_of

OF_TRAINING = ("placed", "trained", "trained again")  # floats of the CPU and of its compiler
LIKE_BEFORE = sys.platform == "linux" and platform.machine() == "x86_64"


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_a_file_of_before_is_read_and_continued_with_the_same_bytes(path, tmp_path):
    if path.name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    before = json.loads(DIGESTS.read_text())[path.name]
    now = outcome_of(path, tmp_path)
    assert now.keys() == before.keys()
    for name in now if LIKE_BEFORE else now.keys() - {*OF_TRAINING}:
        assert now[name] == before[name], name
