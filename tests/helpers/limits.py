"""Limits of the machine, made small for a while."""

from __future__ import annotations

import contextlib

import pytest


@contextlib.contextmanager
def largest_file(n_bytes):
    """Let no file grow beyond so many bytes: what writes more fails as on a full disk.

    The system then raises OSError(EFBIG, "File too large"); a full disk is ENOSPC.
    """
    resource = pytest.importorskip("resource")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
