"""Write the tables of hyperparameters into docs/howto/settings.md, from the library's own table.

python docs/making/hyperparameters.py
"""

from __future__ import annotations

from pathlib import Path

from marked import rewrite

from reinforce2vec._util.hyperparameters import (
    PARAMETERS,
    REINFORCED,
    RUNNING,
    SECOND_ORDER,
    TRAINING,
    Parameter,
)

PAGE = Path(__file__).parents[1] / "howto" / "settings.md"
BEGIN = "<!-- hyperparameters: docs/making/hyperparameters.py -->"
SECTIONS = {
    "`Reinforce2Vec`": (*TRAINING, *RUNNING),
    "`ReinforcedWalk`": REINFORCED,
    "`SecondOrderWalk`": SECOND_ORDER,
}


def markdown_tables() -> str:
    """Return a table for each class that has hyperparameters."""
    tables = []
    for holder, names in SECTIONS.items():
        rows = [row(PARAMETERS[name]) for name in names]
        head = [f"{holder} | values | default | choose", "---|---|---|---"]
        tables.append("\n".join(f"| {line} |" for line in (*head, *rows)))
    return "\n\n".join(tables)


def row(one: Parameter) -> str:
    """Return the cells of one hyperparameter."""
    return " | ".join([f"`{one.name}`", one.range, one.default_text, one.short])


def main() -> None:
    """Rewrite the page."""
    rewrite(PAGE, BEGIN, markdown_tables())


if __name__ == "__main__":
    main()
