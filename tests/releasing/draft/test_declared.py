"""Whatever loading calls missing has a question, in every kind of file, and plain words say what TOML says."""

import math
import tomllib
from pathlib import Path

import duckdb
import pytest

from takifugu.core.errors import InputError, SpecError
from takifugu.releasing.draft.declared import missing, question_of, value_of
from takifugu.releasing.draft.evidence import evidence
from takifugu.releasing.draft.questions import questions
from takifugu.releasing.draft.text import draft, draft_of, text_of
from takifugu.releasing.file.kinds import drafted
from takifugu.releasing.file.loading import checked

KINDS = sorted(drafted())
PREFERRED = {"unit": "who", "order": "t", "step": "1", "value": "state"}
ROWS = {"rows": "samples", "unit": "who", "order": "t", "step": "1", "value": "state"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "d.csv"
    rows = [f"{who},{t},{'ab'[t // 3 % 2]},{t * 1.5}\n" for who in "AB" for t in range(30)]
    path.write_text("who,t,state,x\n" + "".join(rows), encoding="utf-8")
    return path


def drafted_text(table: Path, said: dict[str, str]) -> str:
    """Return the draft of answers, and of the first choice of all that is left open."""
    with evidence(table) as opened:
        while some := questions(opened, said):
            question, names = some[0], [choice.name for choice in some[0].choices]
            preferred = PREFERRED.get(question.name, "")
            if question.name == "unit" and said["rows"] == "answers":
                preferred = "-"
            said[question.name] = preferred if preferred in names else names[0]
        return text_of(draft_of(opened, said, None, table.with_name("release.toml")))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("unit", "is_told"), [("who", True), ("clinic", True), ("Filiale", False)])
def test_a_draft_says_how_to_call_what_no_column_tells(table: Path, unit: str, is_told: bool) -> None:
    table.write_text(table.read_text("utf-8").replace("who", unit, 1), encoding="utf-8")
    said = {**ROWS, "unit": unit, "kind": "markov-chain"}
    with evidence(table) as opened:
        asked = [(question.name, question.offered) for question in questions(opened, said)]
    assert asked == [("called", "person")] * (not is_told)
    assert ('called = "person"' in drafted_text(table, {**said})) is not is_told
    assert 'called = "shop"' in drafted_text(table, {**said, "called": "shop"})
    assert "called" not in drafted_text(table, {**said, "called": "-"})
    asked = question_of("units_independent", {**said, "called": "shop"})
    assert asked.words == "Does one shop say nothing about another?"


@pytest.mark.parametrize(("column", "named"), [("state", " of 'state'"), ("lower(state)", "")])
def test_a_table_of_answers_is_called_by_its_column(table: Path, column: str, named: str) -> None:
    said = {"rows": "answers", "unit": "-", "kind": "users", "value": column}
    assert tomllib.loads(drafted_text(table, said))["table"][0]["title"] == f"How often each value{named} occurs"


def test_who_meets_is_asked_for_the_state_well_first() -> None:
    """A file of infections with states "yes, no" took the well for those who infect others."""
    asked = question_of("states", {"kind": "contacts"})
    assert (asked.words, asked.hint) == ("Which two states are there, well first and ill second?", "well, ill")
    assert question_of("states", {"kind": "markov-chain"}).words == "Which states can there be?"


def test_names_may_have_commas() -> None:
    """The stations of a bike share: what is shown as an example was split at all commas."""
    said = {"states": 'parked, "Main St, ""The Corner""", "O\'Hare, North"'}
    names = ["parked", 'Main St, "The Corner"', "O'Hare, North"]
    assert value_of("states", said["states"], said) == names
    shown = ", ".join(f"{name} 2 h" for name in question_of("mean_duration", said).parts)
    assert value_of("mean_duration", shown, said) == dict.fromkeys(names, "2 h")
    assert question_of("mean_duration", {"states": "-"}).parts == (), "put off, and no state called -"
    bins = value_of("bins", question_of("bins", said).hint, said)
    assert bins == dict(zip(names, ([0, 5], [5, 10], [10, math.inf]), strict=True)), "neither overlap nor gap"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_missing_is_asked_and_an_answer_ends_the_question(kind: str, table: Path) -> None:
    output, said = table.with_name("release.toml"), {"kind": kind}
    for _ in range(20):
        text = drafted_text(table, said)
        lacks = missing(text, output, said)
        try:
            checked(tomllib.loads(text), output)
            faults = []
        except SpecError as error:
            faults = [*error.faults]
        assert len(lacks.questions) + len(lacks.faults) == 0 or faults
        missed = [(name, fault) for name, fault in lacks.faults.items() if fault.what == "is missing"]
        dropped = {name for name, fault in missed if "[1]" not in fault.place}  # one column where two are needed
        assert dropped <= {"unit"}, "an answer is in no text"  # no column was answered for it
        assert bool(faults) == bool(lacks.questions or lacks.faults), faults
        if not lacks.questions:
            return
        question = lacks.questions[0]
        assert question.name not in said
        assert question.form
        assert question.words
        said[question.name] = "true" if question.form == "truth" else question.hint or "1"
    raise AssertionError("it never ends")


