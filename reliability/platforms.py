"""Run the quick tests in one environment: this Python, with the oldest or newest dependencies.

    python3.10 reliability/platforms.py --dependencies oldest
    python3.13 reliability/platforms.py --dependencies newest --seed 7 --record
    make platform PYTHON=python3.12 DEPENDENCIES=oldest

The Python that runs this script is the one that is tested. It makes a virtual environment in
`.platforms/`, installs the package and what its tests need, and runs the tests in a random order.
The oldest dependencies are the lower bounds of pyproject.toml. With --kernels no tests run: the
functions of the plain engine run uncompiled (NUMBA_DISABLE_JIT=1), their coverage is measured, and
their results are compared with those of the compiled ones.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import venv
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).parent / "results" / "platforms.json"
QUICK = "not slow and not gpu and not browser and not study"
BOUND = re.compile(r'"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9.]+)[^"]*"')
PLAIN_SOURCES = ("reinforce2vec/walks/plain/", "reinforce2vec/skipgram/plain.py")


def lower_bounds(pyproject: str) -> list[str]:
    """Return the oldest version of each dependency that pyproject.toml allows, as constraints."""
    listed = pyproject.partition("[project]")[2].partition("[project.scripts]")[0]
    return sorted({f"{name}=={version}" for name, version in BOUND.findall(listed)})


def make_environment(folder: Path, dependencies: str) -> Path:
    """Return the Python of a virtual environment that has the package and its tests' needs."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True, symlinks=os.name != "nt")  # as `python -m venv` does
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    installed = folder / "installed"  # what pyproject.toml was then, as for `make test`
    if installed.exists() and installed.read_text(encoding="utf-8") == project:
        return python
    constraints = folder / "constraints.txt"
    bounds = lower_bounds(project) if dependencies == "oldest" else []
    constraints.write_text("\n".join(bounds) + "\n")
    install = [python, "-m", "pip", "install", "--quiet", "--upgrade"]
    packages = ["-e", f"{ROOT}[test]", "pytest-randomly", "coverage"]
    subprocess.run([*install, "--constraint", constraints, *packages], check=True)
    installed.write_text(project, encoding="utf-8")
    return python


def run_tests(python: Path, folder: Path, arguments: list[str], **environment: str) -> dict:
    """Run pytest; return how many tests passed, failed and were skipped."""
    report = folder / "tests.xml"
    report.unlink(missing_ok=True)
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [python, "-m", "pytest", f"--junitxml={report}", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **one_thread, **environment}, check=False
    )
    if not report.exists():
        sys.exit(f"pytest made no report: it ended with {done.returncode}")
    suite = next(ElementTree.parse(report).iter("testsuite"))
    keys = ("tests", "failures", "errors", "skipped")
    total, failures, errors, skipped = (int(suite.get(key, 0)) for key in keys)
    passed, failed = total - failures - errors - skipped, failures + errors
    return {"passed": passed, "failed": failed, "skipped": skipped}


def describe(python: Path) -> dict:
    """Return the machine, and what the environment has of the packages that users install."""
    names = ("typer", "pooch", "pyarrow", "pandas", "matplotlib", "scikit-learn", "umap-learn")
    names += ("usearch", "optuna", "anywidget", "ray", "pytest")
    code = (
        "import json, sys\nfrom measuring import describe\n"
        "print(json.dumps(describe(*sys.argv[1:])))"
    )
    folder = ROOT / "benchmarks"
    done = subprocess.run([python, "-c", code, *names], capture_output=True, check=True, cwd=folder)
    return json.loads(done.stdout)


