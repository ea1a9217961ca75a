"""Release files whose rows are changes of a state, stays in one or events: what they publish, promise and refuse."""

import random
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.counting import said_of
from tests.support.release_files import Changes, believe, changed, publish, read_from, release_text
from tests.support.releases import put, refusal_of, refused, spent

from takifugu.data.times import moments
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.notices import listening
from takifugu.releasing.planning.plan import Plan, plan
from takifugu.releasing.planning.truth import answer_of, read
from takifugu.releasing.publishing.run import release_file
from takifugu.releasing.report.privacy import privacy_of

START, HOURS = datetime(2026, 1, 5), 14 * 24
FILE = release_text(
    read_from("calls", "changes.csv", rows="changes", unit="agent", roster="agents.csv", order="when", step="1h",
              from_="2026-01-05", until="2026-01-19", default_state="away", value="state", budget=50),
    believe("markov-chain", states=["away", "talking"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    publish("time", "histogram", epsilon=1),
    publish("hours", "histogram", by="hour", window="2026-W02", epsilon=5),
    output="out", expect={"source": "a test", "matters": 100000},
)  # fmt: skip
SAMPLES = (('"changes.csv"\nrows = "changes"', '"samples.csv"\nrows = "samples"'), ('roster = "agents.csv"\n', ""),
           ('default_state = "away"\n', ""))  # fmt: skip
STAYS = (('"changes.csv"\nrows = "changes"', '"stays.csv"\nrows = "stays"'),
         ('order = "when"', 'order = "when"\nend = "end"'))  # fmt: skip
EVENTS = (('"changes.csv"\nrows = "changes"', '"events.csv"\nrows = "events"'),)
DURATIONS = (*STAYS, ('end = "end"', """end = '"when"::timestamp + to_minutes(minutes::int)'"""))
ALONE = (('unit = "agent"\nroster = "agents.csv"\n', ""), ("units_independent = true\n", ""))


def states_of(agents: int = 3) -> dict[str, list[str]]:
    chance, listed = random.Random(4), dict[str, list[str]]()
    for number in range(agents):
        state, states = "away", []
        for _ in range(HOURS):
            state = chance.choices(["away", "talking"], [0.9, 0.1] if state == "away" else [0.4, 0.6])[0]
            states.append(state)
        listed[f"agent {number}"] = states
    return listed


def at(step: int, minutes: int = 0) -> str:
    return (START + timedelta(hours=step, minutes=minutes)).isoformat()


def written(folder: Path, *changes: tuple[str, str]) -> Path:
    """Write what three people did as samples, changes, stays and events, their roster, and a release file."""
    rows = {name: ["agent,when,state"] for name in ("samples", "changes", "events")}
    rows["stays"] = ["agent,when,end,minutes,state"]
    states = states_of()
    for agent, listed in states.items():
        rows["samples"] += [f"{agent},{at(step)},{state}" for step, state in enumerate(listed)]
        first = 0
        for step, state in enumerate(listed):
            if state == "talking":
                rows["events"].append(f"{agent},{at(step, 19 * step % 60)},{state}")
            if step == 0 or state != listed[step - 1]:
                first = step
                if step or state != "away":  # some minutes before a step starts, or on it
                    rows["changes"].append(f"{agent},{at(step, -7 * (step % 3) if step else 0)},{state}")
            if state == "talking" and (step + 1 == HOURS or listed[step + 1] != state):
                is_open = step + 1 == HOURS
                end, minutes = ("", "") if is_open else (at(step + 1), str(60 * (step + 1 - first)))
                rows["stays"].append(f"{agent},{at(first)},{end},{minutes},{state}")
    for name, lines in rows.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    (folder / "agents.csv").write_text("\n".join(["agent", *states]) + "\n")
    return put(folder, {"calls.toml": changed(FILE, *changes), "others.csv": "\n".join(["unit", *states]) + "\n"})


def counts_of(made: Plan) -> list[object]:
    return [piece for table in made.tables for question in table.questions for piece in said_of(question.data)]


@pytest.mark.slow
def test_samples_changes_stays_and_events_of_the_same_data_are_the_same_counts_and_noise(tmp_path: Path) -> None:
    as_written = []
    for number, changes in enumerate(((), SAMPLES, STAYS, DURATIONS, EVENTS)):
        (tmp_path / str(number)).mkdir()
        made = plan(load(written(tmp_path / str(number), *changes)))
        scales = [calibration.scale for table in made.tables for calibration in table.calibrations]
        as_written.append((counts_of(made), scales))
    assert all(one == as_written[0] for one in as_written)
    talking = sum(listed.count("talking") for listed in states_of().values())
    assert sum(piece[2][1] for piece in as_written[0][0] if piece[1] == HOURS) == talking


@pytest.mark.slow
def test_a_linear_query_weighs_every_step_of_changes_and_stays(tmp_path: Path) -> None:
    weights = [7 * step % 11 - 5 for step in range(HOURS)]
    linear = f'query = "linear"\nper = "unit"\ncodes = {{ away = 2, talking = 3 }}\nweights = {weights}\n'
    weighed = (('query = "histogram"\nby = "hour"\nwindow = "2026-W02"\n', linear),
               ('value = "state"', 'value = "state"\ngaps = "public"'))  # fmt: skip
    expected = [
        (agent, (sum(w * (2 + (state == "talking")) for w, state in zip(weights, listed, strict=True)),))
        for agent, listed in states_of().items()
    ]
    noise = set()
    for number, changes in enumerate(((), SAMPLES, STAYS, DURATIONS, EVENTS)):
        (tmp_path / str(number)).mkdir()
        made = plan(load(written(tmp_path / str(number), *changes, *weighed)))
        questions = [question for table in made.tables if table.name == "hours" for question in table.questions]
        assert [(q.unit, answer_of(q.calibration, read(q.calibration, q.data))) for q in questions] == expected
        noise |= {q.calibration.scale for q in questions}
    assert len(noise) == 1


@pytest.mark.parametrize(("rows", "lines"), [
    ("samples", ["7,,talking", "9,,away"]), ("events", ["7,,talking", "9,,away"]),
    ("stays", ["7,8,talking", "9,10,away"]), ("stays", ["7,8,talking", "9,10,away", "12,15,"]),
])  # fmt: skip
@pytest.mark.parametrize(("query", "noise"), [("count", 1), ("mean", Fraction(1, 2))])
def test_a_step_without_a_row_is_not_observed_where_no_state_fills_it(
    rows: str, lines: list[str], query: str, noise: Fraction, tmp_path: Path
) -> None:
    """The noise of 20 steps, 0.67, once hid the one state of an event, whose loss was 1.5; a mean was of 20 steps."""
    keys = {"end": "end"} if rows == "stays" else {}
    about = {"states": ["talking"]} if query == "count" else {"codes": {"away": 0, "talking": 1}}
    text = release_text(
        read_from("s", "data.csv", rows=rows, order="t", step=1, from_=0, until=20, nulls="unobserved", gaps="public",
                  value="state", budget=5, single_release=True, **keys),
        believe("markov-chain", states=["away", "talking"], matrix=[[0.3, 0.7], [0.9, 0.1]]),
        publish("t", query, epsilon=1, mechanism="laplace-exact", **about),
    )  # fmt: skip
    path = put(tmp_path, {"s.toml": text, "data.csv": "\n".join(["t,end,state", *lines, ""])})
    (table,) = plan(load(path)).tables
    (question,) = table.questions
    assert question.calibration.query.entries == (7, 9)
    assert answer_of(question.calibration, question.seen) == (1,)
    assert question.calibration.randomiser.grid == noise


WHICH_EVENT = "the state in one step of 1 hour: which event"


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "sentences"), [
    ((), ["The secret is the state in one step of 1 hour, not all of the change",
          "Before a first row the state is 'away'.", "A step has the state at its start"]),
    (EVENTS, [f"The secret is {WHICH_EVENT}, if any.", "In a step without any event the state is 'away'."]),
    ((*EVENTS, ('default_state = "away"', 'nulls = "unobserved"')),
     [f"The secret is {WHICH_EVENT}, not whether there is one.", "In which steps there is no event is no secret."]),
])  # fmt: skip
def test_a_log_is_published_as_time_with_what_is_hidden(tmp_path: Path, changes: Changes, sentences: list[str]) -> None:
    release_file(written(tmp_path, *changes), allow_useless=True)
    talking = sum(listed.count("talking") for listed in states_of().values())
    value, low, high, *_ = (tmp_path / "out" / "time.csv").read_text().splitlines()[2].split(",")[1:]
    assert float(low) <= float(value) <= float(high)  # which misses the truth once in twenty times
    assert abs(float(value) - talking) < 200
    certificate, page = (
        " ".join((tmp_path / "out" / f"time.{end}").read_text().split()) for end in ("certificate.txt", "report.html")
    )
    for sentence in (*sentences, "no row decides it.", "The data are declared complete until 2026-01-19"):
        assert sentence in certificate
    assert ("A step has the state at its start" in certificate) == (not changes)
    assert (WHICH_EVENT in page) == bool(changes)


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "rest"), [
    ((), "each last state goes on"), (STAYS, "there is no further stay"), (EVENTS, "there is no further event"),
])  # fmt: skip
def test_that_the_export_reaches_until_is_to_be_checked(tmp_path: Path, changes: Changes, rest: str) -> None:
    """A later `until` over an old export published a week in which no row begins, without a word."""
    later = ('until = "2026-01-19"', 'until = "2026-01-26"')
    release_file(written(tmp_path, *changes, later, ('window = "2026-W02"', 'window = "2026-W04"')), allow_useless=True)
    certificate = read_certificate(tmp_path / "out" / "hours.certificate.json")
    expected = f"the data are declared complete until 2026-01-26: after the last row of the file {rest}"
    assert expected in privacy_of(certificate).check.split("; ")


