"""Which kind of release file `takifugu init` takes a table for: on files that no rule was written from."""

import json
import random
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.support.release_files import filled
from tests.support.starting import drafted, init, subject_of, table_in
from tests.support.steps import calls

from takifugu.core.errors import InputError
from takifugu.data import open_frame
from takifugu.releasing.file.drafting.draft import Start, not_drafted
from takifugu.releasing.file.guessing.columns import first_look
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.questions.decision import answered, answered_clearly
from takifugu.releasing.file.questions.likely import Likely
from takifugu.releasing.planning.plan import calibrated


def german(number: float, digits: int) -> str:
    return f"{number:.{digits}f}".replace(".", ",")


#: Held-out files by name: their kind, how they are encoded, their header, and their rows.
HELD_OUT: dict[str, tuple[str, str, str, Callable[[random.Random], Iterable[str]]]] = {
    "agenda.csv": ("markov-chain", "cp1252", "Ménage;Heure;Activité", lambda draw: (
        f"M{home};{hour};{draw.choice(['repas', 'trajet', 'télé', 'sommeil'])}"
        for home in range(12) for hour in range(24))),
    "herd.csv": ("markov-chain", "utf-8-sig", "cow,datetime,behaviour,weather", lambda draw: (
        f"{cow},2026-05-01 {8 + minute // 60:02}:{minute % 60:02},{draw.choice(['graze', 'lie'])},sun"
        for minute in range(120) for cow in ("Berta", "Elsa", "Flora"))),
    "beds.csv": ("markov-chain", "utf-8", "patient_id,hour,ward,bed_state", lambda draw: (
        f"{patient},{hour},{'AB'[patient % 2]},{draw.choice(['in', 'out', ''])}"
        for patient in range(100, 115) for hour in range(30))),
    "machine.tsv": ("markov-chain", "utf-8", "timestamp\tstatus", lambda draw: (
        f"2026-03-01T{minute // 60:02}:{minute % 60:02}:00\t{draw.choice(['ok', 'ok', 'warn', 'fail'])}"
        for minute in range(400))),
    "meters.csv": ("markov-chain", "utf-8", "meter,read_at,kwh", lambda draw: (
        f"SM{meter},2026-02-0{1 + hour // 24} {hour % 24:02}:00:00,{draw.random() * 2:.3f}"
        for meter in range(5) for hour in range(48))),
    "japanese.csv": ("markov-chain", "utf-8", "氏名,時刻,状態", lambda draw: (
        f"{name},2026-01-01 10:{minute:02},{draw.choice(['座る', '歩く'])}"
        for name in ("田中", "佐藤", "鈴木") for minute in range(60))),
    "no header.csv": ("markov-chain", "utf-8", "", lambda draw: (
        f"{ward};{1 + hour // 24:02}.03.2025 {hour % 24:02}:00;{draw.choice(['wach', 'ruht'])}"
        for ward in ("Süd", "Nord") for hour in range(48))),
    "epochs.csv": ("markov-chain", "utf-8", "seq,unix,phone,label_source,activity", lambda draw: (
        f"{1 + 80 * before + minute},{1_650_000_000 + 60 * minute},{phone},1,{draw.choice(['sit', 'walk', 'run'])}"
        for before, phone in enumerate(("a1", "b2", "c3")) for minute in range(80))),
    "nurses.csv": ("contacts", "utf-8", "nurse_1,nurse_2", lambda draw: (
        f"N{a:02},N{b:02}" for a in range(25) for b in range(a + 1, 25) if draw.random() < 0.2)),
    "mail.csv": ("contacts", "utf-8", "date,from,to,bytes", lambda draw: (
        f"2026-01-{draw.randint(1, 28):02},{a}@x.org,{b}@x.org,{draw.randint(100, 90_000)}"
        for a, b in (draw.sample("abcdefghijklmnopqrstuvwxyz", 2) for _ in range(300)))),
    "encounters.csv": ("contacts", "utf-8", "person_a;person_b;minutes;indoors", lambda draw: (
        f"{a};{b};{draw.randint(1, 90)};{draw.choice(['yes', 'no'])}"
        for a, b in (draw.sample(range(1000, 1040), 2) for _ in range(250)))),
    "edges.csv": ("contacts", "utf-8", "Knoten1,Knoten2", lambda draw: (
        f"k{a},k{b}" for a, b in (draw.sample(range(50), 2) for _ in range(200)))),
    "tracker.csv": ("asymmetric", "utf-8", "deviceId,epoch_ms,latitude,longitude,speed", lambda draw: (
        f"dev{device},{1_700_000_000_000 + 30_000 * step},{52 + draw.random() / 10:.6f},"
        f"{4.9 + draw.random() / 10:.6f},{draw.random() * 20:.1f}"
        for device in range(8) for step in range(40))),
    "taxis.csv": ("asymmetric", "utf-8", "taxi,ts,x,y", lambda draw: (
        f"{taxi},{step},{draw.random() * 900:.1f},{draw.random() * 900:.1f}"
        for taxi in range(20) for step in range(15))),
    "check-ins.csv": ("asymmetric", "utf-8", "member,venue,when", lambda draw: (
        f"m{draw.randint(1, 40)},Café {draw.randint(1, 70)},2026-04-{day:02} {hour:02}:{draw.randint(0, 59):02}"
        for day, hour in ((draw.randint(1, 28), draw.randint(7, 23)) for _ in range(500)))),
    "shops.csv": ("populations", "utf-8", "Geschäft;Breitengrad;Längengrad;Kategorie", lambda draw: (
        f"Laden {shop};{german(47 + draw.random(), 5)};{german(8 + draw.random(), 5)};{draw.choice(['Brot', 'Wein'])}"
        for shop in range(150))),
    "incidents.csv": ("populations", "utf-8", "case,lon,lat,night", lambda draw: (
        f"{case},{-87.9 + draw.random() / 2:.4f},{41.6 + draw.random() / 2:.4f},{draw.choice(['true', 'false'])}"
        for case in range(300))),
    "likert.csv": ("users", "utf-8", ",".join(f"Q{number}" for number in range(1, 9)), lambda draw: (
        ",".join(str(draw.randint(1, 5)) for _ in range(8)) for _ in range(120))),
    "encuesta.csv": ("users", "latin-1", "encuestado;sexo;fuma;provincia;año de nacimiento", lambda draw: (
        f"{number};{draw.choice('hm')};{draw.choice(['sí', 'no', 'NA'])};{where};{draw.randint(1940, 2005)}"
        for number, where in ((number, draw.choice(["Álava", "León", "Cádiz"])) for number in range(140)))),
    "census.csv": ("users", "utf-8", "age,workclass,education,hours,sex,income", lambda draw: (
        f"{draw.randint(17, 90)}, {work}, {draw.choice(['HS', 'BA', 'MA'])}, {draw.randint(1, 80)}, "
        f"{draw.choice(['Male', 'Female'])}, {draw.choice(['<=50K', '>50K'])}"
        for work in (draw.choice(["Private", "State", "Self", "?"]) for _ in range(400)))),
    "ballots.csv": ("users", "utf-8", "voter,vote", lambda draw: (
        f"V-{voter:03},{draw.choice(['yes', 'no', 'blank'])}" for voter in range(90))),
    "firmen.csv": ("normal", "cp1252", "Firma;Branche;Umsatz;Gewinn;Mitarbeiter", lambda draw: (
        f"Müller {number} GmbH;{trade};{turnover};{draw.randint(-90, 90)},5;{draw.randint(3, 800)}"
        for number in range(110)
        for turnover in [f"{draw.randint(1, 900)}.{draw.randint(100, 999)},{draw.randint(10, 99)}"]
        for trade in [draw.choice(["Bau", "Handel", "Gärtnerei"])])),
    "suppliers.csv": ("independent-records", "utf-8", "supplier,country,rating,certified,orders", lambda draw: (
        f"S{number},{draw.choice(['NL', 'DE', 'PL', 'IT'])},{draw.choice('ABC')},{draw.choice(['yes', 'no'])},"
        f"{draw.randint(1, 400)}" for number in range(130))),
    "shifts.csv": ("markov-chain", "cp1252", "Personalnummer;Mitarbeiter;Datum;Uhrzeit;Stunden;T\u00e4tigkeit",
     lambda draw: (
        f"{1000 + number};M\u00fcller {number};{1 + hour // 24:02}.03.2026;{hour % 24:02}:00;"
        f"0,{draw.randint(10, 99)};{doing}"
        for number in range(5) for hour in range(96) for doing in [draw.choice(["Pause", "Einsatz"])])),
    "machine shifts.csv": ("markov-chain", "utf-8", "Machine,Shift,Status", lambda draw: (
        f"M{machine},{shift},{draw.choice(['running', 'stopped'])}" for machine in range(4) for shift in range(60))),
    "rooms side by side.csv": ("markov-chain", "utf-8", "time,Room 1,Room 2,Kitchen", lambda draw: (
        f"2026-02-0{1 + hour // 24} {hour % 24:02}:00," + ",".join(draw.choice(["in", "out"]) for _ in range(3))
        for hour in range(96))),
    "wide.csv": ("normal", "utf-8", ",".join(f"channel {number}" for number in range(40)), lambda draw: (
        ",".join(f"{draw.gauss(5, 2):.4f}" for _ in range(40)) for _ in range(150))),
    "water.csv": ("normal", "utf-8", "pH;temp;conductivity;turbidity", lambda draw: (
        ";".join(german(draw.gauss(mean, 1), 2) for mean in (7, 12, 300, 4)) for _ in range(90))),
    "blood.csv": ("normal", "utf-8", "patient,glucose,hdl,ldl,bmi", lambda draw: (
        f"{patient}," + ",".join(
            f"{draw.gauss(mean, 8):.1f}" if draw.random() > 0.05 else "" for mean in (95, 55, 120, 26)
        ) for patient in range(160))),
}  # fmt: skip


