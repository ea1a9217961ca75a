"""[expect] stands in for the means of the belief; what contradicts the table is refused at its key."""

from pathlib import Path

import pytest
from tests.releasing.advice.test_advice import ANY_START, GAPS, NO_CALENDAR, NORMAL, of_units
from tests.support.release_files import believe, hide, publish, read_from, release_text
from tests.support.releases import judged

import takifugu as tf
from takifugu.core.errors import InputError, SpecError, TakifuguError
from takifugu.releasing.advice.contradicting import refuse_impossible
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.identity import keys_of

SOURCE = 'source = "the survey of last year"\n'


def with_expect(folder: Path, keys: str, *changes: tuple[str, str], per: str = "pooled") -> Path:
    about = ('per = "unit"', f'per = "{per}"')
    return of_units(folder, about, *changes, more=f"\n[expect]\n{SOURCE}{keys}\n")


def cells(path: Path) -> tuple[float, ...]:
    """Return what is expected of the only table; nothing is looked for that would help."""
    (table,) = judged(path)
    assert table.worth.expectation.cells is not None
    return table.worth.expectation.cells


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("per", "keys", "expected"), [
    ("pooled", "values = { off = 700, on = 140 }", (700, 140)),
    ("pooled", "shares = { off = 0.75, on = 0.25 }", (630, 210)),  # of 5 units with 168 hours
    ("pooled", "shares = { off = 0.75, on = 0.25 }\npeople = 2\nrows = 100", (150, 50)),
    ("pooled", "people = 2\nrows = 120", (160, 80)),  # the belief: on for a third of the time
    ("pooled", "matters = 3", (560, 280)),
    ("unit", "people = 2\nrows = 84", (56, 28)),  # the rows of one count
])  # fmt: skip
def test_what_is_expected_of_a_table(per: str, keys: str, expected: tuple[float, ...], tmp_path: Path) -> None:
    assert cells(with_expect(tmp_path, keys, per=per)) == pytest.approx(expected)


@pytest.mark.parametrize(("keys", "per"), [
    ("shares = { off = 0.4, on = 0.6 }", "pooled"),  # a rough belief
    ("shares = { off = 0.0, on = 1.0 }", "unit"),  # the machine of one week may have stayed on
    ("values = { off = 30, on = 200 }", "pooled"),  # rows may be missing
])  # fmt: skip
def test_what_a_belief_makes_unlikely_only_is_no_contradiction(keys: str, per: str, tmp_path: Path) -> None:
    assert cells(with_expect(tmp_path, keys, per=per))


def test_several_beliefs_are_contradicted_only_by_what_is_unlikely_under_each() -> None:
    chains = [tf.MarkovChain(matrix, 840) for matrix in ([[0.95, 0.05], [0.1, 0.9]], [[0.1, 0.9], [0.05, 0.95]])]
    frameworks = [tf.Pufferfish(tf.every_entry(), about) for about in (chains, chains[:1])]
    both, one = (tf.calibrate(framework, tf.Histogram(), 1) for framework in frameworks)
    refuse_impossible(both, (0, 840), "values")
    with pytest.raises(InputError, match="840 is expected in '1', where the belief expects 280"):
        refuse_impossible(one, (0, 840), "values")


def test_what_matters_decides(tmp_path: Path) -> None:
    (table,) = judged(with_expect(tmp_path, "matters = 1000"))
    assert (table.worth.matters, str(table.worth.verdict)) == (1000, "rough")  # for its cells are noise
    assert table.to_dict()["expected_from"].startswith("the means of")


@pytest.mark.parametrize(("keys", "old", "new", "matters"), [
    ("matters = 1000", "to = 168\n", f"to = 168\n[table.expect]\n{SOURCE}matters = 2\n", 2),  # a table's own
    ('matters = "90 min"', "[expect]", 'measured_in = "hours"\n[expect]', 1.5),
])  # fmt: skip
def test_what_matters_of_a_table(keys: str, old: str, new: str, matters: float, tmp_path: Path) -> None:
    (table,) = judged(with_expect(tmp_path, keys, (old, new)))
    assert table.worth.matters == matters