@pytest.mark.mutants
def test_which_of_several_events_in_a_step_counts_is_declared(tmp_path: Path) -> None:
    whole = (*EVENTS, *ALONE)
    path = written(tmp_path, *whole)
    (tmp_path / "events.csv").write_text(f"when,state\n{at(3, 20)},away\n{at(3, 40)},talking\n{at(4)},talking\n")
    assert "a second row of one step" in str(refused(path))
    for which, talking in (("", 1), ("DESC", 2)):
        step = """time_bucket(INTERVAL 1 hour, "when"::timestamp)"""
        rows = f"""qualify row_number() over (partition by {step} order by "when" {which}) = 1"""
        sql = f"sql = \'\'\'from read_csv('events.csv', all_varchar = true) {rows}\'\'\'"
        path.write_text(changed(FILE, *whole, ('file = "events.csv"', sql)))
        assert counts_of(plan(load(path)))[0][2] == [HOURS - talking, talking]  # type: ignore[index]


@pytest.mark.slow
def test_who_has_no_row_is_counted_and_who_is_not_covered_is_not(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / "agents.csv").write_text(
        "agent,from,until\nagent 0,,\nagent 1,,\nagent 2,2026-01-01,\nnobody,2026-01-06T00:30:00,2026-01-07\n"
    )
    nobody = next(piece for piece in counts_of(plan(load(path))) if piece[0] == "nobody")  # type: ignore[index]
    assert nobody[2] == [23, 0]  # type: ignore[index]


