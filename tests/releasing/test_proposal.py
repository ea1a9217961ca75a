"""A table, answers and what follows: forty exports get a form to answer, with the file and verdict of `init`."""

import itertools
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.draft.exports import EXPORTS
from tests.releasing.draft.test_exports import knows
from tests.releasing.draft.test_random_tables import Table

import takifugu as tf
from takifugu.core.plain import toml_of
from takifugu.releasing.advice.advice import advise, verdicts
from takifugu.releasing.advice.changes import Change, applied, in_text
from takifugu.releasing.draft.declared import DECLARED
from takifugu.releasing.proposal import Proposal

#: A frame has no file, and so no form.
TABLES = [name for name in EXPORTS if name != "frame"]
SEEDS = range(6)
#: Of these the owner's answers lead to no verdict: rows that must be refused, and places of which nothing is known.
NO_VERDICT = {"visits", *(name for name in EXPORTS if EXPORTS[name]().truth is None)}
#: Names of states that an owner can think of, and the edges of numbers.
PLAIN = {"rows": "samples", "unit": "who", "order": "t", "step": "1", "value": "state"}
OWNED = {"states": "a, b", "mean_duration": "a 4, b 4", "units_independent": "true"}


def table(folder: Path, people: int = 2, steps: int = 40, name: str = "d.csv") -> Path:
    path = folder / name
    rows = [f"{who},{step},{'ab'[step // 4 % 2]}\n" for who in range(people) for step in range(steps)]
    path.write_text("who,t,state\n" + "".join(rows), encoding="utf-8")
    return path


def named(state: Any, key: str) -> list[str]:
    return [question["name"] for question in state["questions"] if question[key]]


def check_form(state: Any) -> None:
    """Each open question can be answered, and nothing is drafted while one about the table is open."""
    for question in state["questions"]:
        if question["is_open"]:
            assert question["choices"] or question["form"], question
            assert not question["answer"] or question["choices"][1:] or len(question["choices"]) == 1
            assert question["words"]
            assert question["why"]
        assert "--" not in question["wrong"], "an option of the command line cannot be pasted here"
    if {*named(state, "is_open")} - {*DECLARED} and not any("." in name for name in named(state, "is_open")):
        assert state["file"] is None
    if named(state, "is_open") or named(state, "wrong"):
        assert not state["is_ready"]
        assert "tables" not in state


def walked(proposal: Proposal, owner: dict[str, str]) -> Any:
    """Answer one open question after the other as its owner does, and return the last state."""
    said = dict[str, str]()
    for _ in range(25):
        state = proposal.state(said)
        check_form(state)
        some = [name for name in named(state, "is_open") if f"{name} again" in owner or name in owner]
        if not some:
            return state
        name = next((name for name in some if name not in said), some[0])
        said[name] = owner[f"{name} again" if name in said else name]
    raise AssertionError("it never ends")


def owner_of(made: Any) -> dict[str, str]:
    """Return what an owner answers: about the table, and what no table tells."""
    known = {name: value if isinstance(value, str) else toml_of(value) for name, value in knows(made).items()}
    return {**known, **made.right}


@pytest.mark.mutants
@pytest.mark.parametrize("name", TABLES)
def test_an_export_gets_a_form_that_can_be_answered(name: str, tmp_path: Path) -> None:
    made = EXPORTS[name]()
    made.write(tmp_path / made.file)
    proposal = Proposal(str(tmp_path / made.file), tmp_path / "release.toml")
    if name == "short_last_line":  # no table
        with pytest.raises(tf.TakifuguError) as error:
            proposal.state({})
        assert made.refusal in error.value.message
        return
    nothing_said = proposal.state({})
    assert named(nothing_said, "is_open")
    assert nothing_said["file"] is None
    if name not in NO_VERDICT:
        state = walked(proposal, owner_of(made))
        assert state["is_ready"], (named(state, "is_open"), state["lacks"])
        assert all("no verdict" not in line["sentence"] for line in state["tables"])
    proposal.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [made.file]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_table_gets_a_form_that_can_be_answered(seed: int, tmp_path: Path) -> None:
    made, path = Table(seed), tmp_path / "d.csv"
    path.write_bytes(made.content)
    state = Proposal(str(path), tmp_path / "release.toml").state({})
    check_form(state)
    assert named(state, "is_open")
    assert state["file"] is None


def test_there_are_forty_tables_and_a_third_is_ugly() -> None:
    assert len(TABLES) + len(SEEDS) >= 40
    assert 3 * sum(EXPORTS[name]().is_ugly for name in TABLES) >= len(TABLES)


@pytest.mark.mutants
@pytest.mark.parametrize("epsilon", ["0.1", "2.5"])
def test_file_and_verdict_are_those_of_init_and_advise(epsilon: str, tmp_path: Path) -> None:
    data, output, said = table(tmp_path), tmp_path / "release.toml", {**PLAIN, **OWNED, "epsilon": epsilon}
    state = Proposal(str(data), output).state(said)
    text = re.sub(r"(?m)^require_ledger .*\n", "", state["file"])  # the ledger that init makes
    assert text == tf.draft(data, output=output, **said) != state["file"]
    output.write_text(text, encoding="utf-8")
    (judged,) = verdicts(output, is_seen=True)
    (displayed,) = state["tables"]
    assert displayed["words"] == f"{judged.name}: {judged.sentence}"
    assert displayed["half"] == float(judged.joint.half_width)  # type: ignore[union-attr]
    judged = Proposal(str(data), tmp_path / "other.toml").remedies(said)
    assert [each["promise"] for each in judged["remedies"]] == [each.promise for each in advise(output).remedies]


