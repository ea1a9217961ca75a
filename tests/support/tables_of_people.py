"""Ten tables as people export them that have a row for each person: answers, and wide sheets, five of each."""

import random
from datetime import timedelta
from itertools import chain

from tests.support.made_tables import START, MadeTable, names, samples, shares, table


def _drawn(c: random.Random, likely: dict[str, float], number: int) -> list[str]:
    return c.choices([*likely], [*likely.values()], k=number)


def _of_people(
    file: str, content: bytes, publish: str, likely: dict[str, float], answers: list[str], is_ugly: bool = False
) -> MadeTable:
    """Return a table of people, of which one question's answers are published."""
    right = {"rows": "answers", "whose": "-", "secret": "answers", "publish": publish}
    chances = ", ".join(f"{answer} {chance}" for answer, chance in likely.items())
    knows = {"states": ", ".join(likely), "size": str(len(answers)), "next": chances}
    return MadeTable(file, content, right, knows, shares(answers), is_ugly=is_ugly)


def health() -> MadeTable:
    """Return a survey: a row each, with a number of the person."""
    c, likely = random.Random(51), {"yes": 0.2, "no": 0.8}
    smokes, moves = _drawn(c, likely, 600), _drawn(c, {"daily": 1, "weekly": 2, "never": 1}, 600)
    rows = [(4000 + k * 7 % 601, 18 + c.randrange(60), *pair) for k, pair in enumerate(zip(smokes, moves, strict=True))]
    return _of_people("health.csv", table(["respondent_id", "age", "smokes", "moves"], rows), "smokes", likely, smokes)


def qualtrics() -> MadeTable:
    """Return a survey as Qualtrics exports it: names, questions and JSON above the answers."""
    c, likely = random.Random(52), {"Agree": 0.5, "Neutral": 0.2, "Disagree": 0.3}
    first, second = _drawn(c, likely, 400), _drawn(c, likely, 400)
    header = ["StartDate", "ResponseId", "Duration (in seconds)", "Q1", "Q2"]
    texts = ["Start Date", "Response ID", "Duration (in seconds)", '"I feel safe, at work"', "I am paid well"]
    ids = [f'"{{""ImportId"":""{one}""}}"' for one in ("startDate", "_recordId", "duration", "QID1", "QID2")]
    rows = []
    for k, pair in enumerate(zip(first, second, strict=True)):
        begun = f"{START + timedelta(minutes=31 * k):%Y-%m-%d %H:%M:%S}"
        rows.append((begun, f"R_{c.randrange(1 << 40):010x}", 60 + c.randrange(900), *pair))
    return _of_people("survey.csv", table(header, [texts, ids, *rows]), "Q1", likely, first, is_ugly=True)


def staff() -> MadeTable:
    """Return a list of employees with totals at the end: semicolons, decimal commas."""
    c, likely = random.Random(53), {"ja": 0.3, "nein": 0.7}
    part = _drawn(c, likely, 300)
    rows = [
        (f"Person {k:03}", c.choice(["Vertrieb", "Lager", "IT"]), one, f"{c.uniform(2000, 6000):.2f}".replace(".", ","))
        for k, one in enumerate(part)
    ]
    totals = ("Summe", "", "", f"{sum(float(row[3].replace(',', '.')) for row in rows):.2f}".replace(".", ","))
    content = table(["Name", "Abteilung", "Teilzeit", "Gehalt"], [*rows, totals], ";")
    return _of_people("personal.csv", content, "Teilzeit", likely, part, is_ugly=True)


