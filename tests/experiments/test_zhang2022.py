"""Zhang22 reproduced: printed tables and golden numbers by an independent route, and the page beside the program."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import simpson
from scipy.stats import norm
from tests.support import zhang_oracles as oracle
from tests.support.chain_oracles import laplace_loss
from tests.support.golden import golden
from tests.support.laws_oracles import least_distance
from tests.support.research import research_file

import adult_attributes as adult
import takifugu as tf
import zhang2022
from pages import made

FIGURE = golden()["attribute_quilt_001_example1"]
SECTION = golden()["attribute_gaussian_001_example"]
LOW, HIGH = Fraction(2, 5), Fraction(3, 5)


def figure_joint() -> dict[tuple[int, ...], Fraction]:
    """Return the joint law of the five parameters of Figure 1, in the order g, i, s, h, w."""
    tables = [[FIGURE["cpt"]["g"]], *(FIGURE["cpt"][k] for k in ("i_given_g", "s_given_i", "h_given_g", "w_given_h"))]
    joint = {}
    for g, i, s, h, w in product((0, 1), repeat=5):
        parts = zip(tables, (0, g, i, g, h), (g, i, s, h, w), strict=True)
        joint[g, i, s, h, w] = math.prod(Fraction(law[above][state]) for law, above, state in parts)
    return joint


@pytest.mark.parametrize(("number", "chances"), [("1", (HIGH, LOW)), ("2", (Fraction("0.44"), Fraction("0.56")))])
def test_the_printed_tables_are_binomial(number: str, chances: tuple[Fraction, Fraction]) -> None:
    for chance, printed in zip(chances, zhang2022.PRINTED[number], strict=True):
        law = oracle.sum_of([chance] * zhang2022.PEOPLE)
        assert " ".join(f"{float(p):.4f}" for p in law.values()) == printed


def test_the_printed_plan_of_example_2_is_none() -> None:
    """The paper moves mass from 1 to 2 and from 4 to 3; the plan moves every mass by one step, all the same way."""
    none, all_four = (oracle.given_total(4, total, LOW, HIGH) for total in (0, 4))
    assert oracle.moves(none, all_four) == {(1, 0), (2, 1), (3, 2), (4, 3)}
    assert least_distance(none, all_four) == 1
    assert oracle.moves(all_four, none) == {(0, 1), (1, 2), (2, 3), (3, 4)}


@pytest.mark.parametrize("box", ["[4/10,6/10]", "[3/10,7/10]", "[0,1]"])
def test_a_grid_over_the_box_of_example_2_needs_the_printed_moves(box: str) -> None:
    low, high = (Fraction(end) for end in box.strip("[]").split(","))
    grid = [low + (high - low) * k / 4 for k in range(5)]
    laws = {(p, q, a): oracle.given_total(4, a, p, q) for p in grid for q in grid for a in range(5)}
    worst = max(least_distance(laws[p, q, a], laws[p, q, b]) for p, q, a in laws for b in range(a))
    assert str(worst) == golden()["attribute_wasserstein_theta_grid_001_example2"][box][0]


def test_the_quilts_of_figure_1() -> None:
    names = "gishw"
    joint = figure_joint()
    known = {quilt["Q"]: quilt for quilt in FIGURE["quilts"]}
    for chosen, near, remote in oracle.quilts(names, "i", oracle.ARCS):
        influence = oracle.influence(joint, names, "i", chosen)
        printed = known.pop(chosen)
        assert (printed["N"], printed["R"], Fraction(printed["exp_influence"])) == (near, remote, influence)
    assert not known
    ours = {"".join(sorted(n[0] for n in q)): (near, e) for q, near, e in zhang2022.quilts()}
    for printed in FIGURE["quilts"]:
        near, influence = ours.pop(printed["Q"])
        assert "".join(sorted(n[0] for n in near)) == printed["N"]
        assert influence == pytest.approx(float(Fraction(printed["exp_influence"])), rel=1e-12)
    assert not ours


@pytest.mark.parametrize("case", SECTION["cases"])
def test_the_printed_variance_of_section_4_3(case: str) -> None:
    epsilon, delta = map(float, case.split(","))
    printed = SECTION["cases"][case]["classical"]
    needs = {}
    for name, row in SECTION["per_attr"].items():
        distance, conditional = float(Fraction(row["delta_F"])), float(Fraction(row["cond_var"]))
        needs[name] = oracle.printed_variance(distance, 1, conditional, epsilon, delta)
        assert needs[name] == pytest.approx(float(printed[f"required_{name}"]), rel=1e-11)
    assert max(needs.values()) == pytest.approx(float(printed["sigma2"]), rel=1e-11)
    worst = SECTION["per_attr"]["income"]
    distance, conditional = float(Fraction(worst["delta_F"])), float(Fraction(worst["cond_var"]))
    exact = oracle.normal_delta(distance, conditional + needs["income"], epsilon)
    assert exact == pytest.approx(float(printed["exact_delta"]), rel=1e-9)


def test_the_printed_tables_are_those_of_the_beliefs() -> None:
    zhang2022.check_tables()


@pytest.mark.parametrize("epsilon", ["0.2", "0.5"])
def test_the_scales_of_example_2_keep_epsilon_and_the_least_is_tight(epsilon: str) -> None:
    laws = [oracle.given_total(4, total, LOW, HIGH) for total in range(5)]
    framework = tf.Pufferfish(zhang2022.sensitive_sum(), zhang2022.pair("0.4", "0.6"))
    losses = {}
    for mechanism in ("wasserstein", "laplace-exact"):
        scale = zhang2022.scale(framework, tf.Sum("x1"), epsilon, mechanism)
        assert scale
        losses[mechanism] = float(max(laplace_loss(p, q, scale) for p, q in permutations(laws, 2)))
    assert losses["wasserstein"] < float(epsilon)
    assert losses["laplace-exact"] == pytest.approx(float(epsilon), rel=1e-8)


def test_boxes_are_as_long_as_printed_and_no_point_of_a_grid_is_above() -> None:
    for (low, high), printed in zhang2022.BOXES.items():
        ends = [oracle.sum_of([Fraction(chance)] * 4) for chance in (low, high)]
        assert least_distance(*ends) == printed
        row = next(line for line in made(zhang2022.PAGE, "boxes").splitlines() if f"between {low} and {high}" in line)
        assert [cell.strip() for cell in row.split("|")[2:5]] == [str(printed), "4.0000", f"{printed:.4f}"]


@pytest.mark.parametrize("case", zhang2022.CASES_IN_TABLE)
def test_the_curves_of_section_4_3_by_integration(case: tuple[float, int, float]) -> None:
    correlation, records, epsilon = case
    errors = zhang2022.normal_errors(*case)
    shift = correlation * 12 / 9 * 5
    conditional = (1 - correlation**2) * 144 / records
    least, printed = ((errors[line] / zhang2022.MEAN_ERROR) ** 2 for line in ("attribute-gaussian-exact", "printed"))
    reached = oracle.normal_delta(shift, conditional + least, epsilon)
    assert reached == pytest.approx(1e-5, rel=1e-6) if least else reached < 1e-5
    assert (oracle.normal_delta(shift, conditional + printed, epsilon) > 1e-5) == (epsilon == 10)  # errata E8a
    assert errors["wasserstein"] == pytest.approx(shift / epsilon, rel=1e-5)


def test_figure_1_needs_what_the_paper_says() -> None:
    framework = tf.Pufferfish(tf.distribution_parameter("income"), zhang2022.students())
    for name, (query, _) in zhang2022.COUNTED.items():
        for epsilon in ("1", "0.5"):
            scale = zhang2022.scale(framework, query, epsilon, "attribute-quilt")
            assert scale == pytest.approx(NEEDED[name, epsilon], rel=1e-9), (name, epsilon)
    text = next(line for line in made(zhang2022.PAGE, "quilts").splitlines() if line.startswith("| gender |"))
    assert f"{FIGURE['example1_text_scale_AND_eps1']:.2f}" in text


CASES = {name: case["scale"] for name, case in FIGURE["cases"].items()}
NEEDED = {
    (name, epsilon): CASES[f"{case},eps={epsilon}"]
    for name, case in zip(
        zhang2022.COUNTED, ("count_tall{h}", "count_tall_and_sat{h,s}", "count_tall_plus_count_sat{h,s}"), strict=True
    )
    for epsilon in ("1", "0.5")
}


@pytest.mark.slow
def test_who_guesses_a_property_of_adult() -> None:
    others = adult.people(research_file(adult.OTHERS))
    slope, deviation = adult.shift_per_hour(others)
    assert adult.right_of_shift(slope, deviation, 0.0) == pytest.approx(oracle.right_guess(slope, deviation**2))
    one, other, _ = adult.incomes(others)
    assert adult.count_given(adult.RECORDS // 100, one, other).sum() == pytest.approx(1)


def by_integration(shift: float, deviation: float, scale: float) -> float:
    """Return half of the integral of |p - q|, p the density of N + Laplace noise by convolution, q the same moved."""
    noise = np.linspace(-40 * scale, 40 * scale, 16_001)
    weights = np.exp(-np.abs(noise) / scale) / (2 * scale)
    places = np.linspace(-12 * deviation - 40 * scale, 12 * deviation + 40 * scale + shift, 2_001)

    def density(y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.array([simpson(weights * norm.pdf(one - noise, 0, deviation), x=noise) for one in y])

    return float(simpson(np.abs(density(places) - density(places - shift)), x=places)) / 2


@pytest.mark.mutants
@pytest.mark.parametrize(("shift", "deviation", "scale"), [(1, 1, 1), (3, 0.5, 0.3), (2, 0.3, 1)])
def test_who_guesses_which_of_two_normal_laws(shift: float, deviation: float, scale: float) -> None:
    expected = by_integration(shift, deviation, scale)
    assert adult.right_of_shift(shift, deviation, scale) == pytest.approx((1 + expected) / 2, abs=1e-4)


def by_force(p: Sequence[float], q: Sequence[float], scale: float) -> float:
    """Sum |A - B| over all outputs that matter, with the definition of discrete Laplace noise."""
    factor = math.exp(-1 / scale)

    def noise(distance: int) -> float:
        return (1 - factor) / (1 + factor) * factor ** abs(distance)

    reach = range(-int(60 * scale), int(60 * scale) + len(p))
    both = ([sum(mass * noise(y - x) for x, mass in enumerate(law)) for y in reach] for law in (p, q))
    return sum(abs(a - b) for a, b in zip(*both, strict=True)) / 2


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_who_guesses_which_of_two_counts(scale: float) -> None:
    one, other = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.1, 0.3, 0.5])
    assert adult.right_of_counts(one, other, scale) == pytest.approx((1 + by_force(one, other, scale)) / 2, rel=1e-9)


@pytest.mark.slow
def test_the_page_shows_the_noise_for_adult() -> None:
    others = adult.people(research_file(adult.OTHERS))
    hours, long, share = adult.cases(others)
    lines = made(zhang2022.PAGE, "adult").splitlines()
    for case, mechanism, delta in ((hours, "attribute-gaussian-exact", "1e-5"), (share, "laplace-exact", 0)):
        start = next(i for i, line in enumerate(lines) if case.about in line)
        row = next(line for line in lines[start:] if f"`{mechanism}`" in line)
        error = adult.error(case, mechanism, 1.0, delta)
        assert error is not None
        assert f" {error:.4g} " in row
    assert long.framework.definition == "attribute"
