"""Forty exports through the app: each question can be answered, none answers itself, and the file is that of `init`."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.draft.exports import EXPORTS, Export
from tests.releasing.draft.test_exports import answered

from takifugu.core.errors import DataError
from takifugu.releasing.draft.evidence import evidence
from takifugu.releasing.draft.question import QUESTIONS
from takifugu.releasing.draft.text import draft_of, text_of
from takifugu.releasing.proposal import Proposal

_FILES = [name for name, make in EXPORTS.items() if make().file]
_READ = [name for name in _FILES if EXPORTS[name]().truth is not None]


class Refused(Exception):
    """What the page says of the answer that its owner has."""


def asked(proposal: Proposal, made: Export) -> Any:
    """Answer what the page asks about a table, as its owner does, and return the last state."""
    said, state = dict[str, str](), proposal.state({})
    assert not state["is_ready"], "Enter through all drafts nothing"
    while True:
        posed = [each for each in state["questions"] if each["name"] in QUESTIONS]
        waiting = [each for each in posed if each["is_open"] or each["wrong"]]
        for question in posed:
            assert question["words"]
            assert question["why"]
        if not waiting:
            return state
        assert not state["is_ready"], "a question that is open holds the release back"
        name = waiting[0]["name"]
        right = made.right[f"{name} again" if f"{name} again" in made.right and name in said else name]
        if said.get(name) == right:
            raise Refused(waiting[0]["wrong"])
        said[name] = right
        state = proposal.state(said)


def source_of_init(path: Path, made: Export) -> dict[str, Any]:
    """Return the keys of [source] as the terminal drafts them from the same answers."""
    with evidence(path, **{key: made.right.get(key) for key in ("encoding", "sql")}) as opened:
        said, _ = answered(opened, made)
        text = text_of(draft_of(opened, said, None, path.parent / "release.toml"))
    return dict(tomllib.loads(text)["source"])


@pytest.fixture
def proposal(name: str, tmp_path: Path) -> Any:
    path = tmp_path / EXPORTS[name]().file
    EXPORTS[name]().write(path)
    proposal = Proposal(str(path), tmp_path / "release.toml")
    yield proposal
    proposal.close()


@pytest.mark.mutants
@pytest.mark.parametrize("name", _READ)
def test_an_export_gets_a_form_that_its_owner_can_answer(name: str, proposal: Proposal) -> None:
    state = asked(proposal, EXPORTS[name]())
    assert tomllib.loads(state["file"])["source"] == source_of_init(Path(proposal.table), EXPORTS[name]())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted({*_FILES} - {*_READ}))
def test_an_export_that_must_be_refused_is_refused_with_what_mends_it(name: str, proposal: Proposal) -> None:
    with pytest.raises((DataError, Refused)) as error:
        asked(proposal, EXPORTS[name]())
    assert EXPORTS[name]().refusal in str(error.value)
