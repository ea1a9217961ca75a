"""No expression of [source] names somebody who is publicly covered: all words there stand in ledger and certificate."""

from pathlib import Path

import pytest
from tests.support.release_files import believe, publish, read_from, release_text, section

from takifugu.core.errors import SpecError, TakifuguError
from takifugu.releasing.draft.text import draft
from takifugu.releasing.file.loading import load

CHAIN = believe("markov-chain", states=["still", "Ben"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True)
COVERED = {"rows": "samples", "order": "t", "step": 1, "value": "state", "unit": "who", "from_": 0, "until": 2}
MEETING = {"file": "met.csv", "columns": ["one", "other"], "states": ["well", "ill"]}
CONTACTS = believe("contacts", **MEETING, outside=0.1, inside=0.4)


def refusals(folder: Path, **keys: object) -> list[str]:
    roster = keys.pop("roster", ["Ana", "José", "Ben", "7"])
    (folder / "a.csv").write_text("who,t,state,w\nAna,0,still,7\n")
    file = {} if "sql" in keys else {"file": "a.csv"}
    source = section("[source]", name="s", **file, **{**COVERED, "roster": roster, **keys})
    (folder / "r.toml").write_text(release_text(source, CHAIN, publish("n", "count", states=["Ben"], epsilon=1)))
    try:
        load(folder / "r.toml")
    except SpecError as error:
        return error.problems
    return []


@pytest.mark.parametrize("keys", [
    {"where": "who <> 'Ana'"}, {"where": "lower(who) <> 'ana'"}, {"where": "who NOT IN ('Zoe', 'José')"},
    {"where": "who <> 'Jose\u0301'"}, {"where": "w = 'x' OR w || 'a' = 'Ana'"}, {"where": "cast(who AS bigint) <> 7"},
    {"where": "who <> '7'"}, {"where": "who BETWEEN '7' AND '9'"}, {"value": "CASE who WHEN 'Ana' THEN 'still' END"},
    {"order": "CASE WHEN who = 'Ana' THEN t END"}, {"unit": "nullif(who, 'Ana')"},
    {"sql": "select * from read_csv('a.csv', all_varchar = true) where who <> 'Ana'"},
])  # fmt: skip
def test_a_name_of_the_roster_in_an_expression_is_refused_at_its_key(keys: dict[str, object], tmp_path: Path) -> None:
    said = [line for line in refusals(tmp_path, **keys) if "a name in an expression is published" in line]
    assert [line.partition(":")[0] for line in said] == [f"source.{next(iter(keys))}"]
    assert "filter by a column" in said[0]


@pytest.mark.parametrize("keys", [
    {"where": "w <> 'total'"}, {"where": "who <> 'Summe'"}, {"value": "nullif(state, 'Ben')"}, {"where": "w <> '7'"},
    {"where": "7 * t < 70"}, {"where": "who IS NOT NULL"}, {"where": "who <> 'Ana'", "roster": ["Eva"]}, {},
    {"sql": "select * from read_csv('a.csv', all_varchar = true, skip = 7)"},
])  # fmt: skip
def test_other_words_numbers_and_states_are_no_names(keys: dict[str, object], tmp_path: Path) -> None:
    assert not [line for line in refusals(tmp_path, **keys) if "is published" in line]


def test_a_roster_in_a_file_is_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("who,ward\nAna,3\nEva,4\n")
    said = refusals(tmp_path, where="who <> 'Eva'", roster="people.csv")
    assert [line for line in said if line.startswith("source.where: names 'Eva'")]


def test_a_draft_says_that_the_words_of_its_source_are_published(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,t,state\nAna,0,still\nAna,1,still\n")
    text = draft(tmp_path / "a.csv", rows="samples", unit="who", order="t", step="1", value="state")
    assert "[source]\n# All words of this section are published.\n" in text


def test_people_of_a_belief_are_not_named_either(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,state\nAna,ill\nEva,well\n")
    (tmp_path / "met.csv").write_text("one,other\nAna,Eva\n")
    source = read_from("s", "a.csv", rows="answers", unit="who", value="CASE who WHEN 'Ana' THEN 'ill' ELSE state END")
    (tmp_path / "r.toml").write_text(release_text(source, CONTACTS, publish("n", "count", states=["ill"], epsilon=1)))
    with pytest.raises(TakifuguError, match=r"source\.value: names 'Ana'; a name in an expression is published"):
        load(tmp_path / "r.toml")
