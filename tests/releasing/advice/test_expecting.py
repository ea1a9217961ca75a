"""[expect] stands in for the means of the belief; what contradicts the table is refused at its key."""

from pathlib import Path

import pytest
from tests.releasing.advice.test_advice import UNITS, of_units

import takifugu as tf
from takifugu.core.errors import SpecError, TakifuguError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.identity import keys_of

SOURCE = 'source = "the survey of last year"\n'


def with_expect(folder: Path, keys: str, per: str = "pooled") -> Path:
    path = of_units(folder)
    text = UNITS.replace('per = "unit"', f'per = "{per}"')
    path.write_text(f"{text}\n[expect]\n{SOURCE}{keys}\n")
    return path


def cells(path: Path) -> tuple[float, ...]:
    (table,) = tf.advise(path).tables
    assert table.worth is not None
    assert table.worth.expectation.cells is not None
    return table.worth.expectation.cells


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("values = { off = 700, on = 140 }", (700, 140)),
        ("shares = { off = 0.75, on = 0.25 }", (630, 210)),  # of 5 units with 168 hours
        ("shares = { off = 0.75, on = 0.25 }\npeople = 2\nrows = 100", (150, 50)),
        ("people = 2\nrows = 120", (160, 80)),  # the belief: on for a third of the time
        ("matters = 3", (560, 280)),
    ],
)
def test_what_is_expected_of_a_pooled_table(keys: str, expected: tuple[float, ...], tmp_path: Path) -> None:
    assert cells(with_expect(tmp_path, keys)) == pytest.approx(expected)


def test_of_a_table_of_units_the_rows_of_one_count(tmp_path: Path) -> None:
    assert cells(with_expect(tmp_path, "people = 2\nrows = 84", per="unit")) == pytest.approx((56, 28))


def test_what_matters_decides(tmp_path: Path) -> None:
    (table,) = tf.advise(with_expect(tmp_path, "matters = 1000")).tables
    assert table.worth is not None
    assert (table.worth.matters, str(table.worth.verdict)) == (1000, "good")
    assert table.to_dict()["expected_from"].startswith("the means of")


def test_a_table_has_its_own(tmp_path: Path) -> None:
    path = with_expect(tmp_path, "matters = 1000")
    text = path.read_text().replace("to = 168\n", f"to = 168\n[release.expect]\n{SOURCE}matters = 2\n")
    path.write_text(text)
    (table,) = tf.advise(path).tables
    assert table.worth is not None
    assert table.worth.matters == 2


def test_without_means_what_matters_is_enough(tmp_path: Path) -> None:
    path = with_expect(tmp_path, "matters = 40")
    path.write_text(path.read_text().replace('source = "assumed"\n', 'source = "assumed"\ninitial = "any"\n'))
    (table,) = tf.advise(path).tables
    assert table.worth is not None
    assert table.worth.expectation.cells is None
    assert "40" in table.sentence
    path.write_text(path.read_text().replace("matters = 40", "people = 2"))
    assert tf.advise(path).tables[0].worth is None


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("shares = { off = 0.75, on = 0.5 }", "sum to 1.25"),
        ("shares = { off = 1.5, on = -0.5 }", "shares are at least 0"),
        ("shares = { off = 1.0 }", "has no number for 'on'"),
        ("values = { off = 1, on = 2, away = 3 }", "names 'away', which is no cell"),
        ("values = 3", "is one number, and the table has 2 cells"),
        ("values = { off = 1, on = 2 }\nshares = { off = 0.5, on = 0.5 }", "has shares and values"),
        ("values = { off = 841, on = 2 }", "841 in 'off' is not from 0 to 840"),
        ("values = { off = 5, on = -1 }", "-1 in 'on' is not from 0"),
        ("values = { off = 800, on = 60 }", "860 in all cells are more than the 840 rows"),
        ("matters = 0", "it must be above 0"),
        ("rows = 200", "are more than the 840 rows"),
        ("people = 6", "are more than the 840 rows"),
        ("people = 0", "people"),
        ("nothing = 1", "nothing"),
    ],
)
def test_what_contradicts_the_table_is_refused(keys: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(TakifuguError) as caught:
        tf.advise(with_expect(tmp_path, keys))
    assert words in str(caught.value)
    assert "expect" in str(caught.value)
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("source", ["", 'source = "estimated from the private data"'])
def test_it_needs_a_public_source(source: str, tmp_path: Path) -> None:
    path = with_expect(tmp_path, "matters = 3")
    path.write_text(path.read_text().replace(SOURCE, f"{source}\n"))
    with pytest.raises(SpecError, match=r"expect.source"):
        tf.advise(path)


def test_it_is_no_part_of_what_is_released(tmp_path: Path) -> None:
    plain, expecting = tmp_path / "a", tmp_path / "b"
    plain.mkdir()
    expecting.mkdir()
    files = [load(with_expect(plain, "matters = 3")), load(with_expect(expecting, "people = 2"))]
    assert len({keys_of(file, file.items[0]) for file in files}) == 1


def test_a_mean_needs_what_matters(tmp_path: Path) -> None:
    path = with_expect(tmp_path, "people = 2")
    mean = 'query = "mean"\ncodes = { off = 0, on = 1 }'
    text = path.read_text().replace('query = "histogram"', mean)
    path.write_text(text.replace("budget = 8", 'budget = 8\ngaps = "public"'))
    (table,) = tf.advise(path).tables
    assert table.worth is None
    assert "matters" in table.sentence
    path.write_text(path.read_text().replace("people = 2", "people = 2\nmatters = 0.25"))
    (table,) = tf.advise(path).tables
    assert table.worth is not None
    assert table.worth.expectation.cells == pytest.approx((1 / 3,))
