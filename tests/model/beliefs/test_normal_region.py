"""Every normal law that a public sample supports: it covers the true one, and noise is enough for each."""

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from tests.releasing.attribute_files import written
from tests.support.commands import succeed
from tests.support.normal_class import delta, delta_of_cells, is_inside, misses, samples
from tests.support.releases import refusal_of

import takifugu as tf
from takifugu.core.errors import InputError, TakifuguError
from takifugu.model.beliefs.records.normal_fit import Scatter, region_of, scatter_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

HALF = ((2.0, 1.0), (1.0, 3.0))


def survey(rows: int = 60) -> dict[str, list[float]]:
    """Return a made-up sample of three columns, with what looks like chance."""
    numbers = random.Random(rows)
    columns: dict[str, list[float]] = {"income": [], "weight": [], "height": []}
    for _ in range(rows):
        income = numbers.gauss(40, 9)
        columns["income"].append(round(income, 2))
        columns["weight"].append(round(60 + income / 3 + numbers.gauss(0, 10), 2))
        columns["height"].append(round(170 - income / 5 + numbers.gauss(0, 7), 2))
    return columns


def fitted(rows: int = 60, confidence: float = 0.95, **more: Any) -> tf.NormalRegion:
    return tf.MultivariateNormal.fit(survey(rows), source="a survey", records=50, confidence=confidence, **more)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("rows", [3, 4, 30, 3000])
@pytest.mark.parametrize("confidence", [0.5, 0.99, 0.9999])
def test_each_end_misses_as_rarely_as_it_must_and_hardly_more(rows: int, confidence: float) -> None:
    scatter = scatter_of(survey(rows), None)
    region = region_of(scatter, confidence)
    chances = list(misses(rows, scatter.products, region))
    assert len(chances) == 3 + 6 + 2 * 6
    assert (1 - confidence) * (1 - 1e-5) <= sum(chances) <= 1 - confidence


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "steps"), [(3, 14), (10, 14)])
def test_the_class_covers_the_true_law(rows: int, steps: int) -> None:
    for confidence in (0.5, 0.8):
        assert coverage(rows, steps, confidence) >= confidence


def coverage(rows: int, steps: int, confidence: float) -> float:
    inside = 0
    for products in samples(rows, HALF, steps):
        inside += is_inside(HALF, region_of(Scatter(("x", "y"), rows, products), confidence))
    return inside / steps**3


SECRETS = {
    "the mean": tf.dataset_property("income", "mean", max_difference=4),
    "one record": tf.every_entry("income", max_difference=200),
}
POPULATION_MEAN = tf.distribution_parameter("income", map="mean", max_difference=4)


def calibrated(secret: Any, belief: tf.MultivariateNormal, query: Any) -> Any:
    options = {"delta": "1e-6", "mechanism": "attribute-gaussian-exact", "single_release": True}
    return tf.calibrate(tf.Pufferfish(secret, belief), query, 1, **options)


@pytest.mark.parametrize("title", SECRETS)
def test_noise_is_enough_for_every_law_of_the_class(title: str) -> None:
    belief = fitted()
    made = calibrated(SECRETS[title], belief, tf.Mean("weight"))
    added = Fraction(made.scale) ** 2
    assert largest_delta(belief, title, added) == pytest.approx(1e-6, rel=1e-8)
    assert largest_delta(belief, title, added) <= 1e-6
    guess = tf.MultivariateNormal.fit(survey(), source="a survey", records=50)
    of_guess = calibrated(SECRETS[title], guess, tf.Mean("weight"))
    mutant = Fraction(of_guess.scale) ** 2
    assert largest_delta(belief, title, mutant) > 2e-6  # the mutant: the law of the sample itself
    assert tf.exact_delta(made).upper <= 1e-6 + 1e-11
    assert tf.exact_delta(replace(made, randomiser=of_guess.randomiser)).lower > 1e-6


def largest_delta(belief: tf.NormalRegion, title: str, added: Fraction) -> Any:
    """Return the largest delta over laws of the class: slopes of a grid, and variances from the least on."""
    ends = belief.ends
    (low, high), residual, least = ends.slopes[0][1], ends.residuals[0][1], ends.variances[0]
    worst = mpmath.mpf(0)
    for step in range(21):
        slope = low + (high - low) * step / 20
        for more in (1, 1.05, 2, 50):
            factor = Fraction(more)
            if title == "the mean":
                here = delta(slope, residual * factor, 4, added, 1, 50)
            else:
                here = delta(slope, residual * factor, 200, added, 1, 50, least * Fraction(more))
            worst = max(worst, here)
    return worst


def test_the_mean_of_a_population_hides_behind_the_least_variance() -> None:
    belief = fitted()
    made = calibrated(POPULATION_MEAN, belief, tf.Mean("income"))
    least = belief.ends.variances[0]
    assert delta(1, least, 4, Fraction(made.scale) ** 2, 1, 50) == pytest.approx(1e-6, rel=1e-8)