@pytest.mark.mutants
def test_without_means_what_matters_is_enough(tmp_path: Path) -> None:
    (table,) = judged(with_expect(tmp_path, "matters = 40", ANY_START))
    assert table.worth.expectation.cells is None
    assert "40" in table.sentence
    assert judged(with_expect(tmp_path, "people = 2", ANY_START))[0].worth is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("keys", "words"), [
    ("shares = { off = 0.75, on = 0.5 }", "sum to 1.25"),
    ("shares = { off = 1.5, on = -0.5 }", "say -0.5 of 'on'; shares are at least 0"),
    ("shares = { off = 1.0 }", "has no number for 'on'"),
    ("values = { off = 1, on = 2, away = 3 }", "names 'away', which is no cell"),
    ("values = 3", "is one number, and the table has 2 cells"),
    ("values = { off = 1, on = 2 }\nshares = { off = 0.5, on = 0.5 }", "has shares and values"),
    ("values = { off = 841, on = 2 }", "841 in 'off' is not from 0 to 840"),
    ("values = { off = 5, on = -1 }", "-1 in 'on' is not from 0"),
    ("values = { off = 800, on = 60 }", "860 in all cells are more than the 840 rows"),
    ("matters = 0", "it must be above 0"),
    ("shares = { off = 0.0, on = 1.0 }", "840 is expected in 'on', where the belief expects 280: even 630 would"),
    ("values = { off = 0, on = 840 }", "a probability below 1e-9; see to the order of the states"),
    ("values = { off = 300, on = 70 }\npeople = 2", "370 in all cells are more than the 336 rows of"),
    ("values = { off = 9, on = 2 }\npeople = 5\nrows = 2", "11 in all cells are more than the 10 rows of"),
    ("values = { off = 1, on = 2 }\npeople = 6", "are more than the 840 rows"),
    ("rows = 200", "are more than the 840 rows"),
    ("people = 6", "are more than the 840 rows"),
    ("people = 0", "people"),
    ("nothing = 1", "nothing"),
    ("values = { off = nan, on = 10 }", r"expect\.values: what is expected in 'off' is nan"),
    ('matters = "2 h"', "'h' is nothing that the table use.*; a time needs a step that is one"),
])  # fmt: skip
def test_what_contradicts_the_table_is_refused(keys: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(TakifuguError, match=words) as caught:
        tf.advise(with_expect(tmp_path, keys))
    assert "expect" in str(caught.value)
    assert not (tmp_path / "ledger.db").exists()


def test_it_is_no_part_of_what_is_released(tmp_path: Path) -> None:
    files = [load(with_expect(tmp_path / keys[0], keys)) for keys in ("matters = 3", "people = 2")]
    assert len({keys_of(file, file.items[0]) for file in files}) == 1


def test_a_mean_needs_what_matters(tmp_path: Path) -> None:
    mean = ('query = "histogram"', 'query = "mean"\ncodes = { off = 0, on = 1 }')
    (table,) = judged(with_expect(tmp_path, "people = 2", mean, GAPS))
    assert table.worth is None
    assert "matters" in table.sentence
    (table,) = judged(with_expect(tmp_path, "people = 2\nmatters = 0.25", mean, GAPS))
    assert table.worth.expectation.cells == pytest.approx((1 / 3,))


#: No calendar, and so much epsilon that the table is worth reading.
STEPS_ALONE = (*NO_CALENDAR, ("epsilon = 0.2", "epsilon = 2"))


ABSORBING = (
    'states = ["off", "on"]\nmatrix = [[0.95, 0.05], [0.1, 0.9]]',
    'states = ["off", "on", "broken"]\nmatrix = [[0.98, 0.02, 0], [0.02, 0.98, 0], [0, 0, 1]]\ninitial = [0.5, 0.5, 0]',
)


@pytest.mark.slow
def test_a_chain_with_an_absorbing_state_and_a_given_start_has_means(tmp_path: Path) -> None:
    path = with_expect(tmp_path, "matters = 30", ABSORBING, *STEPS_ALONE)
    assert cells(path) == pytest.approx((420, 420, 0))
    tf.release_file(path, allow_useless=True)
    assert (tmp_path / "ledger.db").exists()


@pytest.mark.mutants
@pytest.mark.parametrize(
    "keys", ["shares = { off = 0.2, on = 0.2, broken = 0.6 }", "values = { off = 2, on = 2, broken = 1 }"]
)
def test_what_the_belief_makes_impossible_is_refused(keys: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="'broken', which the belief makes impossible"):
        tf.advise(with_expect(tmp_path, keys, ABSORBING, *STEPS_ALONE))


def test_more_people_than_the_data_have_are_refused_for_a_table_of_each(tmp_path: Path) -> None:
    path = with_expect(tmp_path, "people = 6\nrows = 10", per="unit")
    with pytest.raises(SpecError, match=r"expect.people: 6 people are more than the 5 that the data have"):
        tf.release_file(path, allow_useless=True)
    assert not (tmp_path / "use.json").exists()


USERS = release_text(
    read_from("survey", "survey.csv", value="smokes", budget=1),
    believe("users", source="assumed", size=600, values=["yes", "no"], probabilities=[0.25, 0.75]),
    hide(kind="every-entry"),
    publish("smokers", "histogram", epsilon=1),
)


def of_text(folder: Path, text: str, keys: str) -> Path:
    path = folder / "release.toml"
    path.write_text(f"{text}\n[expect]\n{SOURCE}{keys}\n")
    return path


@pytest.mark.parametrize(("query", "keys", "expected"), [
    ("sum", "values = 7000", 7000), ("sum", "matters = 30", 7500), ("mean", "values = 16\nmatters = 2", 16),
])  # fmt: skip
def test_what_is_expected_of_normal_records(query: str, keys: str, expected: float, tmp_path: Path) -> None:
    text = NORMAL.replace('query = "mean"', f'query = "{query}"')
    assert cells(of_text(tmp_path, text, keys)) == pytest.approx((expected,))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("query", "keys", "words"), [
    ('"mean"\ncodes = { off = 0, on = 100 }', "values = 900", "900 in 'mean' is not from 0 to 100"),
    ('"mean"\ncodes = { off = 0, on = 100 }', "values = { media = 50 }", "names 'media', which is no cell"),
    ('"mean"\ncodes = { off = 0, on = 100 }', "shares = { mean = 1 }", "write values = NUMBER instead"),
    ('"mean"\ncodes = { off = 0, on = 100 }', "people = 6", "more than the 840 rows"),
    ('"median"\ncodes = { off = 0, on = 100 }', "people = 6", "more than the 840 rows"),
    ('"count"\nstates = ["on"]', "values = 340\npeople = 2", "340 in .* are more than the 336 rows of the people"),
    ('"mean"\ncodes = { off = 0, on = 100 }', "values = 900\nmatters = 1", "900 .* from 0 to 100, which is all"),
    ('"sum"\ncodes = { off = -1, on = 1 }', "values = 841\nmatters = 1", r"841 in 'sum' is not from -840 to 840"),
    ('"count"\nstates = ["on"]', "shares = { off = 0.5, on = 0.5 }\nmatters = 1", r"write values = NUMBER instead"),
    ('"count"\nstates = ["on"]', "shares = { count = 0.5 }\nmatters = 1", r"sum to 0.5.*write values = NUMBER instead"),
])  # fmt: skip
def test_what_the_query_cannot_give_is_told_first(query: str, keys: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=words):
        tf.advise(with_expect(tmp_path, keys, ('query = "histogram"', f"query = {query}"), GAPS))


