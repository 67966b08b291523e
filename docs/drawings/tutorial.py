"""Write the files of the tutorial: an invented company, who writes to whom in it, and its maps.

python docs/drawings/tutorial.py

The picture of the explorer needs playwright and Chromium; without them it stays as it is.
"""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import reinforce2vec as r2v

FOLDER = Path(__file__).parents[1] / "tutorial"
TEAMS = ("Design", "Engineering", "Finance", "Research", "Sales", "Support")
CITIES = ("Lagos", "Lima", "Oslo", "Pune")
FIRST = (
    *("Ada", "Ben", "Chloe", "Dev", "Ema", "Femi", "Grace", "Hugo", "Ines", "Jonas"),
    *("Kemi", "Liam", "Mira", "Noor", "Omar", "Priya", "Quinn", "Rosa", "Sami", "Tara"),
)
LAST = (
    *("Abara", "Berg", "Castro", "Das", "Eriksen", "Flores", "Gupta", "Hansen"),
    *("Ibekwe", "Jensen", "Kale", "Lopez"),
)
SECRET = 12  # people whose team is not in the table
NEWCOMERS = 3
SEED = 3
DAY = np.datetime64("2025-01-01")


def main() -> None:
    """Write the tables, and what the tutorial makes of them."""
    write_tables()
    draw_maps()


def draw_maps() -> None:
    """Write map.png, map.html and explorer.png, as the tutorial does."""
    graph = r2v.read_graph(FOLDER / "contacts.csv", weight="messages")
    vectors = r2v.Reinforce2Vec(seed=0).fit(graph, progress=False).embedding_
    teams = r2v.read_labels(FOLDER / "people.csv", vectors, label="team")
    figure = r2v.plotting.embedding_map(vectors, labels=teams, graph=graph, progress=False)
    r2v.plotting.save(figure, FOLDER / "map.png", dpi=150)
    page = FOLDER / "map.html"
    r2v.explore(vectors, graph, columns=FOLDER / "people.csv", export=page, title="A company")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        view = browser.new_page(viewport={"width": 1280, "height": 760})
        view.goto(f"{page.as_uri()}#node=Ada%20Berg")
        view.wait_for_timeout(2000)
        view.screenshot(path=FOLDER / "explorer.png")
        browser.close()


def write_tables() -> None:
    """Write contacts.csv, people.csv and new-contacts.csv."""
    company = r2v.planted_groups(240, len(TEAMS), degree=7, mixing=0.25, seed=SEED)
    teams = company.labels.argmax(axis=1)
    rng = np.random.default_rng(SEED)
    pairs = acquainted(company.graph, rng)
    names = [f"{FIRST[n % 20]} {LAST[n // 20]}" for n in rng.permutation(len(teams))]
    rows = [contact(names[a], names[b], teams[a] == teams[b], rng) for a, b in pairs]
    write("contacts.csv", ["from", "to", "messages", "last_contact"], rows)
    joined = 2010 + rng.integers(0, 15, len(teams))
    city = rng.integers(0, len(CITIES), len(teams))
    hidden = set(rng.choice(len(teams), SECRET, replace=False).tolist())
    people = [
        [names[n], "" if n in hidden else TEAMS[teams[n]], CITIES[city[n]], joined[n]]
        for n in range(len(teams))
    ]
    write("people.csv", ["name", "team", "city", "joined"], sorted(people))
    write("new-contacts.csv", ["from", "to", "messages", "last_contact"], new(names, teams, rng))


def acquainted(graph: r2v.Graph, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return the pairs of a graph, and more: people get to know contacts of their contacts."""
    adjacent = graph.to_scipy().toarray() > 0
    for between in rng.integers(0, graph.n_nodes, 3 * graph.n_nodes):
        one, other = rng.choice(np.flatnonzero(adjacent[between]), 2)
        adjacent[one, other] = adjacent[other, one] = one != other
    return [(int(a), int(b)) for a, b in np.argwhere(np.triu(adjacent))]


def contact(one: str, other: str, together: bool, rng: np.random.Generator) -> list[Any]:
    """Return a row: colleagues of one team write more to each other."""
    messages = 1 + rng.poisson(20 if together else 5)
    return [one, other, messages, DAY + int(rng.integers(0, 365))]


def new(names: list[str], teams: NDArray[Any], rng: np.random.Generator) -> list[list[Any]]:
    """Return the first contacts of people who have joined since."""
    rows = []
    for number, team in enumerate((1, 4, 5)[:NEWCOMERS]):
        for colleague in rng.choice(np.flatnonzero(teams == team), 4, replace=False):
            name = f"{('Uma', 'Vera', 'Wes')[number]} Moreau"
            rows.append([name, names[colleague], 1 + rng.poisson(8), DAY + 366 + len(rows)])
    return rows


def write(name: str, header: list[str], rows: list[list[Any]]) -> None:
    """Write a CSV file."""
    with (FOLDER / name).open("w", newline="\n", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()