def test_two_numbers_and_both_columns_have_their_worst_law_at_an_end() -> None:
    data = survey()
    sample = {"income": data["income"], "weight": data["weight"]}
    belief = tf.MultivariateNormal.fit(sample, source="a survey", records=50, confidence=0.9)
    both = tf.JointQuery([tf.Mean("weight"), tf.Mean("income")])
    (low, high), residual, least = belief.ends.slopes[0][1], belief.ends.residuals[0][1], belief.ends.variances[0]
    scales = []
    for step in range(9):
        b = low + (high - low) * step / 8
        for more in (1, 3):
            t, v = residual * more, least * more
            law = tf.MultivariateNormal([0, 0], [[v, b * v], [b * v, b * b * v + t]], [*sample], 50)
            scales.append(scale(law, both))
    assert max(scales) == scale(belief, both)


def scale(belief: tf.MultivariateNormal, query: Any) -> float:
    return float(calibrated(SECRETS["the mean"], belief, query).scale)


#: What is hidden of the incomes, up to a difference.
HIDDEN = {
    "mean": lambda most: tf.dataset_property("income", "mean", max_difference=most),
    "sum": lambda most: tf.dataset_property("income", "sum", max_difference=most),
    "one": lambda most: tf.every_entry("income", max_difference=most),
    "population": lambda most: tf.distribution_parameter("income", map="mean", max_difference=most),
}


@pytest.mark.parametrize("kind", HIDDEN)
def test_no_member_is_told_by_several_sums_more_than_delta(kind: str) -> None:
    """Members at ends and inside, answers of one to three sums of one or both columns: delta by its definition."""
    numbers, shares = random.Random(kind), list[float]()
    while len(shares) < 60:
        belief = fitted(numbers.choice([5, 40, 400]), numbers.choice([0.5, 0.99]))
        other = numbers.choice(["weight", "height"])
        read = ["income"] if kind == "population" else ["income", other]
        columns = [numbers.choice(read) for _ in range(numbers.randint(1, 3))]
        most, epsilon = numbers.choice([1, 40, 900]), numbers.choice([0.1, 1, 8])
        framework = tf.Pufferfish(HIDDEN[kind](most), belief)
        options = {"delta": "1e-4", "mechanism": "attribute-gaussian-exact", "single_release": True}
        made = tf.calibrate(
            framework, tf.JointQuery([tf.Sum(column) for column in columns]) if columns[1:] else tf.Sum(columns[0]),
            epsilon, allow_zero_noise=True, **options,
        )  # fmt: skip
        added = Fraction(made.scale) ** 2
        if not added:  # the others' randomness hides it
            continue
        place, ends = belief.columns.index(other), belief.ends
        low, high = ends.slopes[0][place]
        for _ in range(6):
            more = [Fraction(numbers.choice([1, 1, 1 + numbers.random(), 9])) for _ in range(2)]
            inside = low + (high - low) * Fraction(numbers.choice([0, 1, numbers.random()]))
            law = inside, ends.residuals[0][place] * more[0], ends.variances[0] * more[1]
            cells = [(int(column == "income"), int(column == other)) for column in columns]
            shares.append(float(delta_of_cells(kind, cells, law, most, added, epsilon, 50) / 1e-4))
    assert 0.999 < max(shares) <= 1 + 1e-9


def test_rounding_errors_are_those_of_the_least_variances() -> None:
    belief = fitted(resolution="0.5")
    for law in belief.laws("income"):
        assert law.pivots([1, 0]) == (belief.ends.variances[0], belief.ends.residuals[0][1])
        assert law.pivots([1]) == (belief.ends.residuals[0][1],)
    assert scale(belief, tf.Mean("weight")) > scale(fitted(), tf.Mean("weight"))


@pytest.mark.slow
def test_a_large_sample_is_the_law_itself() -> None:
    guess = tf.MultivariateNormal.fit(survey(20_000), source="a survey", records=50)
    assert scale(fitted(20_000), tf.Mean("weight")) == pytest.approx(scale(guess, tf.Mean("weight")), rel=0.1)


def test_a_region_reads_back_as_itself() -> None:
    framework = tf.Pufferfish(SECRETS["the mean"], fitted(ranges={"weight": (0, 200)}, resolution="0.01"))
    again = tf.Framework.from_dict(json.loads(json.dumps(framework.to_dict())))
    assert again.fingerprint() == framework.fingerprint()
    assert "under every distribution that 60 public rows support (confidence 0.95; a survey)" in framework.describe()
    assert any("covers the true one with confidence 0.95" in line for line in map(str, framework.assumptions()))


@pytest.mark.parametrize("secret", [
    tf.dataset_property("income", "mean", sets=[(None, 40), (40, None)]),
    tf.dataset_property("income", (1,), max_difference=2),
    tf.dataset_property(["income", "weight"], "mean", max_difference=(1, 1)),
    tf.distribution_parameter("income", [50, 80], map="variance"),
])  # fmt: skip
def test_what_has_no_known_worst_law_is_refused(secret: Any) -> None:
    with pytest.raises(InputError, match="the worst distribution is known for the mean, the sum or one value"):
        tf.Pufferfish(secret, fitted())


