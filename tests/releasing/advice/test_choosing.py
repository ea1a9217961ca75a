"""What a choice is worth, set against draws from data that are as expected; and a list of safe places."""

import math
from pathlib import Path

import pytest
from tests.support.release_files import believe, hide, publish, read_from, release_text

import takifugu as tf
from takifugu.core.errors import InputError, SpecError, Unsupported
from takifugu.model.queries import Query
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.advice.advising import worth_of
from takifugu.releasing.advice.bands import Band
from takifugu.releasing.advice.checking import check
from takifugu.releasing.advice.worth import GOOD, ROUGH, Expectation, Named, Verdict
from takifugu.releasing.file.sections import ExpectSpec
from takifugu.releasing.postprocess.intervals import LEVEL

RUNS = 1500
LEVELS = [0, 10, 20, 30]
BELIEF = tf.MarkovChain(
    [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.2, 0.2, 0.4, 0.2], [0.3, 0.2, 0.2, 0.3]], length=60, states=LEVELS
)
FRAMEWORK = tf.Pufferfish(tf.every_entry(), BELIEF)


def expects(**keys: object) -> ExpectSpec:
    return ExpectSpec.model_validate({"source": "a test", **keys})


#: What is expected of 60 rows: each value so often.
COUNTS = [24, 18, 12, 6]
SHARES = {str(level): count / 60 for level, count in zip(LEVELS, COUNTS, strict=True)}


def check_rate(inside: int, coverage: float) -> None:
    """Check that so many of RUNS draws lie inside a band as its coverage says."""
    assert coverage >= LEVEL
    assert abs(inside - RUNS * coverage) <= 4 * math.sqrt(RUNS * coverage * (1 - coverage)) + 1e-9


@pytest.mark.slow
def test_a_median_lies_inside_its_band_as_often_as_stated() -> None:
    calibration = tf.calibrate(FRAMEWORK, tf.Median(), epsilon=2)
    worth = worth_of(calibration, expects(shares=SHARES, matters=10))
    entropy = InsecureSeededEntropyForTests(5)
    drawn = [float(calibration.randomiser.draw((*COUNTS, 0), entropy)[0]) for _ in range(RUNS)]
    inside = sum(abs(value - 10) <= worth.cell.width for value in drawn)  # 24 rows are 0, 18 are 10: the median is 10
    check_rate(inside, worth.cell.coverage)
    assert worth.matters == 10


@pytest.mark.slow
def test_the_most_frequent_value_falls_short_by_at_most_its_band() -> None:
    calibration = tf.calibrate(FRAMEWORK, tf.Mode(), epsilon=1)
    worth, entropy = worth_of(calibration, expects(shares=SHARES)), InsecureSeededEntropyForTests(6)
    often = dict(zip(LEVELS, COUNTS, strict=True))
    missed = [max(COUNTS) - often[int(calibration.randomiser.draw((*COUNTS, 0), entropy)[0])] for _ in range(RUNS)]
    check_rate(sum(one <= worth.cell.width for one in missed), worth.cell.coverage)


@pytest.mark.mutants
def test_what_is_expected_names_the_values_and_of_a_quantile_what_matters() -> None:
    with pytest.raises(Unsupported, match="matters"):
        worth_of(tf.calibrate(FRAMEWORK, tf.Median(), epsilon=1), None)
    calibration = tf.calibrate(FRAMEWORK, tf.Mode(), epsilon=1)
    with pytest.raises(InputError):
        worth_of(calibration, expects(shares={"0": 0.5, "7": 0.5}))
    with pytest.raises(InputError, match="number for each value"):
        worth_of(calibration, expects(values=3))


TIED = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], 300))


@pytest.mark.parametrize("query", [tf.Mode(), tf.TopK(2)])
def test_of_values_that_are_expected_alike_none_is_called_the_best_one(query: Query) -> None:
    """The data decide which of them occurs most: what is said is the worst case, as on the certificate."""
    calibration = tf.calibrate(TIED, query, epsilon=1)
    worth = worth_of(calibration, None)
    noise = calibration.randomiser
    assert worth.cell.width == noise.shortfall(LEVEL)
    assert worth.matters == 20  # a fifth of the mean of 100
    assert worth.verdict is Verdict.ROUGH
    assert "is the best one" not in worth.sentence()
    counts = (101, 99, 100, 0)
    entropy = InsecureSeededEntropyForTests(7)
    states = [str(outcome) for outcome in noise.outcomes]
    firsts = [counts[states.index(str(noise.draw(counts, entropy)[0]))] for _ in range(100)]
    assert len(set(firsts)) > 1  # it is one of the others that is named, too


@pytest.mark.parametrize(("lead", "is_best"), [(1, False), (1.5, True)])
def test_the_best_one_is_spoken_of_where_it_leads_by_more_than_the_choice_can_miss(lead: float, is_best: bool) -> None:
    calibration = tf.calibrate(TIED, tf.Mode(), epsilon=1)
    noise = calibration.randomiser
    first = 100 + round(lead * float(noise.shortfall(LEVEL)))
    worth = worth_of(calibration, expects(values={"0": first, "1": 100, "2": 100 - (first - 100)}))
    assert ("is the best one" in worth.sentence()) is is_best
    assert (worth.cell.width == 0) is is_best
    assert worth.cell.coverage >= LEVEL


