"""Release files of `kind = "density"`: what they publish, with classes of densities, and what they refuse."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.commands import succeed
from tests.support.release_files import EXPECT, believe, changed, hide, publish, read_from, release_text
from tests.support.releases import faults_of, put

import takifugu as tf
from takifugu.calibration import Calibration
from takifugu.core.errors import CalibrationRefused, DataError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.truth import answer_of, read

FILE = release_text(
    read_from("bodies", "bodies.csv", budget={"epsilon": 4.0, "delta": 1e-3}),
    believe("density", records=6, source="a public survey", column="weight", answer="mean", about="income",
            function="mean", ranges={"weight": [-160, 200]}, resolution="0.01",
            given=[{"value": 40, "mean": 0, "deviation": 1}, {"value": 42, "mean": 1, "deviation": 2}]),
    hide(property={"attribute": "income", "function": "mean"}),
    publish("mean-weight", "mean", attribute="weight", epsilon=1.0, delta=1e-5, mechanism="gaussian-exact"),
    output="out", expect=EXPECT,
)  # fmt: skip
ROWS = "income,weight\n41,70.001\n40,71\n39,72\n50,60.5\n40,80.25\n41,66.125\n"
FIRST, SECOND = "{ value = 40, mean = 0, deviation = 1 }", "{ value = 42, mean = 1, deviation = 2 }"
MIXTURE = '{ value = 42, weights = ["0.5", "0.5"], means = [0, 2], deviations = [1, 2] }'
TABLE = "{ value = 42, points = [0, 1, 2], heights = [0, 1, 0] }"


def written(folder: Path, changes: dict[str, str] | None = None, rows: str = ROWS) -> Path:
    return put(folder, {"release.toml": changed(FILE, *(changes or {}).items()), "bodies.csv": rows})


def calibration_of(
    path: Path, epsilon: float | str = 1, delta: float | str = "0.00001", mechanism: str = "gaussian-exact"
) -> Calibration:
    framework = load(path).framework
    assert framework is not None
    return tf.calibrate(framework, tf.Mean("weight"), epsilon, delta, mechanism=mechanism, single_release=True)


@pytest.mark.slow
def test_a_release_is_paid_certified_and_audited(tmp_path: Path) -> None:
    path = written(tmp_path)
    succeed("release", path)
    certificate = json.loads((tmp_path / "out" / "mean-weight.certificate.json").read_text(encoding="utf-8"))
    assert certificate["beliefs"] == [
        "the mean of 'weight' with a stated density given each of 2 values of the mean of 'income' (a public survey)"
    ]
    said = (
        "Given the mean of 'income', the answer has the stated density, cut to numbers from -160 to 200, and is read "
        "within 0.005 of it."
    )
    assert {"kind": "world", "text": said} in certificate["assumptions"]
    assert float(Fraction(certificate["answers"][0]["scale"])) == pytest.approx(6.6455, rel=0.02)
    audited = succeed("audit", path)
    assert "kept" in audited.stdout


@pytest.mark.mutants
def test_the_answer_is_the_mean_of_what_was_read(tmp_path: Path) -> None:
    path = written(tmp_path)
    file = load(path)
    (unit,) = file.kind.units(file)
    assert unit.data == Fraction("419.87") / 6 or unit.data == Fraction("419.88") / 6
    calibration = calibration_of(path)
    (answer,) = answer_of(calibration, read(calibration, unit.data))
    assert answer * calibration.problem.grid == unit.data
    summed = written(tmp_path / "sum", {'answer = "mean"': 'answer = "sum"', 'query = "mean"': 'query = "sum"'})
    (of_sum,) = load(summed).kind.units(load(summed))
    assert of_sum.data == 6 * unit.data


def test_w_infinity_of_what_is_read_is_two_roundings_more(tmp_path: Path) -> None:
    path = written(tmp_path, {SECOND: "{ value = 42, mean = 3, deviation = 1 }"})
    pure = calibration_of(path, "0.5", 0, "wasserstein")
    assert Fraction(pure.scale) == pytest.approx(2 * (3 + 0.01), rel=1e-9)


def test_an_infinite_w_infinity_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(CalibrationRefused, match="deviations 1 and 2"):
        calibration_of(written(tmp_path), 1, 0, "wasserstein")


@pytest.mark.slow
def test_a_class_of_densities_counts_by_its_worst_pair(tmp_path: Path) -> None:
    both = written(tmp_path / "both", {SECOND: f"{SECOND},\n  {{ value = 42, mean = 2, deviation = 1 }}"})
    other = written(tmp_path / "other", {SECOND: "{ value = 42, mean = 2, deviation = 1 }"})
    of_both, of_other, of_one = map(calibration_of, (both, other, written(tmp_path / "one")))
    assert float(of_both.scale) == pytest.approx(max(float(of_other.scale), float(of_one.scale)))
    assert "(density 2)" in of_both.witness.comparison
    assert len(list(of_both.framework.comparisons())) == 4
    assert tf.exact_delta(of_both, 1).upper <= 1e-5


@pytest.mark.slow
def test_algorithm_2_keeps_its_promise_over_a_class(tmp_path: Path) -> None:
    near = '{ value = 42, weights = ["0.5", "0.5"], means = [1, 2], deviations = [2, 2] }'
    changes = {
        FIRST: "{ value = 40, mean = 0, deviation = 2 }",
        SECOND: f"{near},\n  {{ value = 42, mean = 1.4, deviation = 2 }}",
    }
    calibration = calibration_of(written(tmp_path, changes), 1, "0.01", "attribute-gaussian-approx")
    assert tf.exact_delta(calibration, 1).upper <= 0.01
    assert dict(calibration.witness.numbers)["eta"] > 0


@pytest.mark.slow
def test_tables_and_cut_densities_have_a_pure_promise(tmp_path: Path) -> None:
    path = written(tmp_path, {
        FIRST: "{ value = 40, points = [0, 2], heights = [0.5, 0.5] }",
        SECOND: f"{TABLE},\n  {{ value = 42, mean = 1, deviation = 1, low = 0, high = 2 }}",
    })  # fmt: skip
    pure = calibration_of(path, 1, 0, "wasserstein")
    # Quantiles 2 u and sqrt(2 u) are farthest apart at u = 1/8; 0.01 is for both roundings.
    assert dict(pure.witness.numbers)["w_infinity"] == pytest.approx(0.26, rel=1e-5)


def test_a_parameter_of_the_population_is_hidden_by_its_values(tmp_path: Path) -> None:
    path = written(tmp_path, {
        'function = "mean"\nranges': 'function = "parameter"\nranges',
        'property = { attribute = "income", function = "mean" }': 'parameter = { attribute = "income" }',
    })  # fmt: skip
    assert "the parameter of 'income' in the population is 40" in calibration_of(path).witness.comparison


@pytest.mark.parametrize(("answer", "width"), [("mean", 1), ("sum", 6)])
def test_the_range_is_that_of_rounded_numbers(tmp_path: Path, answer: str, width: int) -> None:
    """Steps of 0.5 read 0.8 as 1."""
    path = written(tmp_path, {
        FIRST: "{ value = 40, points = [0, 2], heights = [1, 0] }",
        SECOND: TABLE, "weight = [-160, 200]": 'weight = [0, "0.8"]', 'resolution = "0.01"': 'resolution = "0.5"',
        'answer = "mean"': f'answer = "{answer}"', 'query = "mean"': f'query = "{answer}"',
    })  # fmt: skip
    framework = load(path).framework
    assert framework is not None
    query = tf.Mean("weight") if answer == "mean" else tf.Sum("weight")
    assert tf.calibrate(framework, query, 1, mechanism="group-dp").scale == width


@pytest.mark.parametrize(("changes", "place", "words"), [
    ({SECOND: "{ value = 42, points = [0, 1, 2], heights = [0, 1.2, -0.2] }"}, "belief.given[1].heights",
     "nowhere below 0"),
    ({SECOND: "{ value = 42, points = [0, 1, 2], heights = [0, 1.2, 0] }"}, "belief.given[1].heights",
     "integrates to 1.2"),
    ({SECOND: "{ value = 42, points = [0, 2, 1], heights = [0, 1, 0] }"}, "belief.given[1].points", "points rise"),
    ({SECOND: "{ value = 42, points = [0, 1], heights = [1] }"}, "belief.given[1].points", "one height"),
    ({SECOND: "{ value = 42, mean = 1, deviation = 0 }"}, "belief.given[1].deviation", "above 0"),
    ({SECOND: "{ value = 42, mean = 1, deviation = 1e-300 }"}, "belief.given[1].deviation", "is less than 0.00167"),
    ({SECOND: MIXTURE.replace("[1, 2] }", "[1, 1e-4] }")}, "belief.given[1].deviations", "is less than 0.00167"),
    ({SECOND: "{ value = 42, mean = inf, deviation = 1 }"}, "belief.given[1].mean", "finite"),
    ({SECOND: "{ value = 42, mean = 1 }"}, "belief.given[1]", "mean and deviation"),
    ({SECOND: "{ value = 42 }"}, "belief.given[1]", "of none"),
    ({SECOND: "{ value = 42, mean = 1, deviation = 1, points = [0, 1] }"}, "belief.given[1]", "mean and deviation"),
    ({SECOND: MIXTURE.replace('"0.5", "0.5"', '"0.5", "0.6"')}, "belief.given[1].weights", "sum to 1.1"),
    ({SECOND: "{ value = 42, mean = 1, deviation = 1, low = 3, high = 2 }"}, "belief.given[1].low", "below high"),
    ({SECOND: "{ value = 42, mean = 1, deviation = 1, low = 90 }"}, "belief.given[1].low", "less than 1e-9"),
    ({SECOND: "{ value = 40, mean = 1, deviation = 1 }"}, "belief.given", "fewer than two values"),
    ({"weight = [-160, 200]": "hight = [20, 200]"}, "belief.ranges.weight", "is missing"),
    ({"weight = [-160, 200]": "weight = [200, 20]"}, "belief.ranges.weight", "bound"),
    ({"weight = [-160, 200]": "weight = [69, 72]"}, "belief.given.40", "less than 1e-9 of its mass"),
    ({'resolution = "0.01"': "resolution = 0"}, "belief.resolution", "above 0"),
    ({'property = { attribute = "income"': 'property = { attribute = "age"'}, "hide.property", "the belief tells"),
    ({'attribute = "weight"\n': 'attribute = "wieght"\n'}, "table[0].attribute", "did you mean 'weight'"),
    ({'query = "mean"': 'query = "sum"'}, "table[0].query", "publish the mean of 'weight'"),
])  # fmt: skip
def test_what_is_no_density_is_refused(tmp_path: Path, changes: dict[str, str], place: str, words: str) -> None:
    messages = faults_of(written(tmp_path, changes))
    assert words in messages.get(place, ""), messages


@pytest.mark.slow
def test_a_number_that_no_density_allows_is_refused_without_telling_it(tmp_path: Path) -> None:
    path = written(tmp_path, {FIRST: "{ value = 40, points = [0, 1], heights = [1, 1] }", SECOND: TABLE})
    calibration = calibration_of(path, 1, 0, "wasserstein")
    with pytest.raises(DataError) as refusal:
        read(calibration, load(path).kind.units(load(path))[0].data)
    assert "69" not in str(refusal.value)
