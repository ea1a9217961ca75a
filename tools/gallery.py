"""Write the verdicts of all examples into docs/gallery.md: `python tools/gallery.py` (`make figures` does)."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import takifugu as tf
from takifugu.cli.samples.examples import Example, examples, write_example
from takifugu.releasing.advice.advice import Advice

PAGE = Path(__file__).resolve().parent.parent / "docs" / "gallery.md"
HEADER = "| example | about | its tables, and what they are worth |\n| --- | --- | --- |"
_MADE = re.compile(r"(<!-- made: gallery -->\n).*(<!-- end: gallery -->)", re.DOTALL)


def row(example: Example, advice: Advice) -> str:
    """Return the row of an example."""
    worth = "<br>".join(f"{table.name}: **{table.sentence.replace(': ', '**: ', 1)}" for table in advice.tables)
    data = "; made-up data stand in for published ones" if example.meant_for_published_data else ""
    return f"| `{example.name}` | {example.about}{data} | {worth} |"


def advised(example: Example) -> Advice:
    with tempfile.TemporaryDirectory() as folder:
        return tf.advise(write_example(example.name, Path(folder))[0])


def main() -> None:
    rows = "\n".join([HEADER, *(row(example, advised(example)) for example in examples())])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_MADE.sub(lambda match: f"{match[1]}\n{rows}\n\n{match[2]}", page), encoding="utf-8")


if __name__ == "__main__":
    main()
