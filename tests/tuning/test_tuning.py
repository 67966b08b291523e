"""Tuning: an honest search within a budget, that can be killed and goes on."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest

import reinforce2vec as r2v
from helpers.command_line import check, run
from helpers.files import STAYED
from reinforce2vec import InputError, Reinforce2Vec, karate_club, planted_groups
from reinforce2vec.evaluation import link_prediction
from reinforce2vec.tuning import Tuning, search, space, tune
from reinforce2vec.tuning._budget import SearchClock, TimeEstimates, seconds_of
from reinforce2vec.tuning._objective import (
    TEST,
    VALIDATION,
    chosen_baselines,
)
from reinforce2vec.tuning.results import BaselineRun, GraphReference, Trial
from reinforce2vec.tuning.search import TuningSearch
from reinforce2vec.tuning.space import SPACE, limited, starts

FEW = {"dimensions": 8, "workers": 1, "method": "none"}
DEFAULT = starts(SPACE)["default"]


@pytest.fixture(scope="module")
def groups():
    return planted_groups(120, 3)


@pytest.fixture
def brief(monkeypatch):
    """Trainings with at most two walks from every node, and few at the end; the rest is real."""
    monkeypatch.setattr(search, "SPACE", limited(2))
    monkeypatch.setattr(search, "_PLANS", ((1, 1),))


def widest_of(setting):
    """The widest window, as a number."""
    return int(setting["window"].rpartition(",")[2])


def worth(setting, seed=0):
    """What a setting is worth to a search that trains nothing."""
    noise = np.random.default_rng([seed, *json.dumps(setting).encode()]).normal(scale=0.3)
    window = abs(widest_of(setting) - 5) / 5
    return 80.0 + 8 * setting["smooth"] - window - abs(np.log2(setting["rate"])) + noise


@pytest.fixture
def untrained(monkeypatch):
    """A search that only pretends to train; the list of what was asked for, with its parts."""
    asked = []

    def embed(self, setting, seed, parts):
        asked.append((setting, seed, parts))
        return [{"hadamard": {"auc": worth(setting, seed), "ap": 50.0}} for _ in parts]

    monkeypatch.setattr(TuningSearch, "embed", embed)
    return asked


def tune_command(*words):
    return run("tune", *words)


def tried(found):
    return [(trial.setting, trial.score) for trial in found.trials]


# -- what a setting means ------------------------------------------------------------------------


def drawn_settings(how_many):
    rng = np.random.default_rng(0)
    for _ in range(how_many):
        setting = {}
        for one in SPACE:
            if one.applies(setting):
                setting[one.name] = one.values[rng.integers(len(one.values))]
        yield setting


@pytest.fixture
def fitted(monkeypatch):
    """Parameters of every model that is fitted; none is trained."""
    models = []

    def fit(self, graph, *args, **options):
        models.append(self.get_params())
        self.embedding_ = r2v.Embedding(graph.ids, np.ones((len(graph.ids), 2)))
        self.n_tokens_, self.seconds_, self.backend_ = 1, 1.0, "cpu"
        self.loss_curve_, self.learning_rate_ = np.ones(1), 0.1
        return self

    monkeypatch.setattr(Reinforce2Vec, "fit", fit)
    monkeypatch.setattr(r2v.Embedding, "save", lambda self, path: None)
    return models


def test_command_and_python_make_the_model_that_was_scored(folder, fitted):
    settings = [*starts(SPACE).values(), *drawn_settings(12)]
    source = GraphReference(
        ("embed", "edges.txt", "-o", "vectors.npz", "--unweighted"), "r2v.read_graph('edges.txt')"
    )
    for setting in settings:
        found = Tuning({"dimensions": 24}, [Trial(0, setting, "default", 1.0)], source=source)
        scored = found.model(workers=3).get_params()
        program, *words = shlex.split(found.command)
        assert program == "reinforce2vec"
        check(run(*words, "--workers", 3))
        exec(found.python, {})
        by_command, by_python = fitted[-2:]
        assert by_command == scored
        assert by_python | {"workers": 3} == scored
    assert len(fitted) == 2 * len(settings)


def test_the_default_is_what_the_model_has_by_itself():
    by_itself = Reinforce2Vec().get_params()
    found = space.parameters_of(DEFAULT, by_itself["dimensions"])
    assert found | {"walk": None} == {name: by_itself[name] for name in found}
    assert found["walk"] == r2v.ReinforcedWalk()


# -- the search ----------------------------------------------------------------------------------


def test_one_seed_gives_one_result_and_another_seed_another(groups, untrained):
    first, again = (tune(groups, trials=16, seed=3, **FEW) for _ in range(2))
    assert tried(first) == tried(again)
    assert first.finals == again.finals
    assert tried(tune(groups, trials=9, seed=4, **FEW))[8] != tried(first)[8]
    assert len({json.dumps(setting) for setting, _ in tried(first)}) == 16


def test_real_trainings_with_one_thread_repeat_to_the_last_bit(groups, brief):
    one, other = (tune(groups, trials=7, **FEW) for _ in range(2))
    assert tried(one) == tried(other)
    assert [final.test for final in one.finals] == [final.test for final in other.finals]
    assert one.best.score >= one.default.score


def test_a_sparse_graph_is_tuned_on_what_it_can_spare(untrained):
    edges = [(node, (node + 1) % 60) for node in range(60)]
    edges += [(node, node + 60) for node in range(60)]
    edges += [(node, node + 7) for node in range(0, 50, 2)]
    with pytest.warns(UserWarning, match="too sparse to hold out 50% of its edges"):
        found = tune(edges, trials=3, **FEW)
    assert found.to_dict()["fraction"] == 0.17
    assert found.to_dict()["held_out_edges"] == 24


def test_a_training_that_fails_is_noted_and_the_search_goes_on(groups, untrained, monkeypatch):
    embed = TuningSearch.embed

    def diverge(self, setting, seed, parts):
        if setting["walk"] == "first-order":
            raise InputError("training failed: the learning rate is too large")
        return embed(self, setting, seed, parts)

    monkeypatch.setattr(TuningSearch, "embed", diverge)
    found = tune(groups, trials=12, **FEW)
    failed = [trial for trial in found.trials if trial.error]
    assert failed
    assert all(trial.score is None and "too large" in trial.error for trial in failed)
    assert found.best.setting["walk"] != "first-order"
    assert len(found.trials) == 12


def test_the_best_few_and_the_default_are_trained_anew_with_other_seeds(groups, untrained):
    found = tune(groups, trials=12, seed=5, **FEW)
    searched, ended = untrained[:12], untrained[12:]
    assert {(seed, parts) for _, seed, parts in searched} == {(5, (VALIDATION,))}
    assert all(seed > 5 and parts == (VALIDATION, TEST) for _, seed, parts in ended)
    finalists = [found.trials[final.number] for final in found.finals]
    assert finalists[0] is found.default
    others = [trial for trial in found.ranking if trial is not found.default]
    assert finalists[1:] == others[:3]
    means = {final.number: found.validation_of(final) for final in found.finals}
    assert found.best.number == max(means, key=means.get)


# -- honest --------------------------------------------------------------------------------------


def test_the_search_sees_none_of_the_pairs_that_it_is_judged_by(groups, brief, monkeypatch):
    """Every pair that any classifier is trained on or asked about goes through pair_features."""
    seen = {"search": set(), "end": set()}
    phase = "search"
    features, finish = link_prediction._pair_features, TuningSearch.finish

    def spy(matrix, pairs, operator):
        seen[phase] |= {tuple(pair) for pair in pairs.tolist()}
        return features(matrix, pairs, operator)

    def end(self):
        nonlocal phase
        phase = "end"
        finish(self)

    monkeypatch.setattr(link_prediction, "_pair_features", spy)
    monkeypatch.setattr(TuningSearch, "finish", end)
    found = tune(groups, trials=3, **FEW)
    held_out = 2 * found.facts["held_out_edges"]  # and as many pairs that were no edges
    assert len(seen["end"]) == held_out
    assert len(seen["end"] - seen["search"]) == held_out // 2


def test_the_search_knows_nothing_of_the_labels_that_it_is_judged_by(groups, brief):
    labels = groups.labels.copy()
    order = np.random.default_rng(0).permutation(len(labels))
    unseen = order[len(labels) // 2 :]
    labels[unseen] = np.roll(labels[unseen], 1, axis=1)
    told, lied = (
        tune(groups.graph, "node-classification", given, trials=3, **FEW)
        for given in (groups.labels, labels)
    )
    assert tried(told) == tried(lied)
    for one, other in zip(told.finals, lied.finals, strict=True):
        assert one.validation == other.validation
        assert min(one.test) > max(other.test)


def test_a_default_that_is_no_worse_on_the_unseen_part_is_recommended(groups, untrained):
    found = tune(groups, trials=9, **FEW)
    assert "no worse" not in str(found)
    for final in found.finals:
        final.test[:] = [50.0] * len(final.test)
    assert "On these, the default is no worse: keep it, and ignore the setting" in str(found)


# -- baselines -----------------------------------------------------------------------------------


def with_baselines(groups, method, **settings):
    return tune(groups, trials=2, **(FEW | {"method": method} | settings))


def test_baselines_are_scored_on_both_parts_with_the_same_data(groups, untrained):
    found = with_baselines(groups, "auto", seed=3)
    assert [one.label for one in found.baselines] == ["ProNE", "NetMF", "GraRep"]
    split = r2v.hold_out_edges(groups.graph, found.facts["fraction"], 3)
    for made, model in zip(found.baselines, (r2v.ProNE, r2v.NetMF, r2v.GraRep), strict=True):
        vectors = model(8, seed=3).fit(split.graph).embedding_
        for part, score in ((VALIDATION, made.validation), (TEST, made.test)):
            scores = r2v.score_links(vectors, split, seed=3, part=part)
            assert score == pytest.approx(scores[made.way]["auc"])
    assert len(found.trials) == 2  # they take nothing from the search


def test_which_baselines_are_tried():
    assert chosen_baselines("auto", 20_000) == ("prone", "netmf", "grarep")
    assert chosen_baselines("auto", 20_001) == ("prone",)
    assert chosen_baselines("none", 5) == ()
    assert chosen_baselines("hope, line,hope", 10**9) == ("hope", "line")
    assert chosen_baselines(["netmf"], 10**9) == ("netmf",)
    for wrong in ("deepwalk", "", "prone,,hope", [7]):
        with pytest.raises(InputError, match="method must be one of"):
            chosen_baselines(wrong, 10)


def test_a_baseline_that_wins_is_named_with_its_command(groups, untrained):
    found = with_baselines(groups, "prone,netmf")
    netmf = found.baselines[1]
    for lost in (0.0, 40.0):
        found.baselines[1] = replace(netmf, validation=99.0, test=lost)
        assert found.better_baseline is None
        assert "has the higher score" not in str(found)
        assert found.to_dict()["better_baseline"] is None
    found.baselines[1] = replace(netmf, validation=99.0, test=99.5)
    assert found.better_baseline.name == "netmf"
    said = str(found)
    assert "NetMF has the higher score here; as a command" in said
    assert "reinforce2vec embed GRAPH -o vectors.npz --method netmf --dimensions 8" in said
    assert re.search(r"NetMF +99\.00 +99\.50", said)
    assert found.to_dict()["better_baseline"] == "netmf"
    # chosen by validation: one that wins on the unseen part by chance is not
    found.baselines[1] = replace(netmf, validation=1.0, test=99.5)
    found.baselines[0] = replace(found.baselines[0], validation=2.0, test=1.0)
    assert found.better_baseline is None


def test_baselines_that_may_not_end_in_time_are_left_out(groups, monkeypatch):
    time = FakeTime(monkeypatch, 0.3)

    def slow(name, task, dimensions, seed):
        time.now += 60.0
        return BaselineRun(name, 50.0, 50.0, "hadamard", {}, 60.0)

    monkeypatch.setattr(search, "run_baseline", slow)
    found = tune(groups, budget="10m", **(FEW | {"method": "auto"}))
    assert [one.name for one in found.baselines] == ["prone"]
    assert time.now <= 600


def test_a_baseline_that_fails_is_noted(groups, untrained, monkeypatch):
    def fail(*args, **options):
        raise InputError("too large")

    monkeypatch.setattr(r2v.NetMF, "fit", fail)
    found = with_baselines(groups, "netmf,prone")
    assert (found.baselines[0].error, found.baselines[0].validation) == ("too large", None)
    assert re.search(r"NetMF +- +-", str(found))


# -- time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "seconds"),
    [("90s", 90), ("1h30m", 5400), ("45", 45), (12.5, 12.5), ("1M", 60)],
)
def test_budgets_are_read(budget, seconds):
    assert seconds_of(budget) == seconds


@pytest.mark.parametrize("budget", ["", "ten minutes", "10x", "30m1h", "-5", 0, "0m", float("nan")])
def test_budgets_that_are_no_time_are_refused(budget):
    with pytest.raises(InputError, match="budget must be"):
        seconds_of(budget)


def test_walks_are_so_few_that_a_training_takes_a_small_share():
    pace = TimeEstimates(1000)
    pace.add(DEFAULT | {"walks_per_node": 1}, training=1.0, beside=0.0)
    choices = (1, 2, 5, 10, 20, 40, 80)
    assert [pace.most_walks(DEFAULT, choices, 8.0 * n) for n in (1, 4, 10, 1000)] == [1, 2, 10, 80]
    with pytest.raises(InputError, match="takes about 5s"):
        pace.most_walks(DEFAULT, choices, 3.0)


class FakeTime:
    """Time that passes when somebody trains: so many seconds for a walk from every node."""

    def __init__(self, monkeypatch, per_walk, slower_at=None):
        self.now, self.trainings = 0.0, []
        monkeypatch.setattr(
            search, "SearchClock", lambda limit: SearchClock(limit, now=lambda: self.now)
        )

        def embed(searching, setting, seed, parts):
            pace = searching.estimates.work(setting) / searching.estimates.work(DEFAULT)
            seconds = per_walk * DEFAULT["walks_per_node"] * pace
            if len(self.trainings) == slower_at:
                seconds *= 1000
                searching.clock.began -= seconds
                searching.watch(None)
            self.now += seconds
            self.trainings.append(seconds)
            searching.estimates.add(setting, seconds, 0.0)
            return [{"hadamard": {"auc": worth(setting, seed), "ap": 50.0}} for _ in parts]

        monkeypatch.setattr(TuningSearch, "embed", embed)


@pytest.mark.parametrize("per_walk", [0.8, 7.0, 60.0])
def test_no_training_is_begun_that_would_not_end_in_time(groups, monkeypatch, per_walk):
    time = FakeTime(monkeypatch, per_walk)
    found = tune(groups, budget="10m", **FEW)
    assert time.now <= 600
    assert len(found.trials) >= 2
    assert found.default.number == 0
    if per_walk < 60:
        work = TimeEstimates(1).work
        (windows,) = (one.values for one in SPACE if one.name == "window")
        most = max(work(DEFAULT | {"window": window}) for window in windows)
        assert max(time.trainings) <= 600 / 8 * most / work(DEFAULT)
        assert found.elapsed > 300
    if per_walk == 7.0:
        assert "limited by the budget to 10 walks from every node" in str(found)


def test_a_budget_that_is_too_small_says_what_is_needed(groups, monkeypatch):
    FakeTime(monkeypatch, 60.0)
    with pytest.raises(InputError, match=r"a budget of 60s is too little .* takes about \d+s"):
        tune(groups, budget=60, **FEW)


def test_a_training_that_takes_far_too_long_is_given_up(groups, monkeypatch):
    FakeTime(monkeypatch, 0.3, slower_at=4)
    found = tune(groups, budget="10m", **FEW)
    assert len(found.trials) == 3  # the first training was to measure
    assert found.finals


# -- killed, and gone on -------------------------------------------------------------------------


def test_a_killed_search_goes_on_as_if_nothing_had_been(groups, untrained, tmp_path, monkeypatch):
    whole = tune(groups, trials=20, **FEW)
    file = tmp_path / "tuning.json"
    embed = TuningSearch.embed

    def killed(self, setting, seed, parts):
        if len(self.tuning.trials) == 14:
            raise MemoryError
        return embed(self, setting, seed, parts)

    monkeypatch.setattr(TuningSearch, "embed", killed)
    with pytest.raises(MemoryError):
        tune(groups, trials=20, output=file, **FEW)
    kept = Tuning.load(file)
    assert tried(kept) == tried(whole)[:14]
    assert not kept.finished
    monkeypatch.setattr(TuningSearch, "embed", embed)
    before = len(untrained)
    resumed = tune(groups, trials=20, output=file, resume=True, **FEW)
    assert tried(resumed) == tried(whole)
    assert resumed.finals == whole.finals
    assert len(untrained) - before == 6 + len(whole.finals) * len(whole.finals[0].seeds)
    assert Tuning.load(file).to_dict() | {"elapsed": 0} == resumed.to_dict() | {
        **{"elapsed": 0, "best_as_command": resumed.command},
    }


def test_a_finished_search_has_nothing_left_to_do_until_it_may_try_more(
    groups, untrained, tmp_path
):
    settings = {"output": tmp_path / "tuning.json", "resume": True, **FEW}
    first = tune(groups, trials=9, **settings)
    before = len(untrained)
    again = tune(groups, trials=9, **settings)
    assert len(untrained) == before
    assert Tuning.load(settings["output"]).baselines == first.baselines
    assert again.finals == first.finals
    more = tune(groups, trials=11, **settings)
    assert tried(more)[:9] == tried(first)
    assert len(more.trials) == 11


def test_time_spent_before_counts(groups, monkeypatch, tmp_path):
    time = FakeTime(monkeypatch, 0.8)
    settings = {"output": tmp_path / "tuning.json", "resume": True, **FEW}
    tune(groups, budget="5m", **settings)
    spent = time.now
    tune(groups, budget="10m", **settings)
    assert spent <= 300
    assert time.now <= 600 + 0.8  # and once more to measure


def test_only_the_same_search_goes_on(groups, untrained, tmp_path):
    file = tmp_path / "tuning.json"
    tune(groups, trials=3, output=file, **FEW)
    with pytest.raises(InputError, match="this file exists: resume from it"):
        tune(groups, trials=3, output=file, **FEW)
    with pytest.raises(InputError, match="another graph or task: nodes was 120 and is 34"):
        tune(karate_club(), trials=3, output=file, resume=True, **FEW)
    with pytest.raises(InputError, match="seed was 0 and is 1"):
        tune(groups, trials=3, output=file, resume=True, seed=1, **FEW)
    sound = json.loads(file.read_text())
    odd = [sound | {name: value} for name in sound for value in (None, [7], {"a": 1}, "x", 1e999)]
    trial = sound["trials"][0]
    odd += [
        sound | {"trials": [trial | {name: value}]}
        for name in ("number", "setting", "score", "seconds", "error")
        for value in ([], {"walk": 1}, "x", 10**400, float("nan"))
    ]
    for text in ("{}", "[]", "7", "[" * 10**5, "\ud800", *map(json.dumps, odd)):
        file.write_bytes(text.encode(errors="surrogatepass"))
        with contextlib.suppress(InputError):  # what is worked out again, or was only told, is fine
            repr(Tuning.load(file))
    file.write_text("{}")
    with pytest.raises(InputError, match="this is not a file that tuning has written"):
        tune(groups, trials=3, output=file, resume=True, **FEW)
    with pytest.raises(InputError, match="resume=True needs output="):
        tune(groups, trials=3, resume=True, **FEW)
    if hasattr(os, "mkfifo"):  # else Windows
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="a device or a pipe"):  # which is not waited for
            tune(groups, trials=3, output=tmp_path / "pipe", resume=True, **FEW)


def test_ctrl_c_tells_the_best_so_far_and_keeps_it(folder, brief, interrupts, monkeypatch):
    """A real signal, in a real training."""
    watch = TuningSearch.watch

    def press(self, moment):
        if len(self.tuning.trials) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        watch(self, moment)

    monkeypatch.setattr(TuningSearch, "watch", press)
    words = ["edges.txt", "--trials", 5, "-o", "tuning.json", "-d", 8, "--workers", 1]
    result = check(tune_command(*words), 130)
    assert "best of 2 in the search" in result.stdout
    assert "Interrupted before the test" in result.stdout
    assert "interrupted: these are the results so far; to continue from" in result.stderr
    assert len(Tuning.load("tuning.json").trials) == 2
    monkeypatch.setattr(TuningSearch, "watch", watch)
    check(tune_command(*words, "--resume"))
    assert Tuning.load("tuning.json").finished


# -- the command ---------------------------------------------------------------------------------


def test_the_command_prints_what_the_function_finds(folder, brief):
    words = ["edges.txt", "--trials", 3, "-d", 8, "--workers", 1, "--seed", 2, "--unweighted"]
    result = check(tune_command(*words, "--method", "none"))
    found = tune(r2v.read_graph("edges.txt"), trials=3, seed=2, **FEW)
    assert f"best: no. {found.best.number}" in result.stdout or found.best is found.default
    (command,) = [line for line in result.stdout.splitlines() if "reinforce2vec embed" in line]
    words = ("embed", "edges.txt", "-o", "vectors.npz", "--unweighted")
    found.source = GraphReference(words, 'r2v.read_graph("edges.txt", weighted=False)', "edges.txt")
    assert command.strip() == found.command
    assert "\n".join(f"    {line}".rstrip() for line in found.python.splitlines()) in result.stdout
    assert "chosen by its validation score, which is therefore optimistic" in result.stdout


def test_labels_come_from_a_file(labelled, brief):
    with (labelled / "labels.txt").open("a") as file:
        file.write("nobody instructor\n")
    result = check(
        tune_command(
            *("edges.txt", "--task", "node-classification", "--labels", "labels.txt", "--json"),
            *("--trials", 3, "-d", 8, "--workers", 1),
        )
    )
    sides = {node: node in STAYED for node in karate_club().ids.tolist()}
    found = tune(r2v.read_graph("edges.txt"), "node-classification", sides, trials=3, **FEW)
    told = json.loads(result.stdout)
    assert told["command"] == "tune"
    assert told["classes"] == 2
    assert [trial["score"] for trial in told["trials"]] == [score for _, score in tried(found)]
    assert "labels.txt: 34 nodes in 2 classes" in result.stderr
    assert "left out 1 node not in the graph (nobody)" in result.stderr


def test_a_data_set_is_told_as_what_evaluates_it(folder, brief, monkeypatch):
    def load(name, data_dir=None, *, progress=True):
        return r2v.Dataset(name, karate_club(), np.arange(34)[:, None] % 2 == np.arange(2))

    monkeypatch.setattr("reinforce2vec.datasets.load_dataset", load)
    words = ["ppi", "--task", "node-classification", "--trials", 2, "-d", 8, "--data-dir", "."]
    result = check(tune_command(*words))
    start = "reinforce2vec evaluate node-classification ppi --data-dir . --walk reinforced"
    assert start in result.stdout
    assert 'graph = r2v.load_dataset("ppi", data_dir=".").graph' in result.stdout


NODES = ("edges.txt", "--task", "node-classification")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (NODES, "needs --labels FILE: one node and its labels per line"),
        (("edges.txt", "--labels", "labels.txt"), "--labels is for --task node-classification"),
        ((*NODES, "--labels", "labels.txt", "--fraction", 0.2), "--fraction is for"),
        (("ppi", *NODES[1:], "--labels", "labels.txt"), "has labels of its own"),
        (("edges.txt", "--budget", "soon"), "--budget must be a time such as 90s, 10m or 1h30m"),
        (("edges.txt", "--resume"), "--resume needs --output FILE"),
        (("edges.txt", "-o", "labels.txt"), "this file exists: resume from it (--resume)"),
        (("edges.txt", "-o", "edges.txt", "--resume"), "the command reads this file"),
        (("edges.txt", "-o", "no/tuning.json"), "does not exist: make it first"),
    ],
)
def test_a_wrong_command_line_ends_in_a_sentence(labelled, words, message):
    result = check(tune_command(*words), 2)
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "node-classification"}, "needs labels"),
        ({"task": "fame"}, "task must be one of"),
        ({"labels": [0] * 120}, "labels has no effect"),
        ({"trials": 1}, "trials must be an integer of at least 2"),
        ({"dimensions": 0}, "dimensions must be"),
        ({"task": "node-classification", "labels": {0: "a", 1: "b"}}, "fewer than eight nodes"),
    ],
)
def test_wrong_arguments_are_told(groups, settings, message):
    with pytest.raises(InputError, match=message):
        tune(groups.graph, **settings)


def test_without_optuna_the_command_says_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    result = check(tune_command("edges.txt"), 2)
    assert "tuning needs optuna, which is not installed: pip install" in result.stderr
    with pytest.raises(InputError, match=r"reinforce2vec\[tune\]"):
        tune(karate_club())
