"""Layouts that agree read every small table alike, by a slow reader that shares no code with the rules."""

import random
from collections.abc import Mapping
from typing import Any

import pytest
from tests.support.plain_reader import AHEAD, Row, entries

from takifugu.accounting.ledger.format import agreement
from takifugu.accounting.ledger.format.agreement import are_moved, conflicts
from takifugu.accounting.ledger.format.layouts import UNDECLARED, Layouts, words, written

UNITS, TIMES, VALUES = ("a", "b", "NA", "?"), ("0", "20", "40", "60", "1,020", "1020"), ("calm", "busy", "x", "NA", "?")
PLAIN: Mapping[str, Any] = {
    "value": "state", "unit": "unit", "order": "t", "step": "60", "from": "0", "timezone": ["UTC+0s", "UTC+0s"],
    "states": {"calm": "calm", "busy": "busy"}, "times": "clock times",
}  # fmt: skip


def random_layout(c: random.Random) -> dict[str, Any]:
    layout = dict(PLAIN)
    part = c.choice(("20", "30", "60"))
    changes: dict[str, Any] = {
        "duplicates": c.choice((None, "first", "last")), "null_keys": c.choice((None, "drop")),
        "missing": c.choice((None, ["NA"], ["?"], ["?", "NA"])), "thousands": c.choice((None, ",")),
        "states": c.choice((PLAIN["states"], {**PLAIN["states"], "x": "busy"}, {**PLAIN["states"], "x": "calm"},
                            {**PLAIN["states"], "NA": "calm"})),
        "value": c.choice(("state", "lag")), "round_to": c.choice((None, [part, True])),
        "timezone": zone_of(c),
        "step": c.choice(("60", "20")),
    }  # fmt: skip
    for key in c.sample(list(changes), c.choice((0, 1, 1, 2, 3))):
        layout[key] = changes[key]
    missing = set(layout.get("missing") or ())
    layout["states"] = {raw: state for raw, state in layout["states"].items() if raw not in missing}
    return {key: value for key, value in layout.items() if value is not None}


def zone_of(c: random.Random) -> list[str]:
    zone = c.choice(sorted(AHEAD))
    return [zone, f"{AHEAD[zone]} minutes ahead"]


def random_table(c: random.Random) -> list[Row]:
    values = c.choice((VALUES, VALUES[:2], VALUES[:3]))
    return [
        {"unit": c.choice(UNITS[: c.randint(1, 4)]), "t": c.choice(TIMES[: c.randint(1, 6)]),
         "state": c.choice(values), "lag": c.choice(values)}
        for _ in range(c.randint(1, 3))
    ]  # fmt: skip


def disagreements(pairs: int, seed: int = 1) -> tuple[list[Any], int, int]:
    """Return tables that two layouts read differently which are said to agree, how many agree, and how many do not."""
    c = random.Random(seed)
    wrong, alike, other = [], 0, 0
    tables = [random_table(c) for _ in range(400)]
    for _ in range(pairs):
        one, two = random_layout(c), random_layout(c)
        if conflicts(one, two):
            other += 1
            continue
        alike += 1
        for rows in tables:
            read = entries(one, rows), entries(two, rows)
            if None not in read and read[0] != read[1]:
                wrong.append((one, two, rows))
                break
    return wrong, alike, other


@pytest.mark.parametrize("pairs", [200, pytest.param(1500, marks=pytest.mark.mutants)])
def test_layouts_that_agree_read_every_table_alike(pairs: int) -> None:
    wrong, alike, other = disagreements(pairs)
    assert not wrong, wrong[0]
    assert alike > pairs // 10
    assert other > pairs // 3


