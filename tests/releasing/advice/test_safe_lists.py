"""What a list of safe places is worth: the share of them that it is expected to name."""

from pathlib import Path

import pytest
from tests.support.release_files import believe, hide, publish, read_from, release_text

import takifugu as tf
from takifugu.core.errors import SpecError
from takifugu.releasing.advice.bands import Band
from takifugu.releasing.advice.checking import check
from takifugu.releasing.advice.worth import GOOD, ROUGH, Expectation, Named, Verdict


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
    read_from("gps", "absent.csv", person="who", x="x", y="y", budget=1),
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
    second = '[[release]]\nname = "other"\nquery = "safe"\nat_most = 5\nepsilon = 0.2\n'
    path = listed(tmp_path, boxes=30, at_most=2, more=second)
    text = path.read_text().replace("budget = 1\n", "budget = 3\n").replace("[hide]", "most = 4\n[hide]")
    path.write_text(text.replace("epsilon = 1\n", "epsilon = 0.5\n"))
    offered = [(not one.fits, one.worth) for one in tf.advise(path).remedies]
    assert len(offered) > 2
    assert {is_over for is_over, _ in offered} == {False, True}
    ranks = [(is_over, 1 - worth.share) for is_over, worth in offered if isinstance(worth, Named)]
    assert ranks == sorted(ranks)
    assert len(ranks) == len(offered)


@pytest.mark.parametrize("section", ["expect", "release.expect"])
@pytest.mark.parametrize("key", [
    "values = { nosuch = 7 }", "shares = { a = 1 }", "people = 9", "rows = 3", "matters = 3", 'matters = "3 cats"',
])  # fmt: skip
def test_what_a_list_does_not_use_is_refused(section: str, key: str, tmp_path: Path) -> None:
    path = listed(tmp_path, more=f'[{section}]\nsource = "a hunch"\n{key}\n')
    with pytest.raises(SpecError, match=f"expect.{key.split()[0]}: is not used by a list of safe places.*prior"):
        tf.advise(path)


def test_other_tables_of_its_file_may_have_an_expectation(tmp_path: Path) -> None:
    counts = '[[release]]\nname = "counts"\nquery = "visitors"\nepsilon = 0.5\n'
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
