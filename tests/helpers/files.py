"""Files that tests of commands and of the documentation read."""

from __future__ import annotations

from reinforce2vec import karate_club

STAYED = {*range(1, 10), 11, 12, 13, 14, 17, 18, 20, 22}  # with the instructor, as the club split


def write_club(folder):
    """Write the edges of the karate club to edges.txt."""
    club = karate_club()
    pairs = [(a, b) for a in club.ids.tolist() for b in club.neighbors(a).tolist() if a < b]
    (folder / "edges.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs))


def write_sides(folder):
    """Write the side that each member of the karate club took to labels.txt."""
    sides = {True: "instructor", False: "administrator"}
    lines = [f"{node} {sides[node in STAYED]}\n" for node in karate_club().ids.tolist()]
    (folder / "labels.txt").write_text("".join(lines))
