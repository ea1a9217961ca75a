"""Data as they are: files that systems export, to a certificate, by expressions in the roles and SELECTs."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.answers import true_answer
from tests.support.release_files import EXPECT, believe, changed, hide, publish, read_from, release_text, section
from tests.support.releases import put, refusal_of, refused

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import SpecError, TakifuguError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan

SPEC = release_text(
    read_from("ward", "data.csv", unit="Station", rows="samples", step="1h", budget=5) + "\n{keys}",
    believe("markov-chain", states=["ruhig", "mäßig", "lebhaft"],
            matrix=[[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.2, 0.2, 0.6]], units_independent=True),
    publish("activity", "histogram", epsilon=1, mechanism="group-dp"),
    expect={**EXPECT, "unimportant": ["ruhig", "mäßig", "lebhaft"]},
)  # fmt: skip
PLAIN = 'value = "Aktivität"\norder = "Zeit"\n'
BINS = "bins = { ruhig = [0, 1.5], 'mäßig' = [1.5, 1000], lebhaft = [1000, inf] }"


def rows(count: int = 30) -> list[tuple[str, datetime, float]]:
    """Return two wards' hours around the turn of a year, and their activity."""
    listed = []
    for ward in ("Süd", "Nord"):
        for hour in range(count):
            activity = [0.5, 1.5, 999.75, 1234.5, 0][(hour * hour + len(ward)) % 5]
            listed.append((ward, datetime(2025, 12, 31, 10) + timedelta(hours=hour), activity))
    return listed


def expected(some: list[tuple[str, datetime, float]]) -> tuple[int, ...]:
    numbers = [(x >= 1.5) + (x >= 1000) for _, _, x in some]
    return tuple(numbers.count(state) for state in range(3))


