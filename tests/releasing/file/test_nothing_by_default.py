"""`init` takes nobody for a person because nothing else fitted, and no clock for that of a city."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.commands import invoke
from tests.support.starting import source_in, subject_of, table_in

from takifugu.releasing.file.questions.decision import answered_clearly
from takifugu.releasing.file.questions.five import QUESTIONS
from takifugu.releasing.file.questions.question import NONE, Question

#: 40 people with six answers each.
ANSWERS = [f"{{}},{'yes' if n % 3 else 'no'},{n * n % 7}" for n in range(240)]


def questions_about(path: Path, **said: str) -> dict[str, Question]:
    """Return the questions about a table, each answered as said, by what is offered, or by its first choice."""
    subject, answers, seen = subject_of(path), dict[str, str](), dict[str, Question]()
    for name in QUESTIONS:
        question = QUESTIONS[name](subject, answers)
        if question is not None:
            seen[name] = question
            answers[name] = said.get(name) or question.offered or question.choices[0].name
    return seen


@pytest.mark.parametrize(("name", "written"), [
    ("user_id", "{}.0"), ("user_id", "{}.00"), ("user_id", "185{:016}"), ("user_id", "1.85E+1{}"),
    ("account", "185{:016}"), ("account", "9007199254{:09}.0"),
])  # fmt: skip
def test_numbers_that_recur_may_be_names(tmp_path: Path, name: str, written: str) -> None:
    """Ids with a point, or of 19 digits, were no names, and each row was another person's: ± 7 where ± 64 is right."""
    rows = [row.format(written.format(7 + n % 40)) for n, row in enumerate(ANSWERS)]
    path = table_in(tmp_path, f"{name},smokes,visits", rows)
    question = questions_about(path, rows="answers")["whose"]
    assert question.offered is None
    assert f"{name!r} has several rows" in question.why
    done = invoke("init", path, "--yes", "--rows", "answers", "-o", tmp_path / "r.toml")
    assert done.exit_code == 2
    assert "--unit" in done.output


BIKE = [
    f"{n:016X},{'classic' if n % 3 else 'electric'},2026-03-{1 + n // 60 % 9:02} {n // 6 % 24:02}:{n * 7 % 60:02}:00,"
    f"2026-03-{1 + n // 60 % 9:02} {n // 6 % 24:02}:{n * 7 % 60:02}:59,S{n * n % 83},S{n * 31 % 83},"
    f"{'member' if n * n % 5 else 'casual'}"
    for n in range(700)
]
BIKE_HEADER = "ride_id,rideable_type,started_at,ended_at,start_station,end_station,member_casual"


@pytest.mark.parametrize("rows", ["stays", "events", "visits", "answers"])
def test_classes_of_people_are_never_proposed_first(tmp_path: Path, rows: str) -> None:
    """Enter took two classes of customers for the two people of a table."""
    question = questions_about(table_in(tmp_path, BIKE_HEADER, BIKE), rows=rows)["whose"]
    assert question.choices[0].name != "member_casual"
    assert question.offered in (None, NONE, "ride_id")
    if rows in ("stays", "events"):
        assert question.offered is None


def test_a_person_of_many_rows_is_still_a_person(tmp_path: Path) -> None:
    rows = [f"{'Ana' if n < 400 else 'Ben'},{n % 400},{'on' if n * n % 5 else 'off'}" for n in range(800)]
    question = questions_about(table_in(tmp_path, "person,minute,state", rows))["whose"]
    assert (question.offered, question.is_clear) == ("person", True)


@pytest.mark.parametrize(("header", "rows"), [
    ("card,minute,state", [f"c{n % 30},{n // 30},{'ab'[n * n % 3 % 2]}" for n in range(300)]),
    (BIKE_HEADER, BIKE),
])  # fmt: skip
def test_whose_a_row_is_has_no_default_where_it_is_unclear(tmp_path: Path, header: str, rows: Sequence[str]) -> None:
    path = table_in(tmp_path, header, rows)
    question = questions_about(path, rows="samples" if header.startswith("card") else "stays")["whose"]
    assert question.offered is None or question.is_clear
    done = invoke("init", path, "--yes", "-o", tmp_path / "r.toml")
    assert done.exit_code == 2 or question.is_clear


MOMENTS = {
    "offsets": "2026-01-{d:02}T{h:02}:00+11:00", "Z": "2026-01-{d:02}T{h:02}:00:00Z", "epoch": "{e}",
}  # fmt: skip


def log(form: str) -> list[str]:
    rows = list[str]()
    for n in range(200):
        time = form.format(d=1 + n // 24, h=n % 24, e=1_767_225_600 + 3600 * n)
        rows.append(f"Ana,{time},{'on' if n * n % 5 else 'off'}")
    return rows


@pytest.mark.parametrize("form", MOMENTS)
def test_the_zone_of_moments_is_asked(tmp_path: Path, form: str) -> None:
    """5,322 were published for 07 h, in UTC, where clocks of the city showed 1,275."""
    path = table_in(tmp_path, "person,time,state", log(MOMENTS[form]))
    question = questions_about(path, rows="samples", whose="person")["timezone"]
    assert question.offered is None
    assert question.must_be_clear
    assert {"offsets": "+11:00", "Z": "offsets Z", "epoch": "since 1970"}[form] in question.why
    words = ["init", path, "--yes", "--rows", "samples", "-o", tmp_path / "r.toml"]
    done = invoke(*words)
    assert done.exit_code == 2
    assert "--timezone" in done.output
    assert not (tmp_path / "r.toml").exists()
    done = invoke(*words, "--timezone", "Australia/Sydney")
    assert done.exit_code == 0, done.output
    assert source_in(tmp_path / "r.toml")["timezone"] == "Australia/Sydney"


def test_a_zone_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    path = table_in(tmp_path, "person,time,state", log(MOMENTS["offsets"]))
    words = ["init", path, "--yes", "--rows", "samples", "-o", tmp_path / "r.toml"]
    for zone in ("Europe/Atlantis", "+11:00", "../../etc/passwd", "localtime", "x" * 300):
        done = invoke(*words, "--timezone", zone)
        assert done.exit_code == 2
        assert "no time zone" in done.output
        assert not (tmp_path / "r.toml").exists()


def test_clock_times_are_not_asked_about(tmp_path: Path) -> None:
    path = table_in(tmp_path, "person,time,state", log("2026-01-{d:02}T{h:02}:00"))
    assert "timezone" not in questions_about(path, rows="samples", whose="person")
    assert answered_clearly(subject_of(path), {"rows": "samples"})
