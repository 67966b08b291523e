"""Another version of the code, to compare with: a commit in a temporary worktree, or a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@contextmanager
def checkout_of(version: str) -> Iterator[Path]:
    """Yield the folder of a version, which is a commit or the folder of a checkout itself."""
    if Path(version).is_dir():
        yield Path(version).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, "other")
        worktree = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*worktree, "add", "-q", "--detach", other, version], check=True)
        try:
            yield other
        finally:
            subprocess.run([*worktree, "remove", "--force", other], check=True)


def run_with(checkout: Path, script: str, *words: str) -> Any:
    """Run a script with the package of a checkout; return the JSON that it prints."""
    path = os.pathsep.join([str(checkout / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, script, *words],
        env=os.environ | {"PYTHONPATH": path},
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)
