"""Show the notebooks of examples/ as pages of the site, with outputs and a link to the file."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

FOLDER = "notebooks"
LINKS = {r"\((\S+)\.ipynb\)": r"(\1.md)", r"\(\.\./docs/": r"(../"}


def on_files(files: Files, *, config: Any, **_: Any) -> Files:
    """Add a page, its pictures and the notebook itself for every notebook."""
    for notebook in sorted(Path(config.config_file_path).parent.glob("examples/*.ipynb")):
        text, pictures = page(notebook.stem, json.loads(notebook.read_text(encoding="utf-8")))
        contents = {f"{notebook.stem}.md": text, notebook.name: notebook.read_bytes(), **pictures}
        for name, content in contents.items():
            files.append(File.generated(config, f"{FOLDER}/{name}", content=content))
    return files


def page(name: str, notebook: dict[str, Any]) -> tuple[str, dict[str, bytes]]:
    """Return a notebook as Markdown, and its pictures by name of file."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            for beside, here in LINKS.items():
                source = re.sub(beside, here, source)
            parts.append(source)
            continue
        parts.append(fenced("python", source))
        for number, output in enumerate(cell["outputs"]):
            picture = f"{name}-{cell['execution_count']}-{number}.png"
            parts.extend(shown(output, picture, pictures))
    title, *rest = parts
    heading, _, text = title.partition("\n")
    download = f"[Download this notebook]({name}.ipynb){{ .md-button download }}"
    heading = f"# Notebook: {heading.removeprefix('# ').lower()}"
    return "\n\n".join([heading, download, text, *rest]), pictures


def shown(output: dict[str, Any], picture: str, pictures: dict[str, bytes]) -> Iterator[str]:
    """Yield the best format of an output: a picture, a table or text."""
    data = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
    if "image/png" in data:
        pictures[picture] = base64.b64decode(data["image/png"])
        yield f"![Output of the cell above]({picture})"
    elif "text/html" in data:
        yield f'<div class="output">\n{data["text/html"]}\n</div>'
    else:
        yield fenced("text", "".join(output.get("text", data.get("text/plain", ""))).rstrip("\n"))


def fenced(language: str, text: str) -> str:
    """Return a block of code or output; outputs are set apart by their style."""
    return f"```{{.{language}{' .output' if language == 'text' else ''}}}\n{text}\n```"