def run_kernels(python: Path, folder: Path) -> dict:
    """Run the plain engine compiled and uncompiled; return the coverage and what differs."""
    script = str(ROOT / "reliability" / "plain_engine.py")
    results = {kind: folder / f"{kind}.npz" for kind in ("compiled", "uncompiled")}
    data = f"--data-file={folder / '.coverage'}"
    coverage = [python, "-m", "coverage"]
    plain = {**os.environ, "REINFORCE2VEC_ENGINE": "plain"}
    subprocess.run([python, script, results["compiled"]], cwd=ROOT, env=plain, check=True)
    measured = [*coverage, "run", data, "--source=src/reinforce2vec", script, results["uncompiled"]]
    subprocess.run(measured, cwd=ROOT, env={**plain, "NUMBA_DISABLE_JIT": "1"}, check=True)
    report = folder / "coverage.json"
    subprocess.run([*coverage, "json", data, "-q", "-o", report], cwd=ROOT, check=True)
    code = (
        "import json, sys; import numpy as np\n"
        "a, b = map(np.load, sys.argv[1:])\n"
        "same = {name: np.allclose(a[name], b[name], rtol=0, atol=1e-4) for name in a.files}\n"
        "print(json.dumps([len(same), [name for name in same if not same[name]]]))"
    )
    done = subprocess.run([python, "-c", code, *results.values()], capture_output=True, check=True)
    compared, different = json.loads(done.stdout)
    return {"compared": compared, "different": different, "coverage": covered(report)}


def covered(report: Path) -> dict:
    """Return the measured coverage of each module, in percent of its lines."""
    modules = {
        name.replace(os.sep, "/").partition("src/")[2]: facts["summary"]
        for name, facts in json.loads(report.read_text())["files"].items()
    }
    sums = {name: facts for name, facts in modules.items() if name.startswith(PLAIN_SOURCES)}
    lines, run = (
        sum(facts[key] for facts in sums.values()) for key in ("num_statements", "covered_lines")
    )
    shares = {name: round(facts["percent_covered"], 1) for name, facts in sums.items()}
    return {"lines": lines, "percent": round(100 * run / lines, 1), "modules": shares}


def keep(name: str, results: dict) -> None:
    """Add what an environment had to the results."""
    kept = json.loads(RESULT.read_text()) if RESULT.exists() else {"environments": {}}
    environments = kept["environments"] | {name: results}
    kept["environments"] = dict(sorted(environments.items()))
    RESULT.write_text(json.dumps(kept, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dependencies", choices=["oldest", "newest"], default="newest")
    parser.add_argument("--seed", type=int, help="of the random order; default: another each time")
    parser.add_argument("--workers", default="auto", help="processes of pytest (default: auto)")
    parser.add_argument("--kernels", action="store_true", help="coverage of the plain engine")
    parser.add_argument("--record", action="store_true", help=f"add to results/{RESULT.name}")
    parser.add_argument("tests", nargs="*", help="files or folders (default: all quick tests)")
    given = parser.parse_args()

    name = f"{sys.version_info.major}.{sys.version_info.minor}-{given.dependencies}"
    folder = ROOT / ".platforms" / name
    folder.mkdir(parents=True, exist_ok=True)
    print(f"== {name}: install", flush=True)
    python = make_environment(folder, given.dependencies)
    order = [] if given.seed is None else [f"--randomly-seed={given.seed}"]
    parallel = [f"--numprocesses={given.workers}", "--maxprocesses=8", "--dist=worksteal"]
    if given.dependencies == "oldest":  # old packages use what newer ones of others deprecate
        order += ["-W", "ignore::DeprecationWarning"]
        order += ["-W", "ignore::pytest.PytestUnraisableExceptionWarning"]  # files of Ray's own
        order += ["--doctest-ignore-import-errors"]  # a module for numba 0.62 or newer
    about: dict = {"system": f"{platform.system()} {platform.machine()}"}
    if given.kernels:
        name += "-kernels"
        print(f"== {name}: run", flush=True)
        counts = run_kernels(python, folder)
        failed = bool(counts["different"])
        about["kernels"] = counts
    else:
        print(f"== {name}: test", flush=True)
        counts = run_tests(python, folder, [*parallel, *order, "-m", QUICK, *given.tests])
        failed = bool(counts["failed"])
        about |= {"seed": given.seed, "files": given.tests or "all quick tests", "tests": counts}
    print(json.dumps({name: counts}, indent=1))
    if given.record:
        keep(name, about | describe(python))
    sys.exit(failed)


if __name__ == "__main__":
    main()
