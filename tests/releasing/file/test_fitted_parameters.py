"""Parameters and tables counted in a public file: a guess, or a class of all that the counts support."""

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from tests.support.release_files import believe, hide, publish, read_from, release_text, section
from tests.support.releases import assert_says, put, refusal_of

import takifugu as tf
from takifugu.model.beliefs.estimate import intervals
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

COLUMNS = ["smokers", "cough", "fever"]
GIVEN = {"values": ["no", "yes"], "given": {"few": ["0.9", "0.1"], "many": ["0.7", "0.3"]}}
FILE = release_text(
    read_from("ward", "ward.csv", budget=1.0),
    believe("parameters", records=40, source="a public survey",
            prior={"fit": {"file": "towns.csv", "columns": COLUMNS}}),
    section("[belief.columns]", smokers=GIVEN, cough=GIVEN, fever=GIVEN),
    hide(parameter={"attribute": "smokers"}),
    publish("ills", "sum", attribute=COLUMNS, codes={"no": 0, "yes": 1}, epsilon=1.0),
)  # fmt: skip


def towns() -> list[tuple[str, ...]]:
    chance, rows = Random(5), []
    for _ in range(2000):
        level, levels = chance.choice([0, 1]), []
        for _ in COLUMNS:
            levels.append(("few", "many")[level])
            level ^= chance.random() < 0.42
        rows.append(tuple(levels))
    return rows


def written(folder: Path, change: tuple[str, str] = ("", "")) -> Path:
    rows = "".join(f"{','.join(row)}\n" for row in (COLUMNS, *towns()))
    ward = f"{','.join(COLUMNS)}\n" + "yes,no,no\nno,yes,no\n" * 20
    return put(folder, {"release.toml": FILE.replace(*change), "towns.csv": rows, "ward.csv": ward})


def largest_influence() -> float:
    """Return the largest log-ratio of the other parameters' counted distribution given two levels of the hidden one."""
    counts, totals = Counter(towns()), Counter(row[0] for row in towns())
    largest = 0.0
    for others in {row[1:] for row in towns()}:
        few, many = (Fraction(counts[level, *others], totals[level]) for level in ("few", "many"))
        largest = max(largest, abs(math.log(few / many)))
    return largest


def test_a_quilt_of_counted_parameters_needs_less_than_group_and_more_than_nothing(tmp_path: Path) -> None:
    ((question,),) = (table.questions for table in plan(load(written(tmp_path))).tables)
    calibration = question.calibration
    assert calibration.mechanism == "attribute-quilt"
    quilted = 40 / (1 - largest_influence())  # the near set is the column itself
    assert float(calibration.scale) == pytest.approx(quilted, rel=1e-6)
    group = tf.calibrate(calibration.framework, calibration.query, 1, mechanism="group-dp")
    assert 0 < calibration.scale < group.scale == 120
    assert "counted in towns.csv" in calibration.framework.beliefs[0].source


CONFIDENT = ('"fever"] }', '"fever"], confidence = 0.9 }')


@pytest.mark.parametrize(("change", "place"), [
    ((CONFIDENT[0], '"fever"], confidence = 0 }'), "belief.prior.fit.confidence"),
    ((CONFIDENT[0], '"fever"], confidence = 1 }'), "belief.prior.fit.confidence"),
    ((CONFIDENT[0], '"fever"], confidence = 1.5 }'), "belief.prior.fit.confidence"),
    ((CONFIDENT[0], '"fever"], confidence = "high" }'), "belief.prior.fit.confidence"),
    (('"cough", "fever"] } }', '"cough", "rash"] } }'), "belief.prior"),
    (("prior = { fit", 'prior = { network = "n.bif", fit'), "belief.prior.fit"),
    (("prior = { fit", 'prior = { columns = ["smokers"], fit'), "belief.prior.columns"),
    (('file = "towns.csv"', 'file = "ward.csv"'), "belief.prior.fit"),
])  # fmt: skip
def test_faults_of_a_fit_name_their_place(tmp_path: Path, change: tuple[str, str], place: str) -> None:
    problems = refusal_of(written(tmp_path, change)).problems
    assert any(line.startswith(place) for line in problems), problems


def scale_of(path: Path) -> float:
    ((question,),) = (table.questions for table in plan(load(path)).tables)
    return float(question.calibration.scale)