@pytest.mark.parametrize(("keys", "words"), [
    ("values = 7000\nmatters = 2", "7,000 in 'mean' is not from 0 to 100"),
    ("people = 900", "expect.people: 900 people are more than the 600 that the belief is about"),
    ("rows = 2", "expect.rows: 600 people with 2 rows each are more than the 600 rows"),
    ("people = 2\nvalues = { yes = 6, no = 6 }", "12 in all cells are more than the 2 rows of the people"),
    ('values = { "yés" = 6, no = 6 }', "which is no cell of the table but looks like 'yes': copy it"),
])  # fmt: skip
def test_people_and_rows_of_a_survey_are_those_of_its_belief(keys: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=words):
        tf.advise(of_text(tmp_path, NORMAL if "matters" in keys else USERS, keys))


def test_fewer_people_of_a_survey_are_expected(tmp_path: Path) -> None:
    assert cells(of_text(tmp_path, USERS, "people = 400")) == pytest.approx((100, 300))
    assert cells(of_text(tmp_path, USERS, "people = 400\nrows = 1")) == pytest.approx((100, 300))


def of_step(folder: Path, keys: str, measured_in: str = "") -> Path:
    """Write UNITS as sequences of steps that are times, without a calendar; one pooled table."""
    unit = f"measured_in = {measured_in!r}" if measured_in else ""
    by_time = ("step = 1\n", 'step = "10min"\n'), ("[expect]", f"{unit}\n[expect]")
    path = with_expect(folder, keys, *STEPS_ALONE, *by_time)
    moments = [f"2026-01-05T{n // 6 % 24:02}:{10 * (n % 6):02}" for n in range(144)]
    rows = [f"{who},{moment},off" for who in range(5) for moment in moments]
    (folder / "rows.csv").write_text("\n".join(["who,hour,state", *rows]) + "\n")
    return path


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("matters", "measured_in", "rows"), [
    ("12", "", 12),
    ('"12"', "", 12),
    ('"2 h"', "", 12),
    ('"20 minutes"', "", 2),
    ('"20 rows"', "", 20),
    ('"1 step"', "", 1),
    ('"10 %"', "", 36),  # of 720 rows in two cells
    ('"2.5%"', "", 9),
    ('"3 Naps"', "naps", 3),
])  # fmt: skip
def test_what_matters_may_have_a_unit(matters: str, measured_in: str, rows: float, tmp_path: Path) -> None:
    (table,) = judged(of_step(tmp_path, f"matters = {matters}", measured_in))
    assert table.worth.matters == pytest.approx(rows)