@pytest.mark.parametrize(("secret", "query"), [
    (SECRETS["the mean"], tf.JointQuery([tf.Mean("weight"), tf.Mean("height")])),
    (POPULATION_MEAN, tf.JointQuery([tf.Mean("income"), tf.Mean("weight")])),
])  # fmt: skip
def test_answers_that_read_more_columns_are_refused(secret: Any, query: Any) -> None:
    with pytest.raises(TakifuguError, match="publish one column at a time"):
        calibrated(secret, fitted(), query)


@pytest.mark.parametrize(("rows", "confidence", "key"), [
    ({"x": [1, 2], "y": [2, 1]}, 0.9, "data"),
    ({"x": [1, 1, 1], "y": [2, 1, 3]}, 0.9, "data"),
    ({"x": [1, 2, 3], "y": [2, 1, 3]}, 1, "confidence"),
    ({"x": [1, 2, 3], "y": [2, 1, 3]}, 1 - 2**-53, "confidence"),
])  # fmt: skip
def test_samples_without_a_region_are_refused(rows: Any, confidence: float, key: str) -> None:
    with pytest.raises(InputError) as refusal:
        tf.MultivariateNormal.fit(rows, source="a survey", confidence=confidence)
    assert key in refusal.value.where


@pytest.mark.parametrize("kind", [tf.NormalRegion, tf.AutoregressiveNormal])
def test_a_fit_has_no_other_name(kind: Any) -> None:
    """The numbers would be a point estimate, and of no series."""
    with pytest.raises(InputError, match="by its own name"):
        kind.fit(survey(9), source="a survey")


def test_columns_that_lie_on_a_line_have_one_law() -> None:
    belief = tf.MultivariateNormal.fit({"x": [1, 2, 4], "y": [2, 4, 8]}, source="s", records=9, confidence=0.99)
    assert belief.ends.slopes[0][1] == (2, 2)
    assert belief.ends.residuals[0][1] == 0
    assert len(belief.laws("x")) == 1


@pytest.mark.parametrize(("scale", "epsilon"), [(1, 1), (50, 1), (3, 6)])
def test_a_band_around_a_density_keeps_no_delta_below_it(scale: float, epsilon: float) -> None:
    """Two laws within eta of a normal one: eta of its mass at R, or in the middle. An output above R/2 tells."""
    eta, far = mpmath.mpf("0.02"), mpmath.mpf(200) * scale
    border = mpmath.mpf("2.0537489106318225")  # 2 % lie above it
    assert abs(1 - mpmath.ncdf(border) - eta) < 1e-12

    def above(place: Any) -> Any:
        return mpmath.exp(-place / scale) / 2 if place > 0 else 1 - mpmath.exp(place / scale) / 2

    under_p = eta * above(far / 2 - far)
    under_q = above(far / 2 - border)  # all of it lies below the border
    assert under_p - mpmath.exp(epsilon) * under_q >= eta * (1 - 1e-6)
    for y in mpmath.linspace(-8, 8, 400):
        fitted_law = mpmath.ncdf(y)
        moved_up, moved_down = min(fitted_law, 1 - eta), min(fitted_law + eta if y >= 0 else fitted_law, mpmath.mpf(1))
        assert abs(moved_up - fitted_law) <= eta + 1e-12
        assert abs(moved_down - fitted_law) <= eta + 1e-12


FIT = {"mean = [70, 40]\ncovariance = [[144, 60], [60, 100]]\n": 'fit = { file = "public.csv", confidence = 0.99 }\n'}


def public_rows(folder: Path) -> None:
    columns = survey(400)
    pairs = zip(columns["weight"], columns["income"], strict=True)
    folder.joinpath("public.csv").write_text("weight;income\n" + "".join(f"{a};{b}\n" for a, b in pairs))


@pytest.mark.slow
def test_a_file_of_fitted_columns_promises_for_the_class(tmp_path: Path) -> None:
    path = written(tmp_path, "normal", FIT)
    public_rows(tmp_path)
    (table,) = plan(load(path)).tables
    (made,) = table.calibrations
    assert isinstance(made.framework.beliefs[0], tf.NormalRegion)
    guess = written(tmp_path, "normal", {**FIT, "public.csv": "public.csv"})
    guess.write_text(guess.read_text().replace(", confidence = 0.99", ""))
    (of_guess,) = plan(load(guess)).tables
    assert made.scale > 1.2 * of_guess.calibrations[0].scale
    path = written(tmp_path, "normal", FIT)
    where = str(path)
    assert "attribute-gaussian-exact" in succeed("cost", where, "--all").output
    assert "kept" in succeed("audit", where).output
    succeed("release", where)
    certificate = json.loads(next(tmp_path.rglob("*certificate*.json")).read_text())
    assert "covers the true one with confidence 0.99" in json.dumps(certificate)


def test_a_file_that_hides_sets_of_fitted_columns_is_refused_at_its_key(tmp_path: Path) -> None:
    sets = {", max_difference = 2": ", sets = [{ below = 40 }, { at_least = 40 }]"}
    path = written(tmp_path, "normal", {**FIT, **sets})
    public_rows(tmp_path)
    caught = refusal_of(path)
    assert any("worst distribution is known" in line for line in caught.problems), caught.problems
