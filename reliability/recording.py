"""Writing what a trial found, with the machine and the versions it ran on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from measuring import describe  # noqa: E402  of the benchmarks


def record(name: str, found: dict, *packages: str) -> Path:
    """Write what a trial found to results/NAME.json, with the command that finds it again."""
    return _write(name, _origin(*packages) | found)


def record_one(name: str, part: str, found: dict) -> Path:
    """Write what one of several trials found, with its own command, beside the others."""
    path = RESULTS / f"{name}.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    return _write(name, before | {part: _origin() | found})


def _origin(*packages: str) -> dict:
    command = " ".join(["python", f"reliability/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    return {"command": command, "machine": describe(*packages)}


def _write(name: str, content: dict) -> Path:
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n")
    return path