@pytest.mark.parametrize(("matters", "words"), [
    ('"2 km"', "expect.matters: is '2 km', and 'km' is nothing that the table.*; write a number.*rows.*time.*%"),
    ('"soon"', "expect.matters: is 'soon'; it is a number, or a number and what it is in; write for example 30"),
    ('"-2 h"', "expect.matters: is '-2 h'"),
    ('"0 h"', "expect.matters: is '0 h'; it must be above 0"),
    ("nan", "expect.matters: is 'nan'"),
    ('"2,5 rows"', "is '2,5 rows'; numbers have a decimal point and no commas; write for example 2.5"),
])  # fmt: skip
def test_what_matters_in_no_unit_of_the_table_is_refused(matters: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=words):
        tf.advise(of_step(tmp_path, f"matters = {matters}"))


PRIVATE = r": .*advice must not depend on them; write what is known"


@pytest.mark.parametrize(("source", "words"), [("", ""), *((f'source = "{of}"\n', PRIVATE) for of in (
    "estimated from the private data", "Counts estimated from the private data", "our data", "our own data",
    "this dataset, first half", "the CONFIDENTIAL data set", "computed from rows.csv", "Rows.CSV",
))])  # fmt: skip
def test_a_source_that_is_none_or_the_private_data_is_refused(source: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=rf"expect\.source{words}"):
        tf.advise(with_expect(tmp_path, "matters = 3", (SOURCE, source)))
