"""Edits of a release file: honest ones change no entry and are free; other readings are charged what they reveal.

One ward of some hours, two to four windows of it. Rows are the same throughout. In the usual form a row lies at its own
hour; in others, such as times that carry an offset, or another table of the same database, it lies at the hour before
or after. What is read otherwise is first refused, then published as other entries, or, where an edit is honest, as the
same: what is charged then is compared with the same releases without the edits.
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
from takifugu.core.errors import ReadingChanged
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.planning.questions import debits_of
from takifugu.releasing.publishing.publish import validate

#: How many rows there are, and the hour of the first.
ROWS, FIRST = 6, 3
DAY = "2026-01-05"
#: Why edits that change no entry are declared to change none.
WHY = "an honest edit"
READ = "from read_csv('{}', all_varchar = true)"
#: By how many hours a row lies later than in the usual form, and the keys of it; "zone" is an hour ahead of UTC.
FORMS: Mapping[str, tuple[int, dict[str, str]]] = {
    "usual": (0, {"file": '"usual.csv"', "order": '"t"'}),
    "offsets": (-1, {"file": '"offsets.csv"', "order": '"t"', "timezone": '"UTC"'}),
    "epoch": (-1, {"file": '"epoch.csv"', "order": '"to_timestamp(t::bigint)"', "timezone": '"UTC"'}),
    "table": (1, {"file": '"both.sqlite"', "sql": '"from later"', "order": '"t"'}),
    "sheet": (1, {"file": '"both.xlsx"', "sql": '"from later"', "order": '"t"'}),
    "dialect": (1, {"sql": f'"{READ.format("dialect.csv").replace("all", "delim = chr, all")}"', "order": '"t"'}),
    "zone": (-1, {"file": '"usual.csv"', "order": "\"t::timestamp AT TIME ZONE 'Etc/GMT-1'\"", "timezone": '"UTC"'}),
    "lag": (1, {"file": '"usual.csv"', "order": '"lag"'}),
    "hour later": (1, {"file": '"usual.csv"', "order": '"t::timestamp + INTERVAL 1 hour"'}),
    "joined": (1, {
        "sql": f'"select a.lag as t, a.state {READ.format("usual.csv")} a semi join '
               "read_csv('renamed.csv', all_varchar = true) b on a.t = b.T\"", "order": '"t"',
    }),
}  # fmt: skip
FORMS["dialect"][1]["sql"] = FORMS["dialect"][1]["sql"].replace("chr", "';'")
#: What an honest person may write later, key by key, in [source].
EDITS: Mapping[str, tuple[dict[str, str], ...]] = {
    "encoding": tuple({"encoding": f'"{name}"'} for name in ("latin-1", "cp1252", "ascii", "utf-8", "iso-8859-15")),
    "where": tuple({"where": f'"{text}"'} for text in ("t <> ''", "lag IS NOT NULL", "t LIKE '2026%' OR t > '2026'")),
    "order": (
        *({"order": "\"t::timestamp AT TIME ZONE 'UTC'\"", "timezone": f'"{zone}"'}
          for zone in ("Etc/UTC", "UTC", "Etc/GMT", "Zulu")),
        *({"order": f'"{text}"'} for text in (
            "strptime(t, '%Y-%m-%dT%H:%M')", "time_bucket(INTERVAL '1 h', t::timestamp)", "t::timestamp", "trim(t)",
            "lag::timestamp - INTERVAL 1 hour", "try_strptime(t, ['%d.%m.%Y', '%Y-%m-%dT%H:%M'])",
        )),
    ),
    "value": tuple({"value": f'"{text}"'} for text in (
        "nullif(state, 'NA')", "lower(state)", "CASE state WHEN 'idle' THEN 'calm' ELSE state END", "state || ''",
        "replace(replace(state, 'idle', 'calm'), 'rush', 'busy')", "coalesce(state, 'calm')",
    )),
    "nulls": ({"nulls": '"unobserved"'},),
    "step": ({"step": '"60min"'}, {"step": '"3600s"'}),
    "until": ({"until": '"2026-01-07"'},),
    "sql": (
        *({"sql": f'"{text}"', "file": ""} for text in (
            READ.format("usual.csv"), f"select distinct t, lag, state {READ.format('usual.csv')}",
            f"select T as t, lag, state {READ.format('renamed.csv')}", f"{READ.format('usual.csv')} where t <> ''",
            f"{READ.format('usual.csv')} qualify row_number() over (partition by t order by lag) = 1",
            f"select * {READ.format('usual.csv')} order by t desc",
        )),
    ),
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
        hour = {row: FIRST + row + FORMS[self.form][0] for row in range(ROWS)}
        return Counter((0, row) for row in range(ROWS) if hour[row] in self.hours)


def windows(c: random.Random, is_honest: bool) -> Iterator[Window]:
    chosen = [c.choice(EDITS[key]) for key in c.sample(list(EDITS), c.randint(1, 4))]
    for number in range(c.randint(2, 4)):
        form = "usual" if is_honest or number == 0 else c.choice(list(FORMS))
        first = c.randrange(FIRST - 1, FIRST + ROWS)
        hours = range(first, c.randint(first + 1, FIRST + ROWS + 1))
        edits = dict[str, str]()
        for keys in chosen if is_honest and number else ():
            edits |= keys if c.random() < 0.8 else {}
        if "sql" in edits:  # whose files have an encoding of their own
            edits.pop("encoding", None)
        yield Window(form, hours, c.choice((0.5, 1, 2)), c.choice(("quilt-exact", "group-dp")), edits)


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
    (folder / "dialect.csv").write_text("\n".join(["t;state", *(f"{later};{s}" for _, later, s in rows), ""]))
    with closing(sqlite3.connect(folder / "both.sqlite")) as base:
        for name, column in (("own", 0), ("later", 1)):
            base.execute(f"create table {name} (t text, state text)")
            base.executemany(f"insert into {name} values (?, ?)", [(row[column], row[2]) for row in rows])
        base.commit()
    sheets = {name: [("t", "state"), *((row[n], row[2]) for row in rows)] for n, name in enumerate(("own", "later"))}
    write_workbook(folder / "both.xlsx", sheets)


def text_of(one: Window, stay: float) -> str:
    keys = {"step": '"1h"', "value": '"state"', "until": '"2026-01-06"', **FORMS[one.form][1], **one.edits}
    source = "\n".join(f"{key} = {value}" for key, value in keys.items() if value)
    start, end = (f"{DAY}T{hour:02}:00" for hour in (one.hours.start, one.hours.stop))
    return release_text(
        section("[source]", name="s", rows="samples", from_=DAY, budget=1000000) + f"\n{source}",
        believe("markov-chain", states=["calm", "busy"], matrix=[[stay, 1 - stay], [1 - stay, stay]]),
        publish("t", "count", states=["busy"], epsilon=one.epsilon, mechanism=one.mechanism, from_=start, to=end),
        ledger="a.db", expect=EXPECT,
    )  # fmt: skip


def paid(folder: Path, number: int, is_whole: bool, same_entries: bool) -> float:
    """Pay for the one answer of a release file, and return the scale of its noise; draw it, too, where `is_whole`.

    Where the rows are read otherwise, it is refused first, and nothing changes; then `same_entries` is the answer.
    """
    ledger = folder / "a.db"
    before = ledger.read_bytes() if ledger.exists() else b""
    try:
        return _paid(folder, number, is_whole, None)
    except ReadingChanged:
        assert ledger.read_bytes() == before
        return _paid(folder, number, is_whole, same_entries)


def _paid(folder: Path, number: int, is_whole: bool, same_entries: bool | None) -> float:
    path, once = folder / "f.toml", str(number)
    if is_whole:
        answers = {"same_entries": WHY if same_entries else "", "other_entries": same_entries is False}
        out = tf.release_file(
            path, output=folder / f"out{number}", allow_useless=True, new_ledger=True, idempotency_key=once, **answers
        )
        return float(out.tables[0].releases[0][1].randomiser.scale)
    file = load(path)
    (question,) = (q for table in plan(file).tables for q in table.questions)
    validate([question])
    Ledger.open(file.ledger).reserve(
        file.source.name, debits_of([question]), file.budget, reading=question.reading, entries=question.entries,
        same_entries=same_entries, why=WHY, identity=once.encode(), recipe={},
    )  # fmt: skip
    return float(question.calibration.randomiser.scale)


def published(
    requested: list[Window], folder: Path, stay: float, said: list[str], is_whole: bool, is_honest: bool
) -> tuple[float, list[tuple[Window, float]]]:
    """Publish the windows; return what was spent, and those that were published with the scales of their noise."""
    folder.mkdir()
    write_data(folder)
    known = []
    for number, one in enumerate(requested):
        (folder / "f.toml").write_text(text_of(one, stay))
        try:
            scale = paid(folder, number, is_whole, same_entries=is_honest)
        except tf.TakifuguError as refused:
            said.append(f"{number}: {one} refused: {str(refused)[:300]}")
            continue
        known.append((one, scale))
        said.append(f"{number}: {one}")
    spent = float(Ledger.open(folder / "a.db").spent("s").epsilon) if known else 0.0
    return spent, known