def write(folder: Path, name: str) -> Path:
    _, encoding, header, rows = HELD_OUT[name]
    path = folder / name
    lines = [*filter(None, [header]), *rows(random.Random(name)), ""]
    path.write_bytes("\n".join(lines).encode(encoding))
    return path


def guess_about(path: Path) -> tuple[str, Likely]:
    """Return the kind of file that is offered for a table, and what its rows likely say."""
    subject = subject_of(path)
    offers = {question.name: answer for question, answer in answered(subject, {}, lambda question, _: question.offered)}
    return subject.kind_of(offers), subject.likely


@pytest.mark.slow
def test_nine_of_ten_held_out_files_are_taken_for_what_they_are(tmp_path: Path) -> None:
    wrong = {}
    for name, (kind, *_) in HELD_OUT.items():
        offered, likely = guess_about(write(tmp_path, name))
        if offered != kind:
            wrong[name] = f"{kind}, taken for {offered}: {likely.why}"
    assert len(HELD_OUT) >= 20
    assert len(wrong) * 10 <= len(HELD_OUT), wrong


@pytest.mark.parametrize(("kind", "header", "row"), [
    ("users", "Zeitstempel,Are you happy here?,How do you travel to work?,Your age?",
     lambda n: f"2025/03/01 10:{n // 60:02}:{n % 60:02},{'yn'[n % 2]},{'abc'[n % 3]},{n}"),
    ("users", "Nr;Alter;Partei", lambda n: f"{n + 1};{18 + n * 7 % 60};{'ABC'[n * n % 3]}"),
    ("markov-chain", "at,zone,open,ppm", lambda n: f"{1767225600 + n // 5 * 60},Z{n % 5},{n * n % 3},{400 + n}"),
    ("contacts", "Pupil,works with", lambda n: f"c{n * 7 % 31},c{n * 11 % 29}"),
    ("contacts", "zeit,élève1,élève2,classe1,classe2",
     lambda n: f"{1730000000 + n // 9 * 20},{1400 + n * 7 % 61},{1400 + (n * 7 + 1 + n % 5) % 61},6{n % 2},6A"),
    ("contacts", "when,agentA,agentB,site,minutes",
     lambda n: f"2026-01-01 10:{n % 60:02},Ada {n * 7 % 31},Ada {n * 11 % 29},{'xyz'[n % 3]},{n % 7}"),
    ("normal", "Nr,systolic_1,systolic_2,weight,height",  # measured twice, and the same now and then
     lambda n: f"{n},{110 + n * 7 % 41},{110 + n * n % 43},{60 + n % 31}.5,{160 + n % 37}.5"),
    ("normal", "Nr,before_1,before_2,weight,height",  # and here never
     lambda n: f"{n},{110 + n * 7 % 41},{100 + n * 7 % 41},{60 + n % 31}.5,{160 + n % 37}.5"),
    ("normal", "n° patient;glycémie (g/L);cholestérol;tension",
     lambda n: f"{50001 + n};{90 + n % 41}.{n % 7};{'ND' if n % 90 == 3 else 1 + n % 97 / 100};{110 + n * 7 % 23}"),
    ("normal", "patient,sys,dia,pulse", lambda n: f"p{n},{110 + n * 7 % 41},{60 + n * 13 % 43},{50 + n * 11 % 47}"),
    ("markov-chain", "persona,dia,estado", lambda n: f"p{n // 30},{40 + n % 30},{'ab'[n * n % 7 < 3]}"),
    ("users", "Kunden-Nr;Status;Vertrag", lambda n: f"{n * 3701 % 9973};{'abc'[n * n % 3]};{'xy'[n % 2]}"),
    ("markov-chain", "nr;status", lambda n: f"{n * 3};{'abc'[n * n % 3]}"),
    ("markov-chain", "who,k,s", lambda n: f"p{n // 30},{n % 30},{n * n % 7 < 3}"),
])  # fmt: skip
def test_what_tells_kinds_apart(tmp_path: Path, kind: str, header: str, row: Callable[[int], str]) -> None:
    path = table_in(tmp_path, header, map(row, range(270)))
    assert guess_about(path)[0] == kind
    if header.startswith("at,"):
        _, _, source = drafted(path)
        assert source["unit"] == "zone"


