"""The recorder sees what it is for: a larger scale, a changed refusal, a weaker promise, a row that went."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tools import record, recorded

BEFORE: record.Row = {
    "mechanism": "quilt-exact", "noise": "discrete-laplace", "scale": "7", "grid": "1", "epsilon": "1", "delta": "0",
    "covers": "entries", "error": 6.98, "witness": "step 0 = 0 against step 0 = 1",
}  # fmt: skip
REFUSED: record.Row = {"refused": "CalibrationRefused: nothing may be used"}


def accepted(key: str, row: record.Row) -> str:
    return ""


def judged(before: record.Row | None, after: record.Row | None, audit: Any = accepted) -> record.Comparison:
    old, new = ({} if row is None else {"one": row} for row in (before, after))
    return record.not_worse(old, new, "", audit)


@pytest.mark.parametrize(("name", "after", "why"), [
    ("scale", str(7 * (1 + Fraction(1, 2**33))), "scale grew"),
    ("epsilon", "1.0001", "epsilon grew"),
    ("delta", "1e-30", "delta grew"),
    ("error", 7.0, "error grew"),
    ("covers", "output", "it covers output for entries"),
])  # fmt: skip
def test_what_is_worse_is_seen(name: str, after: Any, why: str) -> None:
    (line,) = judged(BEFORE, {**BEFORE, name: after}).worse
    assert why in line


def test_a_row_that_is_refused_or_gone_is_worse() -> None:
    for after in (REFUSED, None):
        (line,) = judged(BEFORE, after).worse
        assert "it was answered before" in line


def test_a_change_within_the_rounding_and_a_smaller_scale_are_audited() -> None:
    for scale in (str(7 * (1 + Fraction(1, 2**35))), "6"):
        compared = judged(BEFORE, {**BEFORE, "scale": scale})
        assert not compared.worse
        assert "(audited)" in compared.changed[0]
        (line,) = judged(BEFORE, {**BEFORE, "scale": scale}, lambda *_: "it promises 1 and loses 2").worse
        assert line.endswith("it promises 1 and loses 2")


def test_what_no_audit_can_judge_is_said() -> None:
    def too_large(key: str, row: record.Row) -> str:
        raise record.Unaudited("2^700 joint states")

    assert "(not audited: 2^700 joint states)" in judged(BEFORE, {**BEFORE, "scale": "6"}, too_large).changed[0]


def test_words_and_an_answer_in_place_of_a_refusal_are_changes() -> None:
    other = {"refused": "CalibrationRefused: another reason"}
    for before, after in ((REFUSED, other), (REFUSED, BEFORE), (None, BEFORE), (BEFORE, {**BEFORE, "witness": "x"})):
        compared = judged(before, after)
        assert (len(compared.changed), compared.worse) == (1, [])


def test_a_joint_loss_that_grew_is_worse() -> None:
    before, after = ({"joint": {"epsilon": number, "delta": "0"}} for number in ("2", "2.1"))
    assert "joint: epsilon grew" in judged(before, after).worse[0]
    assert not judged(after, before).worse


def test_what_a_step_said_beforehand_is_listed_and_not_judged() -> None:
    compared = record.not_worse({"city | a": BEFORE, "ward": BEFORE}, {"ward": BEFORE}, "^city", accepted)
    assert (len(compared.said), compared.worse, compared.changed) == (1, [], [])


def written(path: Path, rows: list[record.Row], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(record, "rows_of", lambda part: iter(rows))
    record.write(path, ["any"])
    return path


def test_equal_records_are_the_same_bytes_and_a_changed_refusal_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = {"refused": "CalibrationRefused: " + "a reason that is long " * 9}
    rows = [{"key": "a", **BEFORE}, {"key": "b", **long}, {"key": "c", **long}]
    old, same = (written(tmp_path / name, rows, monkeypatch) for name in ("old.jsonl", "same.jsonl"))
    assert record.main(["equal", str(old), str(same)]) == 0
    assert record.read(old) == {"a": BEFORE, "b": long, "c": long}
    assert len(old.read_text(encoding="utf-8").splitlines()) == 4  # the long reason stands once
    new = written(tmp_path / "new.jsonl", [*rows[:2], {"key": "c", "refused": "CalibrationRefused: no"}], monkeypatch)
    capsys.readouterr()
    assert record.main(["equal", str(old), str(new)]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("c\n  refused: CalibrationRefused: a reason")
    assert printed.endswith("-> CalibrationRefused: no\nNOT EQUAL: 1 rows differ\n")
    assert record.main(["not-worse", str(old), str(new)]) == 0
    worse = written(tmp_path / "worse.jsonl", [{**rows[0], "scale": "7.0000001"}, *rows[1:]], monkeypatch)
    assert record.main(["not-worse", str(old), str(worse)]) == 1
    assert "WORSE: 1 rows" in capsys.readouterr().out
    seconds = (tmp_path / "old.seconds.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["key"] for line in seconds] == ["a", "b", "c"]


def test_one_bit_of_a_scale_is_not_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = written(tmp_path / "old.jsonl", [{"key": "a", **BEFORE}], monkeypatch)
    bit = str(7 * (1 + Fraction(1, 2**52)))
    assert record.equal(old, written(tmp_path / "new.jsonl", [{"key": "a", **BEFORE, "scale": bit}], monkeypatch)) == 1


@pytest.mark.mutants
def test_the_golden_problems_are_recorded_alike_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goldens = [*recorded.goldens()]
    assert len(goldens) > 200
    some = [one for number, one in enumerate(goldens) if "flu_004" in one.key or number % 20 == 0]
    monkeypatch.setitem(recorded.PROBLEMS, "golden", lambda: some)
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path in paths:
        record.main(["write", str(path), "--parts", "golden"])
    assert record.equal(*paths) == 0
    rows = record.read(paths[0])
    assert len(rows) == len({one.key for one in some})
    assert rows["golden | flu_004 | epsilon 1, delta 0 | wasserstein"]["scale"] == "2"


KEY = "golden | flu_004 | epsilon 1, delta 0 | laplace-exact"


def problem(key: str) -> recorded.Problem:
    return next(one for one in recorded.goldens() if one.key == key)


def test_the_audit_of_a_row_keeps_what_holds_and_notices_half_of_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = problem(KEY).calibrated()
    row = record.row_of(whole)
    assert record.audit(KEY, row) == ""
    assert record.audit(KEY, {**row, "scale": "1"}) == "the code at hand gives another row"
    assert record.audit("golden | no such problem", row) == "this checkout has no such problem"
    half = replace(whole, randomiser=replace(whole.randomiser, units=whole.randomiser.units / 2))
    monkeypatch.setattr(recorded.Problem, "calibrated", lambda _: half)
    assert "promises epsilon 1.0" in record.audit(KEY, record.row_of(half))


@pytest.mark.filterwarnings("ignore:the whole source is charged")
def test_a_random_set_is_audited_by_the_fuzzer() -> None:
    assert record.audit("random | 003 | 0", BEFORE) == ""
    with pytest.raises(record.Unaudited, match="whole file"):
        record.audit("example | city.toml | account", BEFORE)


def test_a_part_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        record.main(["write", str(tmp_path / "x.jsonl"), "--parts", "corpus"])
    assert "there is no part corpus" in capsys.readouterr().err
