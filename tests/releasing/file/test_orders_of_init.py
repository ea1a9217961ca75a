"""What `takifugu init` takes for the order of rows, and for whose they are, where something disturbs it."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from takifugu.cli import main


def started(folder: Path, header: str, rows: Iterable[str], *words: str) -> tuple[str, str, dict[str, Any]]:
    """Draft a release file about these rows; what was said, in one line, the draft, and its [source]."""
    (folder / "d.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    output = folder / "r.toml"
    given = ["init", str(folder / "d.csv"), "-o", str(output), "--force", *words]
    done = CliRunner().invoke(main, given, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    draft = output.read_text(encoding="utf-8")
    return " ".join(done.output.split()), draft, tomllib.loads(draft)["source"]


def set_back(minutes: int, step: int = 5) -> list[datetime]:
    """Return times on a wall from midnight to noon, with a clock that is set back at three."""
    start = datetime(2024, 10, 27)
    before = [start + timedelta(minutes=m) for m in range(0, 180, step)]
    return [*before, *(start + timedelta(minutes=m) for m in range(180 - minutes, 720, step))]


@pytest.mark.parametrize("minutes", [60, 30])
@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y;%H:%M", "%d.%m.%Y %H:%M"])
@pytest.mark.parametrize("people", [(), ("Ana", "Bo", "Cy")])
@pytest.mark.parametrize("one_after_the_other", [True, False])
def test_a_clock_that_was_set_back_orders_rows(
    tmp_path: Path, minutes: int, form: str, people: tuple[str, ...], one_after_the_other: bool
) -> None:
    doing = random.Random(3)
    times = set_back(minutes)
    pairs = [(who, at) for who in people or ("",) for at in range(len(times))]
    rows = [
        f"{who};{times[at]:{form}};{doing.choice(['walks', 'sits', 'sits'])}".lstrip(";")
        for who, at in (pairs if one_after_the_other else sorted(pairs, key=lambda pair: pair[1]))
    ]
    when = "Tag;Uhrzeit" if ";" in form else "Zeit"
    said, draft, source = started(tmp_path, f"{'wer;' * bool(people)}{when};Haltung", rows)
    assert "looks like sequences" in said
    assert source["order"] == (["Tag", "Uhrzeit"] if ";" in form else "Zeit")
    assert source.get("unit") == ("wer" if people else None)
    assert source["value"] == "Haltung"
    assert "piece" not in source
    assert "goes back by an hour or less, as where a clock was set back" in said
    assert 'declare its zone, such as timezone = "Europe/Berlin"' in said
    assert "FILL IN the zone of the clock: it was set back" in draft


def test_a_row_of_the_next_person_is_no_clock_set_back(tmp_path: Path) -> None:
    start = datetime(2024, 5, 2, 9)
    rows = [f"{start + timedelta(minutes=k + 20 * (box == 'K2'))},{box},{'ab'[k * k % 7 < 3]}"
            for box in ("K1", "K2") for k in range(50)]  # fmt: skip
    said, _, source = started(tmp_path, "time,box,state", rows)
    assert source["unit"] == "box"
    assert "set back" not in said


def test_times_that_go_back_twice_or_far_are_no_order(tmp_path: Path) -> None:
    draw, start = random.Random(5), datetime(2024, 5, 2, 9)
    at = [start + timedelta(minutes=draw.randrange(90)) for _ in range(300)]
    said, _, source = started(tmp_path, "time,state", (f"{t},{draw.choice(['busy', 'calm'])}" for t in at))
    assert "'time' says when each row was, and no column says whose: if one person has several rows" in said
    assert "order" not in source
    assert "set back" not in said


@pytest.mark.parametrize("name", ["visit", "wave", "Runde", "night"])
@pytest.mark.parametrize("number", [2, 3, 6])
def test_a_column_that_leaves_one_row_in_each_piece_is_the_order(tmp_path: Path, name: str, number: int) -> None:
    rows = (f"{who},{k},{'yes' if who * k % 7 == 0 else 'no'}" for who in range(200) for k in range(1, number + 1))
    _, _, source = started(tmp_path, f"patient,{name},ill", rows)
    assert (source["unit"], source["order"], source["value"]) == ("patient", name, "ill")
    assert "piece" not in source


def test_what_differs_in_each_row_is_no_piece(tmp_path: Path) -> None:
    draw = random.Random(8)
    days = sorted(draw.randrange(200) for _ in range(900))
    rows = (f"{draw.randrange(30)},D{draw.randrange(400)},{datetime(2025, 1, 1) + timedelta(days=day):%Y-%m-%d},"
            f"{draw.choice(['film', 'game'])}" for day in days)  # fmt: skip
    _, _, source = started(tmp_path, "member,disc,day,sort", rows)
    assert (source["unit"], source["order"], source["value"]) == ("member", "day", "sort")
    assert "piece" not in source


def test_nights_of_many_rows_are_pieces(tmp_path: Path) -> None:
    rows = (f"{who},{night},{k},{'ab'[k * k % 7 < 3]}" for who in "xyz" for night in (1, 2) for k in range(40))
    _, _, source = started(tmp_path, "who,night,minute,state", rows)
    assert (source["unit"], source["piece"], source["order"]) == ("who", "night", "minute")
