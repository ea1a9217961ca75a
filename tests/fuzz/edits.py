"""Edits of a release file against enumeration: honest ones are free, and no other one is charged less than is true.

One ward of some hours, two to four windows of it. Rows are the same throughout. In the usual form a row lies at its own
hour; in others, such as times that carry an offset, or another table of the same database, it lies at the hour before
or after. Honest edits change no entry: what is charged then is compared with the same releases without the edits.
"""

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.support.release_files import EXPECT, believe, publish, release_text, section
from tests.support.workbooks import write_workbook

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.planning.questions import debits_of
from takifugu.releasing.publishing.publish import ready

#: How many rows there are, and the hour of the first.
ROWS, FIRST = 6, 3
DAY = "2026-01-05"
#: By how many hours a row lies later than in the usual form; offsets are those of a clock that is an hour ahead.
FORMS = {"usual": 0, "offsets": -1, "epoch": -1, "table": 1, "sheet": 1, "dialect": 1, "zone": -1, "lag": 1}
#: What an honest person may write later, key by key, in [source] or in [belief] (`map`).
EDITS: Mapping[str, tuple[str, ...]] = {
    "delimiter": ('","',), "thousands": ('","', '"\'"', '"_"', '" "'),
    "encoding": ('"latin-1"', '"cp1252"', '"ascii"', '"utf-8"', '"iso-8859-15"'),
    "timezone": ('"Etc/UTC"', '"UTC"', '"Etc/GMT"', '"Zulu"'), "order_format": ('"%Y-%m-%dT%H:%M"',),
    "duplicates": ('"first"', '"last"'), "missing": ('["NA"]', '["NA", "?", "-9"]'), "null_keys": ('"drop"',),
    "map": ('{ idle = "calm" }', '{ idle = "calm", rush = "busy" }'), "round_to": ('"1h"', '"30min"', '"1min"'),
    "renamed": ('{ T = "t" }',), "header": ("true",), "decimal": ('"."',), "nulls": ('"unobserved"',),
    "until": ('"2026-01-07"',),
}  # fmt: skip


@dataclass(frozen=True)
class Window:
    """A release: in which form, of which hours, with which noise, and which edits were made by then."""

    form: str
    hours: range
    epsilon: float
    mechanism: str
    edits: Mapping[str, str]

    @property
    def rows(self) -> Counter[tuple[int, int]]:
        """The rows that it reads."""
        hour = {row: FIRST + row + FORMS[self.form] for row in range(ROWS)}
        return Counter((0, row) for row in range(ROWS) if hour[row] in self.hours)


def windows(c: random.Random, is_honest: bool) -> Iterator[Window]:
    chosen = {key: c.choice(EDITS[key]) for key in c.sample(list(EDITS), c.randint(1, 4))}
    for number in range(c.randint(2, 4)):
        form = "usual" if is_honest or number == 0 else c.choice(list(FORMS))
        first = c.randrange(FIRST - 1, FIRST + ROWS)
        hours = range(first, c.randint(first + 1, FIRST + ROWS + 1))
        edits = {key: value for key, value in chosen.items() if number and c.random() < 0.8} if is_honest else {}
        yield Window(form, hours, c.choice((0.5, 1, 2)), c.choice(("quilt-exact", "group")), edits)


def write_data(folder: Path) -> None:
    """Write the ward in every form."""

    def at(row: int) -> str:
        return f"{DAY}T{FIRST + row:02}:00"

    rows = [(at(row), at(row + 1), "calm") for row in range(ROWS)]
    for name, header in (("usual", "t,lag,state"), ("renamed", "T,lag,state")):
        (folder / f"{name}.csv").write_text("\n".join([header, *map(",".join, rows), ""]))
    (folder / "offsets.csv").write_text("\n".join(["t,state", *(f"{t}+01:00,{s}" for t, _, s in rows), ""]))
    seconds = [1_767_571_200 + 3600 * (FIRST + row - 1) for row in range(ROWS)]
    (folder / "epoch.csv").write_text("\n".join(["t,state", *(f"{t},calm" for t in seconds), ""]))
    both = (f"{t},{s},x;{later};{s}" for t, later, s in rows)
    (folder / "dialect.csv").write_text("\n".join(["t,state,x;t;state", *both, ""]))
    with closing(sqlite3.connect(folder / "table.sqlite")) as base:
        for name, column in (("own", 0), ("later", 1)):
            base.execute(f"create table {name} (t text, state text)")
            base.executemany(f"insert into {name} values (?, ?)", [(row[column], row[2]) for row in rows])
        base.commit()
    sheets = {name: [("t", "state"), *((row[n], row[2]) for row in rows)] for n, name in enumerate(("own", "later"))}
    write_workbook(folder / "sheet.xlsx", sheets)


