"""Processes of their own for trials, and files of what trials found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

RESULTS = Path(__file__).parent / "results"

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from measuring import describe  # noqa: E402  of the benchmarks


def record(name: str, results: dict, *packages: str, part: str | None = None) -> None:
    """Write results/NAME.json, or a part of it, with the machine and the command to repeat it."""
    command = " ".join(["python", f"reliability/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    content = {"command": command, "machine": describe(*packages)} | results
    path = RESULTS / f"{name}.json"
    if part is not None:
        before = json.loads(path.read_text()) if path.exists() else {}
        content = before | {part: content}
    path.write_text(json.dumps(content, indent=1) + "\n")


def run_apart(limit: float, work: Callable[..., dict], *arguments: object) -> dict | str:
    """Return what work returns in a fresh process; or in words, why it returned nothing."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    script = Path(sys.argv[0]).stem  # not as __mp_main__, where joblib would not find it
    process = context.Process(target=_send, args=(sender, script, work.__name__, arguments))
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            return f"not done after {limit:.0f} s"
        result = receiver.recv()
        process.join(60)  # so that it cleans up
        return result
    except EOFError:
        process.join()
        return f"the process ended with {process.exitcode}"
    finally:
        process.kill()
        process.join()


def _send(sender: Connection, script: str, work: str, arguments: tuple) -> None:
    sender.send(getattr(import_module(script), work)(*arguments))