def german(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def write(folder: Path, content: bytes, keys: str, spec: str = SPEC) -> Path:
    (folder / "data.csv").write_bytes(content)
    return put(folder, {"release.toml": spec.replace("{keys}", keys)})


def answer(where: Path, data: Any = None) -> tuple[int, ...]:
    (table,) = plan.plan(load(where, data)).tables
    (question,) = table.questions
    return tuple(true_answer(question.calibration, question.data))


def times_by(form: str) -> str:
    """Return the keys of numbers with decimal commas, and of times of a form."""
    return (
        f"""value = \'\'\'replace(replace("Aktivität", '.', \'\'), ',', '.')\'\'\'\n"""
        f"""order = "strptime(Zeit, '{form}')"\n{BINS}"""
    )


LATIN = 'encoding = "latin-1"\n' + times_by("%d/%m/%Y %H:%M")


def latin(some: list[tuple[str, datetime, float]]) -> bytes:
    lines = ["Station;Zeit;Aktivität", *(f"{w};{t:%d/%m/%Y %H:%M};{german(x)}" for w, t, x in some)]
    return "\r\n".join(lines).encode("latin-1")


def plain(some: list[tuple[str, datetime, float]]) -> bytes:
    return "\n".join(["Station,Zeit,Aktivität", *(f"{w},{t.isoformat()},{x}" for w, t, x in some)]).encode()


def of_excel(some: list[tuple[str, datetime, float]]) -> bytes:
    lines = ["sep=;", "Station;Zeit;Aktivität;", *(f"{w};{t:%d.%m.%y %H:%M};{german(x)};" for w, t, x in some)]
    lines[20:20] = [";;;", "", " ; ;;"]
    return "\r\n".join([*lines, *[";;;"] * 40, "", ""]).encode("utf-8-sig")


FROM_FILE = 'file = "data.csv"\n'


def select(text: str) -> str:
    """Return a file whose rows are a SELECT's."""
    return changed(SPEC, (FROM_FILE, f"sql = \'\'\'{text}\'\'\'\n"))


#: Files by what is strange in them: their content, the keys that say how to read it, and the rows where it needs SQL.
FILES: dict[str, tuple[bytes, str, str]] = {
    "semicolons, decimal commas and days first, in latin-1": (latin(rows()), LATIN, SPEC),
    "an export of Excel": (of_excel(rows()), times_by("%d.%m.%y %H:%M"), select(
        "from read_csv('data.csv', delim = ';', skip = 1, header = true, all_varchar = true, null_padding = true) "
        "where trim(Station) <> \'\'")),
    "from the newest to the oldest": (plain(rows()[::-1]), PLAIN + BINS, SPEC),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_as_it_is_written(tmp_path: Path, name: str) -> None:
    content, keys, spec = FILES[name]
    where = write(tmp_path, content, keys, spec)
    assert answer(where) == expected(rows())
    assert tf.release_file(where).tables[0].certificate is not None
    assert list((tmp_path / "release-published").glob("activity*.certificate.json"))


#: What is refused: keys, what is said, and what the file holds where it is not the usual.
REFUSED: dict[str, tuple[Any, ...]] = {
    "another encoding": (LATIN.replace("latin-1", "utf-8"), "is not UTF-8 text"),
    "bytes that it does not have": (LATIN.replace("latin-1", "ascii"), r"source\.encoding"),
    "an unknown encoding": (LATIN.replace("latin-1", "latin9x"), r"source\.encoding"),
    "an encoding of no file": (LATIN.replace("latin-1", "rot13"), r"source\.encoding"),
    "an unknown zone": (LATIN + '\ntimezone = "Europe/Berln"', "did you mean 'Europe/Berlin'"),
    "a format of no other row": (
        LATIN.replace("%d/%m/%Y", "%m/%d/%Y"), r"source\.order: order cannot be computed for every row.*try_strptime"
    ),
    "bins that overlap": (LATIN.replace("[0, 1.5]", "[0, 2]"), "there is an overlap between"),
    "a number in no bin": (LATIN.replace("inf", "1200"), r"a number in .* that lies in no bin"),
    "a short row": (LATIN, "lines of the file do not have the same columns", latin(rows()) + b"\r\nNord;1"),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_spends_nothing_and_tells_nothing(tmp_path: Path, name: str) -> None:
    keys, words, *content = REFUSED[name]
    where = write(tmp_path, *(content or [latin(rows())]), keys)
    Ledger.open(tmp_path / "ledger.db")
    refusal = refused(where)
    assert re.search(words, str(refusal))
    assert isinstance(refusal, SpecError) or refusal.place.startswith("source")
    assert not re.search(r"999|1234|0,50|Nord|Süd|31[/.]12", str(refusal)), refusal


@pytest.mark.slow
def test_rows_that_a_condition_leaves_out(tmp_path: Path) -> None:
    content = latin([*rows(), ("", datetime(2026, 1, 5), 0.0)])
    with pytest.raises(TakifuguError, match=r'source\.unit: row 61: nothing in "Station"'):
        answer(write(tmp_path, content, LATIN))
    where = write(tmp_path, content, f"{LATIN}\nwhere = \"Station IS NOT NULL\"")
    assert answer(where) == expected(rows())
    assumptions = " ".join(map(str, tf.release_file(where).tables[0].certificate.assumptions))
    assert "are read in bins: 0 to below 1.5 as 'ruhig'; 1.5 to below 1000 as 'mäßig'; " in assumptions


@pytest.mark.slow
def test_a_release_file_with_a_mark_and_a_path_of_windows(tmp_path: Path) -> None:
    where = write(tmp_path, latin(rows()), LATIN)
    text = where.read_text(encoding="utf-8")
    where.write_bytes(text.encode("utf-8-sig"))
    assert answer(where) == expected(rows())
    for path in (r"C:\Users\data.csv", r"C:\temp\new.csv", r"data\new.csv", r"\\server\share\x.csv"):
        where.write_text(text.replace('"data.csv"', f'"{path}"'), encoding="utf-8")
        assert "single quotes" in str(refusal_of(where))
    for path in ("'data.csv'", '"data.csv"'):
        where.write_text(text.replace('"data.csv"', path), encoding="utf-8")
        assert answer(where) == expected(rows())



def test_a_table_of_people_with_bins_for_columns(tmp_path: Path) -> None:
    spec = release_text(
        read_from("people", "data.csv", unit="Wer", where="Wer IS NOT NULL",
                  bins={"Alter": {"jung": [0, 30], "alt": [30, 120]}}),
        believe("joint-table", source="assumed", columns=["Alter", "raucht"],
                rows=[["jung", "ja"], ["jung", "nein"], ["alt", "ja"], ["alt", "nein"]],
                probabilities=[0.25, 0.25, 0.25, 0.25], units_independent=True),
        hide(attribute="raucht"),
        publish("activity", "identity", attribute="Alter", codes={"jung": 0, "alt": 1}, epsilon=1,
                mechanism="group-dp"),
        expect=EXPECT,
    )  # fmt: skip
    where = write(tmp_path, b"Wer,Alter,raucht\na,29.5,ja\nb,30,nein\n,31,ja\n,,\n", "", spec)
    file = load(where)
    assert [unit.data["Alter"] for unit in file.kind.units(file)] == ["jung", "alt"]
    where.write_text(where.read_text().replace("[30, 120]", "[31, 120]"))
    assert "source.bins.Alter: there is a gap" in str(refusal_of(where))


POLICY = release_text(
    read_from("infected", "visits.csv") + "\n{keys}",
    believe("asymmetric") + "\n{belief}",
    hide(visits="all"),
    publish("safe", "safe", at_most=3, epsilon=1),
)
POPULATIONS = release_text(
    section("[source]", name="checkins", rows_per_person=9) + "\n{keys}",
    believe("populations", source="a survey of other people") + "\n{belief}",
    publish("places", "each-value", epsilon=1),
)


def units(folder: Path, spec: str, keys: str, belief: str, rows: str, public: str = "") -> Any:
    (folder / "visits.csv").write_bytes(rows.encode("cp1252"))
    (folder / "public.csv").write_bytes(public.encode("cp1252"))
    file = load(put(folder, {"release.toml": spec.replace("{keys}", keys).replace("{belief}", belief)}))
    plan.plan(file)
    return file.kind.units(file)


def test_visits_and_a_public_list_of_places_in_windows_characters(tmp_path: Path) -> None:
    keys = 'encoding = "cp1252"\nunit = "wer"\nvalue = "wo"'
    rows = "wer|wo\nJörg|Café\nJörg|Bäckerei\nÖzil|Café\n"
    (unit,) = units(
        tmp_path, POLICY, keys, 'places = { file = "public.csv", column = "Ort", encoding = "cp1252" }', rows,
        "Ort|x\nCafé|a\nBäckerei|b\n",
    )  # fmt: skip
    assert unit.data[0].tolist() == [1, 2]
    read = "read_csv('public.csv', delim = ';', encoding = 'cp1252', all_varchar = true)"
    other = f'places = {{ file = "from {read}", column = "Ort" }}'
    (unit,) = units(tmp_path, POLICY, keys, other, rows, "Ort;x\nBäckerei;1\nCafé;2\n")
    assert unit.data[0].tolist() == [1, 2]


@pytest.mark.mutants
def test_places_of_people_by_decimal_commas(tmp_path: Path) -> None:
    numbers = [f"replace(replace({name}, '.', ''), ',', '.')" for name in "xy"]
    private = "columns = {'x': 'VARCHAR', 'y': 'VARCHAR'}, header = false, encoding = 'cp1252'"
    keys = f"sql = \"from read_csv('visits.csv', delim = '|', {private})\"\nvalue = {json.dumps(numbers)}"
    box = 'box = { first = [0, 2000], second = [0, 2], cells = [2, 2] }\nreference = { file = "'
    named = ", ".join(f"'{name}': 'VARCHAR'" for name in ("wo", "x", "y"))
    read = f"from read_csv('public.csv', delim = '|', header = false, columns = {{{named}}})"
    survey = "daheim|0,5|1,5\nunterwegs|1.999,5|0,5\n"
    columns = 'population = "wo", value = ["x", "y"], smoothing = 1 }'
    of_survey = ", ".join(f"{number} as {name}" for number, name in zip(numbers, "xy", strict=True))
    reference = f'select wo, {of_survey} {read}", {columns}'
    rows = "1.500,5|0,5\n12,25|1,75\n"
    (unit,) = units(tmp_path, POPULATIONS, keys, box + reference, rows, survey)
    assert np.asarray(unit.data.codes).tolist() == [1, 2]
    plain = f'public.csv", {columns}'
    (unit,) = units(tmp_path, POPULATIONS, keys, box + plain, rows, "wo;x;y\ndaheim;0.5;1.5\nunterwegs;1999.5;0.5\n")
    assert np.asarray(unit.data.codes).tolist() == [1, 2]
    with pytest.raises(TakifuguError, match="row 1: column 'x' has texts that are no numbers"):
        units(tmp_path, POPULATIONS, keys.partition("value")[0] + 'value = ["x", "y"]', box + reference, rows, survey)


def test_the_public_file_is_recognised_as_the_private_one_however_it_is_written(tmp_path: Path) -> None:
    keys = 'encoding = "cp1252"\nunit = "wer"\nvalue = "wo"'
    places = 'places = { file = "public.csv", column = "wo", encoding = "cp1252" }'
    with pytest.raises(SpecError, match="has the rows of the private data"):
        units(tmp_path, POLICY, keys, places, "wer|wo\nJörg|Café\nÖzil|Bar\n", "wer;wo\nx;Café\ny;Bar\n")
