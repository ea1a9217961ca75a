"""Release files whose rows are wide, a column a day or a question: what they publish, cost, promise and refuse."""

import random
from datetime import date, timedelta
from pathlib import Path

import pandas
import pytest
from tests.support.commands import succeed
from tests.support.release_files import Changes, believe, changed, publish, read_from, release_text
from tests.support.releases import assert_says, refusal_of, refused, spent
from tests.support.wide_oracle import long_rows

from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.publishing.run import release_file

DAYS = [date(2026, 1, 5) + timedelta(days) for days in range(28) if days % 7 < 5]
FILE = release_text(
    read_from("sheet", "wide.csv", rows="wide", columns="*/*/2026", order_format="%d/%m/%Y", ignore=["class"],
              empty="absent", unit="pupil", order="day", value="state", step="1d", from_="2026-01-05",
              until="2026-02-02", budget=50),
    believe("markov-chain", states=["absent", "present"], map={"x": "present"}, matrix=[[0.6, 0.4], [0.1, 0.9]],
            units_independent=True),
    publish("days", "histogram", epsilon=1),
    publish("weekdays", "histogram", by="weekday", window="2026-W03", epsilon=1),
    output="out", expect={"source": "a test", "matters": 100000},
)  # fmt: skip
SAMPLES = (
    ('"wide.csv"\nrows = "wide"\ncolumns = "*/*/2026"\norder_format = "%d/%m/%Y"\n', '"long.csv"\n'),
    ('ignore = ["class"]\nempty = "absent"\n', 'rows = "samples"\n'),
)
BY_NAME = ", ".join(f'"{day:%d/%m/%Y}" = {day}' for day in DAYS)
NAMED = (('columns = "*/*/2026"\norder_format = "%d/%m/%Y"\n', f"columns = {{ {BY_NAME} }}\n"),)


def rows_of(pupils: int = 4) -> list[dict[str, str | None]]:
    chance = random.Random(2)
    return [
        {"pupil": f"p{number}", "class": "AB"[number % 2],
         **{f"{day:%d/%m/%Y}": chance.choice(["x", "x", "present", "", "absent"]) for day in DAYS}}
        for number in range(pupils)
    ]  # fmt: skip


def written(folder: Path, *changes: tuple[str, str], rows: list[dict[str, str | None]] | None = None) -> Path:
    """Write a sheet, the same with a row a day, and a release file."""
    rows = rows_of() if rows is None else rows
    folder.mkdir(exist_ok=True)
    pandas.DataFrame(rows).to_csv(folder / "wide.csv", index=False)
    steps = {f"{day:%d/%m/%Y}": str(day) for day in DAYS if f"{day:%d/%m/%Y}" in rows[0]}
    long = long_rows(rows, next(name for name in rows[0] if name.lower() == "pupil"), steps, "absent")
    pandas.DataFrame(long, columns=["pupil", "day", "state"]).to_csv(folder / "long.csv", index=False)
    (folder / "sheet.toml").write_text(changed(FILE, *changes), encoding="utf-8")
    return folder / "sheet.toml"


def counts(path: Path, data: object = None) -> list[object]:
    return [
        (piece.unit, piece.length, piece.counts.tolist(), None if piece.by_cell is None else piece.by_cell.tolist())
        for table in plan(load(path, data)).tables for question in table.questions for piece in question.data.pieces
    ]  # fmt: skip


def scales(path: Path) -> list[object]:
    return [calibration.scale for table in plan(load(path)).tables for calibration in table.calibrations]


def reading(path: Path) -> str:
    """Return a reading as the ledger keeps it."""
    file = load(path)
    _ = file.table
    return file.reading


@pytest.mark.slow
def test_a_sheet_is_the_same_as_a_row_a_day_counts_and_noise(tmp_path: Path) -> None:
    wide, long, named = (
        written(tmp_path / name, *changes) for name, changes in (("wide", ()), ("long", SAMPLES), ("named", NAMED))
    )
    counted = counts(wide)
    assert counted == counts(long) == counts(named)
    assert scales(wide) == scales(long) == scales(named)
    assert sum(piece[2][1] for piece in counted if piece[1] == 28) == sum(  # type: ignore[index]
        text in ("x", "present") for row in rows_of() for name, text in row.items() if "/" in name
    )
    data = pandas.DataFrame(rows_of())
    assert counts(wide, data) == counted


