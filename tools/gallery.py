"""Write three stories, and the verdicts of all examples, into docs/gallery.md: `python tools/gallery.py`.

`make figures` does. Noise is drawn anew in each run, so the pictures are those of one release each.
"""

from __future__ import annotations

import html
import math
import re
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.calibration import calibrate
from takifugu.cli.samples.examples import Example, examples, write_example
from takifugu.core.escaping import number
from takifugu.releasing.advice.advice import Advice
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.expected import Blur, half_width
from takifugu.releasing.planning.plan import calibrated
from takifugu.releasing.postprocess.picture import is_over_time
from takifugu.releasing.publishing.run import release_file
from takifugu.releasing.report.published import Published

PAGE = Path(__file__).resolve().parent.parent / "docs" / "gallery.md"
PICTURES = PAGE.parent / "images"
HEADER = "| example | about | its tables, and what they are worth |\n| --- | --- | --- |"
COMPARED = "| noise made for | each value | who is 50 % sure of an entry becomes at most |\n| --- | ---: | ---: |"
WIDTH = 120
_MADE = re.compile(r"(<!-- made: gallery -->\n).*(<!-- end: gallery -->)", re.DOTALL)


@dataclass(frozen=True)
class Story:
    """A question that an example answers, and what others' noise would have done."""

    title: str
    question: str
    others: str


STORIES = {
    "households": Story(
        "Boilers of twenty households",
        "A grid operator asks when households heat water. The log has a row whenever a boiler starts or stops. "
        "The secret is whether a boiler ran in any five minutes, because it tells who was at home.",
        "Noise for one entry gives the entry away; noise for a household hides the peaks, too.",
    ),
    "school": Story(
        "A school where a cold goes round",
        "How many of 120 pupils are ill? Contacts are public, illness is secret. An ill pupil infects others of the "
        "same group, so each pupil tells something of the others.",
        "Noise for everybody who met gives the same 88.1 %, at half as much noise again.",
    ),
    "city": Story(
        "Safe places of a city",
        "At which places of a city were few people on one evening? A place called safe must be safe, so noise only "
        "adds to a count. The table hides that somebody *was* at a place, not that they were elsewhere.",
        "Ordinary noise, for one entry or for all, goes to both sides. Its safe places may be full of people; "
        "to be never wrong, it can call no place safe.",
    ),
}  # fmt: skip


def story(example: Example) -> Iterator[str]:
    """Yield a story's part of the page, and draw what its example published."""
    its_story = STORIES[example.name]
    yield f"\n## {its_story.title}\n\n{fill(its_story.question, WIDTH)}"
    for table in released(example):
        drawing = replace(table, worth=None).drawing
        assert drawing is not None, f"{example.name}: {table.name} has no picture"
        where = picture(example, table.name)
        where.write_text(drawing, encoding="utf-8")
        yield f"\n![{alternative(table)}](images/{where.name})"
    compared = comparison(example)
    if compared:
        yield f"\n{compared}"
    yield f"\n{fill(its_story.others, WIDTH)}"


def comparison(example: Example) -> str:
    """Compare the noise of a story's table with others' noise; nothing where one side is hidden."""
    with tempfile.TemporaryDirectory() as folder:
        file = write_example(example.name, Path(folder))[0]
        (table,) = calibrated(load(file)).tables
        blur = tf.dry_run(file).tables[0].blurs[0]
    if blur.marks:
        return ""
    mechanisms = {
        "one entry": "record-dp",
        "all entries that tell of each other": "group-dp",
        "**what they tell of each other**": table.calibrations[0].mechanism,
    }
    problem = table.calibrations[0].problem
    rows = (comparison_row(label, problem, mechanism, blur) for label, mechanism in mechanisms.items())
    return "\n".join([COMPARED, *rows])


def comparison_row(label: str, problem: Problem, mechanism: str, blur: Blur) -> str:
    """Return a row of a comparison: the ± of all values at once, and how sure somebody may become."""
    noise = calibrate(problem.framework, problem.query, epsilon=problem.epsilon, mechanism=mechanism)
    width = half_width(noise.randomiser, blur.cells)
    doubt = 1 / (1 + math.exp(noise.guarantee.epsilon))
    digits = max(1, -math.floor(math.log10(doubt)) - 2)
    posterior = math.ceil(100 * (1 - doubt) * 10**digits) / 10**digits
    return f"| {label} | ± {number(width)} | {posterior:.{digits}f} % sure |"


def row(example: Example, advice: Advice) -> str:
    """Return the row of an example in the table of all."""
    worth = "<br>".join(f"{name}: **{one.sentence.replace(': ', '**: ', 1)}" for name, one in advice.alike)
    data = "; made-up data stand in for published ones" if example.meant_for_published_data else ""
    return f"| `{example.name}` | {example.about}{data} | {worth} |"


def advised(example: Example) -> Advice:
    with tempfile.TemporaryDirectory() as folder:
        return tf.advise(write_example(example.name, Path(folder))[0])


def released(example: Example) -> tuple[Published, ...]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the new ledger, which is thrown away
        return release_file(write_example(example.name, Path(folder))[0], new_ledger=True).tables


def picture(example: Example, table: str) -> Path:
    return PICTURES / f"gallery-{example.name}-{table}.svg"


def alternative(table: Published) -> str:
    """Say what the picture of a table shows, to those who do not see it."""
    if "value" not in table.rows[0]:
        return html.escape(f"{table.title}, as a map", quote=False)
    values = [f"{row.get('unit') or row['cell']} {number(row['value'])}" for row in table.rows]
    first_values = "; ".join(values if table.scope == "unit" or len(values) < 9 else [*values[:8], "and more"])
    form = "a line with its 95 % band" if is_over_time(table.certificate) else "bars with their 95 % intervals"
    return html.escape(f"{table.title}, as {form}: {first_values}", quote=False)


def main() -> None:
    by_name = {example.name: example for example in examples()}
    stories = [line for name in STORIES for line in story(by_name[name])]
    every = ["\n## All examples\n", HEADER, *(row(example, advised(example)) for example in examples())]
    made = "\n".join([*stories, *every])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_MADE.sub(lambda match: f"{match[1]}{made}\n\n{match[2]}", page), encoding="utf-8")


if __name__ == "__main__":
    main()
