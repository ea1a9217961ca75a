"""One person, one name; times, signs and classes of numbers: as declared, the same on every engine."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import narwhals.stable.v2 as nw
import pandas
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.engines import ENGINES, IN_ROWS, Columns, entries, write_csv, write_parquet
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import DataError, InputError, SpecError
from takifugu.data import (
    UNKNOWN,
    UNOBSERVED,
    Bounded,
    Classes,
    Layout,
    Numerals,
    Recode,
    TimeFormat,
    meant,
    open_frame,
    pieces,
    tally,
    text_of,
    totals,
)
from takifugu.data.engines.differences import collected, settled
from takifugu.data.rows.order import with_ticks
from takifugu.data.times.clock import Clock
from takifugu.releasing.file.loading import load

READERS = (*ENGINES, "csv by duckdb", "parquet by duckdb", "parquet by pyarrow")
STATES = Recode(("still", "walking"))
#: Spellings of one name: decomposed, and with a blank that only Unicode calls so, of zero width, doubled.
SPELLINGS = ["Jos\u0301e\u0301 Luis", "Jośé\u00a0Luis", "Jośé\u200b Luis", "Jośé  Luis", "\ufeffJośé Luis\u2003"]
NAME = "Jośé Luis"
BY_PERSON = Layout("state", unit="person", order="at")
STEP_BY_STEP = replace(BY_PERSON, step=1)
CHAIN = tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 3, states=["still", "walking"])


def columns(names: list[Any], kind: str = "text") -> Columns:
    """Return two rows of each of some people."""
    return {
        "person": (kind, [name for name in names for _ in range(2)]),
        "state": ("text", ["still", "walking"] * len(names)),
        "at": ("int", list(range(2 * len(names)))),
    }


def units(data: Any, layout: Layout = BY_PERSON) -> list[str | None]:
    return [piece.unit for piece in pieces(open_frame(data), layout, STATES)]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def open_by(reader: str, made: Columns) -> Any:
        only = reader.rpartition(" by ")[2]
        if reader in ENGINES:
            return open_frame(ENGINES[reader](made))
        write = write_csv if reader.startswith("csv") else write_parquet
        monkeypatch.setattr("takifugu.data.files.formats.find_spec", lambda name: name == only or None)
        return open_frame(write(tmp_path / f"{reader.replace(' ', '-')}.{reader.split()[0]}", made))

    return open_by


@pytest.mark.parametrize("key", ["unit", "person"])
@pytest.mark.parametrize("name", ["Total", "Summe:", "grand total", "To\u200btal"])
def test_names_of_people_keep_one_rule_wherever_they_are_written(name: str, key: str) -> None:
    with pytest.raises(DataError, match="column 'who' has a name of totals"):
        meant([("Ana", 0), (name, 1)], "who", key)
    with pytest.raises(DataError, match="zeros or a plus in front of a number"):
        meant([("7", 0), ("007", 1)], "who", key)
    assert meant([(name, 0)], "who", "piece").keys() == {name}  # what a piece is called tells of nobody


@pytest.mark.sampled(13)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_engine_calls_a_unit_by_its_one_name(opened: Any, reader: str, spelling: str) -> None:
    table = opened(reader, columns(["Ana", spelling]))
    recorded = pieces(table, BY_PERSON, STATES)
    assert [(piece.unit, piece.counts.tolist()) for piece in recorded] == [("Ana", [1, 1]), (NAME, [1, 1])]
    assert recorded[1].written == spelling.strip(" \t")
    assert [one.unit for one in entries(table, BY_PERSON, STATES)] == ["Ana", NAME]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("spelling", SPELLINGS[:2])
def test_every_engine_refuses_two_spellings_by_row(opened: Any, reader: str, spelling: str) -> None:
    with pytest.raises(DataError, match="a person is written in two ways") as refused:
        units(opened(reader, columns(["Ana", NAME, spelling])))
    assert "Luis" not in str(refused.value)
    in_rows = " in rows 3 and 5 (counted from 1 below the header)" in str(refused.value)
    assert in_rows == (reader in IN_ROWS or reader not in ENGINES)


#: Names that no reader takes, and what is said: R writes a table's 100000 as 1e+05, Java 12345678.0 as 1.2345678E7, and
#: Parquet files have the whole number.
NOBODY = {
    "An\u202ea": "holds a control character", "\u200b": "no character that can be seen",
    **dict.fromkeys(("1e+05", "1.2345678E7", "+1.e5", "-1.5e+10"),
                    r"column 'person': a person .*is a number with an exponent"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reader", READERS)
def test_every_engine_refuses_a_control_and_an_exponent_in_a_name(opened: Any, reader: str) -> None:
    for name, said in NOBODY.items():
        with pytest.raises(DataError, match=said) as refused:
            units(opened(reader, columns(["99999", name])))
        assert "An" not in str(refused.value)
    assert units(opened(reader, columns(["3e8", "a1e+05"]))) == ["3e8", "a1e+05"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "names", "said"), [
    ("bool", [True, False], "true and false"), ("float", [1.0, 2.0**53 + 2], "numbers of 16 digits and more"),
    ("time", [datetime(2026, 1, 5), datetime(2026, 1, 5, 10)], "times"),
    ("float", [1.0, 1.5], "numbers with a fraction"),
    ("decimal", [Decimal("1.00"), Decimal("1.5")], "numbers with a fraction"),
])  # fmt: skip
def test_what_a_file_spells_in_several_ways_names_nobody(engine: str, kind: str, names: list[Any], said: str) -> None:
    """A file of texts has true, 12345678901234567, 10:00 and 1.50, who would have a second budget."""
    for layout in (BY_PERSON, STEP_BY_STEP, replace(STEP_BY_STEP, gaps="public")):
        with pytest.raises(DataError, match=f"column 'person' has {said}.* as names") as refused:
            units(ENGINES[engine](columns(names, kind)), layout)
        assert str(names[1]) not in refused.value.what


def test_a_number_of_64_bits_is_not_called_by_a_negative_one() -> None:
    """Half of all hashes of 64 bits had another name, and budget, in pandas than in a file."""
    frame = pandas.DataFrame({"state": ["still"] * 2, "at": [0, 1]})
    with pytest.raises(DataError, match="a column holds whole numbers from 2\\^63 on"):
        units(frame.assign(person=pandas.array([2**63 + 5] * 2, dtype="uint64")))
    assert units(frame.assign(person=pandas.array([2**63 - 1] * 2, dtype="uint64"))) == ["9223372036854775807"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_whole_numbers_of_many_digits_and_dates_are_names(engine: str) -> None:
    for kind, value, names in (
        ("int", 12345678901234567, ["12345678901234567"]), ("time", datetime(2026, 1, 5), ["2026-01-05"]),
        ("float", 1.0, ["1"]), ("decimal", Decimal("1.00"), ["1", "1.00"]),
    ):  # fmt: skip
        made = {**columns(["", ""]), "person": (kind, [value] * 4)}
        for layout in (BY_PERSON, replace(STEP_BY_STEP, gaps="public")):
            (name,) = units(ENGINES[engine](made), layout)
            assert name in names


def test_two_spellings_of_a_piece_are_refused_inside_one_unit_only() -> None:
    frame = polars.DataFrame({"who": ["a", "b", "b"], "run": ["1\u00a0a", "1 a", "1\u00a0a"], "state": ["still"] * 3})
    layout = Layout("state", unit="who", piece="run")
    with pytest.raises(DataError, match="a recording is written in two ways in rows 2 and 3"):
        pieces(open_frame(frame), layout, STATES)
    recorded = pieces(open_frame(frame.head(2)), layout, STATES)
    assert [(piece.unit, piece.piece) for piece in recorded] == [("a", "1 a"), ("b", "1 a")]


def test_zeros_in_front_make_another_piece_but_no_other_person() -> None:
    frame = polars.DataFrame({"who": ["a", "a", "b"], "run": ["01", "1", "1"], "state": ["still"] * 3})
    recorded = pieces(open_frame(frame), Layout("state", unit="who", piece="run"), STATES)
    assert sorted((piece.unit, piece.piece) for piece in recorded) == [("a", "01"), ("a", "1"), ("b", "1")]
    with pytest.raises(DataError, match="a person is written in two ways"):
        pieces(open_frame(frame), Layout("state", unit="run"), STATES)


def test_row_numbers_say_what_they_leave_out() -> None:
    frame = polars.DataFrame({"who": ["a", None, "é", "e\u0301"], "state": ["still"] * 4})
    with pytest.raises(DataError, match=r"in rows 2 and 3 .counted from 1 below the header, without the rows that are"):
        pieces(open_frame(frame), Layout("state", unit="who", null_keys="drop"), STATES)


SPEC = release_text(
    read_from("{source}", "data.csv", unit="who", order="t", step=1, value="state", budget=10),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True),
    publish("time-use", "histogram", epsilon=1, per="unit", mechanism="group"),
    expect=EXPECT,
)


def write(folder: Path, names: list[str], source: str = "study") -> Path:
    rows = [f"{name},{t},{state}" for name in names for t, state in enumerate(("still", "walking", "walking"))]
    (folder / "data.csv").write_text("\n".join(["who,t,state", *rows]) + "\n", encoding="utf-8")
    path = folder / "release.toml"
    path.write_text(SPEC.format(source=source), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_release_file_names_one_account(tmp_path: Path) -> None:
    def spent(names: list[str]) -> Fraction:
        folder = Path(mkdtemp(dir=tmp_path))
        for number, name in enumerate(names):
            anew = {"again": "time-use", "once": f"key {number}"} if number else {}
            (table,) = tf.release_file(write(folder, ["Ana", name]), anyway=True, **anew).tables
            assert [unit for unit, _ in table.releases] == ["Ana", NAME]
            assert NAME in table.certificate.text()
        return Ledger.open(folder / "ledger.db").spent("study").spent.epsilon

    assert spent([NAME, *SPELLINGS]) == spent([NAME] * 6) > spent([NAME])


def test_a_number_read_by_another_program_has_no_second_budget(tmp_path: Path) -> None:
    """In the CSV file she is 007, in a frame that was read from it 7."""
    path = write(tmp_path, ["007", "12"])
    (table,) = tf.release_file(path, anyway=True).tables
    assert [unit for unit, _ in table.releases] == ["007", "12"]
    again = {"output": tmp_path / "again", "once": "again"}
    tf.release_file(path, pandas.read_csv(tmp_path / "data.csv"), **again, anyway=True, same_entries=True)
    first, second = Ledger.open(tmp_path / "ledger.db").spent("study").units
    assert first.spent.epsilon == second.spent.epsilon > 1
    with pytest.raises(DataError, match=r"written in two ways in rows 1 and 4 .*zeros or a plus in front"):
        tf.release_file(write(Path(mkdtemp(dir=tmp_path)), ["007", "7"]), anyway=True)


def test_the_library_names_one_account(tmp_path: Path) -> None:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("still"), 1, mechanism="group")

    def spent(names: list[str]) -> list[Fraction]:
        where, costs = Path(mkdtemp(dir=tmp_path)) / "own.db", []
        for name in names:
            made = tf.release(calibration, ["still"] * 3, ledger=where, unit=name, budget=10)
            assert made.certificate.to_dict()["units"] == [NAME]
            costs.append(Ledger.open(where).spent("data").spent.epsilon)
        return costs

    one_by_one = spent([*SPELLINGS, f" {NAME} "])
    assert one_by_one == spent([NAME] * 6)
    assert one_by_one[-1] > one_by_one[0]


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u2003", "a\x1b[2Jb", "a\u202eb", 7])
def test_the_library_refuses_what_is_no_name(tmp_path: Path, name: Any) -> None:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("still"), 1, mechanism="group")
    for options, what in (({"unit": name}, "the person's name"), ({"source": name}, "the source")):
        with pytest.raises(InputError, match=what):
            tf.release(calibration, ["still"] * 3, ledger=tmp_path / "ledger.db", **{"unit": "a", **options})
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("name", [" ", "\\u200b", "a\\u001bb", "a\\u202eb"])
def test_a_release_file_refuses_what_is_no_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError, match=r"source\.name: "):
        load(write(tmp_path, ["Ana"], source=name))


def test_two_spellings_in_a_release_file_are_named_by_their_key(tmp_path: Path) -> None:
    path = write(tmp_path, [NAME, SPELLINGS[0]])
    with pytest.raises(DataError, match=r"source\.unit: column 'who': a person is written in two ways in rows"):
        tf.release_file(path)
    assert not (tmp_path / "ledger.db").exists()


RECORDS = release_text(
    read_from("cases", "data.csv", unit="who", budget=10),
    believe("joint-table", source="assumed", units_independent=True, columns=["flu"], rows=[["yes"], ["no"]],
            probabilities=[0.2, 0.8]),
    publish("flu", "count", states=["yes"], epsilon=1), expect=EXPECT,
)  # fmt: skip


def test_records_have_one_name_a_unit(tmp_path: Path) -> None:
    path = tmp_path / "records.toml"
    path.write_text(RECORDS, encoding="utf-8")
    table = tmp_path / "data.csv"
    table.write_text(f"who,flu\nAna,no\n{SPELLINGS[1]},yes\n", encoding="utf-8")
    (published,) = tf.release_file(path).tables
    assert [unit for unit, _ in published.releases] == ["Ana", NAME]
    table.write_text(f"who,flu\n{NAME},no\n{SPELLINGS[1]},yes\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"source\.unit: column 'who': a person is written in two ways in rows 1 and 2"):
        tf.release_file(path, again="flu", once="K")


# Declared formats of times, signs of numbers and inexact clocks: the same on every engine, and as Python has them.


START = datetime(1970, 1, 1, tzinfo=UTC)
FORMATS = [
    "%d/%m/%Y %H:%M", "%d.%m.%y", "%m/%d/%Y %I:%M:%S %p", "%Y%m%d%H%M%S", "%Y-%m-%dT%H:%M:%S.%f", "[%d]^%m|%Y*%H",
    "%d-%b-%Y %H:%M", "%d%b%Y:%H:%M:%S", "%b %d, %Y",
]  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(FORMATS),
    st.lists(st.datetimes(datetime(1969, 1, 1), datetime(2068, 12, 31)), min_size=1, max_size=9),
    st.booleans(), st.data(),
)  # fmt: skip
def test_times_are_read_as_strptime_reads_them(
    form: str, moments: list[datetime], short: bool, data: st.DataObject
) -> None:
    texts = [moment.strftime(form) for moment in moments]
    if short and form.startswith("%d/"):  # a leading zero may be missing
        texts = [text.removeprefix("0").replace("/0", "/") for text in texts]
    if short and "%b" in form:  # a month's name may be written in capitals
        texts = [text.upper() for text in texts]
    expected = [datetime.strptime(text, form).replace(tzinfo=UTC) for text in texts]
    assert [TimeFormat(form).read(text) for text in texts] == [moment.replace(tzinfo=None) for moment in expected]
    ticks = [(moment - START) // (datetime.resolution) for moment in expected]
    for engine in data.draw(st.permutations(sorted(ENGINES)))[:2]:
        given_texts = [*texts, "31/02/2025 1", None]
        table = open_frame(ENGINES[engine]({"t": ("text", given_texts), "i": ("int", [*range(len(given_texts))])}))
        frame, _, _ = with_ticks(
            table.pick({"tick": "t", "i": "i"}), "t", None, nw.Datetime("us"), True, Clock(TimeFormat(form))
        )
        rows = sorted(collected(settled(frame.select("i", "tick"), ["tick"])))
        assert [tick for _, tick in rows[:-2]] == ticks, engine
        assert [text_of(tick) for _, tick in rows[-2:]] == [None, None]


@pytest.mark.parametrize("signs", [(",", "."), (",", " "), (".", ","), (".", "'"), (",", ""), (".", "")])
def test_numbers_are_read_alike_and_by_one_convention_only(signs: tuple[str, str]) -> None:
    numerals = Numerals(*signs)
    decimal, thousands = signs
    values = [Fraction(-1234567, 100), Fraction(5, 10), Fraction(999), Fraction(1000), Fraction(12345678)]
    texts = [f"{float(value):,.2f}".translate({44: thousands, 46: decimal}) for value in values]
    assert [Fraction(numerals.plain(text)) for text in texts] == values
    other = "1.5" if decimal == "," else "1,5"
    odd = [f"1{thousands or ';'}23{decimal}4", f"1{decimal}2{decimal}3", other, "n/a", "inf"]
    assert not any(numerals.plain(text).replace(".", "", 1).isdigit() for text in odd)
    for engine, make in ENGINES.items():
        frame = open_frame(make({"x": ("text", [*texts, *odd, None])})).pick({"x": "x"})
        numbers = [row[0] for row in collected(frame.select(x=numerals.plain_in_engine(nw.col("x"))))]
        assert numbers[:-1] == [numerals.plain(text) for text in [*texts, *odd]], engine
        assert text_of(numbers[-1]) is None


@settings(max_examples=200)
@given(st.integers(-(2**55), 2**55), st.integers(1, 10**11), st.integers(1, 12))
def test_clocks_are_rounded_to_the_nearest_part_of_a_step(tick: int, step: int, parts: int) -> None:
    rule = Clock(parts=parts).rounding(step)
    exact = Fraction(tick * parts, step)  # in parts
    nearest = (exact + Fraction(1, 2)).__floor__()
    assert Fraction(rule.of(tick) * parts, rule.step) == nearest


# Numbers in classes and strict bounds: the same on every engine, whatever is missing, infinite or no number.


NAN, INF = float("nan"), float("inf")
ENDS = Classes([0, "0.1", 7])
ROWS: Columns = {
    "x.y": ("float", [-1.0, 0.0, -0.0, 0.1, 6.999, 7.0, NAN, None, INF, -INF, 1e308]),
    'g "1"': ("text", ["a", "b", "a", "a", "b", "a", "a", "b", "a", "a", " a"]),
}


def by_hand(value: float | None, ends: list[float], missing: int) -> int:
    if value is None or value != value or value in (INF, -INF):
        return missing
    return next((place for place, end in enumerate(ends) if value < end), len(ends))


@pytest.mark.parametrize("missing", [UNOBSERVED, 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_puts_numbers_into_the_same_classes(engine: str, missing: int) -> None:
    tallied = tally(open_frame(ENGINES[engine](ROWS)), {"x.y": Classes(ENDS.ends, missing), 'g "1"': {"a": 0, "b": 1}})
    values, groups = (column for _, column in ROWS.values())
    codes = [by_hand(value, [0.0, 0.1, 7.0], missing) for value in values]
    assert tallied == Counter(zip(codes, ({"a": 0, "b": 1}[g.strip()] for g in groups), strict=True))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "values", "codes"), [
    ("text", ["0.1", " 7 ", "1e1", "nan", "-Inf", "many", "", None], [2, 3, 3, -1, -1, UNKNOWN, -1, -1]),
    ("int", [0, 7, None, -3], [1, 3, -1, 0]),
    ("bool", [True, False, None, True], [2, 1, -1, 2]),
])  # fmt: skip
def test_kinds_of_numbers(engine: str, kind: str, values: list[Any], codes: list[int]) -> None:
    data = open_frame(ENGINES[engine]({"n": (kind, values)}))
    assert tally(data, {"n": ENDS}) == {(code,): times for code, times in Counter(codes).items()}


@settings(max_examples=25)
@given(
    st.lists(st.one_of(st.none(), st.floats(), st.sampled_from([0.1, 0.3, 2.5, -0.0])), min_size=1, max_size=9),
    st.lists(st.one_of(st.floats(-5, 5), st.sampled_from([0.1, 0.3, 2.5])), min_size=1, max_size=4, unique=True),
)
def test_engines_agree_with_plain_words(values: list[float | None], ends: list[float]) -> None:
    known = {"n": Classes(sorted(ends))}
    plain = Counter((by_hand(value, sorted(ends), UNOBSERVED),) for value in values)
    for engine in ("pandas", "polars lazy", "pyarrow", "duckdb"):
        assert tally(open_frame(ENGINES[engine]({"n": ("float", values)})), known) == plain


def test_csv_files(tmp_path: Path, reader: str) -> None:
    file = write_csv(tmp_path / "d.csv", {"n": ("text", ["0.1", "7", "nan", "many", ""])})
    assert tally(open_frame(file), {"n": ENDS}) == {(2,): 1, (3,): 1, (-1,): 2, (UNKNOWN,): 1}
    for values, words in (("3\nSENTINEL", "no numbers"), ("3\nnan", "missing or not finite"), ("3\n11", "outside")):
        (tmp_path / "e.csv").write_text(f"n\n{values}\n")
        with pytest.raises(DataError, match=words) as caught:
            totals(open_frame(tmp_path / "e.csv"), [Bounded("n", 0, 10, 1, missing=None, clips=False)])
        assert "SENTINEL" not in str(caught.value)
        assert "11" not in str(caught.value)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("values", "words"),
    [([3.0, 10.0, 0.0], ""), ([3.0, None], "missing"), ([NAN], "missing"), ([-INF, 11.0], "missing"),
     ([10.5], "outside"), ([-1e-9, 4.0], "outside")],
)  # fmt: skip
def test_strict_bounds_refuse(engine: str, values: list[float | None], words: str) -> None:
    data = open_frame(ENGINES[engine]({"n": ("float", values)}))
    strict = Bounded("n", 0, 10, "0.5", missing=None, clips=False)
    if not words:
        assert totals(data, [strict])[0].sums.tolist() == [26]
        return
    with pytest.raises(DataError, match=words):
        totals(data, [strict])
    assert totals(data, [Bounded("n", 0, 10, "0.5", missing=1)])[0].rows == len(values)


@pytest.mark.parametrize("ends", [[], [1, 1], [2, 1], [1, "1.00000000000000000001"]])
def test_ends_rise(ends: list[Any]) -> None:
    with pytest.raises(InputError, match="ends"):
        Classes(ends)