@pytest.mark.mutants
@pytest.mark.parametrize("key", ["null_keys", "missing", "states", "timezone", "duplicates"])
def test_a_rule_that_always_agrees_is_noticed(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = {**agreement._OF_SEQUENCES, key: lambda *_: True}
    if key == "missing":  # which two rules look at
        rules["null_keys"] = rules["states"] = lambda *_: True
    monkeypatch.setattr(agreement, "_OF_SEQUENCES", rules)
    assert disagreements(1500)[0]


def sequence(**changes: Any) -> dict[str, Any]:
    layout = {**PLAIN, **changes}
    return {key: value for key, value in layout.items() if value is not None}


@pytest.mark.parametrize(("before", "now"), [
    ({"end": "left"}, {"end": "left", "missing": ["open"]}),
    ({}, {"duplicates": "first"}), ({}, {"missing": ["NA"]}), ({}, {"null_keys": "drop"}),
    ({"missing": ["NA", "?"]}, {"null_keys": "drop", "missing": ["NA"]}), ({}, {"thousands": "."}),
    ({}, {"states": {**PLAIN["states"], "x": "busy"}}), ({}, {"round_to": ["60", True]}),
    ({"states": {"x": "calm"}}, {"states": {"X": "busy"}}), ({"states": {"1": "calm"}}, {"states": {"1.0": "calm"}}),
    ({"states": {"1": "calm", "01": "busy"}}, {"states": {"1": "calm"}}),  # which a column of numbers refuses
    ({"delimiter": [";", ";"]}, {"delimiter": [",", ","]}), ({}, {"delimiter": [";", ","]}),
    ({"delimiter": [";", ";"]}, {"delimiter": [";", ","]}), ({"table": ["a", True]}, {"table": ["b", True]}),
    ({"table": ["a", True]}, {"table": ["a", False]}), ({"table": ["a", True]}, {}),
    ({"encoding": ["utf-8", "ASCII"]}, {"encoding": ["iso8859-1", "ASCII"]}),
    ({"encoding": ["utf-8", "other names"]}, {"encoding": ["utf-8", "ASCII"]}),
    ({"encoding": ["utf-8", "other names"]}, {}), ({"encoding": ["iso8859-1", "ASCII"]}, {}),
    ({"timezone": ["Asia/Tokyo", "9"]}, {"timezone": ["Japan", "9"]}),
    ({"timezone": ["Asia/Tokyo", "9"]}, {"timezone": ["Asia/Tokyo", "of an older list of zones"]}),
])  # fmt: skip
def test_what_agrees(before: dict[str, Any], now: dict[str, Any]) -> None:
    one, other = sequence(**before), sequence(**now)
    assert conflicts(one, other) == conflicts(other, one) == ()


@pytest.mark.parametrize(("before", "now"), [
    ({"duplicates": "first"}, {"duplicates": "last"}), ({"thousands": ","}, {"thousands": "."}),
    ({"missing": ["x"]}, {"states": {**PLAIN["states"], "x": "busy"}}),
    ({}, {"null_keys": "drop", "missing": ["NA"]}),
    ({"null_keys": "drop", "missing": ["?"]}, {"null_keys": "drop", "missing": ["NA"]}),
    ({"bins": {"calm": ["0", "9"]}, "missing": ["5"]}, {"bins": {"calm": ["0", "9"]}}),
    ({"end": "left", "missing": ["07.01.2026"]}, {"end": "left"}),
    ({"end": ["day", "clock"]}, {"end": ["day", "clock"], "missing": ["06:00"]}),
    ({"duration": ["days", "86400s"]}, {"duration": ["days", "86400s"], "missing": ["2"]}),
    ({"states": {"calm": "calm"}}, {"states": {"calm": "busy"}}), ({}, {"round_to": ["60", False]}),
    ({"states": {"1": "calm"}}, {"states": {"1.0": "busy"}}), ({"states": {"1": "calm"}}, {"states": {"01": "busy"}}),
    ({"states": {"true": "calm"}}, {"states": {"True": "busy"}}),
    ({"states": {"9007199254740992": "calm"}}, {"states": {"9007199254740993": "busy"}}),
    ({"states": {"9007199254740992": "calm", "9007199254740993": "busy"}}, {"states": {"9007199254740993.0": "calm"}}),
    ({"round_to": ["20", True]}, {"round_to": ["60", True]}), ({}, {"order_format": "%Y-%d-%m"}),
    ({"delimiter": [";", ";"]}, {"delimiter": [",", ";"]}), ({"table": ["a", False]}, {"table": ["b", False]}),
    ({"table": ["a", True]}, {"table": ["b", False]}), ({"sheet": ["a", False]}, {"sheet": ["b", False]}),
    ({"encoding": ["utf-8", "ASCII"]}, {"encoding": ["shift_jis", "ASCII"]}),
    ({"encoding": ["utf-8", "ASCII"]}, {"encoding": ["gb18030", "ASCII"]}),
    ({"encoding": ["utf-8", "ASCII"]}, {"encoding": ["iso8859-1", "other names"]}),
    ({}, {"encoding": ["iso8859-1", "other names"]}), ({}, {"encoding": ["shift_jis", "ASCII"]}),
    ({"encoding": ["utf-8", "ASCII"], "recording": "stay"}, {"encoding": ["iso8859-1", "ASCII"], "recording": "stay"}),
    ({"encoding": ["utf-8", "ASCII"], "value": "Zustand ä"},
     {"encoding": ["iso8859-1", "ASCII"], "value": "Zustand ä"}),
    ({"times": "clock times"}, {"times": "times with offsets", "timezone": None}), ({}, {"unit": "bed"}),
    ({}, {"step": None}), ({}, {"decimal": ","}), ({}, {"header": False}), ({}, {"ambiguous": "first"}),
])  # fmt: skip
def test_what_does_not_agree(before: dict[str, Any], now: dict[str, Any]) -> None:
    one, other = sequence(**before), sequence(**now)
    assert conflicts(one, other)
    assert conflicts(one, other) == conflicts(other, one)


def test_rules_about_sequences_are_no_rules_about_records() -> None:
    assert conflicts({"value": "x"}, {"value": "x", "missing": ["NA"]})
    assert conflicts({"value": "x"}, {"value": "x", "duplicates": "first"})
    assert not conflicts({"value": "x"}, {"value": "x", "delimiter": [",", ","]})
    known = Layouts().holding([UNDECLARED])
    assert not known.holding([UNDECLARED]).is_mixed  # a layout that nobody named agrees with itself alone
    for layout in ("{}", written({"layout": "hours"}), written(sequence())):
        assert known.holding([layout]).is_mixed


@pytest.mark.parametrize(("now", "moved"), [
    ({"step": None, "from": None}, True), ({"timezone": ["Asia/Tokyo", "9"]}, True),
    ({"times": "times with offsets", "timezone": None}, True), ({"step": "20", "missing": ["NA"]}, True),
    ({"step": "20", "duplicates": "first"}, False), ({"step": "20", "ambiguous": "drop"}, False),
    ({"step": "20", "value": "lag"}, False), ({"step": "20", "min_length": 2}, False), ({"unit": "bed"}, False),
    ({"table": ["b", False]}, False), ({"order": "hour"}, False),
])  # fmt: skip
def test_the_same_entries_at_other_steps(now: dict[str, Any], moved: bool) -> None:
    before = sequence(table=["a", False])
    assert are_moved(before, sequence(**{"table": ["a", False], **now})) is moved


def test_a_class_is_of_layouts_that_all_agree() -> None:
    """`first` and `last` both extend `refuse`, and differ from each other."""
    texts = [written(sequence(duplicates=rule)) for rule in (None, "first", "last", None)]
    once = Layouts().holding(texts[:2])
    assert once.classes == {texts[0]: (texts[0], texts[1])}
    both = once.holding(texts[2:])
    assert [*both.classes] == [texts[0], texts[2]]
    assert both.class_of(texts[1]) == texts[0]
    assert not both.are_moved


def test_words_name_the_key_that_a_user_wrote() -> None:
    known = Layouts().holding([written(sequence(encoding=["utf-8", "ASCII"]))])
    said = words("s", known, written(sequence(encoding=["iso8859-1", "ASCII"], duplicates="first")))
    assert said.startswith("your change costs nothing")
    assert 'duplicates = "first" (before: none), encoding = "iso8859-1" (before: "utf-8")' in said
    said = words("s", known, written(sequence(states={**PLAIN["states"], "calm": "busy"})))
    assert 'map = {"calm": "busy"} (before: {"calm": "calm"})' in said
    sheet = {"columns": {"Mon": "1"}, "form": None, "others": ["class"], "empty": None}
    known_sheet = Layouts().holding([written(sequence(wide=sheet))])
    said = words("s", known_sheet, written(sequence(wide={**sheet, "columns": {"Mon": "1", "Tue": "2"}})))
    assert said.endswith('columns = {"columns": {"Tue": "2"}} (before: none)')
    assert words("s", Layouts(), "{}") == words("s", known, next(iter(known.classes))) == ""