@pytest.mark.slow
def test_the_ledger_charges_a_sheet_and_a_row_a_day_as_one_where_that_is_declared(tmp_path: Path) -> None:
    totals = []
    for name, changes in (("both", SAMPLES), ("wide", ())):
        path = written(tmp_path / name)
        release_file(path, anyway=True)
        again = (('name = "days"', 'name = "days2"'), ('name = "weekdays"', 'name = "weekdays2"'))
        path.write_text(changed(FILE, *changes, *again))
        release_file(path, anyway=True, same_entries=True if changes else None)
        totals.append(spent(tmp_path / name, "sheet").epsilon)
    assert totals[0] == totals[1] <= 4
    assert_says(
        tmp_path / "wide" / "out" / "days.certificate.txt",
        "which columns there are, alike for all pupils, is public", "who has an empty cell was 'absent' in its step",
    )  # fmt: skip


@pytest.mark.slow
def test_another_meaning_of_columns_is_another_reading(tmp_path: Path) -> None:
    before = reading(written(tmp_path / "before"))
    american = [{name: text for name, text in row.items() if "/" not in name or name < "13"} for row in rows_of()]
    for number, change in enumerate([
        (('empty = "absent"', 'empty = "present"'),), (('empty = "absent"\n', ""),), (('"%d/%m/%Y"', '"%m/%d/%Y"'),),
        NAMED,
    ]):  # fmt: skip
        path = written(tmp_path / str(number), *change, rows=american if "%m/%d" in str(change) else None)
        assert reading(path) != before


@pytest.mark.parametrize(("changes", "words"), [
    ((('rows = "wide"', 'rows = "wid"'),), "source.rows: is 'wid'; did you mean 'wide'?"),
    ((('columns = "*/*/2026"\n', ""),), "source.columns: is missing"),
    ((('order = "day"\n', ""), ('step = "1d"\n', "")), "source.order: is missing"),
    ((('rows = "wide"', 'rows = "samples"'),), 'source.columns: is given, and rows are samples; write rows = "wide"'),
    ((('rows = "wide"', 'rows = "wide"\nroster = "a.csv"'),), "source.roster: is given, and rows are wide"),
    ((('rows = "wide"', 'rows = "wide"\nduplicates = "first"'),), "source.duplicates: is given, and rows are wide"),
    ((('rows = "wide"', 'rows = "wide"\nround_to = "1d"'),), "source.round_to: is given"),
    ((('"%d/%m/%Y"', '"epoch"'),), "source.order_format: is 'epoch', and times are headers"),
    ((('empty = "absent"', 'empty = "ill"'),), "source.empty: 'ill' is no state"),
    ((('{ x = "present" }', '{ x = "present", absent = "present" }'),), "source.empty: is 'absent', which map reads"),
    ((('ignore = ["class"]\n', ""),), "source.columns: column 2 of 22 is declared nowhere"),
    ((('ignore = ["class"]', 'ignore = ["class", "05/01/2026"]'),), "source.columns: column 3 of 22 is declared twice"),
    ((('"*/*/2026"', '["*/*/2026", "05/*"]'),), "source.columns: column 3 of 22 is declared twice"),
    ((('"*/*/2026"', '["*/*/2026", "05/01/2027"]'),), "source.columns: the data has no column '05/01/2027'"),
    ((('order_format = "%d/%m/%Y"\n', ""),), "source.columns: column 3, which fits columns, is no number and no time"),
    ((('order = "day"', 'order = "class"'),), "source.order: the data has a column 'class'"),
    ((('value = "state"', 'value = "class"'),), "source.value: the data has a column 'class'"),
    ((('unit = "pupil"', 'unit = "who"'),), "source.columns: column 1 of 22 is declared nowhere"),
])  # fmt: skip
def test_keys_and_columns_that_do_not_fit_are_refused(tmp_path: Path, changes: Changes, words: str) -> None:
    problems = refusal_of(written(tmp_path, *changes)).problems
    assert words in "\n".join(problems)
    assert len(problems) == 1 or "did you mean" not in words, "a word that is misspelt is one fault"
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize(("changes", "cell", "words"), [
    ((('empty = "absent"\n', ""),), "", "missing"),
    ((), "gone", ""),
    ((), "p1", "leave one row of each"),
])  # fmt: skip
def test_cells_that_break_a_rule_are_refused(tmp_path: Path, changes: Changes, cell: str, words: str) -> None:
    rows = rows_of()
    rows[0]["pupil" if cell == "p1" else "05/01/2026"] = cell
    path = written(tmp_path, *changes, rows=rows)
    refusal = str(refused(path))
    assert words in refusal
    assert "gone" not in refusal