@pytest.mark.slow
def test_with_a_confidence_it_is_a_class_with_more_noise(tmp_path: Path) -> None:
    less = scale_of(written(tmp_path))
    file = load(written(tmp_path, CONFIDENT))
    assert isinstance(file.belief, tf.CountedParameters)
    assert sorted(file.belief.counts) == sorted(Counter(towns()).values())
    assert less < scale_of(file.path) < 120
    assert "point estimate" not in file.belief.describe()


def test_it_is_released_with_the_class_on_the_certificate(tmp_path: Path) -> None:
    tf.release_file(written(tmp_path, CONFIDENT), allow_useless=True)
    (certificate,) = tmp_path.glob("*/ills.certificate.json")
    assert_says(certificate, "covers the true one with confidence 0.9", "2,000 counted populations support")


RECORDS = release_text(
    read_from("firm", "ours.csv", single_release=True),
    believe("independent-records", records=120, source="a public survey",
            fit={"file": "census.csv", "columns": ["smokes", "coughs"], "confidence": 0.99}),
    hide(property={"attribute": "smokes", "function": "share", "of": "yes", "max_difference": "0.05"}),
    publish("coughing", "count", attribute="coughs", states=["yes"], epsilon=1),
)  # fmt: skip
CENSUS = {("yes", "yes"): 150, ("yes", "no"): 150, ("no", "yes"): 140, ("no", "no"): 560}


def census_file(folder: Path, times: int, confidence: str = ", confidence = 0.99") -> Path:
    rows = [f"{smokes},{coughs}\n" * (number * times) for (smokes, coughs), number in CENSUS.items()]
    text = RECORDS.replace(", confidence = 0.99", confidence)
    header = "smokes,coughs\n"
    return put(folder, {"f.toml": text, "census.csv": header + "".join(rows), "ours.csv": header + "yes,no\n" * 120})


@pytest.mark.slow
def test_a_counted_table_is_a_class_that_shrinks_to_the_guess(tmp_path: Path) -> None:
    (guess,) = plan(load(census_file(tmp_path, 1, ""))).tables
    scales = []
    for times in (1, 10, 1000):
        (table,) = plan(load(census_file(tmp_path, times))).tables
        scales.append(table.calibrations[0].scale)
        belief = table.calibrations[0].framework.beliefs[0]
        assert "with confidence 0.99" in belief.describe()
        total = sum(CENSUS.values()) * times
        for row, (low, high) in zip(belief.table.rows, belief.within, strict=True):
            share = CENSUS[row] / 1000
            assert low < share < high
            spread = math.sqrt(share * (1 - share) / total)  # of 4 rows at 0.9975 each the normal quantile is 3.02
            assert float(high - low) == pytest.approx(2 * 3.02 * spread, rel=0.1)
    assert scales[0] > scales[1] > scales[2] > guess.calibrations[0].scale
    assert scales[2] < 1.05 * guess.calibrations[0].scale


def covered(shares: tuple[float, ...], confidence: float) -> float:
    """Return how probable it is that intervals about 12 records hold all shares, from every count."""
    people, total = 12, 0.0
    for first in range(people + 1):
        for second in range(people + 1 - first):
            counts = [first, second, people - first - second]
            ways = math.comb(people, first) * math.comb(people - first, second)
            mass = ways * math.prod(share**count for share, count in zip(shares, counts, strict=True))
            total += mass * hold(intervals(counts, confidence), shares)
    return total


@pytest.mark.parametrize("shares", [(0.2, 0.3, 0.5), (0.01, 0.09, 0.9), (0.5, 0.5, 0.0)])
def test_all_intervals_hold_at_once_with_the_confidence(shares: tuple[float, ...]) -> None:
    assert covered(shares, 0.8) >= 0.8


def test_intervals_that_each_hold_with_the_confidence_are_noticed() -> None:
    assert covered((0.2, 0.3, 0.5), 1 - 3 * (1 - 0.8)) < 0.8


def hold(ends: list[tuple[float, float]], shares: tuple[float, ...]) -> bool:
    return all(low <= share <= high for (low, high), share in zip(ends, shares, strict=True))


def test_a_confidence_is_no_guess_about_private_data(tmp_path: Path) -> None:
    assert "belief.fit.confidence" in str(refusal_of(census_file(tmp_path, 1, ", confidence = 1.5")))
