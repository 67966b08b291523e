"""Terminals that remember what was written to them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from io import StringIO

_CHILD = """
import fcntl, json, struct, sys, termios
from reinforce2vec.cli.main import app
for columns, words in json.loads(sys.argv[1]):
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    try:
        app(words, prog_name="reinforce2vec")
    except SystemExit as end:
        print(f"\\0{end.code or 0}\\0", end="", flush=True)
"""
_COLOURS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")


class Terminal(StringIO):
    """A stream that says that it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


def until(condition):
    """Wait for another thread; a test that waits in vain fails after a minute."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def run_on_terminal(*commands, **variables):
    """Run commands on one pseudo-terminal, and return what each wrote to it, and its exit status.

    Parameters
    ----------
    commands : tuples (columns, words)
        The width of the terminal, and the command line.
    variables : str
        Environment variables.
    """
    import pty  # there is none on Windows

    ours, theirs = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in _COLOURS}
    given = [(columns, words.split()) for columns, words in commands]
    process = subprocess.Popen(
        [sys.executable, "-c", _CHILD, json.dumps(given)],
        **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
        env=kept | {"TERM": "xterm-256color"} | variables,
    )
    os.close(theirs)
    written = bytearray()
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        written += part
    os.close(ours)
    assert process.wait() == 0, written.decode()
    *parts, rest = written.decode().replace("\r\n", "\n").split("\0")
    assert rest.strip("\033[0m") == ""
    return list(zip(parts[::2], map(int, parts[1::2]), strict=True))


def without_styles(text):
    """Return what a terminal shows, without colours."""
    return re.sub(r"\033\[[\d;]*m", "", text)


def screen_lines(text):
    """Return the lines that stay on a terminal, without styles and earlier states of a line."""
    lines = without_styles(text).split("\n")
    return [re.split(r"\r(?:\033\[K)?", line)[-1].rstrip() for line in lines]
