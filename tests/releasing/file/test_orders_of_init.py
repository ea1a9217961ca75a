"""What `takifugu init` takes for the order of rows, and for whose they are, where something disturbs it."""

import random
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.support.commands import succeed
from tests.support.release_files import with_chain
from tests.support.starting import drafted, table_in


def set_back(minutes: int, step: int = 5) -> list[datetime]:
    """Return times on a wall from midnight to noon, with a clock that is set back at three."""
    start = datetime(2024, 10, 27)
    before = [start + timedelta(minutes=m) for m in range(0, 180, step)]
    return [*before, *(start + timedelta(minutes=m) for m in range(180 - minutes, 720, step))]


@pytest.mark.sampled(5)
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
    said, _, source = drafted(table_in(tmp_path, f"{'wer;' * bool(people)}{when};Haltung", rows))
    assert "Drafted as markov-chain:" in said
    assert source["order"] == (["Tag", "Uhrzeit"] if ";" in form else "Zeit")
    assert source.get("unit") == ("wer" if people else None)
    assert source["value"] == "Haltung"
    assert "recording" not in source


DAY, DRAW = datetime(2025, 1, 1), random.Random(8)
#: Tables by what shows in them: their header, their rows, and what [source] says, None for no such key.
SOURCES: dict[str, tuple[str, list[str], dict[str, str | None]]] = {
    "a row of the next person is no clock set back": (
        "time,box,state",
        [f"{DAY + timedelta(minutes=k + 20 * (box == 'K2'))},{box},{'ab'[k * k % 7 < 3]}"
         for box in ("K1", "K2") for k in range(50)],
        {"unit": "box"},
    ),
    "what differs in each row is no piece": (
        "member,disc,day,sort",
        [f"{DRAW.randrange(30)},D{DRAW.randrange(400)},{DAY + timedelta(days=day):%Y-%m-%d},"
         f"{DRAW.choice(['film', 'game'])}" for day in sorted(DRAW.randrange(200) for _ in range(900))],
        {"unit": "member", "order": "day", "value": "sort", "recording": None},
    ),
    "nights of many rows are pieces": (
        "who,night,minute,state",
        [f"{who},{night},{k},{'ab'[k * k % 7 < 3]}" for who in "xyz" for night in (1, 2) for k in range(40)],
        {"unit": "who", "recording": "night", "order": "minute"},
    ),
    "an hour beside a date that rises alone is no time of its own": (
        "date,hour,state",
        [f"{DAY + timedelta(days=k):%Y-%m-%d},{k * 7 % 24},{'ab'[k * k % 7 < 3]}" for k in range(99)],
        {"order": "date"},
    ),
    "times as parts of seconds are an order": (
        "t,acceleration,label",
        [f"{k / 50:.2f},{k * 7 % 13 - 6}.5,{'walk' if k // 60 % 2 else 'sit'}" for k in range(900)],
        {"rows": "samples", "order": "t", "value": "label"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_the_source_that_is_drafted(tmp_path: Path, name: str) -> None:
    header, rows, expected = SOURCES[name]
    _, _, source = drafted(table_in(tmp_path, header, rows))
    assert {key: source.get(key) for key in expected} == expected


def test_times_that_go_back_twice_or_far_are_no_order(tmp_path: Path) -> None:
    draw, start = random.Random(5), datetime(2024, 5, 2, 9)
    at = [start + timedelta(minutes=draw.randrange(90)) for _ in range(300)]
    said, _, source = drafted(table_in(tmp_path, "time,state", (f"{t},{draw.choice(['busy', 'calm'])}" for t in at)))
    assert "'time' says when each row was, and no column says whose: if one person has several rows" in said
    assert "order" not in source


@pytest.mark.parametrize("name", ["visit", "wave", "Runde", "night"])
@pytest.mark.parametrize("number", [2, 3, 6])
def test_a_column_that_leaves_one_row_in_each_piece_is_the_order(tmp_path: Path, name: str, number: int) -> None:
    rows = (f"{who},{k},{'yes' if who * k % 7 == 0 else 'no'}" for who in range(200) for k in range(1, number + 1))
    _, _, source = drafted(table_in(tmp_path, f"patient,{name},ill", rows))
    assert (source["unit"], source["order"], source["value"]) == ("patient", name, "ill")
    assert "recording" not in source


@pytest.mark.sampled(5)
@pytest.mark.parametrize("people", [8, 30])
@pytest.mark.parametrize("again", ["at the end", "in the middle", "twice"])
@pytest.mark.parametrize("name", ["doctor", "Mitarbeiterin", "who"])
def test_rows_that_are_repeated_as_a_whole_do_not_count(tmp_path: Path, people: int, again: str, name: str) -> None:
    draw = random.Random(people)
    rows = [f"W{who},{datetime(2025, 3, 1) + timedelta(days=day):%Y-%m-%d},{draw.choice('EFS')}"
            for who in range(people) for day in range(70)]  # fmt: skip
    repeated = {
        "at the end": [*rows, *rows[80:95]],
        "in the middle": [*rows[:300], *rows[80:95], *rows[300:]],
        "twice": [row for k, row in enumerate(rows) for _ in range(1 + (k % 37 == 0))],
    }[again]
    said, draft, source = drafted(table_in(tmp_path, f"{name},date,shift", repeated))
    assert (source["unit"], source["order"], source["value"]) == (name, "date", "shift")
    assert "A few rows are repeated as a whole" in said
    assert "duplicates" not in draft
    said, draft, again_source = drafted(table_in(tmp_path, f"{name},date,shift", rows))
    assert "duplicates" not in said + draft
    assert again_source == source


def test_a_clock_set_back_to_the_same_states_repeats_no_rows(tmp_path: Path) -> None:
    rows = (f"{at:%Y-%m-%d %H:%M},{'calm' if 1 < at.hour < 6 else 'busy'}" for at in set_back(60, 2))
    said, draft, source = drafted(table_in(tmp_path, "time,state", rows))
    assert source["order"] == "time"
    assert "duplicates" not in said + draft


@pytest.mark.parametrize("who", ["nurse", "meter", "patient", "employee", "user_name"])
def test_who_it_is_is_not_what_is_published(tmp_path: Path, who: str) -> None:
    draw = random.Random(2)
    rows = (f"{draw.choice('abcdef')},{draw.choice(['day', 'night'])}" for _ in range(200))
    _, _, source = drafted(table_in(tmp_path, f"{who},turn", rows), "--kind", "users")
    assert source["value"] == "turn"


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("things", "people"), [
    ("station_id", "user_id"), ("machine", "Mitarbeiter"), ("vehicle", "driver"), ("Gerät", "Patient"),
])  # fmt: skip
@pytest.mark.parametrize("together", [True, False])
def test_people_come_before_what_they_use(tmp_path: Path, things: str, people: str, together: bool) -> None:
    draw = random.Random(7)
    at = sorted(datetime(2025, 6, 1) + timedelta(minutes=draw.randrange(90_000)) for _ in range(800))
    rows = [(f"T{draw.randrange(9)}", f"P{draw.randrange(60)}", f"{t:%Y-%m-%d %H:%M}", draw.choice("xy")) for t in at]
    lines = (",".join(row) for row in (sorted(rows) if together else rows))
    said, _, source = drafted(table_in(tmp_path, f"{things},{people},start,state", lines))
    assert source["unit"] == people
    assert f"'{people}' has several rows" in said
    alone = (",".join((row[0], *row[2:])) for row in rows)
    said, _, source = drafted(table_in(tmp_path, f"{things},start,state", alone))
    assert source["unit"] == things


@pytest.mark.parametrize("units", ["min,-,ppm", "[min],,[ppm]", "h,text,%"])
def test_a_line_of_units_is_said_to_be_none_of_the_data(tmp_path: Path, units: str) -> None:
    rows = [f"{5 * k},{room},{400 + k * k % 97}.5" for room in ("R1", "R2") for k in range(80)]
    said, _, source = drafted(table_in(tmp_path, "time,room,level", [units, *rows]), "--kind", "sequences")
    assert "Of the file line 2 is more of its header" in said
    assert "missing = " not in said
    said, _, without = drafted(table_in(tmp_path, "time,room,level", rows), "--kind", "sequences")
    assert "line 2" not in said
    assert source == {**without, "header": [1, 2]}


@pytest.mark.parametrize(("names", "first", "is_header"), [
    ("Respondent ID,Start,Smokes,Uses,", ",,Response,Bus,Train", True),
    ("Respondent ID,Start,Smokes,Uses,", "\" \",,Response,Bus,Train", True),
    ("Respondent ID,Start,Smokes,Uses,", "7,,Response,Bus,Train", False),  # somebody whose time is not known
    ("Respondent ID,Start,Smokes,Uses,", ",,,,", False),
    ("age,score,Smokes,Uses,Name", ",,Yes,Bus,Ana", False),  # somebody with a name
])  # fmt: skip
def test_a_row_of_nobody_is_said_to_be_of_the_header(tmp_path: Path, names: str, first: str, is_header: bool) -> None:
    """A survey has texts of its questions below the names, above a row for each person."""
    rows = [f"{7000 + 3 * k},2026-01-{1 + k % 28:02} 10:00,{'Yes' if k % 3 else 'No'},Bus,Q{k}" for k in range(80)]
    if not names.endswith("Name"):
        rows = [row.rpartition("Q")[0] + "Train" * (k % 2) for k, row in enumerate(rows)]
    said, _, source = drafted(table_in(tmp_path, names, [first, *rows]), "--kind", "users")
    assert ("Of the file line 2 is more of its header" in said) == is_header
    assert source.get("header") == ([1, 2] if is_header else None)


@pytest.mark.parametrize("first", ["NA,R1,401.5", "0,-,401.5", "0,R1,?", "-,-,-"])
def test_a_first_row_that_lacks_something_holds_no_units(tmp_path: Path, first: str) -> None:
    rows = (f"{5 * k},{room},{400 + k * k % 97}.5" for room in ("R1", "R2") for k in range(80))
    said, *_ = drafted(table_in(tmp_path, "time,room,level", [first, *rows]), "--kind", "sequences")
    assert "line 2" not in said


@pytest.mark.parametrize("last", ["Summe;;9000000;60000", ";Grand total;9000000;60000"])
def test_a_line_of_totals_is_said_to_be_no_row(tmp_path: Path, last: str) -> None:
    rows = [f"E{k};{'AB'[k % 2]};{30_000 + k * 397 % 20_000};{100 + k * 31 % 800}" for k in range(150)]
    said, *_ = drafted(table_in(tmp_path, "worker;unit;salary;bonus", [*rows, last]))
    assert "file looks like totals, which are no row of their own: delete it: grep -avxF " in said
    for end in (";B;41000;300", "E150;;41000;300"):  # of which only the name, or the department, is missing
        said, *_ = drafted(table_in(tmp_path, "worker;unit;salary;bonus", [*rows, end]))
        assert "looks like totals" not in said


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("step", [15, 30, 60])
@pytest.mark.parametrize("day", ["date", "Tag"])
def test_columns_called_as_times_of_day_are_times(tmp_path: Path, step: int, day: str) -> None:
    draw = random.Random(step)
    times = [f"{minute // 60:02}:{minute % 60:02}" for minute in range(0, 1440, step)]
    used = {(f"Z{home}", f"2025-02-{d:02}", at): f"{draw.random() * (1 + int(at[:2])):.3f}"
            for home in range(9) for d in range(1, 15) for at in times}  # fmt: skip
    rows = [f"{home},{date},{','.join(used[home, date, at] for at in times)}"
            for home, date in dict.fromkeys(key[:2] for key in used)]  # fmt: skip
    said, _, source = drafted(table_in(tmp_path, f"household,{day},{','.join(times)}", rows))
    assert f"Drafted as markov-chain: the columns '00:00' to '{times[-1]}' are called as steps" in said
    assert [source[key] for key in ("rows", "columns", "unit", "order", "value")] == [
        "wide", "*:*", "household", [day, "time"], "value",
    ]  # fmt: skip
    melted = (",".join((*key, value)) for at in times for key, value in used.items() if key[2] == at)
    _, _, source = drafted(table_in(tmp_path, f"household,{day},time,value", melted))
    assert (source["unit"], source["order"]) == ("household", [day, "time"])


def ward(people: Iterable[int], days: int, by_person: bool, hour: str = "{}") -> list[str]:
    draw = random.Random(9)
    rows = [(who, day, h) for who in people for day in range(1, days + 1) for h in range(24)]
    rows = rows if by_person else sorted(rows, key=lambda row: (row[1], row[2]))
    return [f"K{who},2025-02-{day:02},{hour.format(h)},{draw.choice(['in', 'in', 'out'])}" for who, day, h in rows]


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("by_person", [True, False])
@pytest.mark.parametrize("name", ["hour", "Stunde", "hr"])
@pytest.mark.parametrize("who", ["bed", "patient"])
def test_a_date_and_an_hour_are_one_order(tmp_path: Path, by_person: bool, name: str, who: str) -> None:
    rows = ward(range(5), 12, by_person, "{:02}" if name == "hr" else "{}")
    whose = () if who == "patient" else ("--unit", who)  # a bed is nobody by default
    said, draft, source = drafted(table_in(tmp_path, f"{who},date,{name},state", rows), *whose)
    assert "Drafted as markov-chain:" in said
    assert (source["unit"], source["order"]) == (who, ["date", name])
    assert source["order_format"] == "%Y-%m-%d %H"
    draft = with_chain(draft, '["in", "out"]')
    (tmp_path / "r.toml").write_text(draft, encoding="utf-8")
    succeed("release", tmp_path / "r.toml", "--anyway")


@pytest.mark.parametrize("week", ["KW {}", "week {}", "Semaine {}", "W{}"])
def test_columns_called_as_weeks_are_steps(tmp_path: Path, week: str) -> None:
    names = [week.format(k) for k in range(1, 13)]
    rows = (",".join([f"S{k}", "AB"[k % 2], *("in" if k * n % 7 else "out" for n in range(12))]) for k in range(60))
    _, _, source = drafted(table_in(tmp_path, f"pupil,class,{','.join(names)}", rows))
    assert (source["rows"], source["unit"], source["ignore"]) == ("wide", "pupil", ["class"])
    assert source["columns"] == {name: k for k, name in enumerate(names, 1)}


@pytest.mark.parametrize("pair", ["x,y", "Rechtswert,Hochwert", "gps_lon,gps_lat"])
def test_coordinates_in_columns_of_their_own_are_taken(tmp_path: Path, pair: str) -> None:
    places = [(48 + k * 37 % 9001 / 1000, 11 + k * 91 % 8009 / 1000) for k in range(200)]
    rows = (f"{k},POINT ({x} {y}),{x},{y},{'abc'[k % 3]}" for k, (x, y) in enumerate(places))
    said, _, source = drafted(table_in(tmp_path, f"id,geometry,{pair},kind", rows))
    assert "Drafted as populations:" in said
    assert source["value"] == pair.split(",")
