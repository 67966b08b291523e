"""A process as in a container: a user without a home, and a package that cannot be written to."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import reinforce2vec

PACKAGE = Path(reinforce2vec.__file__).parent
NOBODY = """
import pwd

def unknown(user):
    raise KeyError(user)  # a user that /etc/passwd does not list

pwd.getpwuid = unknown
"""
MAIN = "from reinforce2vec.cli.main import main; main()"
_PR_CAPBSET_DROP = 24


def copy_of_package(folder):
    """Copy the package without numba's compiled code; return the folder to import it from."""
    ignored = shutil.ignore_patterns("*.nb[ic]")
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=ignored)
    return folder


def set_writable(folder, wanted):
    """Let files be written to a folder and all below it, or not."""
    for path in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        path.chmod(0o755 if wanted else 0o555)


def run_as_nobody(code, *words, site, folder, limit=lambda: None, **variables):
    """Run a piece of Python with no environment but these variables; return what it did.

    Root gives up all rights of root: then permissions of files hold for it as well.
    """
    if os.name != "posix" or (os.geteuid() == 0 and sys.platform != "linux"):
        pytest.skip("permissions of files do not hold here")

    def prepare():
        if os.geteuid() == 0:
            for capability in range(64):
                ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        limit()

    return subprocess.run(
        [sys.executable, "-c", NOBODY + code, *map(str, words)],
        cwd=folder,
        env={"PYTHONPATH": str(site), "PATH": os.defpath} | variables,
        preexec_fn=prepare,
        capture_output=True,
        text=True,
        check=False,
    )
