"""Safe places hour by hour: what all windows promise together by enumeration, what is read, refused and shown."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from tests.support.pages import check_page
from tests.support.release_files import believe, changed, hide, publish, read_from, release_text
from tests.support.releases import assert_refused, put, refusal_of, refused, spent

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.core.errors import CompositionRefused, DataError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.outlook import outlook
from takifugu.releasing.planning.plan import aims_of, plan

FILE = release_text(
    read_from("infected", "visits.csv", unit="who", value="where", rows="visits", order="when", step="1h",
              from_="2026-01-05", until="2026-01-05T03:00", budget=20.0),
    believe("asymmetric", places=["bar", "gym"], most=1),
    hide(visits="all"),
)  # fmt: skip
HOURLY = publish("safe", "safe", at_most=1, epsilon=1.25, every="hour") + "\n"
GRID = (
    ('value = "where"', 'value = ["lon", "lat"]'),
    ('places = ["bar", "gym"]', "grid = { x = [0, 3], y = [0, 2], columns = 3, rows = 2 }"),
)
ROWS = """\
who,where,when
Ana,bar,2026-01-05T00:59
Ana,bar,2026-01-05T00:05
Ana,gym,2026-01-05T01:00
Ben,bar,2026-01-05 01:30
Cem,bar,2026-01-05T02:40
Cem,gym,2026-01-05T01:10
"""


def written(folder: Path, text: str = FILE + HOURLY, rows: str = ROWS) -> Path:
    return put(folder, {"city.toml": text, "visits.csv": rows})


@pytest.mark.parametrize(("changes", "state"), [
    ([('value = "where"', '''value = "nullif(\\"where\\", 'bar')"''')], "bar"),
    ([GRID[1], ('value = "where"', 'value = ["CASE WHEN lon::double < 2 THEN lon END", "lat"]')], "2.0 to 3.0"),
])  # fmt: skip
def test_a_place_that_would_be_lost_is_refused_whoever_was_there(
    tmp_path: Path, changes: list[tuple[str, str]], state: str
) -> None:
    """Rows with a visit to the bar were refused, and their neighbours published: that nobody was there."""
    path = written(tmp_path, changed(FILE + HOURLY, *changes), "who,where,lon,lat,when\nAna,gym,1,1,2026-01-05T00:59\n")
    assert_refused(path, "source.value", f"reads the value '{state}' as nothing")


def table(name: str, epsilon: str, window: str, at_most: int = 1) -> str:
    return publish(name, "safe", epsilon=epsilon, window=window, at_most=at_most) + "\n"


def counts(file: Path, data: object = None) -> dict[str, list[int]]:
    return {t.name: t.questions[0].data[0].tolist() for t in plan(load(file, data)).tables}  # type: ignore[index]


PLACES, HOURS = ("bar", "gym"), (0, 1)
#: Where somebody was in each hour, if anywhere: one place at most.
TRACES = tuple(product((None, *PLACES), repeat=len(HOURS)))


def forgotten(trace: tuple[str | None, ...]) -> Iterator[tuple[str | None, ...]]:
    """Yield what a trace may become, unnoticed: some of its visits."""
    return product(*((place, None) if place else (None,) for place in trace))


def chances(count: int, at_most: int, scale: float) -> Mapping[int | str, float]:
    """Return the law of what is said of a place: its count and geometric noise, or safe where that is small."""
    ratio = math.exp(-1 / scale)
    law: dict[int | str, float] = {"safe": 1 - ratio ** max(at_most + 1 - count, 0)}
    for value in range(max(at_most + 1, count), 7):
        law[value] = (1 - ratio) * ratio ** (value - count)
    return law


def dearest(before: int, after: int, at_most: int, scale: float) -> float:
    """Return the most that the log-likelihood of what is said of a place falls from one count to another."""
    one, other = chances(before, at_most, scale), chances(after, at_most, scale)
    return max(math.log(p / other[said]) if other.get(said) else math.inf for said, p in one.items() if p > 0)


@pytest.mark.parametrize("others", [0, 1, 3])
def test_hours_and_the_day_promise_together_what_the_ledger_says_and_no_less(tmp_path: Path, others: int) -> None:
    both = publish("both", "safe", at_most=1, epsilon=0.75, from_="2026-01-05", to="2026-01-05T02:00")
    tables = table("first", "0.5", "2026-01-05T00") + table("second", "5/4", "2026-01-05T01", 2) + both
    file = load(written(tmp_path, FILE + tables))
    noises = {t.name: t.questions[0].calibration.randomiser for t in plan(file).tables}
    scales = {name: float(noise.scale) for name, noise in noises.items()}  # type: ignore[attr-defined]
    assert scales == {"first": 2.0, "second": 0.8, "both": pytest.approx(2 / 0.75)}
    steps = {"first": (0,), "second": (1,), "both": (0, 1)}
    thresholds = {"first": 1, "second": 2, "both": 1}

    def loss(before: tuple[str | None, ...], after: tuple[str | None, ...]) -> float:
        """Return the joint loss of all three tables: their noises are independent, cell by cell."""
        total = 0.0
        for name, hours in steps.items():
            for place in PLACES:
                was, now = (others + (place in {trace[h] for h in hours}) for trace in (before, after))
                total += dearest(was, now, thresholds[name], scales[name])
        return total

    worst = max(loss(before, after) for before in TRACES for after in forgotten(before))
    assert worst == pytest.approx(0.5 + 1.25 + 0.75, rel=1e-12)
    tf.release_file(tmp_path / "city.toml", allow_useless=True)
    assert spent(tmp_path, "infected").epsilon == Fraction(5, 2)


def test_a_framework_of_hours_is_charged_for_a_day_by_what_a_day_moves(tmp_path: Path) -> None:
    """Of a day a move takes away a visit in each hour: 24 times what it takes from one hour."""
    day, places = ("2026-01-05T03:00", "2026-01-06"), ('places = ["bar", "gym"]', f"places = {[*range(30)]}")
    text = changed(FILE, day, places)
    tables = table("hour", "1", "2026-01-05T07") + table("day", "1", "2026-01-05")
    frameworks, charges = {}, {}
    for asking, item, name, scope in aims_of(load(written(tmp_path, text + tables))):
        calibration = next(asking.questions(item, name, scope)).calibration
        frameworks[name] = calibration.framework
        charges[name] = charge_of(calibration, at=asking.file.at)
    assert frameworks["hour"].fingerprint() != frameworks["day"].fingerprint()
    assert [charges[name].lengths for name in ("hour", "day")] == [(1,), (24,)]
    for framework in frameworks.values():
        assert [joint(framework, [charge]).epsilon for charge in charges.values()] == [1, 1]
        assert joint(framework, [*charges.values()]).epsilon == 2


OTHERS = {
    "one map of everything": {"order": "", "step": "", "from": "", "until": "", "every": ""},
    "other steps": {"step": 'step = "30min"\n'},
    "steps that lie otherwise": {"from": 'from = "2026-01-04T23:30"\n', "until": 'until = "2026-01-05T04:30"\n',
                                 "every": 'from = "2026-01-04T23:30"\nto = "2026-01-05T03:30"\n'},
}  # fmt: skip


@pytest.mark.parametrize("other", OTHERS)
def test_visits_that_are_read_otherwise_do_not_add_up_and_are_refused(tmp_path: Path, other: str) -> None:
    """A visit of the one is none of the other, so nothing bounds what both reveal."""
    file = written(tmp_path, rows="who,where,when\nAna,bar,2026-01-05T00:40\n")
    tf.release_file(file, window="2026-01-05T00", allow_useless=True)
    lines = (FILE + HOURLY).replace('name = "safe"', 'name = "other"').splitlines(keepends=True)
    text = "".join(OTHERS[other].get(line.partition(" ")[0], line) for line in lines)
    (tmp_path / "other.toml").write_text(text, encoding="utf-8")
    with pytest.raises(CompositionRefused, match="nothing says that they are the same entries"):
        tf.release_file(tmp_path / "other.toml", allow_useless=True, other_entries=True)
    assert spent(tmp_path, "infected").epsilon == Fraction(5, 4)


def test_a_plan_adds_up(tmp_path: Path) -> None:
    file = load(written(tmp_path, FILE.replace('until = "2026-01-05T03:00"\n', "") + HOURLY), first=True)
    planned = outlook(file, 24)
    assert [(row.releases, row.epsilon) for row in planned.rows][-1] == (24, 30)
    assert planned.fits is not None
    assert float(planned.fits) * 30 == pytest.approx(20, rel=0.002)
    assert "all that is hidden of a person, in all of them, is hidden at that epsilon" in " ".join(str(planned).split())


def test_a_person_counts_once_in_each_window(tmp_path: Path) -> None:
    """A visit lies in the step in which its row is."""
    night = publish("night", "safe", epsilon=1, from_="2026-01-05", to="2026-01-05T02:00", at_most=1)
    by_window = counts(written(tmp_path, FILE + HOURLY + night))
    hours = {f"safe-2026-01-05T0{hour}": of for hour, of in enumerate(([1, 0], [1, 2], [1, 0]))}
    assert by_window == {**hours, "night": [2, 2]}


@pytest.mark.parametrize(("row", "key", "words"), [
    ("Dia,bar,2026-01-05T03:00", "source.until", "row 7: a row that is before from, or not before until"),
    ("Ben,gym,2026-01-05T01:31", "source.file", "more places than the 1 that are declared for a step"),
    ("Dia,pool,2026-01-05T00:00", "source.value", 'row 7: a place in "where" that is not declared'),
    ("Dia,bar,2026-01-05T00:00Z", "source.timezone", "some moments (times with an offset from UTC, or Z)"),
])  # fmt: skip
def test_rows_that_break_a_rule_are_refused_and_nobody_is_named(tmp_path: Path, row: str, key: str, words: str) -> None:
    refusal = str(refused(written(tmp_path, rows=f"{ROWS}{row}\n"), kind=DataError, allow_useless=True))
    assert refusal.startswith(key)
    assert words in refusal
    assert not any(part and part in refusal for part in row.split(","))


#: One value for each person: no visits.
ONE_VALUE = changed(
    FILE, ('rows = "visits"\n', ""), ('unit = "who"\nvalue = "where"', 'value = "where"'),
    ('visits = "all"', 'policy = [{ none_of = ["bar"] }]'),
    ('places = ["bar", "gym"]\nmost = 1', 'values = ["bar", "gym"]\npeople = 6'),
)  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), [
    (FILE.replace('from = "2026-01-05"\n', "") + HOURLY, "table[0].every: needs a declared calendar"),
    (FILE.replace('from = "2026-01-05"\n', "") + HOURLY, "source.from: order without from"),
    (FILE.replace('order = "when"\n', "") + HOURLY, "source.order: step without order"),
    (FILE.replace('step = "1h"\n', "") + HOURLY, "source.step: order without step"),
    (FILE.replace('"1h"', "1").replace('"2026-01-05"', '0\ntimezone = "UTC"').replace(
        '"2026-01-05T03:00"', "9") + table("odd", "1", "2026-W01"),
     "source.timezone: timezone is declared, and step is a number"),
    (FILE.replace('from = "2026-01-05"\n', "").replace('step = "1h"\n', "").replace(
        'order = "when"\n', 'timezone = "UTC"\n').replace('until = "2026-01-05T03:00"\n', "") + HOURLY,
     "source.timezone: timezone without order"),
    (FILE.replace('"2026-01-05T03:00"', '"2026-01-05T00:30"').replace('"1h"', '"30min"') + HOURLY, "no whole hour"),
    (FILE + HOURLY + 'to = "2026-01-05T02:00"\n', "is given beside"),
    (ONE_VALUE + HOURLY + 'states = ["bar"]\n', "source.from: from is declared beside rows = \"answers\""),
])  # fmt: skip
def test_a_calendar_that_is_none(tmp_path: Path, text: str, problem: str) -> None:
    problems = refusal_of(written(tmp_path, text)).problems
    assert any(problem in fault for fault in problems), problems


def test_a_grid_has_a_map_for_each_hour(tmp_path: Path) -> None:
    text, rows = changed(FILE, *GRID) + HOURLY, "who,lon,lat,when\nAna,0.5,1.5,2026-01-05T01:00\n"
    tf.release_file(written(tmp_path, text, rows), allow_useless=True)
    page = check_page((tmp_path / "city-published" / "safe.windows.html").read_text(encoding="utf-8"))
    assert [figure.text for figure in page.all("figcaption")] == [f"2026-01-05T0{hour}" for hour in range(3)]
    assert len(page.all("svg")) == 3


@pytest.mark.slow
def test_many_hours_are_folded_by_month_and_each_is_there(tmp_path: Path) -> None:
    calendar = (('from = "2026-01-05"', 'from = "2026-01-31"'), ("2026-01-05T03:00", "2026-02-02T12:00"))
    text = changed(FILE, *GRID, *calendar, ("budget = 20.0", "budget = 100.0")) + HOURLY
    rows = "who,lon,lat,when\nAna,0.5,1.5,2026-02-01T01:00\n"
    tf.release_file(written(tmp_path, text, rows), allow_useless=True)
    folder = tmp_path / "city-published"
    page = check_page((folder / "safe.windows.html").read_text(encoding="utf-8"))
    hours = [f"2026-01-31T{hour:02}" for hour in range(24)] + [f"2026-02-01T{hour:02}" for hour in range(24)]
    hours += [f"2026-02-02T{hour:02}" for hour in range(12)]
    assert [row.children[0].text for row in page.all("tr") if row.within("tbody")] == hours
    links = [link.text for link in page.all("a") if link.attributes["href"].endswith(".report.html")]
    assert links == hours
    assert all((folder / f"safe-{hour}.report.html").exists() for hour in links)
    headings = [" ".join(fold.all("summary")[0].text.split()) for fold in page.all("details")]
    assert headings == ["Maps of the last 48 of 60 windows", "2026-01: 24 windows", "2026-02: 36 windows",
                        "2026-01", "2026-02"]  # fmt: skip
    assert len(page.all("svg")) == 48 + 2