WAYS = {"changes": (), "samples": SAMPLES, "stays": STAYS, "lengths": DURATIONS, "events": EVENTS}


def test_what_a_row_says_is_a_reading_of_its_own(tmp_path: Path) -> None:
    readings = []
    for name, changes in WAYS.items():
        (tmp_path / name).mkdir()
        file = load(written(tmp_path / name, *changes))
        _ = file.table
        readings.append(file.reading)
    assert len(set(readings)) == len(WAYS)
    assert "rows: changes" in readings[0].splitlines()


def test_a_later_until_and_new_people_are_no_other_reading(tmp_path: Path) -> None:
    (tmp_path / "later").mkdir()
    one = load(written(tmp_path)).reading
    path = written(
        tmp_path / "later", ("2026-01-19", "2026-01-26"), ('"agents.csv"', '["agent 0", "agent 1", "agent 2", "x"]')
    )
    assert load(path).reading == one


def test_a_roster_may_be_a_select(tmp_path: Path) -> None:
    (tmp_path / "named").mkdir()
    select = "select unit as agent from read_csv('others.csv', all_varchar = true)"
    as_select = load(written(tmp_path / "named", ('"agents.csv"', f'"{select}"')))
    assert counts_of(plan(as_select)) == counts_of(plan(load(written(tmp_path))))


