"""Write the verdicts of all examples, and what each one published, into docs/gallery.md: `python tools/gallery.py`.

`make figures` does. Noise is drawn anew in each run, so the pictures are those of one release each.
"""

from __future__ import annotations

import html
import re
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import takifugu as tf
from takifugu.cli.samples.examples import Example, examples, write_example
from takifugu.releasing.advice.advice import Advice
from takifugu.releasing.publishing.run import release_file
from takifugu.releasing.report.outcomes import Published
from takifugu.releasing.report.reported import Reported
from takifugu.releasing.report.values import drawing_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "gallery.md"
PICTURES = PAGE.parent / "images"
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


def released(example: Example) -> tuple[Published, ...]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the new ledger, which is thrown away
        return release_file(write_example(example.name, Path(folder))[0], new_ledger=True).tables


def picture(example: Example, table: Published) -> Path:
    return PICTURES / f"gallery-{example.name}-{table.name}.svg"


def section(example: Example, tables: Sequence[Published]) -> Iterator[str]:
    """Draw what an example published; yield its part of the page."""
    yield f"\n## {example.name}"
    for table in tables:
        drawing = drawing_of(Reported(table.name, table.certificate, table.releases))
        assert drawing is not None, f"{example.name}: {table.name} has no picture"
        where = picture(example, table)
        where.write_text(drawing, encoding="utf-8")
        yield f"\n![{alternative(table)}](images/{where.name})"


def alternative(table: Published) -> str:
    """Say what the picture of a table shows, to those who do not see it."""
    values = [f"{row.get('unit') or row['cell']} {row['value']}" for row in table.rows]
    first_values = "; ".join(values if table.scope == "unit" or len(values) < 9 else [*values[:8], "and more"])
    return html.escape(f"{table.title}, as bars with their 95 % intervals: {first_values}", quote=False)


def main() -> None:
    pictures = "\n".join([
        HEADER,
        *(row(example, advised(example)) for example in examples()),
        *(line for example in examples() for line in section(example, released(example))),
    ])  # fmt: skip
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_MADE.sub(lambda match: f"{match[1]}\n{pictures}\n\n{match[2]}", page), encoding="utf-8")


if __name__ == "__main__":
    main()