def test_a_median_between_two_values_that_are_expected_alike_may_be_either() -> None:
    calibration = tf.calibrate(FRAMEWORK, tf.Median(), epsilon=8)
    worth = worth_of(calibration, expects(values={"0": 15, "10": 16, "20": 15, "30": 14}, matters=10))
    assert worth.cell.width >= 10


@pytest.mark.parametrize(("share", "verdict"), [
    (1.0, Verdict.GOOD), (0.8, Verdict.GOOD), (0.79, Verdict.ROUGH), (0.2, Verdict.ROUGH), (0.19, Verdict.USELESS),
    (0.0, Verdict.USELESS),
])  # fmt: skip
def test_good_from_four_fifths_and_rough_from_one_fifth(share: float, verdict: Verdict) -> None:
    named = Named(Band(1 - share, 1.0), None, 0.2, Expectation(None, 0.2, "the safe places"))
    assert named.verdict is verdict
    assert named.sentence().startswith(f"{verdict}: ")
    assert f"{100 * share:.3g} % of the safe places" in named.sentence()


def test_the_list_that_names_more_is_the_better_one_however_good_both_are() -> None:
    shares = [0.0, 0.19, 0.2, 0.5, 0.79, 0.8, 0.81, 0.949, 0.95, 0.96, 0.999, 1.0]
    ratios = [Named(Band(1 - s, 1.0), None, 0.2, Expectation(None, 0.2, "")).ratio for s in shares]
    assert ratios == sorted({*ratios}, reverse=True)
    assert (ratios[0], ratios[-1]) == (pytest.approx(GOOD + 0.8 * 4 / 0.6), 0)
    assert (ratios[shares.index(0.2)], ratios[shares.index(0.8)]) == (pytest.approx(ROUGH), pytest.approx(GOOD))


SAFE = release_text(
    read_from("gps", "absent.csv", unit="who", value=["x", "y"], budget=1),
    believe("asymmetric") + "\ngrid = {{ x = [0, 1], y = [0, 1], columns = {boxes}, rows = {boxes} }}",
    hide(visits="all"),
    publish("safe", "safe") + "\nat_most = {at_most}\nepsilon = 1",
)


def listed(folder: Path, boxes: int = 3, at_most: int = 5, more: str = "") -> Path:
    path = folder / "safe.toml"
    path.write_text(SAFE.format(boxes=boxes, at_most=at_most) + more)
    return path


@pytest.mark.slow
def test_remedies_that_name_most_come_first_and_those_over_the_budget_last(tmp_path: Path) -> None:
    second = '[[table]]\nname = "other"\nquery = "safe"\nat_most = 5\nepsilon = 0.2\n'
    path = listed(tmp_path, boxes=30, at_most=2, more=second)
    text = path.read_text().replace("budget = 1\n", "budget = 3\n").replace("[hide]", "most = 4\n[hide]")
    path.write_text(text.replace("epsilon = 1\n", "epsilon = 0.5\n"))
    offered = [(not one.fits, one.worth) for one in tf.advise(path).remedies]
    assert len(offered) > 2
    assert {is_over for is_over, _ in offered} == {False, True}
    ranks = [(is_over, 1 - worth.share) for is_over, worth in offered if isinstance(worth, Named)]
    assert ranks == sorted(ranks)
    assert len(ranks) == len(offered)


@pytest.mark.parametrize("section", ["expect", "table.expect"])
@pytest.mark.parametrize("key", [
    "values = { nosuch = 7 }", "shares = { a = 1 }", "people = 9", "rows = 3", "matters = 3", 'matters = "3 cats"',
])  # fmt: skip
def test_what_a_list_does_not_use_is_refused(section: str, key: str, tmp_path: Path) -> None:
    path = listed(tmp_path, more=f'[{section}]\nsource = "a hunch"\n{key}\n')
    with pytest.raises(SpecError, match=f"expect.{key.split()[0]}: is not used by a list of safe places.*prior"):
        tf.advise(path)


def test_other_tables_of_its_file_may_have_an_expectation(tmp_path: Path) -> None:
    counts = '[[table]]\nname = "counts"\nquery = "visitors"\nepsilon = 0.5\n'
    expect = '[expect]\nsource = "a hunch"\nmatters = 3\n'
    path = listed(tmp_path, more=f"{counts}{expect}")
    path.write_text(path.read_text().replace("epsilon = 1\n", "epsilon = 0.5\n"))
    assert [table.name for table in tf.advise(path).tables] == ["safe", "counts"]


@pytest.mark.slow
def test_of_too_many_places_no_list_is_worth_it(tmp_path: Path) -> None:
    path = listed(tmp_path, boxes=70)
    assert "No list of so many safe places is worth publishing" in " ".join(str(tf.advise(path)).split())
    assert "No list" not in str(tf.advise(listed(tmp_path, boxes=10)))


def test_a_threshold_beyond_all_people_takes_no_memory(tmp_path: Path) -> None:
    (table,) = tf.advise(listed(tmp_path, at_most=10**12)).tables
    assert table.sentence.startswith("good: 100 %")
    assert check(listed(tmp_path, at_most=10**12)).tables
