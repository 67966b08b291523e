"""The Dockerfile of the documentation, line by line, in processes that stand for a container."""

from __future__ import annotations

import json
import re

import pytest

from helpers.containers import MAIN, copy_of_package, run_as_nobody, set_writable
from helpers.files import write_club, write_sides
from helpers.pages import blocks_of
from helpers.paths import ROOT

PAGE = ROOT / "docs" / "howto" / "containers.md"
pytestmark = [pytest.mark.slow, pytest.mark.long]

# No folder for temporary files either, as with --read-only.
READ_ONLY = 'import tempfile; tempfile.tempdir = "/nowhere"\n'
# Runs commands in one process, and prints what each compiled.
MANY = """
import json
import sys
from typer.testing import CliRunner
from reinforce2vec._util.code_cache import tally
from reinforce2vec.cli.main import app

for line in sys.argv[1:]:
    before = tally.compiled
    result = CliRunner().invoke(app, line.split())
    print(json.dumps([line, result.exit_code, tally.compiled - before, result.stderr]))
"""
# Commands that must compile nothing after `warm-up`.
COMMANDS = (
    "embed edges.txt -o v.npz --preset fast",
    "embed edges.txt -o v.txt --preset paper --walks-per-node 2 --directed",
    "embed edges.txt -o v.bin --window 1,5,20 --walks-per-node 2 --dimensions 30",
    "embed names.csv -o w.npz --preset fast --weighted",
    "embed names.csv -o w.npz --preset fast --weighted --directed --walk second-order --p 0.5",
    "walk edges.txt -o walks.txt --per-node 2",
    "walk edges.txt -o walks.npz --per-node 2 --reading released",
    "walk edges.txt -o walks.txt.gz --per-node 2 --walk first-order --directed",
    "walk names.csv -o walks.txt --per-node 2 --exploration epsilon --occupation path --weighted",
    "embed --walks walks.npz -o v.npz --dimensions 8",
    "neighbors v.npz 1",
    "recommend v.npz edges.txt",
    "recommend v.npz edges.txt --score adamic-adar -o links.csv",
    "recommend w.npz names.csv --directed",
    "evaluate link-prediction edges.txt --preset fast --dimensions 8 --seeds 1",
    "evaluate link-prediction names.csv --preset fast --dimensions 8 --seeds 1",
    "evaluate node-classification v.npz --labels labels.txt --seeds 1",
    "explore v.npz edges.txt --labels labels.txt --method pca -o page.html",
    "tune edges.txt --trials 2 --dimensions 8",
    "embed edges.txt -o l.csv --method line --dimensions 8",
    "neighbors l.csv -o all.csv",
    "embed edges.txt --model m.r2v --preset fast --dimensions 8",
    "update m.r2v more.txt -o v.npz",
)


def dockerfile():
    """The lines of the page's Dockerfile, as pairs of an instruction and the rest."""
    (block,) = [block for block in blocks_of(PAGE) if block.title == "Dockerfile"]
    return [tuple(line.split(" ", 1)) for line in block.text.splitlines()]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The folder that the container works in."""
    data = tmp_path_factory.mktemp("data")
    write_club(data)
    write_sides(data)
    edges = [line.split()[:2] for line in (data / "edges.txt").read_text().splitlines()]
    rows = [f"n{a},n{b},{number % 3 + 0.5}\n" for number, (a, b) in enumerate(edges)]
    (data / "names.csv").write_text("source,target,weight\n" + "".join(rows))
    (data / "more.txt").write_text("1 90\n90 2\n")
    return data


@pytest.fixture(scope="module")
def image(tmp_path_factory, data):
    """What the Dockerfile makes: the package, environment, and the command to run."""
    site = tmp_path_factory.mktemp("image") / "site"
    built = {"site": site, "environment": {}, "words": []}
    for instruction, rest in dockerfile():
        if instruction == "RUN" and rest == "pip install --no-cache-dir /reinforce2vec":
            copy_of_package(site)
        elif instruction == "RUN":
            name, *words = rest.split()
            assert name == "reinforce2vec"
            done = run_as_nobody(MAIN, *words, site=site, folder=data, **built["environment"])
            assert done.returncode == 0, done.stderr
            built["said"] = done.stderr
        elif instruction == "ENV":
            built["environment"] |= dict([rest.split("=", 1)])
        elif instruction in ("ENTRYPOINT", "CMD"):
            built["words"] += json.loads(rest)
        elif instruction == "USER":
            set_writable(site, False)
        else:
            assert instruction in ("FROM", "COPY", "WORKDIR")
    yield built
    set_writable(site, True)


def files_in(site):
    return {path for path in site.rglob("*") if path.suffix in (".nbi", ".nbc")}


def test_the_dockerfile_of_the_page(image, data):
    before = files_in(image["site"])
    assert before
    name, *words = image["words"]
    assert name == "reinforce2vec"
    code = READ_ONLY + MAIN
    done = run_as_nobody(
        code, *words, site=image["site"], folder=data, HOME="/nonexistent", **image["environment"]
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    assert (data / "vectors.npz").exists()
    assert files_in(image["site"]) == before


def test_nothing_is_compiled_after_a_warm_up(image, data):
    done = run_as_nobody(
        READ_ONLY + MANY, *COMMANDS, site=image["site"], folder=data, **image["environment"]
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line for line, *_ in found] == list(COMMANDS)
    assert [one for one in found if one[1:3] != [0, 0]] == []


def test_a_warm_up_tells_what_it_did_and_a_second_one_that_there_is_nothing_to_do(image, data):
    *steps, last = image["said"].splitlines()
    assert len(steps) == 4  # one line for each group of commands
    assert all(re.fullmatch(r".+: \d+ functions? in [\d.]+ s", step) for step in steps)
    place = re.escape(str(image["site"] / "reinforce2vec"))
    size = r"[\d.]+ MB in [\d.]+ s"
    assert re.fullmatch(rf"{place}: compiled \d+ functions; {size}", last)
    done = run_as_nobody(MAIN, "warm-up", "--json", site=image["site"], folder=data)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(rf"{place}: everything was compiled already; {size}\n", done.stderr)
    facts = json.loads(done.stdout)
    assert facts["compiled"] == 0
    assert facts["loaded"] > 50
    assert facts["folder"] == str(image["site"] / "reinforce2vec")
    assert facts["bytes"] == sum(path.stat().st_size for path in files_in(image["site"]))


def test_a_warm_up_that_cannot_save_fails(tmp_path, data):
    site = copy_of_package(tmp_path / "site")
    set_writable(site, False)
    code = 'import tempfile; tempfile.tempdir = "."\n' + MAIN  # for its own files, and not for code
    done = run_as_nobody(code, "warm-up", site=site, folder=data)
    set_writable(site, True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: there is no folder to save compiled code in")
    assert len(done.stderr.splitlines()) == 1