@pytest.mark.parametrize(("changes", "words"), [
    ((('roster = "agents.csv"\n', ""),), 'source.roster: rows = "changes" without a roster'),
    ((('roster = "agents.csv"', 'roster = ["Ana", "Ben", "Ana"]'),), "source.roster: the roster names one twice"),
    ((('until = "2026-01-19"\n', ""),), 'source.until: rows = "changes" without until'),
    ((('rows = "changes"', 'rows = "wide"'),), "source.rows: is 'wide'"),
    ((*EVENTS, ('order = "when"\n', "")), 'source.order: rows = "events" without order'),
    ((*EVENTS, ('roster = "agents.csv"\n', "")), 'source.roster: rows = "events" without a roster'),
    ((*EVENTS, ('until = "2026-01-19"\n', "")), 'source.until: rows = "events" without until'),
    ((*EVENTS, ('default_state = "away"', 'default_state = "gone"')), "source.default_state: default_state is 'gone'"),
    ((*EVENTS, ('default_state = "away"', "")),
     "source.default_state: is missing, so the times of events would be no secret"),
    (SAMPLES[:2], 'source.default_state: default_state is declared beside rows = "samples"'),
    ((*EVENTS, ('order = "when"', 'order = "when"\nend = "end"')),
     'source.end: end is declared beside rows = "events"'),
    ((("matrix = [[0.9, 0.1], [0.4, 0.6]]", 'fit = { file = "samples.csv" }'),), "belief.fit: counts transitions"),
    ((("matrix = [[0.9, 0.1], [0.4, 0.6]]", 'matrix_by = "hour"\nfit = { file = "samples.csv" }'),),
     "write mean_durations or matrices instead"),
    ((('value = "state"', 'value = "state"\nrecording = "state2"'),), "source.recording: recording is declared beside"),
    ((('"agents.csv"', '"changes.csv"'),), "source.roster: is the private data itself"),
    ((('"agents.csv"', '"ch*s.csv"'),), "source.roster: is the private data itself"),
    ((('"agents.csv"', '"nowhere.csv"'),), "source.roster"),
    ((('"agents.csv"', "\"from read_csv('changes.csv', all_varchar = true)\""),),
     "source.roster: is the private data itself"),
    ((('"agents.csv"', '"others.csv"'),), "source.roster: the first line of others.csv has no 'agent'"),
    ((*STAYS, ('end = "end"\n', "")), 'source.end: rows = "stays" without end'),
    ((*DURATIONS, ("to_minutes(minutes", "to_fortnights(minutes")), "source.end: end calls to_fortnights()"),
    ((*DURATIONS, ('"when"::timestamp + to_minutes(minutes::int)', "minutes::int")),
     "source.end: end holds numbers, and step is a time"),
])  # fmt: skip
def test_keys_that_do_not_fit_what_a_row_says_are_refused(tmp_path: Path, changes: Changes, words: str) -> None:
    assert words in str(refusal_of(written(tmp_path, *changes)))


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("rows", "lines", "words"), [
    ((), ["stranger,2026-01-06T10:00:00,talking"], "the roster lacks"),
    ((), ["agent 0,2026-01-19T00:00:00,talking"], "source.until"),
    ((), ["agent 0,2026-01-06T10:00:00,talking", "agent 0,2026-01-06T10:00:00,away"], "source.order: row "),
    ((), ["agent 0,2026-01-06T10:00:01,"], 'nothing in "state"'),
    ((), [",2026-01-06T10:00:01,away"], 'nothing in "agent"'),
    ((), ["agent 0,soon,away"], "source.order"),
    ((('default_state = "away"\n', ""),), [], "source.default_state"),
    (STAYS, ["agent 0,2026-01-18T10:00:00,2026-01-18T09:00:00,,talking"], "ends before it starts"),
    (STAYS, ["agent 0,2026-01-05T10:00:01,2026-01-18T23:00:00,,talking"], "source.end: row "),
    (STAYS, ["agent 0,2026-01-04T10:00:01,,,talking"], "a stay without an end before a later stay"),
    (STAYS, ["agent 0,2026-01-18T23:50:00,soon,,talking"], 'a text in "end" that is no ISO 8601 time'),
    (DURATIONS, ["agent 0,2026-01-04T23:50:00,,long,talking"], "a cast holds for every row"),
    (DURATIONS, ["agent 0,2026-01-18T23:50:00,,nan,talking"], "a cast holds for every row"),
    (DURATIONS, ["agent 0,2026-01-18T23:50:00,,-5,talking"], "ends before it starts"),
    (EVENTS, ["agent 0,2026-01-12T10:00:00,talking", "agent 0,2026-01-12T10:30:00,away"], "a second row of one step"),
    (EVENTS, ["agent 0,2026-01-12T10:00:00,talking", "agent 0,2026-01-12T10:00:00,talking"], "source.order: row "),
    (EVENTS, ["stranger,2026-01-06T10:00:00,talking"], "the roster lacks"),
    (EVENTS, ["agent 0,2026-01-19T00:00:00,talking"], "source.until"),
    (EVENTS, ["agent 0,2026-01-12T10:00:00,"], 'nothing in "state"'),
    (EVENTS, ["agent 0,,talking"], "source.order"),
])  # fmt: skip
def test_rows_that_break_a_rule_are_refused(tmp_path: Path, rows: Changes, lines: list[str], words: str) -> None:
    path = written(tmp_path, *rows)
    data = tmp_path / ("stays.csv" if rows[:1] == STAYS[:1] else "events.csv" if rows == EVENTS else "changes.csv")
    data.write_text(data.read_text() + "".join(f"{line}\n" for line in lines))
    message = str(refused(path))
    assert words in message
    assert "stranger" not in message


