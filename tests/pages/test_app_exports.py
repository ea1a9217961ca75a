"""Forty exports through the app: every question can be answered, none answers itself, and the file is that of `init`."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.draft.exports import EXPORTS, Export
from tests.releasing.draft.test_exports import answered

from takifugu.releasing.draft.questions import QUESTIONS
from takifugu.core.errors import DataError
from takifugu.releasing.draft.evidence import evidence
from takifugu.releasing.draft.text import draft_of, text_of
from takifugu.releasing.proposal import Proposal

class Refused(Exception):
    """What the page says of the answer that its owner has."""


_FILES = [name for name, make in EXPORTS.items() if make().file]


def asked(proposal: Proposal, made: Export) -> tuple[dict[str, str], dict[str, Any]]:
    """Answer what the page asks about a table, as its owner does; return the answers and the last state."""
    said = dict[str, str]()
    while True:
        state = proposal.state(said)
        posed = [each for each in state["questions"] if each["name"] in QUESTIONS]
        waiting = [each for each in posed if each["is_open"] or each["wrong"]]
        for question in posed:
            assert question["words"]
            assert question["why"]
        if not waiting:
            return said, state
        assert not state["is_ready"], "a question that is open holds the release back"
        name = waiting[0]["name"]
        right = made.right[f"{name} again" if f"{name} again" in made.right and name in said else name]
        if said.get(name) == right:
            raise Refused(waiting[0]["wrong"])
        said[name] = right


def source_of_init(path: Path, made: Export) -> dict[str, Any]:
    """Return the keys of [source] as the terminal drafts them from the same answers."""
    with evidence(path, **{key: made.right.get(key) for key in ("encoding", "sql")}) as opened:
        said, _ = answered(opened, made)
        text = text_of(draft_of(opened, said, None, path.parent / "release.toml"))
    return dict(tomllib.loads(text)["source"])


def test_forty_exports_are_tried() -> None:
    assert len(_FILES) >= 40


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", _FILES)
def test_an_export_gets_a_form_that_its_owner_can_answer(name: str, tmp_path: Path) -> None:
    made = EXPORTS[name]()
    path = tmp_path / made.file
    made.write(path)
    proposal = Proposal(str(path), tmp_path / "release.toml")
    try:
        nothing_said = proposal.state({})
        assert nothing_said["questions"]
        assert not nothing_said["is_ready"], "Enter through all drafts nothing"
        _, state = asked(proposal, made)
    except DataError as error:
        assert made.refusal in error.line
        return
    except Refused as refused:
        assert made.refusal in str(refused)
        return
    finally:
        proposal.close()
    assert made.truth is not None
    assert tomllib.loads(state["file"])["source"] == source_of_init(path, made)