@pytest.mark.slow
def test_tables_by_an_attribute_in_a_column_and_columns_that_were_renamed(tmp_path: Path) -> None:
    by = (('by = "weekday"\nwindow = "2026-W03"', 'by = "class"'),
          ('ignore = ["class"]', 'attributes = { class = ["A", "B"] }'))  # fmt: skip
    plain = written(tmp_path / "plain", *by)
    other = (*by, ('order = "day"', 'order = "day"\nrenamed = { Pupil = "pupil" }'))
    renamed = written(tmp_path / "renamed", *other, rows=[{"Pupil" if k == "pupil" else k: v for k, v in row.items()}
                                                           for row in rows_of()])  # fmt: skip
    assert counts(plain) == counts(renamed)
    assert reading(plain) == reading(renamed)
    ignored = (('order = "day"', 'order = "day"\nrenamed = { Class = "class" }'),)
    rows = [{"Class" if k == "class" else k: v for k, v in row.items()} for row in rows_of()]
    assert counts(written(tmp_path / "ignored", *ignored, rows=rows)) == counts(written(tmp_path / "as before"))


def test_more_columns_that_fit_are_no_other_reading(tmp_path: Path) -> None:
    shorter = [{name: text for name, text in row.items() if not name.startswith("3")} for row in rows_of()]
    assert reading(written(tmp_path / "before", rows=shorter)) == reading(written(tmp_path / "now"))


@pytest.mark.slow
def test_an_empty_cell_may_be_unobserved(tmp_path: Path) -> None:
    path = written(tmp_path, ('empty = "absent"', 'nulls = "unobserved"'))
    empty = sum(text == "" for row in rows_of() for name, text in row.items())
    read = [piece[2] for piece in counts(path) if piece[1] == 28]  # type: ignore[index]
    assert sum(map(sum, read)) == len(rows_of()) * len(DAYS) - empty


SURVEY = (
    ('"wide.csv"', '"survey.csv"'),
    ('columns = "*/*/2026"\norder_format = "%d/%m/%Y"', "columns = { Q1 = 1, Q2 = 2, Q3 = 3 }"),
    ('["class"]', '["StartDate"]'), ('"absent"\nunit = "pupil"', '"no answer"\nunit = "ResponseId"'),
    ('order = "day"\nvalue = "state"\nstep = "1d"\nfrom = "2026-01-05"\nuntil = "2026-02-02"',
     'order = "question"\nvalue = "answer"\nstep = 1\nfrom = 1\nuntil = 4'),
    ('states = ["absent", "present"]\nmap = { x = "present" }\nmatrix = [[0.6, 0.4], [0.1, 0.9]]',
     'states = ["yes", "no", "no answer"]\nmatrix = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.4, 0.4, 0.2]]'),
    ('by = "weekday"\nwindow = "2026-W03"', "from = 2\nto = 3"),
)  # fmt: skip


@pytest.mark.slow
def test_a_survey_question_by_question_from_the_command_line(tmp_path: Path) -> None:
    chance, states = random.Random(3), ["yes", "no", ""]
    rows = [{"StartDate": "2026-03-01", "ResponseId": f"R_{number}",
             **{f"Q{question}": chance.choices(states, [question, 2, 1])[0] for question in (1, 2, 3)}}
            for number in range(200)]  # fmt: skip
    path = written(tmp_path, *SURVEY)
    pandas.DataFrame(rows).to_csv(tmp_path / "survey.csv", index=False)
    succeed("check", path)
    succeed("release", path)
    lines = [line.split(",") for line in (tmp_path / "out" / "weekdays.csv").read_text().splitlines()[1:]]
    truth = [sum(row["Q2"] == state for row in rows) for state in states]
    for true, (_, value, low, high, *_) in zip(truth, lines, strict=True):
        assert abs(float(value) - true) < 3 * (float(high) - float(low))  # an interval misses once in twenty times
    assert [cell for cell, *_ in lines] == ["yes", "no", "no answer"]


def test_a_sheet_without_a_calendar_is_counted_in_steps(tmp_path: Path) -> None:
    lessons = [f"L{number}" for number in range(1, 11)]
    rows = [",".join([f"p{k}", *("PA"[(k * n) % 7 == 0] for n in range(10))]) for k in range(30)]
    (tmp_path / "sheet.csv").write_text("\n".join([",".join(["pupil", *lessons]), *rows, ""]), encoding="utf-8")
    path = tmp_path / "sheet.toml"
    path.write_text(release_text(
        read_from("sheet", "sheet.csv", rows="wide", columns={name: n for n, name in enumerate(lessons)}, unit="pupil",
                  order="lesson", value="state", budget=1),
        believe("markov-chain", states=["P", "A"], mean_duration={"P": 20, "A": 2}, units_independent=True,
                source="assumed"),
        publish("lessons", "histogram", epsilon=1),
    ))  # fmt: skip
    (table,) = plan(load(path)).tables
    assert table.measured_in == "steps"