def test_data_that_cannot_have_been_exported_yet_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)
    monkeypatch.setattr(moments, "now", lambda: datetime(2026, 1, 18).astimezone())
    assert "a time that has not come" in str(refused(path))


@pytest.mark.slow
def test_a_time_that_clocks_show_twice_is_refused_unless_it_is_said_which_it_is(tmp_path: Path) -> None:
    clocks = (('value = "state"', 'value = "state"\ntimezone = "Europe/Berlin"'), ("2026-01-05", "2025-10-20"),
              ("2026-01-19", "2025-11-03"), ('window = "2026-W02"', 'window = "2025-W43"'))  # fmt: skip
    path = written(tmp_path, *clocks)
    twice = "agent,when,state\nagent 0,2025-10-26T02:30:00,talking\nagent 0,2025-10-26T05:00:00,away\n"
    (tmp_path / "changes.csv").write_text(twice)
    assert "which of two equal times in autumn was meant is not told" in str(refused(path))
    hours = []
    for earlier in ("", """ - to_hours(("when" = '2025-10-26T02:30:00')::int)"""):
        order = f"""order = \'\'\'"when"::timestamp AT TIME ZONE 'Europe/Berlin'{earlier}\'\'\'"""
        path.write_text(changed(FILE, *clocks, ('order = "when"', order)))
        hours.append(next(piece[2][1] for piece in counts_of(plan(load(path))) if piece[0] == "agent 0"))  # type: ignore[index]
    assert hours == [2, 3]  # from 3:00, or from 3:00, the second time that the clock shows 2, up to 5:00


