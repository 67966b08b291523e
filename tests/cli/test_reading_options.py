"""Commands that read a graph: which columns, which nodes, and what they report of it."""

from __future__ import annotations

import pytest

from helpers.command_line import run
from reinforce2vec import Embedding

CALLS = (
    "id,caller,callee,minutes,time\n1,ann,bob,3,9\n2,bob,cid,1,8\n3,ann,bob,2,7\n4,cid,cid,1,6\n"
)
QUICK = ("--dimensions", "4", "--walks-per-node", "2", "--walk-length", "5")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_text("# made today\n" + CALLS)
    return tmp_path


def embed(*words):
    return run("embed", words[0], "-o", "vectors.npz", *QUICK, *words[1:])


def test_a_choice_is_spelled_out_as_it_is_typed():
    ended = embed("calls.csv")
    assert ended.exit_code == 1
    assert (
        'calls.csv, line 2: "minutes" may hold weights: --weight minutes makes weights of it, '
        "--unweighted leaves numbers out" in ended.stderr
    )
    assert embed("calls.csv", "--weight", "minutes").exit_code == 0
    assert embed("calls.csv", "--weight", "4").exit_code == 0
    ended = embed("calls.csv", "--weight", "minuts")
    assert "--weight minuts: there is no such column: the columns are" in ended.stderr
    ended = embed("calls.csv", "--source", "callee", "--unweighted")
    assert "--source callee needs --target ... as well" in ended.stderr


def test_columns_with_blanks_are_quoted_for_the_shell(folder):
    (folder / "odd.csv").write_text("nr,the user,the friend\n1,ann,bob\n2,bob,cid\n")
    ended = embed("odd.csv")
    assert "; name two: --source 'the user' --target 'the friend'\n" in ended.stderr
    ended = embed(
        "odd.csv",
        "--source",
        "the user",
        "--target",
        "the friend",
        "--unweighted",
        "--no-bipartite",
    )
    assert ended.exit_code == 0


def test_what_was_decided_is_reported_in_one_line():
    ended = embed("calls.csv", "--weight", "minutes")
    assert (
        'calls.csv: nodes from "caller" and "callee"; weights from "minutes"; left out "id", '
        '"time"; separated by commas; a header; 1 comment skipped; text ids; '
        "1 self-loop dropped; 1 duplicate edge merged, weights added\n" in ended.stderr
    )
    ended = run("walk", "calls.csv", "-o", "walks.txt", "--unweighted", "--length", "3")
    assert 'calls.csv: nodes from "caller" and "callee"; left out' in ended.stderr


def test_nodes_of_a_file_come_first(folder):
    (folder / "people.txt").write_text("dee\ncid\n")
    assert embed("calls.csv", "--unweighted", "--nodes", "people.txt").exit_code == 0
    assert Embedding.load("vectors.npz").ids.tolist() == ["dee", "cid", "ann", "bob"]
    ended = embed("calls.csv", "--unweighted", "--nodes", "nobody.txt")
    assert "nobody.txt: there is no such file" in ended.stderr
    ended = run("walk", "calls.csv", "-o", "people.txt", "--unweighted", "--nodes", "people.txt")
    assert "people.txt: the command reads this file" in ended.stderr


def test_two_kinds_of_nodes(folder):
    (folder / "ratings.csv").write_text("user,item\n1,1\n2,1\n1,2\n")
    printed = embed("ratings.csv").stderr
    assert 'the columns "user" and "item" share 2 ids, such as 1: --bipartite makes' in printed
    assert "--no-bipartite one" in printed
    assert embed("ratings.csv", "--no-bipartite").exit_code == 0
    assert embed("ratings.csv", "--bipartite").exit_code == 0
    assert "user:1" in Embedding.load("vectors.npz").ids.tolist()


def test_weights_of_edges_and_of_exploration_have_options_of_their_own():
    ended = embed("calls.csv", "--weight", "minutes", "--exploration-weight", "0.5")
    assert ended.exit_code == 0
    ended = embed("calls.csv", "--unweighted", "--exploration-weight", "-1")
    assert "error: --exploration-weight must be a number" in ended.stderr
