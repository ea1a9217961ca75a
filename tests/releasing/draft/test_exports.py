"""Thirty and more exports as people have them: what is drafted reads right, or is refused with what mends it."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.draft.exports import EXPORTS, Export

from takifugu.core.errors import SpecError, TakifuguError
from takifugu.core.plain import toml_of
from takifugu.data.relation.source import opened_table
from takifugu.releasing.advice.advice import verdicts
from takifugu.releasing.draft.evidence import Evidence, evidence
from takifugu.releasing.draft.question import unsaid
from takifugu.releasing.draft.questions import questions
from takifugu.releasing.draft.text import FILL_IN, draft_of, text_of
from takifugu.releasing.file.loading import load


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


@pytest.mark.sampled(10)
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
        assert keys["value"] == ["lon", "lat"]
        return
    with opened_table(keys, made.states, tmp_path, frame) as source:
        if keys["rows"] == "answers":
            groups = source.answers()
            read = {"": [int(groups.rows[groups.codes[:, 0] == code].sum()) for code in range(len(made.states))]}
        else:
            counts = source.counts()
            names = counts.names[0].tolist() if "unit" in keys else [""]
            read = dict(zip(names, counts.counts.tolist(), strict=True))
    assert read == {who: list(steps) for who, steps in made.truth.items()}


def knows(made: Export) -> dict[str, Any]:
    """Return what an owner knows of a table, by the key that a printed line names."""
    if made.right["rows"] == "answers":
        size = sum(map(sum, (made.truth or {}).values()))
        return {"size": size, "values": [*made.states], "probabilities": [0.5, 0.5], "units_independent": True}
    length = {"h": "2 h", "n": "2 h", "d": "3 d"}.get(made.right.get("step", "")[-1:], 8)
    lasts = dict.fromkeys(made.states, length)
    return {"states": [*made.states], "mean_duration": lasts, "units_independent": True, **made.owner}


def with_lines(text: str, faults: Sequence[TakifuguError], known: dict[str, Any]) -> str:
    """Return a draft with the lines that faults print, each key with what its owner knows."""
    for fault in faults:
        section, *steps = fault.where
        printed = re.findall(r"\b(\w+) = ", f"{fault.rule} {fault.fix}") or re.findall(r"\b[a-z_]+\b", fault.fix)
        for key in dict.fromkeys(key for key in [*map(str, steps), *printed] if key in known and key in printed):
            text = re.sub(rf"(?m)^{key} = .*\n", "", text)
            text = re.sub(rf"(?m)^\[{section}\]\n", f"[{section}]\n{key} = {toml_of(known[key])}\n", text)
    return text


def has_verdict(text: str, known: dict[str, Any], output: Path) -> bool:
    """Return whether a draft reaches a verdict when its owner pastes what is printed, and writes nothing else."""
    for _ in range(5):
        output.write_text(text)
        try:
            load(output)
        except SpecError as error:
            before, text = text, with_lines(text, error.faults, known)
            if text == before:
                return False
        else:
            return all("no verdict" not in table.sentence for table in verdicts(output, False))
    return False


#: Their owner has no line to paste: a frame has no file, and of places nothing is known.
_NO_VERDICT = ("frame", "visits")
_WITH_VERDICT = [name for name, make in EXPORTS.items() if make().truth is not None and name not in _NO_VERDICT]


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", _WITH_VERDICT)
def test_a_draft_reaches_its_verdict_by_pasting_printed_lines_alone(name: str, tmp_path: Path) -> None:
    made, path = EXPORTS[name](), tmp_path / EXPORTS[name]().file
    made.write(path)
    with evidence(path, **{key: made.right.get(key) for key in ("encoding", "sql")}) as opened:
        said, is_printed = answered(opened, made)
        text = text_of(draft_of(opened, said, None, tmp_path / "release.toml"))
    assert is_printed
    assert has_verdict(text, knows(made), tmp_path / "release.toml")
    assert not has_verdict(text, {}, tmp_path / "release.toml")


def test_thirty_are_right_or_refused_a_third_are_ugly_and_most_are_pasted() -> None:
    made = [make() for make in EXPORTS.values()]
    assert len(made) >= 30
    assert 3 * sum(export.is_ugly for export in made) >= len(made)
    assert sum(export.truth is not None and not export.is_by_hand for export in made) >= 0.8 * len(made)
    assert len(_WITH_VERDICT) >= 24