def test_a_draft_without_answers_lacks_what_check_names(table: Path) -> None:
    lacks = missing(drafted_text(table, dict(ROWS)), table.with_name("release.toml"), ROWS)
    assert [question.name for question in lacks.questions] == ["states", "mean_duration", "units_independent"]
    assert lacks.faults == {}


@pytest.mark.parametrize("nothing", ["?", "NA", ""])
def test_measurements_are_asked_for_bins_whatever_stands_for_a_missing_one(nothing: str, tmp_path: Path) -> None:
    table, said = tmp_path / "d.csv", {**ROWS, "unit": "-", "nulls": "unobserved"}
    table.write_text("t,state\n" + "".join(f"{t},{nothing if t == 7 else t / 4}\n" for t in range(99)))
    lacks = missing(drafted_text(table, dict(said)), table.with_name("release.toml"), said)
    assert "bins" in [question.name for question in lacks.questions]


def test_what_is_put_off_is_not_asked_again_and_is_no_mistake(table: Path) -> None:
    said = {**ROWS, "states": "-", "mean_duration": "-"}
    lacks = missing(drafted_text(table, dict(said)), table.with_name("release.toml"), said)
    assert [question.name for question in lacks.questions] == ["units_independent"]
    assert lacks.faults == {}


@pytest.mark.parametrize(("name", "plain", "written"), [
    ("states", "on, off", ["on", "off"]), ("states", '["a, b", "c"]', ["a, b", "c"]), ("states", "1, 2", ["1", "2"]),
    ("mean_duration", "on 2 h, off 8", {"on": "2 h", "off": 8}), ("mean_duration", "on = 1.5", {"on": 1.5}),
    ("mean_duration", '{ "a, b" = "2 h" }', {"a, b": "2 h"}), ("next_state", "on: 0.25", {"on": 0.25}),
    ("bins", "low 0 to 5, high 5 to inf", {"low": [0, 5], "high": [5, float("inf")]}),
    ("bins", "cold -5 to 0.5", {"cold": [-5, 0.5]}), ("bins", '{ "x" = "0 to 5" }', {"x": [0, 5]}),
    ("roster", "Ana, Ben", ["Ana", "Ben"]), ("roster", "people.csv", "people.csv"), ("roster", '["Ana"]', ["Ana"]),
    ("from", "2026-01-05", "2026-01-05"), ("units_independent", "true", True), ("size", "100", 100),
    ("probabilities", "0.5, 1/2", [0.5, "1/2"]), ("table.at_most", "5", 5), ("belief.rows", "[[1]]", [[1]]),
    ("epsilon", "0.5", 0.5), ("epsilon", "much", "much"), ("order", "2026", "2026"),
    *(("epsilon", word, word) for word in ("9" * 5000, "0x" + "9" * 5000, "[" * 9000)),  # nobody can write them again
])  # fmt: skip
def test_plain_words_are_what_stands_in_the_file(name: str, plain: str, written: object) -> None:
    assert value_of(name, plain, {}) == written


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("step", "more", "is_told"), [
    ("1d", {}, True), ("1d", {"from": "2026-01-01"}, False), ("1", {}, False), ("1d", {"rows": "events"}, False),
])  # fmt: skip
def test_samples_of_times_without_a_start_are_told_to_declare_it(
    step: str, more: dict[str, str], is_told: bool, table: Path
) -> None:
    rows = [f"A,2026-01-{t + 1:02d},{t},a\n" for t in range(20)]
    table.write_text("who,day,t,state\n" + "".join(rows), encoding="utf-8")
    said = {**ROWS, "order": "day" if step == "1d" else "t", "step": step, **more}
    assert ("declare from before the first release" in drafted_text(table, said)) == is_told


