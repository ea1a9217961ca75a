"""Forms are counted over all rows: one late row decides, or refuses; autumn hours are told by the order of rows."""

import tomllib
from pathlib import Path

import pytest
from tests.releasing.draft.exports import EXPORTS
from tests.support.release_files import believe, publish, read_from, release_text

from takifugu.core.assumptions import Assumption
from takifugu.core.errors import TakifuguError
from takifugu.data.relation.source import opened_table
from takifugu.releasing.draft.evidence import evidence
from takifugu.releasing.draft.forms import value_of
from takifugu.releasing.draft.questions import questions
from takifugu.releasing.draft.text import draft
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

RIGHT = {"rows": "samples", "unit": "who", "order": "t", "step": "1d", "value": "state"}


def table(folder: Path, *last: str) -> Path:
    """Write 30,000 days of which each could be a month, and then some others."""
    lines = [f"P{n},{n % 12 + 1:02d}/{n // 12 % 12 + 1:02d}/2026,x" for n in range(30_000)]
    (folder / "a.csv").write_text("\n".join(["who,t,state", *lines, *last]) + "\n")
    return folder / "a.csv"


def choices_of(file: Path) -> list[str]:
    with evidence(file) as opened:
        return [choice.name for question in questions(opened, RIGHT) for choice in question.choices]


@pytest.mark.mutants
def test_two_forms_are_a_question_and_the_last_row_may_answer_it(tmp_path: Path) -> None:
    assert choices_of(table(tmp_path)) == ["strptime(\"t\", '%d/%m/%Y')", "strptime(\"t\", '%m/%d/%Y')"]
    assert "%m/%d/%Y" in draft(table(tmp_path, "Z,02/25/2026,x"), **RIGHT)
    assert "%d/%m/%Y" in draft(table(tmp_path, "Z,25/02/2026,x"), **RIGHT)


def test_commas_between_lakhs_are_read_as_numbers(tmp_path: Path) -> None:
    """They were taken for the names of states."""
    lines = [f'P{n},{n},"1,23,4{n:02d}.5"' for n in range(20)]
    (tmp_path / "a.csv").write_text("\n".join(["who,t,state", *lines]) + "\n")
    text = draft(tmp_path / "a.csv", **{**RIGHT, "step": "1"})
    assert tomllib.loads(text)["source"]["value"] == "cast(replace(\"state\", ',', '') AS double)"
    (tmp_path / "a.csv").write_text('who,t,state\nA,0,"1,23,45"\nA,1,"2,3"\n')
    assert tomllib.loads(draft(tmp_path / "a.csv", **{**RIGHT, "step": "1"}))["source"]["value"] == "state"


@pytest.mark.parametrize(("text", "ways"), [
    ("0,{:03d}", ["a comma before decimals"]), ("-0,{:03d}", ["a comma before decimals"]), ("0.{:03d}", []),
    ("1,{:03d}", ["a comma before decimals", "a comma between thousands"]),
    ("1.{:03d}", ["a point before decimals", "a comma before decimals"]),
    ("00,{:03d}", ["a comma before decimals", "a comma between thousands"]),
])  # fmt: skip
def test_a_lone_nought_stands_before_decimals(text: str, ways: list[str], tmp_path: Path) -> None:
    """Meters write 0,070: no table has seventy as 0,070."""
    lines = [f'P{n},{n},"{text.format(n * 7)}"' for n in range(20)]
    (tmp_path / "a.csv").write_text("\n".join(["who,t,state", *lines]) + "\n")
    with evidence(tmp_path / "a.csv") as opened:
        assert [way.words for way in value_of(opened, "state").ways] == ways


def test_a_last_row_that_no_form_reads_is_a_question_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(TakifuguError, match="Which rows count") as error:
        draft(table(tmp_path, "Z,25/02/2026,x", "Z,soon,x"), **RIGHT)
    assert "leaves out 1 of 30,002 rows: 30002" in error.value.line
    assert "soon" not in error.value.line


