"""A key of before is refused with the line of now, its own value in it; what is no key of before is told as ever."""

from pathlib import Path

import pytest
from tests.support.release_files import changed
from tests.support.releases import put, refusal_of

EXAMPLES = Path(__file__).parents[3] / "examples"


def problems(folder: Path, example: str, *changes: tuple[str, str]) -> tuple[str, ...]:
    """Return what is told of an example that was changed."""
    text = changed((EXAMPLES / f"{example}.toml").read_text(encoding="utf-8"), *changes)
    return refusal_of(put(folder, {"release.toml": text})).problems


LASTING = "mean_duration = { home ="
OLD = {
    "release": ("activity", [("[[table]]", "[[release]]")], "release: is the key of before; write [[table]]"),
    "kind": ("people", [('kind = "joint-table"', 'kind = "table"')],
             "belief: has the unknown kind 'table'; did you mean 'joint-table'?; "
             'write kind = "joint-table", its name now'),
    "piece": ("activity", [("recording =", "piece =")],
              'source.piece: is the key of before; write recording = "bout"'),
    "before": ("calls", [("default_state =", "before =")],
               'source.before: is the key of before; write default_state = "away"'),
    "otherwise": ("ward", [("default_state =", "otherwise =")],
                  'source.otherwise: is the key of before; write default_state = "home"'),
    "start": ("ward", [("order =", "start =")], 'source.start: is the key of before; write order = "admitted"'),
    "person of contacts": ("school", [("unit =", "person =")],
                           'source.person: is the key of before; write unit = "pupil"'),
    "person of visits": ("city", [("unit =", "person =")],
                         'source.person: is the key of before; write unit = "person"'),
    "place": ("venues", [("value =", "place =")], 'source.place: is the key of before; write value = "place"'),
    "x": ("city", [('value = ["east", "north"]', 'x = "east"\ny = "north"')],
          'source.x: is the key of before; write value = ["east", "north"]'),
    "y": ("city", [('value = ["east", "north"]', 'x = "east"\ny = "north"')],
          'source.y: is the key of before; write value = ["east", "north"]'),
    "coordinates": ("places", [("value =", "coordinates =")],
                    'source.coordinates: is the key of before; write value = ["east", "north"]'),
    "batch": ("places", [("entries =", "batch =")],
              'source.batch: is the key of before; write entries = "2026-03"'),
    "pieces_independent": ("activity", [("recordings_independent", "pieces_independent")],
                           "belief.pieces_independent: is the key of before; write recordings_independent = true"),
    "piece of a fit": ("activity", [("[hide]", '[belief.fit]\nfile = "p.csv"\npiece = "run"\n\n[hide]')],
                       'belief.fit.piece: is the key of before; write recording = "run"'),
    "stay": ("ward", [(LASTING, "stay = { home =")],
             'belief.stay: is the key of before; write mean_duration = { home = "400 h", surgery = "80 h", medicine ='),
    "stays": ("ward", [(LASTING, 'matrix_by = "hour"\nstays.00-23 = { home =')],
              "belief.stays: is the key of before; write mean_durations = { 00-23 = { home ="),
    "next": ("ward", [("next_state =", "next =")],
             "belief.next: is the key of before; write next_state = { home = 0.5, surgery = 0.25, medicine = 0.25 }"),
}  # fmt: skip


@pytest.mark.parametrize("key", OLD)
def test_a_key_of_before_is_told_with_the_line_of_now(tmp_path: Path, key: str) -> None:
    example, changes, line = OLD[key]
    lines = problems(tmp_path, example, *changes)
    assert [problem for problem in lines if problem.startswith(line)], lines


def test_both_keys_are_one_too_many(tmp_path: Path) -> None:
    lines = problems(tmp_path, "ward", ("next_state =", "next = {}\nnext_state ="))
    assert "belief.next: is the key of before, and next_state is there, too; leave it out" in lines


def test_a_long_value_is_not_printed_again(tmp_path: Path) -> None:
    states = ", ".join(f"state-{number} = 3" for number in range(40))
    lines = problems(tmp_path, "ward", (LASTING, f"stay = {{ {states}, home ="))
    assert "belief.stay: is the key of before; write mean_duration for stay, with the same value" in lines


def test_where_the_key_of_now_is_none_nothing_is_said_of_before(tmp_path: Path) -> None:
    lines = problems(tmp_path, "people", ("[belief]", "[belief]\nnext = 3"))
    assert any(problem.startswith("belief.next: is not a known key here") for problem in lines), lines