@pytest.mark.parametrize("unit", ["who", 'trim("who")'])
def test_rows_that_name_nobody_are_left_out_by_an_answer(tmp_path: Path, unit: str) -> None:
    """A file was drafted, and refused later by a line that did not mend a blank name."""
    duckdb.sql(
        "select * from (values ('A', 0, 'x'), (null, 1, 'x'), ('', 2, 'y'), ('B', 3, 'x')) v(who, t, state)"
    ).write_parquet(str(tmp_path / "d.parquet"))
    said = {**ROWS, "unit": unit}
    with evidence(tmp_path / "d.parquet") as opened:
        (question, *_) = questions(opened, said)
        assert (question.name, question.words) == ("where", "Which rows count?")
        (choice,) = question.choices
        assert choice.words == "leaves out 2 of 4 rows: 2, 3"
        assert "where" not in [other.name for other in questions(opened, {**said, "where": choice.name})]


@pytest.mark.parametrize(("age", "more"), [("1.", {"normal"}), ("young", set())])
def test_a_secret_is_offered_of_housemates_and_of_numbers_where_there_are_some(
    tmp_path: Path, age: str, more: set[str]
) -> None:
    lines = [f"{name},{age}{number if more else ''},{'yn'[number % 2]}" for number, name in enumerate("ABCDEFGH")]
    (tmp_path / "d.csv").write_text("\n".join(["who,age,smokes", *lines]), encoding="utf-8")
    with evidence(tmp_path / "d.csv") as opened:
        (asked,) = [one for one in questions(opened, {"rows": "answers", "unit": "who"}) if one.name == "kind"]
    kinds = {"users", "contacts", "joint-table", "independent-records", "populations"}
    assert {choice.name for choice in asked.choices} == kinds | more


def test_a_longitude_is_drafted_before_a_latitude(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("who,Latitude,Longitude\nA,48.1,16.2\nB,48.2,16.3\n", encoding="utf-8")
    with evidence(tmp_path / "d.csv") as opened:
        (asked,) = questions(opened, {"rows": "visits", "unit": "who"})
    assert (asked.name, "of coordinates write two columns" in asked.why) == ("value", True)
    for value in ("Latitude, Longitude", "Longitude, Latitude"):
        drafted = tomllib.loads(draft(tmp_path / "d.csv", rows="visits", unit="who", value=value))
        assert drafted["source"]["value"] == ["Longitude", "Latitude"]


@pytest.mark.parametrize("kind", ["independent-records", "normal", "density", "parameters"])
def test_what_is_published_is_a_column_of_the_table_where_the_belief_has_columns(table: Path, kind: str) -> None:
    """Once `value` stood in [source], and was no key there."""
    said = {"rows": "answers", "unit": "-", "kind": kind, "value": "state"}
    text = drafted_text(table, said)
    assert (tomllib.loads(text)["table"][0]["attribute"], "value" in tomllib.loads(text)["source"]) == ("state", False)
    lacks = missing(text, table.with_name("release.toml"), said)
    assert not lacks.faults
    assert "attribute" not in " ".join(fault.place for fault in lacks.left)


def test_a_survey_has_answers_and_no_states() -> None:
    survey, chain = {"rows": "answers", "kind": "users"}, {"rows": "samples"}
    assert question_of("bins", survey).words == "Which numbers count as each answer?"
    assert question_of("bins", chain).words == "Which numbers count as each state?"


@pytest.mark.parametrize(
    ("name", "plain", "written"),
    [("columns", "one, other", ["one", "other"]), ("belief.states", "well, ill", ["well", "ill"]),
     ("table[0].states", "ill", ["ill"]), ("table.states", '["ill"]', ["ill"]), ("belief.file", "met.csv", "met.csv")],
)  # fmt: skip
def test_a_key_is_answered_as_it_is_printed_to_be_missing(table: Path, name: str, plain: str, written: object) -> None:
    section, _, key = name.replace("[0]", "").rpartition(".")
    read = tomllib.loads(drafted_text(table, {**ROWS, "rows": "answers", "kind": "contacts", name: plain}))
    of_section = read[section or "belief"]
    assert (of_section[0] if section == "table" else of_section)[key] == written
    assert read["source"]["file"] == "d.csv"


@pytest.mark.parametrize("name", ["file", "source.file", "tabel.states", "expect.cells"])
def test_an_answer_sets_a_key_of_the_draft_and_never_the_file_of_its_rows(table: Path, name: str) -> None:
    with pytest.raises(InputError, match="a draft "):
        draft(table, "contacts", **{**ROWS, "rows": "answers", name: "other.csv"})


def test_a_draft_refuses_the_answers_that_its_file_would_be_refused_for(table: Path) -> None:
    with pytest.raises(SpecError, match=r"belief\.answers: is not a known key"):
        draft(table, **ROWS, answers={"states": "a, b"})
