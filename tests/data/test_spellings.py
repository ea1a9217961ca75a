"""One person, one name, and the ends of classes of numbers."""

from fractions import Fraction
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import DataError, InputError, SpecError
from takifugu.data import Classes, meant
from takifugu.releasing.file.loading import load

#: Spellings of one name: decomposed, and with a blank that only Unicode calls so, of zero width, doubled, invisible.
SPELLINGS = ["Jos\u0301e\u0301 Luis", "Jośé\u00a0Luis", "Jośé\u200b Luis", "Jośé  Luis", "Jośé\ufeff Luis"]
NAME = "Jośé Luis"
CHAIN = tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 3, states=["still", "walking"])


@pytest.mark.parametrize("key", ["unit", "person"])
@pytest.mark.parametrize("name", ["Total", "Summe:", "grand total", "To\u200btal"])
def test_names_of_people_keep_one_rule_wherever_they_are_written(name: str, key: str) -> None:
    with pytest.raises(DataError, match="column 'who' has a name of totals"):
        meant([("Ana", 0), (name, 1)], "who", key)
    with pytest.raises(DataError, match="zeros or a plus in front of a number"):
        meant([("7", 0), ("007", 1)], "who", key)
    assert meant([(name, 0)], "who", "piece").keys() == {name}  # what a piece is called tells of nobody


NAMES = ["a", "Ana", "0", "00", "7", "07", "Total", "a\nb", "1\n", "é", "1e05", "1e+05"]


@given(names=st.lists(st.sampled_from(NAMES), max_size=4), what=st.sampled_from(["unit", "recording"]))
def test_plain_names_mean_what_each_of_them_does(names: list[str], what: str) -> None:
    """A name with a blank behind it has the rules of one with signs, and the same meaning."""
    def outcome(written: list[str]) -> object:
        try:
            meaning = meant([(name, None) for name in written], "who", what)
            return [meaning[name] for name in written]
        except DataError as error:
            return str(error)

    assert outcome(names) == outcome([f"{name} " for name in names])


SPEC = release_text(
    read_from("{source}", "data.csv", unit="who", order="t", step=1, value="state", budget=10),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True),
    publish("time-use", "histogram", epsilon=1, per="unit", mechanism="group-dp"),
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
            anew = {"replace": "time-use", "idempotency_key": f"key {number}"} if number else {}
            (table,) = tf.release_file(write(folder, ["Ana", name]), allow_useless=True, **anew).tables
            assert [unit for unit, _ in table.releases] == ["Ana", NAME]
            assert NAME in table.certificate.text()
        return Ledger.open(folder / "ledger.db").spent("study").epsilon

    assert spent([NAME, *SPELLINGS]) == spent([NAME] * 6) > spent([NAME])


@pytest.mark.mutants
def test_a_number_read_by_another_program_has_no_second_budget(tmp_path: Path) -> None:
    """In the CSV file she is 007, in a frame that was read from it 7."""
    path = write(tmp_path, ["007", "12"])
    (table,) = tf.release_file(path, allow_useless=True).tables
    assert [unit for unit, _ in table.releases] == ["007", "12"]
    again = {"output": tmp_path / "again", "idempotency_key": "again"}
    tf.release_file(path, pandas.read_csv(tmp_path / "data.csv"), **again, allow_useless=True, same_entries="as read")
    first, second = (Ledger.open(tmp_path / "ledger.db").spent("study", unit) for unit in ("007", "12"))
    assert first.epsilon == second.epsilon > 1
    with pytest.raises(DataError, match=r"written in two ways in rows 1 and 4 .*zeros or a plus in front"):
        tf.release_file(write(Path(mkdtemp(dir=tmp_path)), ["007", "7"]), allow_useless=True)


@pytest.mark.mutants
def test_the_library_names_one_account(tmp_path: Path) -> None:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("still"), 1, mechanism="group-dp")

    def spent(names: list[str]) -> list[Fraction]:
        where, costs = Path(mkdtemp(dir=tmp_path)) / "own.db", []
        for name in names:
            made = tf.release(calibration, ["still"] * 3, entries="v", ledger=where, unit=name, budget=10)
            assert made.certificate.to_dict()["units"] == [NAME]
            costs.append(Ledger.open(where).spent("data").epsilon)
        return costs

    one_by_one = spent([*SPELLINGS, f" {NAME} "])
    assert one_by_one == spent([NAME] * 6)
    assert one_by_one[-1] > one_by_one[0]


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u2003", "a\x1b[2Jb", "a\u202eb", 7])
def test_the_library_refuses_what_is_no_name(tmp_path: Path, name: Any) -> None:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Count("still"), 1, mechanism="group-dp")
    for options, what in (({"unit": name}, "the person's name"), ({"source": name}, "the source")):
        with pytest.raises(InputError, match=what):
            tf.release(calibration, ["still"] * 3,
                entries="v", ledger=tmp_path / "ledger.db", **{"unit": "a", **options})  # fmt: skip
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
        tf.release_file(path, replace="flu", idempotency_key="K")


@pytest.mark.parametrize("ends", [[], [1, 1], [2, 1], [1, "1.00000000000000000001"]])
def test_ends_rise(ends: list[Any]) -> None:
    with pytest.raises(InputError, match="ends"):
        Classes(ends)
