"""Commands of reinforce2vec: run in this process or in one of their own, checked, interrupted."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys

from typer.testing import CliRunner

from reinforce2vec.cli.main import app

# Ctrl-C works even where the shell runs the tests in the background, with interrupts ignored.
MAIN = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from reinforce2vec.cli.main import main
main()
"""


def run(*words, **settings):
    """Run a command in this process and return its result, whatever the exit status."""
    return CliRunner().invoke(app, [str(word) for word in words], **settings)


def check(result, code=0):
    """Return the result of a command that ended with this exit status, without a traceback."""
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result


def checked(*words, code=0):
    """Run a command in this process and check its exit status."""
    return check(run(*words), code)


def run_python(code, *words, **settings):
    """Return what a piece of Python prints in a process of its own, which must end well."""
    command = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextlib.contextmanager
def started(*words, code=MAIN, **settings):
    """A process that runs a piece of Python, by default a command; it ends with the block."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-c", code, *map(str, words)]
    with subprocess.Popen(command, text=True, **(pipes | settings)) as process:
        try:
            yield process
        finally:
            process.kill()


def interrupted(process, number=signal.SIGINT):
    """Send a signal to a command and return the last line that it prints on stderr."""
    process.send_signal(number)
    _, said = process.communicate("go on\n", timeout=300)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    return said.splitlines()[-1]
