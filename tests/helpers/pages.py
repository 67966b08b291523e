"""Run the fenced blocks of a page of documentation, in order, in one folder.

    ```python                     is run; its output is the ```text block right after it
    ```sh                         is run: each line is one `reinforce2vec` command
    ```text                       the output of the block before it; ... matches anything
    ```text title="friends.csv"   is written to a file of this name

A comment in the line above a block marks one that cannot run here, one that is not compared, and
one whose numbers depend on the machine:

    <!-- not run: needs a GPU -->
    <!-- illustration -->
    <!-- numbers vary -->
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

from reinforce2vec.cli.main import app

LANGUAGES = ("python", "sh", "text")


class Block(NamedTuple):
    """A fenced block, its line in the page, and how it is marked."""

    language: str
    text: str
    line: int
    title: str | None  # the file that it is written to
    excused: str | None  # why it is not run, or not compared


def blocks_of(page: Path) -> list[Block]:
    """Return all fenced blocks of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found, begin = [], None
    for number, line in enumerate(lines):
        if begin is None and line.startswith("```"):
            begin = number
        elif line == "```":
            language, _, more = lines[begin].removeprefix("```").partition(" ")
            title = re.search(r'title="([^"]+)"', more)
            above = lines[begin - 1] if begin else ""
            excuse = re.fullmatch(r"<!-- (not run: .+|illustration|numbers vary) -->", above)
            text = "".join(f"{line}\n" for line in lines[begin + 1 : number])
            found.append(Block(language, text, begin + 2, title and title[1], excuse and excuse[1]))
            begin = None
    return found


def run_page(page: Path, folder: Path) -> None:
    """Run the blocks of a page in `folder`, which is the working directory; compare outputs."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = None  # by the block before
    blocks = blocks_of(page)
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        assert block.language in LANGUAGES, f"{page}:{block.line}: {block.language}"
        if block.title is not None:
            (folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "text":
            if block.excused != "illustration":
                assert printed is not None, f"{page}:{block.line}: nothing printed this"
                compare(block, printed, page)
        elif block.excused is not None:
            printed = None
        elif block.language == "sh":
            refused = following is not None and "error: " in following.text
            printed = "".join(
                run_command(line, refused, f"{page}:{block.line}") for line in commands(block.text)
            )
        else:
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(code, names)
            printed = output.getvalue()


def commands(text: str) -> list[str]:
    """Return the command lines of a block; a line that ends with a backslash continues."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def run_command(line: str, refused: bool, place: str) -> str:
    """Return the output of a command; it must succeed, unless the page shows an error."""
    name, *words = shlex.split(line, comments=True)
    assert name == "reinforce2vec", f"{place}: only our own commands are run: {line}"
    result = CliRunner().invoke(app, words, prog_name=name)
    expected = (1, 2) if refused else (0,)
    assert result.exit_code in expected, f"{place}: {line}\n{result.output}\n{result.exception!r}"
    return result.output


def compare(block: Block, printed: str, page: Path) -> None:
    """Assert that the output is what the page shows; dots on the page match anything."""
    shown, found = block.text.strip(), printed.strip()
    if block.excused == "numbers vary":
        shown, found = without_numbers(shown), without_numbers(found)
    pattern = re.escape(shown).replace(re.escape("..."), ".*?")
    if re.fullmatch(pattern, found, re.DOTALL) is None:
        difference = "\n".join(difflib.ndiff(shown.splitlines(), found.splitlines()))
        raise AssertionError(f"{page}:{block.line} shows something else:\n{difference}")


def without_numbers(text: str) -> str:
    """Return a text with a sign for every number and its unit, and single spaces."""
    text = re.sub(r"\d[\d,]*(?:\.\d+)?(?: [mb]illion)?(?: [kMGT]?B\b| bytes\b)?", "#", text)
    return re.sub(r"[ \t]+", " ", text)