def test_two_of_a_name_are_a_pair_however_they_are_written(tmp_path: Path) -> None:
    met = [{"élève1": 1400 + n * 7 % 61, "élève2": 1400 + (n * 7 + 1 + n % 5) % 61} for n in range(270)]
    rows = [{"horodatage": 1730000000 + n, **two, "classe1": "6A", "classe2": "6B"} for n, two in enumerate(met)]
    accents = unicodedata.normalize("NFD", "élève")
    apart = [{"at": row["horodatage"], f"{accents}_1_id": row["élève1"], "élève_2_id": row["élève2"]} for row in rows]
    for meetings in (rows, apart):
        (tmp_path / "d.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in meetings), "utf-8")
        kind, likely = guess_about(tmp_path / "d.jsonl")
        assert (kind, "each row names two" in likely.why) == ("contacts", True)


@pytest.mark.parametrize("mark", ["ND", "k.A.", "n/a", "-", "?"])
@pytest.mark.parametrize("kind", ["normal", "users"])
def test_numbers_with_a_few_marks_are_no_people(tmp_path: Path, mark: str, kind: str) -> None:
    values = [mark if n % 90 == 3 else f"{1 + n % 97 / 100:.2f}" for n in range(320)]
    rows = (f"{50001 + n};{90 + n % 41}.{n % 7};{value}" for n, value in enumerate(values))
    subject = subject_of(table_in(tmp_path, "n° patient;glycémie;cholestérol", rows), kind)
    assert all(question.is_clear for question, _ in answered(subject, {}, lambda question, _: question.offered))


@pytest.mark.parametrize(("header", "name", "row", "role"), [
    ("dia,estado", "dia", lambda n: f"{n + 1},{'ab'[n % 2]}", "order"),
    ("persona,dia,estado", "dia", lambda n: f"p{n % 3},{n // 3},{'ab'[n % 2]}", "order"),
    ("dia,estado", "dia", lambda n: f"2026-{1 + n // 28:02}-{1 + n % 28:02},{'ab'[n % 2]}", "order"),
    ("Kunden-Nr;Ort", "Kunden-Nr", lambda n: f"{n * 3701 % 9973};{'ab'[n % 2]}", None),
    ("Nr;Ort", "Nr", lambda n: f"{7 * n + 3};{'ab'[n % 2]}", "order"),
    pytest.param("Nr;Ort", "Nr", lambda n: f"{9000 - 7 * n};{'ab'[n % 2]}", "order", id="the newest first"),
    pytest.param("minute;Ort", "minute", lambda n: f"{n * 37 % 271};{'ab'[n % 2]}", "order", id="a log in any order"),
])  # fmt: skip
def test_numbers_of_customers_are_no_order(tmp_path: Path, header: str, name: str, row: Any, role: str | None) -> None:
    roles = subject_of(table_in(tmp_path, header, map(row, range(270)))).facts.roles
    assert {column.name: role for role, column in roles.items()}.get(name) == role


def test_numbers_with_a_few_marks_are_listed_as_numbers(tmp_path: Path) -> None:
    marks = {"crp": ["<5"], "glucose": ["n/a", "ND"], "ferritin": [">1000", "<5"], "code": ["P1", "P2"]}
    rows = []
    for n in range(300):
        values = [some[n % len(some)] if n % 11 == 3 else f"{10 + n * 7 % 89}" for some in marks.values()]
        rows.append(",".join([f"p{n}", f"{50 + n % 41}.5", *values]))
    path = table_in(tmp_path, ",".join(["patient", "weight", *marks]), rows)
    said, draft, _ = drafted(path, "--kind", "normal")
    assert "Among the numbers in 'crp', 'glucose', 'ferritin' are a few texts" in said
    assert not any(mark in said + draft for some in marks.values() for mark in some)
    words = ("-o", tmp_path / "r.toml", "--kind", "normal", "--force", "--json")
    listing = json.loads(init(path, *words).output)["columns"]
    assert {column["name"]: (column["kind"], column["marks"]) for column in listing} == {
        "patient": ("texts", 0), "weight": ("numbers", 0), "crp": ("whole numbers", 1), "glucose": ("whole numbers", 2),
        "ferritin": ("whole numbers", 2), "code": ("texts", 0),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["n° patient", "NIF", "ID", "Matricule", "running"])
def test_numbers_that_identify_are_no_amounts(tmp_path: Path, name: str) -> None:
    rows = (f"{n if name == 'running' else n * 3701 % 9973};{90 + n % 41}.5;{110 + n % 23}" for n in range(90))
    assert name not in guess_about(table_in(tmp_path, f"{name};glucose;tension", rows))[1].why


def test_dates_and_times_of_day_in_two_columns_order_together(tmp_path: Path) -> None:
    _, _, source = drafted(write(tmp_path, "shifts.csv"))
    assert (source["order"], source["order_format"]) == (["Datum", "Uhrzeit"], "%d.%m.%Y %H:%M")
    assert "recording" not in source


@pytest.mark.parametrize("name", ["Größe_Haushalt", "household_size", "n_household", "users"])
def test_numbers_that_say_how_many_are_no_people(tmp_path: Path, name: str) -> None:
    draw = random.Random(3)
    rows = (f"{n};{draw.choice('wmd')};{draw.randint(1, 6)};{n % 5}" for n in range(200))
    path = table_in(tmp_path, f"Nr;Geschlecht;{name};Zufriedenheit", rows)
    assert guess_about(path)[0] == "users"
    assert subject_of(path).facts.several is None


@pytest.mark.parametrize("header", ["Haushalt;Stunde;x", "Mitarbeiter;Stunde;x", "user;Stunde;x", "Haushalt_Nr;a;x"])
def test_numbers_of_those_whose_rows_are_told_apart_are_people(tmp_path: Path, header: str) -> None:
    draw = random.Random(4)
    rows = sorted((hour, who) for hour in range(30) for who in range(5, 15) if draw.random() < 0.8)
    lines = (f"{who};{hour};{draw.choice('ab')}" for hour, who in rows)
    assert subject_of(table_in(tmp_path, header, lines)).facts.several.name == header.split(";")[0]


def people_of_households(folder: Path, answer: str, shared: str = "household") -> Path:
    rows = (f"{n};H{n // 3};{20 + n % 50};{'yes' if n % 7 < 2 else 'no'}" for n in range(150))
    return table_in(folder, f"person_id;{shared};age;{answer}", rows)


@pytest.mark.parametrize(("answer", "shared"), [
    ("infected", "household"), ("job", "household"), ("infected", "hh_id"), ("job", "cluster id"),
])  # fmt: skip
def test_people_of_one_household_are_asked_about(tmp_path: Path, answer: str, shared: str) -> None:
    subject = subject_of(people_of_households(tmp_path, answer, shared))
    with pytest.raises(InputError, match=f"several have the same in '{shared}', but all are taken") as no:
        answered_clearly(subject, {})
    assert no.value.where == ("whose",)
    assert "write --kind contacts for what spreads" in no.value.rule


def test_what_is_suggested_for_households_of_the_ill_works(tmp_path: Path) -> None:
    _, draft, _ = drafted(people_of_households(tmp_path, "infected"), "--kind", "contacts", "--publish", "infected")
    believed = 'file = "meetings.csv"\ncolumns = ["one", "other"]\nstates = ["no", "yes"]\noutside = 0.1\ninside = 0.3'
    (tmp_path / "r.toml").write_text(filled(draft, belief=believed, table='states = ["yes"]'))
    pairs = (f"{one},{other}\n" for one in range(150) for other in range(150) if one // 3 == other // 3)
    (tmp_path / "meetings.csv").write_text("one,other\n" + "".join(pairs), encoding="utf-8")
    assert load(tmp_path / "r.toml").belief.describe().startswith("50 independent cliques of 150 people")


def test_a_table_without_rows_is_said_to_have_none(tmp_path: Path) -> None:
    assert "it has no rows" in guess_about(table_in(tmp_path, "who,minute,state", []))[1].why


@pytest.mark.slow
def test_a_reason_names_columns_and_no_value(tmp_path: Path) -> None:
    for name in HELD_OUT:
        path = write(tmp_path, name)
        columns = subject_of(path).look.columns
        texts = {text for column in columns.values() for text in column.labels if len(text) > 3}
        reason = guess_about(path)[1].why
        for column in columns:
            reason = reason.replace(column, "")
        assert not [text for text in texts if text in reason], name


@pytest.mark.parametrize(("first", "step", "form"), [
    (1_700_000_000, 60, "epoch"), (1_700_000_000_000, 60_000, "epoch_ms"),
])  # fmt: skip
def test_seconds_since_1970_are_times(first: int, step: int, form: str, tmp_path: Path) -> None:
    rows = [f"{sensor},{first + step * k},{'on' if k % 7 < 3 else 'off'}" for sensor in "ab" for k in range(60)]
    _, draft, source = drafted(table_in(tmp_path, "sensor,ts,state", rows))
    assert source["order_format"] == form
    assert source["timezone"] == "UTC"  # the first choice of a question without a default
    done = filled(
        draft, source='step = "1min"\nfrom = "2023-11-14T22:13:20"\nuntil = "2023-11-15T22:13:20"',
        belief='states = ["off", "on"]\nmatrix = [[0.8, 0.2], [0.2, 0.8]]\nunits_independent = true',
    )  # fmt: skip
    (tmp_path / "r.toml").write_text(done, encoding="utf-8")
    (table,) = calibrated(load(tmp_path / "r.toml")).tables
    assert table.questions


@pytest.mark.slow
def test_a_wide_table_is_looked_at_with_little_work_for_each_cell(tmp_path: Path) -> None:
    """Seconds for 600 columns: equal texts are looked at once, and signs of numbers only where the usual ones fail."""
    columns, rows = 300, 300
    lines = (",".join(str((row * 7 + column * 3) % 10 / 2) for column in range(columns)) for row in range(rows))
    table = open_frame(table_in(tmp_path, ",".join(f"c{n}" for n in range(columns)), lines))
    look = first_look(table)  # what is loaded once
    assert calls(lambda: first_look(table)) < 12 * columns * rows
    assert {column.kind for column in look.columns.values()} == {"numbers"}


def test_a_kind_from_outside_may_have_no_draft(tmp_path: Path) -> None:
    path = write(tmp_path, "water.csv")
    start = Start(path, tmp_path / "r.toml", subject_of(path).look, "eeg", {}, {})
    with pytest.raises(InputError) as refused:
        list(not_drafted(start))
    assert refused.value.what == "no release file is drafted for a belief of kind 'eeg'"
