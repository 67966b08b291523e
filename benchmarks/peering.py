"""Peers: other packages, each in an environment and a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE.parent / ".cache" / "peers"


class Peer:
    """A running script of `peers/`; a call makes it work, and returns what it measured."""

    def __init__(self, package: str, task: str, **options: object) -> None:
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        self.name = package
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  as long as the process lives
        self.process = subprocess.Popen(
            [environment(package), HERE / "peers" / f"{package}_{task}.py", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
        )  # fmt: skip
        if self._answer() != "ready":
            raise self._failure()

    def _answer(self) -> str:
        return self.process.stdout.readline().strip()

    def _failure(self) -> RuntimeError:
        self.process.wait()
        self.errors.seek(0)
        return RuntimeError(f"{self.name} does not run:\n{self.errors.read()}")

    def __call__(self, **request: object) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self._answer()
        if not answer:
            raise self._failure()
        return json.loads(answer)

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.errors.close()


def environment(package: str) -> Path:
    """Return the Python of a peer's environment; create the environment at first use."""
    folder = CACHE / package
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"installing {package} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        requirements = HERE / "peers" / f"{package}-requirements.txt"
        install = [python, "-m", "pip", "install", "-q"]
        subprocess.run([*install, "-r", requirements], check=True)
        # what has pins that no supported Python can satisfy
        alone = HERE / "peers" / f"{package}-alone.txt"
        if alone.exists():
            options = ["--no-deps", "--no-build-isolation"]
            subprocess.run([*install, *options, "-r", alone], check=True)
        (folder / "ready").touch()
    return python


def versions(package: str, *names: str) -> dict[str, str]:
    """Return the versions installed in a peer's environment."""
    code = "import json, sys; from importlib.metadata import version; " \
           "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"  # fmt: skip
    answer = subprocess.run(
        [environment(package), "-c", code, *names], check=True, capture_output=True, text=True
    )
    return json.loads(answer.stdout)