def test_an_offset_in_the_last_row_is_not_dropped(tmp_path: Path) -> None:
    lines = [f"P{n},2026-01-05T10:00,x" for n in range(30_000)]
    (tmp_path / "a.csv").write_text("\n".join(["who,t,state", *lines, "Z,2026-01-05T10:00+02:00,x"]) + "\n")
    with pytest.raises(TakifuguError, match="Which rows count"):
        draft(tmp_path / "a.csv", **RIGHT)


@pytest.mark.parametrize(("zone", "words"), [("-", "a second row of one step"), ("Europe/Berlin", "")])
def test_an_hour_that_clocks_show_twice_is_asked_about_and_told_by_the_order_of_rows(
    zone: str, words: str, tmp_path: Path
) -> None:
    made = EXPORTS["october"]()
    made.write(tmp_path / "a.csv")
    right = {key: word for key, word in made.right.items() if key != "timezone"}
    with pytest.raises(TakifuguError, match="Where do clocks show these times"):
        draft(tmp_path / "a.csv", **right)
    text = draft(tmp_path / "a.csv", output=tmp_path / "r.toml", timezone=zone, **right)
    assert ("times that clocks skip are moved" in text) == (not words)
    with opened_table(tomllib.loads(text)["source"], made.states, tmp_path) as source:
        if words:
            with pytest.raises(TakifuguError, match=words):
                source.counts()
            return
        assert source.counts().lengths.tolist() == [48, 48]


@pytest.mark.parametrize(("calendar", "window", "have_line"), [
    ({"until": "2025-10-26"}, {}, []), ({"until": "2025-10-27"}, {}, ["n"]),
    ({"until": "2025-10-28"}, {"every": "day"}, ["n-2025-10-26"]), ({}, {"window": "2025-10-26"}, ["n"]),
])  # fmt: skip
def test_clocks_without_offsets_across_october_are_told_on_the_line_to_check(
    calendar: dict[str, str], window: dict[str, str], have_line: list[str], tmp_path: Path
) -> None:
    """Each window's own certificate: once all of a calendar said it, and none of a calendar without an end."""
    (tmp_path / "a.csv").write_text("who,t,state\nAna,2025-10-25T20:00,x\n")
    source = read_from("s", "a.csv", order="t", value="state", unit="who", step="1h", from_="2025-10-25", **calendar)
    chain = believe("markov-chain", states=["x", "y"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True)
    table = publish("n", "count", states=["x"], epsilon=1, mechanism="group-dp", **window)
    (tmp_path / "r.toml").write_text(release_text(source, chain, table))
    lines = dict[str, list[str]]()
    for planned in plan(load(tmp_path / "r.toml")).tables:
        said = [fact.text for fact in planned.facts if isinstance(fact, Assumption) and fact.kind == "check"]
        lines[planned.name] = [line for line in said if "In the night of 2025-10-26" in line and "an hour off" in line]
    assert [name for name, told in lines.items() if told] == have_line


def test_other_rows_that_are_there_twice_are_still_refused(tmp_path: Path) -> None:
    made = EXPORTS["october"]()
    made.write(tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text()
    twice = next(line for line in text.splitlines() if "25.10.2026 05:00" in line)
    (tmp_path / "a.csv").write_text(f"{text}{twice}\n")
    drafted = draft(tmp_path / "a.csv", output=tmp_path / "r.toml", **made.right)
    with opened_table(tomllib.loads(drafted)["source"], made.states, tmp_path) as source, pytest.raises(TakifuguError):
        source.counts()


def test_what_a_cell_of_a_wide_table_is_counted_as_may_be_an_expression(tmp_path: Path) -> None:
    columns = [f"2026-02-0{day}" for day in range(2, 8)]
    (tmp_path / "a.csv").write_text(f"who,{','.join(columns)}\nAna,x,x,,x,x,x\n")
    how = "CASE WHEN value = 'x' THEN 'present' ELSE 'absent' END"
    answers = {"rows": "wide", "unit": "who", "order": "time", "step": "1d", "value": how}
    assert tomllib.loads(draft(tmp_path / "a.csv", **answers))["source"]["value"] == how