def keys_of(one: Window, data_form: str) -> dict[str, str]:
    """Return the keys of [source]; `data_form` is the form that the data are in, of which there may be two readings."""
    keys = {"order": '"t"', "until": '"2026-01-06"'}
    is_usual = one.form == "usual"
    files = {"table": "table.sqlite", "sheet": "sheet.xlsx", "dialect": "dialect.csv"}
    if data_form in files:
        keys["file"] = f'"{files[data_form]}"'
        if data_form == "dialect":
            keys |= {} if is_usual else {"delimiter": '";"'}
        else:
            keys[data_form] = '"own"' if is_usual else '"later"'
    elif one.form in ("offsets", "epoch"):
        keys["file"] = f'"{one.form}.csv"'
        keys |= {"order_format": '"epoch"'} if one.form == "epoch" else {}
    else:
        keys["file"] = '"renamed.csv"' if "renamed" in one.edits else '"usual.csv"'
        keys |= {"zone": {"timezone": '"Etc/GMT-1"'}, "lag": {"order": '"lag"'}}.get(one.form, {})
    return {**keys, **{key: value for key, value in one.edits.items() if key != "map"}}


def text_of(one: Window, data_form: str, stay: float) -> str:
    source = "\n".join(f"{key} = {value}" for key, value in keys_of(one, data_form).items())
    belief = f"map = {one.edits['map']}" if "map" in one.edits else ""
    start, end = (f"{DAY}T{hour + hours_ahead(one):02}:00" for hour in (one.hours.start, one.hours.stop))
    return release_text(
        section("[source]", name="s", value="state", step="1h", from_=DAY, budget=1000000) + f"\n{source}",
        believe("markov-chain", states=["calm", "busy"], matrix=[[stay, 1 - stay], [1 - stay, stay]]) + f"\n{belief}",
        publish("t", "count", states=["busy"], epsilon=one.epsilon, mechanism=one.mechanism, from_=start, to=end),
        ledger="a.db", expect=EXPECT,
    )  # fmt: skip


def hours_ahead(one: Window) -> int:
    """Return how far the clock is ahead of UTC that windows are written by."""
    return 1 if one.form == "zone" else 0


def paid(folder: Path, number: int, is_whole: bool) -> float:
    """Pay for the one answer of a release file, and return the scale of its noise; draw it, too, where `is_whole`."""
    path, once = folder / "f.toml", str(number)
    if is_whole:
        out = tf.release_file(path, output=folder / f"out{number}", anyway=True, new_ledger=True, once=once)
        return float(out.tables[0].releases[0][1].randomiser.scale)
    file = load(path)
    (question,) = (q for table in plan(file).tables for q in table.questions)
    ready([question])
    debits = debits_of([question])
    Ledger.open(file.ledger).reserve(file.source.name, debits, file.budget, identity=once.encode(), recipe={})
    return float(question.calibration.randomiser.scale)


def published(
    requested: list[Window], folder: Path, data_form: str, stay: float, said: list[str], is_whole: bool
) -> tuple[float, list[tuple[Window, float]]]:
    """Publish the windows; return what was spent, and those that were published with the scales of their noise."""
    folder.mkdir()
    write_data(folder)
    known = []
    for number, one in enumerate(requested):
        (folder / "f.toml").write_text(text_of(one, data_form, stay))
        try:
            scale = paid(folder, number, is_whole)
        except tf.TakifuguError as refused:
            said.append(f"{number}: refused: {str(refused)[:200]}")
            continue
        known.append((one, scale))
        said.append(f"{number}: {one}, data: {data_form}")
    spent = float(Ledger.open(folder / "a.db").spent("s").spent.epsilon) if known else 0.0
    return spent, known