@pytest.mark.mutants
def test_a_remedy_changes_a_budget_that_was_answered(tmp_path: Path) -> None:
    proposal = Proposal(str(table(tmp_path)), tmp_path / "release.toml")
    for answered in ({}, {"budget": "1"}):
        changes = [each["changes"] for each in proposal.remedies({**PLAIN, **OWNED, **answered})["remedies"]]
        assert any(change["where"] == ["source", "budget"] for some in changes for change in some) is bool(answered)


@pytest.mark.mutants
def test_a_table_that_was_read_is_kept_and_a_slider_reads_nothing(tmp_path: Path) -> None:
    data = table(tmp_path)
    proposal = Proposal(str(data), tmp_path / "release.toml")
    assert proposal.state({**PLAIN, **OWNED})["is_ready"]
    data.rename(tmp_path / "gone.csv")
    states = [proposal.state({**PLAIN, **OWNED, "epsilon": epsilon}) for epsilon in ("0.5", "1", "2")]
    halves = [state["tables"][0]["half"] for state in states]
    assert halves == sorted(halves, reverse=True)


@pytest.mark.mutants
def test_a_wrong_answer_is_told_at_its_question(tmp_path: Path) -> None:
    proposal = Proposal(str(table(tmp_path)), tmp_path / "release.toml")
    for name, word in {"rows": "chnges", "unit": "whoo", "order": "state", "step": "a while", "value": "nothing",
                       "states": "a", "mean_duration": "a 4", "units_independent": "false"}.items():  # fmt: skip
        state = proposal.state({**PLAIN, **OWNED, name: word})
        assert [*named(state, "wrong"), *named(state, "is_open")][0] == name, word
        assert not state["is_ready"]
        check_form(state)
    assert "epsilon" in str(proposal.state({**PLAIN, **OWNED, "epsilon": "-1"})["lacks"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "word", "fix"), [
    ("rows", "wide", "write samples"), ("step", "5 weeks", "write 1, or 15min, or 1h, or 1d"),
    ("order", "state",
     """write strptime("state", '%d.%m.%Y %H:%M') (with your format, or a list of them: ['...', '...'])"""),
])  # fmt: skip
def test_a_fault_at_a_field_says_what_to_write_there(name: str, word: str, fix: str, tmp_path: Path) -> None:
    state = Proposal(str(table(tmp_path)), tmp_path / "release.toml").state({**PLAIN, name: word})
    (wrong,) = (question["wrong"] for question in state["questions"] if question["wrong"])
    assert wrong.endswith(fix)
    check_form(state)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("missing", [*itertools.combinations([*PLAIN, *OWNED], 1), ("rows", "states"), tuple(OWNED)])
def test_what_is_left_out_is_asked_unless_it_is_the_only_answer(missing: tuple[str, ...], tmp_path: Path) -> None:
    """Enter through all drafts nothing: a promise has no default."""
    said = {name: word for name, word in {**PLAIN, **OWNED}.items() if name not in missing}
    state = Proposal(str(table(tmp_path)), tmp_path / "release.toml").state(said)
    posed = {name for name in missing if name not in ("order", "value")}
    assert {*named(state, "is_open")} >= (posed - {*OWNED} if posed & {*PLAIN} else posed)
    assert state["is_ready"] == (not posed)


def test_rows_are_shown_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{n}" for n in range(30)) + "\n" + (",".join(["x" * 99] * 30) + "\n") * 9)
    displayed = Proposal(str(path), tmp_path / "release.toml").rows({})
    assert (len(displayed["columns"]), len(displayed["rows"]), displayed["size"], displayed["width"]) == (12, 5, 9, 30)
    assert {len(cell) for row in displayed["rows"] for cell in row} == {40}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", [
    Change(("table", 0, "epsilon"), 0.25), Change(("table", 0, "per"), "pooled"), Change(("source", "budget"), 2),
    Change(("source", "single_release"), True), Change(("table", 0, "epsilon"), None), Change(("joint_epsilon",), 3.0),
    Change(("belief", "states"), ["b", "a"]),
])  # fmt: skip
def test_a_text_with_a_change_is_the_file_with_it(change: Change, tmp_path: Path) -> None:
    text = tf.draft(table(tmp_path), output=tmp_path / "release.toml", **PLAIN, **OWNED)
    assert tomllib.loads(in_text(text, [change])) == applied(tomllib.loads(text), [change])


@pytest.mark.mutants
def test_what_a_remedy_changes_is_marked_and_taken_back(tmp_path: Path) -> None:
    proposal = Proposal(str(table(tmp_path)), tmp_path / "release.toml")
    said = {**PLAIN, **OWNED, "epsilon": "1"}
    changed = proposal.state(said, [Change(("source", "single_release"), True)])
    (line,) = changed["changed"]
    assert changed["file"].splitlines()[line - 1] == "single_release = true"
    assert changed["is_ready"]
    assert proposal.state(said)["changed"] == []


@pytest.mark.mutants
def test_the_release_is_foreseen_in_one_sentence_and_nothing_is_written(tmp_path: Path) -> None:
    proposal = Proposal(str(table(tmp_path, people=3)), tmp_path / "release.toml")
    foreseen = proposal.foresee({**PLAIN, **OWNED, "epsilon": "2"})
    assert "epsilon 2 for 3 people, for ever" in foreseen["sentence"]
    assert "88.1 % sure" in foreseen["sentence"]
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]
    with pytest.raises(tf.TakifuguError, match="questions are open"):
        proposal.foresee(PLAIN)
