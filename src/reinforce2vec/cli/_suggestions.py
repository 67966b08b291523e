"""Other spellings of commands, and what to type instead of an option that does not exist."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

# Options of ours, and what other packages and commands call them: node2vec, DeepWalk, gensim,
# PecanPy, karateclub, LINE, scikit-learn, pandas.
_ELSEWHERE = {
    "--dimensions": "dim dims size vector-size vectorsize emb-size embedding-dim embedding-size "
    "representation-size n-components features",
    "--walks-per-node": "num-walks number-walks n-walks walk-number walks-number per-node",
    "--per-node": "num-walks number-walks n-walks walk-number walks-number walks-per-node",
    "--walk-length": "length walk-len max-length",
    "--length": "walk-length walk-len max-length",
    "--window": "window-size context-size context",
    "--negatives": "negative neg n-negatives num-negatives negative-samples",
    "--epochs": "iter iters iterations n-iter max-iter passes",
    "--learning-rate": "lr alpha eta rate",
    "--workers": "threads nthreads num-threads n-threads cores cpus n-jobs num-workers",
    "--jobs": "threads n-jobs processes workers",
    "--seed": "random-state random-seed",
    "--seeds": "seed random-state random-seed repeats runs",
    "--backend": "device gpu cuda ray cluster",
    "--address": "head host ray-address cluster-address",
    "--output": "out out-file outfile save export",
    "--delimiter": "sep separator",
    "--k": "top topk top-k n-neighbors neighbors n-neighbours neighbours",
    "--quiet": "silent",
    "--subsample": "sample",
}


_SPELLINGS = {"neighbours": "neighbors"}  # of commands, which are accepted as well


def known_spelling(command: str) -> str:
    """Return how we spell a command."""
    return _SPELLINGS.get(command, command)


def instead_of(name: str, context: Any) -> str:
    """Return how to go on after an option that a command does not have; empty if unknown."""
    word = name.lower().replace("_", "-")
    known = [flag for flag in _flags_of(context.command) if flag.startswith("--")]
    meant = [flag for flag in known if flag == word or word[2:] in _elsewhere(flag)]
    owners = [
        name for name, one in _commands(context.find_root().command) if word in _flags_of(one)
    ]
    if not meant and owners:
        return f": it is an option of {', '.join(owners)}"
    if len(word) > 4:  # fewer letters are close to anything
        meant += [flag for flag in known if flag.startswith(word)]
        meant += get_close_matches(word, known, n=1)
        meant += [flag for flag in known if word.startswith(f"{flag}-")]
    return f": did you mean {meant[0]}?" if meant else ""


def _elsewhere(flag: str) -> list[str]:
    return _ELSEWHERE.get(flag, "").split()


def _flags_of(command: Any) -> Iterator[str]:
    """Yield all that can be typed for the options of a command."""
    for param in command.params:
        if param.param_type_name == "option":
            yield from (*param.opts, *param.secondary_opts)


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield all commands by their words."""
    for name, command in getattr(group, "commands", {}).items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command