NUMBERED = (('step = "1h"', "step = 1"), ('"2026-01-05"', "0"), ('"2026-01-19"', str(HOURS)),
            ('by = "hour"\nwindow = "2026-W02"', f"from = 0\nto = {HOURS // 2}"))  # fmt: skip


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", ["clock times", "offsets", "numbers", "dates and clocks"])
@pytest.mark.parametrize("is_first", [True, False])
def test_an_empty_export_has_the_entries_of_a_full_one(tmp_path: Path, order: str, is_first: bool) -> None:
    changes = NUMBERED if order == "numbers" else ()
    if order == "dates and clocks":
        changes = (('order = "when"', 'order = "day::timestamp + clock::interval"'),)
    elif order == "offsets":
        changes = (('value = "state"', 'value = "state"\ntimezone = "UTC"'),)
    path = written(tmp_path, *changes)
    first, *lines = (tmp_path / "changes.csv").read_text().splitlines()
    if order == "offsets":
        lines = [line.replace(":00,", ":00+00:00,") for line in lines]
    elif order == "numbers":
        lines = [f"agent {number % 3},{number},talking" for number in range(30)]
    elif order == "dates and clocks":
        first, lines = "agent,day,clock,state", [line.replace("T", ",") for line in lines]
    exports = ["\n".join([first, *rows]) + "\n" for rows in ([], lines)]
    said, totals = list[str](), list[Fraction]()
    for text, names in zip(exports if is_first else reversed(exports), ("", "again-"), strict=True):
        (tmp_path / "changes.csv").write_text(text)
        path.write_text(path.read_text().replace('[[table]]\nname = "', f'[[table]]\nname = "{names}'))
        with listening(said.append):
            release_file(path, allow_useless=True)
        totals.append(spent(tmp_path, "calls").epsilon)
    assert not [words for words in said if "other entries" in words]
    assert totals[0] < totals[1] <= 2 * totals[0]


@pytest.mark.parametrize(("changes", "faults"), [
    ((*STAYS, ('rows = "stays"', 'rows = "stay"')), ["source.rows: is 'stay'; did you mean 'stays'?"]),
    ((*STAYS, ('order = "when"\nend = "end"\n', "")),
     ["source.order: rows = ", 'source.end: rows = "stays" without end']),
    ((('order = "when"\n', ""),), ["source.order: rows = "]),
    ((('until = "2026-01-19"\n', ""), ('roster = "agents.csv"\n', "")),
     ["source.until: ", "source.roster: ", "table[0].window: is missing, and the calendar has no end"]),
    ((('value = "state"', 'value = "stat"'), ('unit = "agent"', 'unit = "agnt"')),
     ["source.roster: the first line of agents.csv has no 'agnt'", "source.value: the first line of changes.csv has no",
      "source.unit: the first line of changes.csv has no 'agnt'; its column 1 is spelt alike"]),
])  # fmt: skip
def test_one_mistake_about_rows_is_one_fault(tmp_path: Path, changes: Changes, faults: list[str]) -> None:
    listed = str(refused(written(tmp_path, *changes))).splitlines()
    assert len(listed) == len(faults)
    assert all(fault in line for fault, line in zip(sorted(faults), sorted(listed), strict=True))
