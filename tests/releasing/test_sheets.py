"""A sheet with a column a day, turned by UNPIVOT in `sql`: the counts and the noise of a row a day."""

import random
from datetime import date, timedelta
from pathlib import Path

import pytest
from tests.support.counting import said_of
from tests.support.release_files import Changes, believe, changed, publish, read_from, release_text
from tests.support.releases import put, refusal_of, refused

from takifugu.releasing.file.kind import assumptions_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

DAYS = [date(2026, 1, 5) + timedelta(days) for days in range(28) if days % 7 < 5]
TURNED = (
    "FROM (UNPIVOT (FROM read_csv('wide.csv', all_varchar = true)) ON COLUMNS(* EXCLUDE (pupil, class)) "
    "INTO NAME day VALUE state)"
)
FILE = release_text(
    read_from("sheet", "long.csv", unit="pupil", order="strptime(day, '%d/%m/%Y')",
              value="if(state = 'x', 'present', state)", step="1d", from_="2026-01-05", until="2026-02-02",
              nulls="unobserved", roster="pupils.csv", budget=50),
    believe("markov-chain", states=["absent", "present"], matrix=[[0.6, 0.4], [0.1, 0.9]], units_independent=True),
    publish("days", "histogram", epsilon=1),
    publish("weekdays", "histogram", by="weekday", window="2026-W03", epsilon=1),
    output="out", expect={"source": "a test", "matters": 100000},
)  # fmt: skip
SHEET = (('file = "long.csv"', f'sql = "{TURNED}"'),)


def written(folder: Path, *changes: tuple[str, str]) -> Path:
    """Write what four pupils were as a sheet and as a row a day, and a release file."""
    chance, names = random.Random(2), [f"{day:%d/%m/%Y}" for day in DAYS]
    wide, long = [",".join(["pupil", "class", *names])], ["pupil,day,state"]
    for number in range(4):
        states = [chance.choice(["x", "x", "present", "", "absent"]) for _ in DAYS]
        wide.append(",".join([f"p{number}", "AB"[number % 2], *states]))
        long += [f"p{number},{name},{state}" for name, state in zip(names, states, strict=True)]
    files = {"sheet.toml": changed(FILE, *changes), "pupils.csv": "pupil\np0\np1\np2\np3\n"}
    return put(folder, files | {"wide.csv": "\n".join(wide) + "\n", "long.csv": "\n".join(long) + "\n"})


def counts(path: Path) -> list[object]:
    tables = plan(load(path)).tables
    return [(question.calibration.scale, said_of(question.data)) for table in tables for question in table.questions]


@pytest.mark.mutants
def test_a_sheet_is_the_same_as_a_row_a_day_counts_and_noise(tmp_path: Path) -> None:
    assert counts(written(tmp_path, *SHEET)) == counts(written(tmp_path))


@pytest.mark.mutants
def test_which_cells_are_empty_may_be_left_out_where_everybody_is_covered(tmp_path: Path) -> None:
    """UNPIVOT leaves them out, so which rows there are depends on what is hidden: a roster and hidden gaps allow it."""
    columns = "COLUMNS(* EXCLUDE (pupil, class))"
    select = f"FROM read_csv('wide.csv', all_varchar = true) UNPIVOT INCLUDE NULLS (state FOR day IN ({columns}))"
    included = (('file = "long.csv"', f'sql = "{select}"'),)
    assert counts(written(tmp_path, *SHEET)) == counts(written(tmp_path, *included))
    said = "The rows that sql leaves break no rule, which is public, whichever these rows are."
    assert said in map(str, assumptions_of(load(written(tmp_path, *SHEET))))
    assert said not in map(str, assumptions_of(load(written(tmp_path, *included))))
    for change in (('roster = "pupils.csv"\n', ""), ('step = "1d"', 'step = "1d"\ngaps = "public"')):
        changes: Changes = (*SHEET, change)
        assert "write UNPIVOT INCLUDE NULLS" in str(refusal_of(written(tmp_path, *changes)))
    public = changed(FILE, *included, ('step = "1d"', 'step = "1d"\ngaps = "public"'))
    assert load(put(tmp_path, {"sheet.toml": public})).reading


def test_a_column_that_is_no_day_is_refused_without_its_name(tmp_path: Path) -> None:
    path = written(tmp_path, (SHEET[0][0], SHEET[0][1].replace("(pupil, class)", "(pupil)")))
    message = str(refused(path))
    assert "source.order: order cannot be computed for every row" in message
    assert "class" not in message
