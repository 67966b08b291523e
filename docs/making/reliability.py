"""Write the table of trials into docs/reliability.md, from the results under reliability/results.

python docs/making/reliability.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from marked import rewrite

ROOT = Path(__file__).parents[2]
PAGE, RESULTS = ROOT / "docs" / "reliability.md", ROOT / "reliability" / "results"
BEGIN = "<!-- trials: docs/making/reliability.py -->"


def markdown_table() -> str:
    """Return the table of all trials that have a result."""
    rows = ["trial | found | command", "--- | --- | ---"]
    for name, (title, figures) in TRIALS.items():
        path = RESULTS / f"{name}.json"
        if path.exists():
            found = json.loads(path.read_text(encoding="utf-8"))
            command = found.get("command", _COMMANDS.get(name, "")).removeprefix("python ")
            rows.append(f"{title} | {figures(found)} | `{command}`")
    return "\n".join(f"| {row} |" for row in rows)


# of results that several runs have written, each with its own command
_COMMANDS = {
    "disks": "reliability/kills.py --part disks",
    "threads": "reliability/threads.py",
    "platforms": "make platform",
}


def _fuzz(found: dict[str, Any]) -> str:
    targets = found["targets"]
    inputs = sum(target["inputs"] for target in targets.values())
    findings = len(found["findings"])
    return (
        f"{inputs:,} inputs for {len(targets)} readers in {found['worker_hours']:.1f} hours of one "
        f"core: {findings or 'no'} finding{'s' * (findings != 1)}"
    )


def _kills(found: dict[str, Any]) -> str:
    signals = ", ".join(f"{count} {name}" for name, count in found["by_signal"].items())
    return f"{found['kills']} kills ({signals}) of {len(found['commands'])} commands: " + _problems(
        found
    )


def _problems(found: dict[str, Any]) -> str:
    count = found["problems"]
    return f"{count} problem{'s' * (count != 1)}" if count else "no problem"


def _disks(found: dict[str, Any]) -> str:
    ways = [one[way] for one in found.values() for way in ("full", "read-only", "quota")]
    wrong = sum(len(way["problems"]) for way in ways)
    return (
        f"{sum(way['tried'] for way in ways)} disks that became full, read-only or limited during "
        f"{len(found)} kinds of writes: {_problems({'problems': wrong})}"
    )


def _second_runs(found: dict[str, Any]) -> str:
    refused = sum("another run" in str(one["second_said"]) for one in found["commands"].values())
    return f"{refused} of {len(found['commands'])} commands refuse a second run: {_problems(found)}"


def _threads(found: dict[str, Any]) -> str:
    parts = []
    for name, text in _THREADS.items():
        if name in found:
            failed = len(found[name]["failures"])
            parts.append(text(found[name]) + (f" (**{failed} failures**)" if failed else ""))
    return "; ".join(parts)


_THREADS: dict[str, Callable[[dict[str, Any]], str]] = {
    "growth": lambda one: (
        f"{one['fits']} fits in one process: {one['growth']['memory_bytes'] / 1e6:+.1f} MB, "
        f"{one['growth']['threads']:+} threads, {one['growth']['file_descriptors']:+} descriptors"
    ),
    "forks": lambda one: f"{_counts(one)} fits in forked processes",
    "callers": lambda one: f"{_counts(one)} fits by threads, asyncio, processes and joblib",
    "stress": lambda one: f"{one['fits']} fits beside processes that take all CPUs: same bytes",
    "graphs": lambda one: (
        f"{one['fits']:,} fits of {one['graphs']} odd and ordinary graphs by 6 methods, 1 to "
        f"{max(one['threads'])} threads where they have any: same bytes"
    ),
    "hubs": lambda one: (
        f"{sum(row.get('stars', 1) for row in one['stars'])} stars of up to "
        f"{max(row['leaves'] for row in one['stars']):,} leaves train at default settings"
    ),
}


def _counts(one: dict[str, Any]) -> int:
    about = ("command", "machine", "failures", "seconds")
    return sum(count for name, count in one.items() if name not in about)


def _weighted_hub(found: dict[str, Any]) -> str:
    rows = [row for row in found["rows"] if row["backend"] == "cpu"]
    largest = max(row["degree"] for row in rows)
    slowest = max(row["ns_per_step"] for row in rows if row["degree"] == largest)
    return f"at a hub of degree {largest:,} a step takes at most {slowest / 1000:.1f} µs"


def _memory(found: dict[str, Any]) -> str:
    about = found["summary"]
    size = about["of_at_least_bytes"] // 10**6
    return (
        f"{about['compared']} runs with a peak of {size} MB or more: the estimate is "
        f"{about['smallest_ratio']:.2f} to {about['largest_ratio']:.2f} of the peak, "
        f"{about['within']} of them within 1.0 to 1.3"
    )


def _memory_limits(found: dict[str, Any]) -> str:
    about = found["summary"]
    return (
        f"{about['under_a_limit']} fits: {about['finished']} finished, {about['refused']} refused "
        f"before the start, {about['broken']} broken"
    )


def _platforms(found: dict[str, Any]) -> str:
    return "; ".join(
        f"{name}: {one['kernels']['coverage']['percent']} % of the lines of the plain engine run "
        f"without a compiler, {one['kernels']['compared']} results compared"
        if "kernels" in one
        else f"{name}: "
        + ", ".join(f"{one['tests'][what]:,} {what}" for what in ("passed", "failed", "skipped"))
        for name, one in found["environments"].items()
    )


TRIALS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "fuzz": ("Damaged and hostile files", _fuzz),
    "kills": ("Kills", _kills),
    "disks": ("Disks", _disks),
    "second-runs": ("Two runs", _second_runs),
    "threads": ("Threads", _threads),
    "memory": ("Memory", _memory),
    "memory-limits": ("Memory under a limit", _memory_limits),
    "memory-groups": ("Memory in a control group", _memory_limits),
    "weighted_hub": ("Weighted hubs", _weighted_hub),
    "platforms": ("Platforms", _platforms),
}


def main() -> None:
    """Rewrite the page."""
    rewrite(PAGE, BEGIN, markdown_table())


if __name__ == "__main__":
    main()
