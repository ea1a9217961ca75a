"""Thirty and more exports as people have them: what is drafted reads right, or is refused with what mends it."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.draft.exports import EXPORTS, Export

from takifugu.core.errors import TakifuguError
from takifugu.data.relation.source import opened_table
from takifugu.releasing.draft.evidence import Evidence, evidence
from takifugu.releasing.draft.questions import questions, unsaid
from takifugu.releasing.draft.text import FILL_IN, draft_of, text_of


def answered(opened: Evidence, made: Export) -> tuple[dict[str, str], bool]:
    """Answer each question as its owner does, and return the answers, and whether each was printed."""
    said, is_printed = dict[str, str](), True
    while some := questions(opened, said):
        question = some[0]
        right = made.right.get(f"{question.name} again" if question.name in said else question.name, question.offered)
        assert right is not None, question
        assert said.get(question.name) != right, question
        if right not in {choice.name for choice in question.choices}:
            is_printed &= question.name in ("timezone",)
        assert f"--{question.name} " in str(unsaid(some))
        said[question.name] = right
    return said, is_printed


def source_of(made: Export, folder: Path) -> tuple[dict[str, Any], object, bool]:
    """Return the drafted keys of [source], filled in by the owner, the frame if any, and whether all was printed."""
    path = folder / (made.file or "frame")
    frame = made.write(path)
    opening = {key: made.right.get(key) for key in ("encoding", "sql")}
    if any(opening.values()):
        with pytest.raises(TakifuguError) as error:
            evidence(path)
        line = error.value.line
        assert all(f"--{key} " in line and word in line for key, word in opening.items() if word)
    with evidence(frame if not made.file else path, **opening) as opened:
        said, is_printed = answered(opened, made)
        text = text_of(draft_of(opened, said, None, folder / "release.toml"))
    keys = tomllib.loads(text)["source"]
    assert (keys.get("bins") == FILL_IN) == ("bins" in made.owner)
    return {**keys, **made.owner}, frame if not made.file else None, is_printed


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EXPORTS)
def test_what_is_drafted_reads_the_right_integers_or_is_refused_with_what_mends_it(name: str, tmp_path: Path) -> None:
    made = EXPORTS[name]()
    if made.truth is None:
        with pytest.raises(TakifuguError) as error:
            source_of(made, tmp_path)
        assert made.refusal in error.value.line
        return
    keys, frame, is_printed = source_of(made, tmp_path)
    assert is_printed or made.is_by_hand
    if not made.truth:
        assert keys["value"] == ["lat", "lon"]
        return
    with opened_table(keys, made.states, tmp_path, frame) as source:
        if keys["rows"] == "answers":
            groups = source.answers([made.states])
            read = {"": [int(groups.rows[groups.codes[:, 0] == code].sum()) for code in range(len(made.states))]}
        else:
            counts = source.counts()
            names = counts.names[0].tolist() if "unit" in keys else [""]
            read = dict(zip(names, counts.counts.tolist(), strict=True))
    assert read == {who: list(steps) for who, steps in made.truth.items()}
