"""Peers: other packages, each in an environment and a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE.parent / ".cache" / "peers"


class Peer:
    """A running script of `peers/`; a call makes it work, and returns what it measured."""

    def __init__(self, package: str, task: str, **options: object) -> None:
        self.name = package
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  as long as the process lives
        self.process = subprocess.Popen(
            [environment(package), HERE / "peers" / f"{package}_{task}.py", as_json(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=with_few_threads(options["threads"]),
        )
        self._answer()  # it is ready

    def _answer(self) -> str:
        answer = self.process.stdout.readline().strip()
        if not answer:
            self.process.wait()
            self.errors.seek(0)
            raise RuntimeError(f"{self.name} does not run:\n{self.errors.read()}")
        return answer

    def __call__(self, **request: object) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self._answer())

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.errors.close()


def as_json(options: dict[str, object]) -> str:
    """Return options as a word of the command line."""
    return json.dumps(options, default=str)


def with_few_threads(count: int) -> dict[str, str]:
    """Return the environment of a process in which no library takes more threads."""
    names = ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA")
    return os.environ | {f"{name}_NUM_THREADS": str(count) for name in names}


def environment(package: str) -> Path:
    """Return the Python of a peer's environment; create the environment at first use."""
    folder = CACHE / package
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"installing {package} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        install = [python, "-m", "pip", "install", "-q"]
        subprocess.run([*install, "-r", HERE / "peers" / f"{package}-requirements.txt"], check=True)
        # what has pins that no supported Python can satisfy
        alone = HERE / "peers" / f"{package}-alone.txt"
        if alone.exists():
            options = ["--no-deps", "--no-build-isolation"]
            subprocess.run([*install, *options, "-r", alone], check=True)
        (folder / "ready").touch()
    return python


def versions(package: str, *names: str) -> dict[str, str]:
    """Return the versions installed in a peer's environment."""
    code = (
        "import json, sys; from importlib.metadata import version; "
        "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"
    )
    command = [environment(package), "-c", code, *names]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)
