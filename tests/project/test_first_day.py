"""The first day with one's own data, as examples/first_day.py plays it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from helpers.paths import ROOT


@pytest.fixture
def folder():
    """A folder that other users can enter; those of pytest are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.mark.slow
def test_a_first_day_has_no_surprise(folder):
    script = ROOT / "examples" / "first_day.py"
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(script), str(folder / "day")],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": source.rstrip(os.pathsep)},
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a whole day without a surprise" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert "nothing new" in done.stdout  # the job that was run twice
