"""Optional packages that are there, or not, whatever this machine has."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType


def without_package(monkeypatch, name):
    """Let a package be absent: it is neither found nor imported."""
    monkeypatch.setitem(sys.modules, name, None)


def with_package(monkeypatch, name):
    """Let a package be found; it is empty."""
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    monkeypatch.setitem(sys.modules, name, module)
