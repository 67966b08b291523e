"""The first day with your own data, from a messy CSV to a nightly job and a container.

    python examples/first_day.py [FOLDER]

It makes the files that people have (an export with an index, a time stamp, quotes and line breaks;
a table of people), and takes the steps they take. Every step checks its result, so that it can be
run as a test. FOLDER is made if it does not exist; by default it is a temporary one.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import reinforce2vec as r2v

GROUPS = ("sales", "research", "support, field", 'the "lab"')


def main() -> None:
    """Play the day."""
    with tempfile.TemporaryDirectory() as folder:
        day = Path(sys.argv[1] if len(sys.argv) > 1 else folder)
        day.mkdir(parents=True, exist_ok=True)
        os.chdir(day)
        people = make_files()
        vectors_of_everyone(people)
        classify()
        recommend(people)
        next_day()
        in_a_container()
    print("a whole day without a surprise")


def run(*words: str, **options: object) -> str:
    """Run a command, show what it says, and return it; a failure ends the day."""
    print("$ reinforce2vec", " ".join(words), flush=True)
    command = [sys.executable, "-m", "reinforce2vec", *words]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    said = done.stderr + done.stdout
    print("".join(f"  {line}\n" for line in said.splitlines()[:8]), flush=True)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}:\n{said}")
    return said


# -- morning: files ------------------------------------------------------------------------------


def name_of(person: int) -> str:
    """Return a name as people have them: with commas, quotes, and signs that begin comments."""
    styles = ("Lee, {}", 'Kim "{}"', "#{}", "Ng {}", "Müller\nc/o {}")
    return styles[person % len(styles)].format(person)


def make_files() -> list[str]:
    """Write contacts.csv, people.csv and tomorrow's contacts; return the names of all people."""
    company = r2v.planted_groups(400, len(GROUPS), degree=10, mixing=0.2, seed=7)
    pairs = np.argwhere(np.triu(company.graph.to_scipy().toarray()))
    names = [name_of(person) for person in range(400)]
    rows = [
        [str(number), str(1_600_000_000 + 60 * number), names[a], names[b], "hello,\nagain"]
        for number, (a, b) in enumerate(pairs)
    ]
    later = len(rows) - 40
    header = ["", "time", "source", "target", "message"]
    write("contacts.csv", header, rows[:later])
    write("tomorrow.csv", header, [*rows[later:], ["9", "1", "Newcomer", names[0], "hi"]])
    groups = [GROUPS[group] for group in company.labels.argmax(axis=1)]
    joined = [str(2000 + person % 25) for person in range(400)]
    people = [list(row) for row in zip(names, joined, groups, strict=True)]
    people.append(["Hermit", "1999", GROUPS[0]])  # knows nobody
    write("people.csv", ["name", "joined", "group"], people)
    return [*names, "Hermit"]


def write(path: str, header: list[str], rows: list[list[str]]) -> None:
    """Write a CSV file as programs export it."""
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])


# -- noon: vectors, a classifier, recommendations ------------------------------------------------


def vectors_of_everyone(people: list[str]) -> None:
    """Learn vectors and keep the model."""
    said = run(
        *("embed", "contacts.csv", "--nodes", "people.csv", "-o", "vectors.npz"),
        *("--model", "model.r2v", "--dimensions", "32", "--seed", "1"),
    )
    assert "time" in said, "what was left out must be told"
    embedding = r2v.Embedding.load("vectors.npz")
    assert set(embedding.ids) == set(people), "every name as it is, the hermit too"
    assert np.asarray(embedding).shape == (len(people), 32)


def classify() -> None:
    """Predict the group of people, by the command and by scikit-learn."""
    said = run(
        *("evaluate", "node-classification", "vectors.npz"),
        *("--labels", "people.csv", "--label", "group", "--seeds", "2", "--json"),
    )
    embedding = r2v.Embedding.load("vectors.npz")
    labels = r2v.read_labels("people.csv", embedding, label="group")
    found = r2v.evaluate_node_classification(embedding, labels.matrix, seeds=2)
    assert found.mean[0.5]["micro"] > 80, said
    try:
        import pandas as pd
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        return
    table = pd.read_csv("people.csv").set_index("name")["group"]
    features = embedding.to_frame()  # the index holds the names
    model = LogisticRegression(C=10, max_iter=1000).fit(features, table[features.index])
    assert model.score(features, table[features.index]) > 0.8


def recommend(people: list[str]) -> None:
    """Recommend contacts to some of the people."""
    write("some.csv", ["name"], [[name] for name in people[:5]])
    run(
        *("recommend", "vectors.npz", "contacts.csv", "--nodes", "people.csv"),
        *("--ids", "some.csv", "-k", "3", "-o", "links.csv"),
    )
    with open("links.csv", newline="", encoding="utf-8") as stream:
        links = list(csv.DictReader(stream))
    assert len(links) == 15
    assert {link["source"] for link in links} == set(people[:5])
    assert {link["target"] for link in links} <= set(people)


# -- night: the job, and the container -------------------------------------------------------------


def next_day() -> None:
    """Add the contacts of the next day, twice."""
    before = r2v.Embedding.load("vectors.npz")
    run("update", "model.r2v", "tomorrow.csv", "-o", "vectors.npz")
    after = r2v.Embedding.load("vectors.npz")
    assert "Newcomer" in after
    known = before.ids.tolist()
    cosines = np.sum(unit(before[known]) * unit(after[known]), axis=1)
    assert np.median(cosines) > 0.9, "today's vectors must be comparable with yesterday's"
    model = Path("model.r2v").read_bytes()
    run("update", "model.r2v", "tomorrow.csv", "-o", "vectors.npz")  # the job is run twice
    assert Path("model.r2v").read_bytes() == model
    assert np.array_equal(r2v.Embedding.load("vectors.npz").vectors, after.vectors)


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows of length 1."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def in_a_container() -> None:
    """Embed as a user without a home, in an environment with next to nothing in it."""
    kept = {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}
    words = ("embed", "contacts.csv", "-o", "again.npz", "--dimensions", "32", "--seed", "1")
    with tempfile.TemporaryDirectory() as scratch:
        for folder in (".", scratch):
            os.chmod(folder, 0o777)
        bare = kept | {"TMPDIR": scratch}
        try:
            run(*words, env=bare, **({"user": 65534, "group": 65534} if is_root() else {}))
        except PermissionError:  # this Python is in a folder of root
            run(*words, env=bare)
    assert Path("again.npz").stat().st_size > 0


def is_root() -> bool:
    """Return whether another user can be taken on."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


if __name__ == "__main__":
    main()
