"""Each CUDA source can be read, and parsed, alone: it includes what it uses, and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import reinforce2vec
from helpers import emulator
from reinforce2vec._util.cuda.compiling import source_of
from reinforce2vec.walks.plan import MOST_PROPOSALS

pytestmark = pytest.mark.gpu

PACKAGE = Path(reinforce2vec.__file__).parent
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.cu"))
}
# Macros that the Python code defines, in the combinations that change what is compiled.
TRAINING = {
    "NUMBERS": 4, "TARGETS": 6, "GROUPS": 1, "CONTEXTS": 8, "SLOTS": 21, "TENSOR": 1, "AHEAD": 32,
    "BLOCKS": 8, "SUBSAMPLED": 1, "PLACES": 8,
}  # fmt: skip
MACROS = {
    "_util": [{}],
    "models": [{"WEIGHTED": 0, "LONG": 512, "THREADS": 256}],
    "walks": [
        {"COUNT_BYTES": 1, "NEAR": 1, "PLACE_BYTES": 2},
        {"COUNT_BYTES": 2, "PLACE_BYTES": 4, "WEIGHTED": 1, "DIRECTED": 1, "WIDE": 1},
    ],
    "skipgram": [
        TRAINING,
        TRAINING | {"TENSOR": 0, "CONTEXTS": 5, "NUMBERS": 2, "SUBSAMPLED": 0},
        TRAINING | {"TENSOR": 0, "CONTEXTS": 5, "NUMBERS": 1, "SLOTS": 0},
    ],
}


@pytest.mark.skipif(emulator.COMPILER is None, reason="needs g++")
@pytest.mark.parametrize("path", SOURCES)
def test_a_source_can_be_parsed_alone(path, tmp_path):
    source = tmp_path / "alone.cpp"
    source.write_text(f'#include "{emulator.HEADER.name}"\n{source_of(path)}', encoding="utf-8")
    for macros in MACROS[path.partition("/")[0]]:
        defines = [f"-D{name}={value}" for name, value in macros.items()]
        defines.append(f"-DMOST_PROPOSALS={MOST_PROPOSALS}")
        command = [emulator.COMPILER, "-std=c++17", "-w", "-fsyntax-only", "-DWARPS", *defines]
        command += [f"-I{emulator.HEADER.parent}", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
