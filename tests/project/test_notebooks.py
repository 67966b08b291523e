"""The notebooks of examples/ run, print nothing to standard error, and show the committed outputs.

Run as a script, this file executes all of them and writes them with their new outputs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from helpers.paths import ROOT

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("nbclient")

FOLDER = ROOT / "examples"
NAMES = ("quickstart", "recommender", "reinforced-walks")
MOST_BYTES = 300_000

# In a process of its own, since Jupyter's packages leave sockets open. The kernel is the Python
# that runs this, whatever kernels the machine has registered.
EXECUTE = """
import sys
import nbformat
from ipykernel.kernelspec import get_kernel_dict
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from nbclient import NotebookClient

class ThisPython(KernelSpecManager):
    def get_kernel_spec(self, kernel_name):
        return KernelSpec(**get_kernel_dict())

kernel = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=ThisPython())
assert kernel.kernel_spec.argv[0] == sys.executable
notebook = nbformat.read(sys.argv[1], as_version=4)
written = dict(notebook.metadata)
options = {"timeout": 300, "record_timing": False, "coalesce_streams": True}
NotebookClient(notebook, km=kernel, **options).execute()
notebook.metadata = written  # without the version of this Python
nbformat.write(notebook, sys.argv[2])
"""


def read(path):
    return nbformat.read(path, as_version=4)


def committed(name):
    return read(FOLDER / f"{name}.ipynb")


def code_of(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def executed(name, folder):
    """Return the notebook after a run in an empty folder, without the user's Jupyter settings."""
    own = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    environment |= {name: str(folder / name.lower()) for name in own}
    (work := folder / "work").mkdir()
    ran = folder / "ran.ipynb"
    words = [sys.executable, "-c", EXECUTE, str(FOLDER / f"{name}.ipynb"), str(ran)]
    done = subprocess.run(
        words, cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return read(ran)


def shown(cell):
    """Return the text of a cell's outputs, and the formats of each.

    Numbers are left out: their last digits depend on the CPU.
    """
    printed = "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
    data = [output.data for output in cell.outputs if "data" in output]
    texts = [printed, *(each.get("text/plain", "") for each in data)]
    words = [re.sub(r"[-\d.,e]*\d", " ", text).split() for text in texts]
    return words, [sorted(each) for each in data]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_what_it_showed(tmp_path, name):
    fresh = executed(name, tmp_path)
    for before, after in zip(code_of(committed(name)), code_of(fresh), strict=True):
        said = [output.text for output in after.outputs if output.get("name") == "stderr"]
        assert said == []
        assert shown(before) == shown(after), before.source


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_committed_as_it_ran_from_top_to_bottom(name):
    cells = code_of(committed(name))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output.output_type == "error" for output in outputs)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_small_and_knows_no_machine(name):
    text = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    assert not re.search(r"/home/|/Users/|/tmp/|/work/|\\Users\\", text)


def test_every_notebook_is_tested():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(NAMES)


if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(executed(name, Path(folder)), FOLDER / f"{name}.ipynb")
