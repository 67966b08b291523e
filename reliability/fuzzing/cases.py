"""Inputs of readers: the bytes of one file or several, and options; kept as JSON."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """What a reader is given.

    Attributes
    ----------
    target : str
        The name of the reader.
    files : dict
        The bytes of each file, by its name.
    main : str
        The file to read; "." for the folder that holds all of them.
    options : dict
        Arguments of the reader.
    """

    target: str
    files: dict[str, bytes]
    main: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(len, self.files.values()))

    @property
    def name(self) -> str:
        """A name that depends on the content alone."""
        text = json.dumps([self.target, self.main, self.options, _packed(self.files)])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def write(self, folder: Path) -> Path:
        """Write the files into an empty folder; returns what is to be read."""
        for name, content in self.files.items():
            path = folder / name
            if "/" in name:
                path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder if self.main == "." else folder / self.main

    def save(self, folder: Path, **about: Any) -> Path:
        """Keep the case in a JSON file, with what is known about it."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        content = {
            "target": self.target,
            **about,
            "main": self.main,
            "options": self.options,
            "files": _packed(self.files),
        }
        path.write_text(json.dumps(content, indent=1) + "\n")
        return path


def _packed(files: dict[str, bytes]) -> dict[str, Any]:
    """Return the contents of files as JSON holds them: as text where that is exact."""
    packed: dict[str, Any] = {}
    for name, content in files.items():
        try:
            packed[name] = content.decode()
        except UnicodeDecodeError:
            packed[name] = {"base64": base64.b64encode(content).decode()}
    return packed


def read_case(path: Path) -> tuple[Case, dict[str, Any]]:
    """Read a case that was kept, and what is known about it."""
    content = json.loads(path.read_text())
    files = {
        name: packed.encode() if isinstance(packed, str) else base64.b64decode(packed["base64"])
        for name, packed in content.pop("files").items()
    }
    case = Case(content.pop("target"), files, content.pop("main"), content.pop("options"))
    return case, content