def meetings() -> MadeTable:
    """Return who met whom in a school; who is ill stands beside it."""
    c, pupils = random.Random(54), names("pupil ", 60)
    pairs = {tuple(sorted(c.sample(pupils[k // 5 * 5 : k // 5 * 5 + 5], 2))) for k in range(60) for _ in range(2)}
    rows = [(one, other, 1 + c.randrange(30)) for one, other in sorted(pairs)]
    ill = _drawn(c, {"ill": 0.15, "well": 0.85}, 60)
    people = "\n".join(["pupil,state", *(f"{name},{state}" for name, state in zip(pupils, ill, strict=True))])
    lines = {"source": 'file = "people.csv"\nunit = "pupil"\nvalue = "state"',
             "belief": "outside = 0.1\ninside = 0.3", "table": 'states = ["ill"]'}  # fmt: skip
    return MadeTable(
        "meetings.csv", table(["pupil_1", "pupil_2", "minutes"], rows), {"rows": "contacts", "publish": ""},
        {"public": "yes", "states": "well, ill"}, {"count": float(ill.count("ill"))}, lines, {"people.csv": people},
    )  # fmt: skip


def form() -> MadeTable:
    """Return answers to a form on the web: when, and questions as the names of columns."""
    c, likely = random.Random(55), {"car": 0.4, "bus": 0.35, "bicycle": 0.25}
    how, often = _drawn(c, likely, 500), _drawn(c, {"Never": 1, "Sometimes": 2, "Always": 1}, 500)
    times = [f"{START + timedelta(seconds=991 * k):%m/%d/%Y %H:%M:%S}" for k in range(500)]
    rows = zip(times, how, often, strict=True)
    header = ["Timestamp", "How do you come to work?", "Do you work at home on some days?"]
    return _of_people("form.csv", table(header, rows), "How do you come to work?", likely, how)


STAYS = {"there": 0.94, "absent": 0.6}
KNOWN = {"states": "there, absent", "stay": "there 16.7, absent 2.5", "source": "a test", "independent": "yes"}


def _sheet(
    seed: int, stay: dict[str, float], people: list[str], steps: int
) -> tuple[dict[str, list[str]], dict[str, float]]:
    """Return the states of each person in turn, and how often each state was."""
    rows = samples(seed, stay, people, steps)
    of_person = {name: [state for _, other, state in rows if other == name] for name in people}
    return of_person, shares(state for *_, state in rows)


def _wide(
    file: str, content: bytes, whose: str, truth: dict[str, float], is_ugly: bool = False, **knows: str
) -> MadeTable:
    """Return a sheet whose rows are the states of a person each."""
    return MadeTable(file, content, {"rows": "wide", "whose": whose}, {**KNOWN, **knows}, truth, is_ugly=is_ugly)


def attendance() -> MadeTable:
    """Return a school's sheet: a column for each day, an x for who was there, and often nothing for who was not."""
    pupils, c = names("Pupil ", 60), random.Random(61)
    sheet, truth = _sheet(61, STAYS, pupils, 40)
    days = [f"{START + timedelta(days=k):%d/%m/%Y}" for k in range(40)]
    marks = {"there": ["x"], "absent": ["", "absent"]}
    rows = [(name, "AB"[k % 2], *(c.choice(marks[state]) for state in sheet[name])) for k, name in enumerate(pupils)]
    content, truth = table(["Name", "Class", *days], rows, ";"), {"x": truth["there"], "absent": truth["absent"]}
    knows = {"states": "x, absent", "stay": "x 16.7 d, absent 2.5 d", "otherwise": "absent"}
    return _wide("sheet.csv", content, "Name", truth, **knows)


def register() -> MadeTable:
    """Return a school's register: a column for each day but weekends, called 5.1. and so on without a year."""
    pupils, days = names("Pupil ", 70), [k for k in range(45) if k % 7 < 5]
    sheet, _ = _sheet(66, STAYS, pupils, 45)
    on_school_days = {name: [states[k] for k in days] for name, states in sheet.items()}
    headers = [f"{moment.day}.{moment.month}." for k in days for moment in [START + timedelta(days=k)]]
    content = table(["Pupil", *headers], [(name, *states) for name, states in on_school_days.items()], ";")
    return _wide("school.csv", content, "Pupil", shares(chain(*on_school_days.values())))


def week() -> MadeTable:
    """Return one week of many people, a column for each day of it."""
    people = names("worker ", 90)
    sheet, truth = _sheet(62, STAYS, people, 7)
    rows = [(name, *sheet[name]) for name in people]
    content = table(["employee", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], rows)
    return _wide("week.csv", content, "employee", truth)


def hours() -> MadeTable:
    """Return half days of households: the day in a column, its hours side by side."""
    stay, homes = {"low": 0.9, "high": 0.7}, names("H", 12)
    sheet, truth = _sheet(63, stay, homes, 24 * 14)
    rows = [
        (name, f"{START + timedelta(days=day):%Y-%m-%d}", *sheet[name][24 * day : 24 * day + 24])
        for name in homes for day in range(14)
    ]  # fmt: skip
    content = table(["household", "date", *(f"{hour:02}:00" for hour in range(24))], rows)
    knows = {**KNOWN, "states": "low, high", "stay": "low 10 h, high 200 min"}
    right = {"rows": "wide", "whose": "household", "when": "date"}
    return MadeTable("hours.csv", content, right, knows, truth, is_ugly=True)


def items() -> MadeTable:
    """Return a questionnaire whose columns are called q1 to q8."""
    c, likely = random.Random(64), {"agree": 0.5, "neutral": 0.2, "disagree": 0.3}
    answers = [_drawn(c, likely, 8) for _ in range(400)]
    rows = [(f"S{k:03}", *some) for k, some in enumerate(answers)]
    content = table(["subject", *(f"q{k + 1}" for k in range(8))], rows)
    return _of_people("items.csv", content, "q1", likely, [some[0] for some in answers])


def shifts() -> MadeTable:
    """Return who was there on each day, below a title and a line of weeks."""
    people = names("Kollege ", 50)
    sheet, truth = _sheet(65, STAYS, people, 28)
    days = [f"{START + timedelta(days=k):%d.%m.%Y}" for k in range(28)]
    weeks = ["", *("" if k % 7 else f"KW {2 + k // 7}" for k in range(28))]
    rows = [(name, *sheet[name]) for name in people]
    content = table(["Mitarbeiter", *days], rows, ";", ["Dienstplan" + ";" * 28, ";".join(weeks)])
    return _wide("plan.csv", content, "Mitarbeiter", truth, is_ugly=True, stay="there 16.7 d, absent 2.5 d")


OF_PEOPLE = {
    "answers": (health, qualtrics, staff, meetings, form),
    "wide": (attendance, register, week, hours, items, shifts),
}
