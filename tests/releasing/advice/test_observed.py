"""Where it is public which entries were observed, they alone are expected: in pooled tables as in those of units."""

import random
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.release_files import believe, changed, publish, read_from, release_text

from takifugu.analysis.questions.expected_answer import expected_range
from takifugu.core.errors import SpecError
from takifugu.releasing.advice.advising import TableAdvice, advice_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.expected import expected
from takifugu.releasing.planning.plan import Plan, plan
from takifugu.releasing.planning.truth import answer_of
from takifugu.releasing.publishing.estimating import estimates_of_table

SPARSE = release_text(
    read_from("s", "s.csv", unit="who", order="minute", step=1, value="state", budget=99),
    believe("markov-chain", states=["a", "b"], matrix=[[0.9, 0.1], [0.2, 0.8]], units_independent=True),
    publish("h", "histogram", epsilon=1),
    ledger="s.db",
)
WINDOW = ("step = 1", 'step = 1\nfrom = 0\nuntil = 300\ngaps = "public"')
BY_WARD = ("budget", 'roster = "wards.csv"\nbudget')


def planned(folder: Path, *changes: tuple[str, str]) -> Plan:
    """Write 20 rows of Ana, in ward x, and 40 of Ben, in ward y: about one minute in five, of 200 and of 100."""
    generator, rows = random.Random(1), ["who,minute,state"]
    for who, first, last, count in (("Ana", 0, 199, 20), ("Ben", 50, 149, 40)):
        minutes = {first, last, *generator.sample(range(first + 1, last), count - 2)}
        rows += [f"{who},{minute},{generator.choice('ab')}" for minute in sorted(minutes)]
    (folder / "s.csv").write_text("\n".join(rows))
    (folder / "wards.csv").write_text("who,ward\nAna,x\nBen,y\n")
    (folder / "s.toml").write_text(changed(SPARSE, *changes))
    return plan(load(folder / "s.toml"))


def cells(advised: TableAdvice) -> dict[str, float]:
    assert advised.worth.expectation.cells is not None
    return dict(zip(advised.labels, advised.worth.expectation.cells, strict=True))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("window", [(), (WINDOW,)])
@pytest.mark.parametrize(("change", "rows"), [
    (("epsilon", "epsilon"), {"a": 40, "b": 20}),
    (BY_WARD, {"x, a": 40 / 3, "x, b": 20 / 3, "y, a": 80 / 3, "y, b": 40 / 3}),
    (('"histogram"', '"count"\nstates = ["a"]'), {"a": 40}),
])  # fmt: skip
def test_observed_rows_are_expected_of_a_pooled_table(
    window: tuple[tuple[str, str], ...], change: tuple[str, str], rows: dict[str, float], tmp_path: Path
) -> None:
    by = (("epsilon", 'by = "ward"\nepsilon'),) if change is BY_WARD else ()
    made = planned(tmp_path, change, *window, *by)
    (advised,) = advice_of(made)
    assert list(cells(advised).values()) == pytest.approx(list(rows.values()))
    (blur,) = expected(made.tables[0]).blurs
    most = {"x": 20, "y": 40}
    assert blur.ranges == tuple(most.get(label[0], 60) for label in rows)


def test_the_share_of_rows_that_is_expected_is_one_of_those_observed(tmp_path: Path) -> None:
    expect = ("[[table]]", '[expect]\nsource = "a guess"\npeople = 2\nrows = 15\n[[table]]')
    (advised,) = advice_of(planned(tmp_path, expect))
    assert cells(advised) == pytest.approx({"a": 20, "b": 10})
    more = (expect[0], expect[1].replace("15", "31"))
    with pytest.raises(SpecError, match="more than the 60 rows that the table reads"):
        advice_of(planned(tmp_path, more))


def test_hidden_gaps_leave_every_step_expected(tmp_path: Path) -> None:
    (advised,) = advice_of(planned(tmp_path, (WINDOW[0], WINDOW[1].replace('\ngaps = "public"', ""))))
    assert cells(advised) == pytest.approx({"a": 400, "b": 200})


def covered(folder: Path, *changes: tuple[str, str]) -> Plan:
    """Write stays in b of Ana, who is covered for a half of the time, and of Ben, for a third, or for all of it."""
    (folder / "s.csv").write_text("who,minute,end,state\nAna,10,40,b\nAna,100,120,b\nBen,150,200,b\n")
    (folder / "roster.csv").write_text("who,from,until\nAna,0,150\nBen,150,250\n")
    calendar = 'step = 1\nfrom = 0\nuntil = 300\nroster = "roster.csv"'
    stays = 'rows = "stays"\nend = "end"\ndefault_state = "a"\n'
    (folder / "s.toml").write_text(changed(SPARSE, ("step = 1", calendar), ('rows = "samples"\n', stays), *changes))
    return plan(load(folder / "s.toml"))


@pytest.mark.parametrize("gaps", ["hidden", "public"])
def test_who_is_covered_for_a_part_of_the_time_is_expected_then_alone(gaps: str, tmp_path: Path) -> None:
    """With hidden gaps all of the calendar was expected: the model looked wrong, and estimates missed what was so."""
    made = covered(tmp_path, ("rows", f'gaps = "{gaps}"\nrows'))
    (advised,) = advice_of(made)
    assert cells(advised) == pytest.approx({"a": 500 / 3, "b": 250 / 3})
    (question,) = made.questions
    assert question.complete is False
    assert estimates_of_table([question], [[Fraction(150), Fraction(100)]]) is None
    assert answer_of(question.calibration, question.seen) == (150, 100)


@pytest.mark.parametrize("gaps", ["hidden", "public"])
def test_of_one_person_the_noise_is_for_all_of_the_time_where_gaps_are_hidden(gaps: str, tmp_path: Path) -> None:
    made = covered(tmp_path, ("rows", f'gaps = "{gaps}"\nrows'), ("epsilon", 'per = "unit"\nepsilon'))
    for question, steps in zip(made.questions, (150, 100), strict=True):
        entries = question.calibration.query.entries
        assert (entries is None, question.complete) == ((True, False) if gaps == "hidden" else (False, True))
        means = [expected_range(belief, answer)[0] for belief, answer in zip(
            question.calibration.framework.beliefs, question.of_observed.problem.answers, strict=True)]
        assert means[0] == pytest.approx([2 * steps / 3, steps / 3])


def test_who_is_always_covered_has_an_estimate_also_where_gaps_are_hidden(tmp_path: Path) -> None:
    made = covered(tmp_path, ('roster = "roster.csv"', 'roster = ["Ana", "Ben"]'))
    (question,) = made.questions
    assert question.complete is True
    assert estimates_of_table([question], [[Fraction(500), Fraction(100)]]) is not None


def test_most_frequent_values_are_judged_by_the_rows_that_were_observed(tmp_path: Path) -> None:
    (advised,) = advice_of(planned(tmp_path, ('"histogram"', '"mode"')))
    assert advised.worth.expectation.cells == pytest.approx((40, 20))
