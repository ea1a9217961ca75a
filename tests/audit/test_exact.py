"""The exact audit against enumeration from its own definition, closed forms, and starts sampled at random."""

import itertools
import math
import pkgutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import answer_law_given, exact_rows, joint_law, laplace_loss, largest_over_pairs
from tests.support.chain_strategies import chains, contributions, joint_laws, linear, table_joint, tables, weights
from tests.support.laws_oracles import as_mpf

import takifugu as tf
import takifugu.audit
from takifugu import calibrate
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, RoundedLaplace, RoundedNormal
from takifugu.audit import exact_delta, exact_loss, joint_loss
from takifugu.core.errors import InputError, Unsupported
from takifugu.model.beliefs.counted_populations import samples_of
from takifugu.model.frameworks import Framework, Pufferfish, distribution_pair
from takifugu.model.secrets.of_entries import attribute, entry, every_entry
from takifugu.numbers import Pmf

BIT = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 1)


def discrete(scale: Any, cells: int = 1) -> DiscreteLaplace:
    return DiscreteLaplace(Fraction(scale), Fraction(1), cells)


def hide(belief: Any) -> Framework:
    return Pufferfish(every_entry(), belief)


def losses(joint: dict[tuple[int, ...], Any], table: list[list[int]], scale: Fraction) -> Any:
    return largest_over_pairs(joint, table, lambda p, q: laplace_loss(p, q, scale))


@settings(max_examples=30)
@given(st.data(), chains(length=(1, 5), starts=("stationary", "given")), st.sampled_from(["1/3", "2", "7"]))
def test_chains_of_one_law(data: st.DataObject, chain: tf.MarkovChain, scale: str) -> None:
    assume(any(sum(chain.possible(i)) > 1 for i in range(chain.length)))
    chosen = data.draw(weights(chain.length))
    audit = exact_loss(hide(chain), tf.Linear(chosen, grid=1), discrete(scale))
    (joint,) = joint_laws(chain)
    expected = losses(joint, contributions(linear(chain, chosen)), Fraction(scale))
    assert audit.lower <= expected <= audit.upper
    assert audit.upper - audit.lower < 1e-12 * (1 + audit.loss)


@settings(max_examples=30)
@given(tables(), st.sampled_from(["1/3", "2"]))
def test_tables(table: tf.JointTable, scale: str) -> None:
    assume(any(sum(table.possible(i)) > 1 for i in range(table.size)))
    audit = exact_loss(hide(table), tf.Sum(grid=1), discrete(scale))
    expected = losses(table_joint(table), contributions(tf.Sum(grid=1).resolve(table)), Fraction(scale))
    assert audit.lower <= expected <= audit.upper


@pytest.mark.slow
@settings(max_examples=12)
@given(chains(length=(2, 4), starts=("any",)), st.sampled_from(["1/2", "2"]), st.integers(0, 2**31))
def test_any_start_is_the_supremum_over_start_laws(chain: tf.MarkovChain, scale: str, seed: int) -> None:
    assume(any(sum(chain.possible(i)) > 1 for i in range(chain.length)))
    audit = exact_loss(hide(chain), tf.Count(1), discrete(scale))
    matrix, table = exact_rows(chain.matrix.tolist()), contributions(tf.Count(1).resolve(chain))
    rng, highest = np.random.default_rng(seed), mpmath.mpf(0)
    size = len(chain.states)
    for power in range(12):
        start = rng.dirichlet(np.ones(size)) ** (1 + power % 8)
        joint = joint_law(matrix, chain.length, [Fraction(float(p)) for p in start / start.sum()])
        highest = max(highest, losses(joint, table, Fraction(scale)))
    assert highest <= audit.upper
    hull = mpmath.mpf(0)
    for i in range(chain.length):
        laws = [[law for j in joint_laws(chain) if (law := answer_law_given(j, table, i, v))] for v in range(size)]
        for a, b in itertools.permutations(range(size), 2):
            hull = max([hull, *(laplace_loss(p, q, Fraction(scale)) for p in laws[a] for q in laws[b])])
    assert audit.lower <= hull


@pytest.mark.slow
def test_any_start_of_a_sticky_chain_is_reached_by_a_mixture() -> None:
    chain = [[0.95, 0.05], [0.05, 0.95]]
    audit = exact_loss(hide(tf.MarkovChain(chain, 4, initial="any")), tf.Count(1), discrete(3))
    losses = [
        exact_loss(hide(tf.MarkovChain(chain, 4, initial=[t, 1 - t])), tf.Count(1), discrete(3)).loss
        for t in np.linspace(0, 1, 101)
    ]
    assert max(losses[0], losses[-1]) < 0.95
    assert 1 < max(losses) <= audit.upper
    assert audit.loss - max(losses) < 1e-3


def test_any_start_where_a_start_can_only_lead_one_way() -> None:
    # Each hypothesis belongs to one start, so the loss is at a limit of the initial laws.
    chain = tf.MarkovChain([[0.0, 1.0], [1.0, 0.0]], 3, initial="any")
    assert exact_loss(hide(chain), tf.Count(1), discrete(2)).loss == pytest.approx(0.5, abs=1e-12)


def test_histograms_look_at_every_cell_together() -> None:
    chain = tf.MarkovChain([[0.6, 0.4], [0.3, 0.7]], 3)
    (joint,) = joint_laws(chain)
    table = [[(1, 0), (0, 1)]] * 3
    loss = mpmath.mpf(0)
    for i in range(3):
        p, q = (answer_law_given(joint, table, i, v) for v in (0, 1))
        for y in itertools.product(range(-3, 7), repeat=2):
            a, b = (
                mpmath.fsum(as_mpf(m) * mpmath.exp(-(abs(y[0] - x[0]) + abs(y[1] - x[1])) / 2) for x, m in law.items())
                for law in (p, q)
            )
            loss = max(loss, abs(mpmath.log(a / b)))
    audit = exact_loss(hide(chain), tf.Histogram(), discrete(2, 2))
    assert audit.lower <= loss <= audit.upper
    # Two cells that always add up to 3 tell more than one cell alone.
    assert audit.loss > exact_loss(hide(chain), tf.Count(1), discrete(2)).loss


def test_fewer_outputs_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = tf.MarkovChain([[0.6, 0.4], [0.3, 0.7]], 3, states=[0, 6])
    noises = [discrete(2), RoundedLaplace(Fraction(2), Fraction(1)), RoundedLaplace(Fraction(2), Fraction(7, 2))]
    every = [exact_loss(hide(chain), tf.Sum(grid=1), noise).loss for noise in noises]
    monkeypatch.setattr("takifugu.audit.releases.FEW_MASSES", 0)
    assert [exact_loss(hide(chain), tf.Sum(grid=1), noise).loss for noise in noises] == every


def test_noise_laws_from_their_definition() -> None:
    noises = (discrete(2), 0.5), (RoundedLaplace(Fraction(2), Fraction(1)), 0.5), (Exact(Fraction(1)), math.inf)
    for noise, expected in noises:
        assert exact_loss(hide(BIT), tf.Count(1), noise).loss == pytest.approx(expected, abs=1e-12)
    with pytest.raises(Unsupported, match="ask for its delta"):
        exact_loss(hide(BIT), tf.Count(1), RoundedNormal(Fraction(2), Fraction(1)))


def test_rounded_laplace_at_real_centres() -> None:
    framework = distribution_pair(Pmf([0.25], [1.0]), Pmf([1.75], [1.0]))
    assert exact_loss(framework, tf.Identity(), RoundedLaplace(Fraction(2), Fraction(1))).loss == pytest.approx(0.75)
    with pytest.raises(InputError, match="multiple of the noise's grid"):
        exact_loss(framework, tf.Identity(), discrete(1))


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_delta_of_a_shift_has_a_closed_form(epsilon: float) -> None:
    noise, shift = discrete(3), 1
    a = math.exp(-1 / 3)
    outputs = range(-400, 400)
    p = [(1 - a) / (1 + a) * a ** abs(y) for y in outputs]
    q = [(1 - a) / (1 + a) * a ** abs(y - shift) for y in outputs]
    expected = math.fsum(max(0.0, x - math.exp(epsilon) * z) for x, z in zip(p, q, strict=True))
    audit = exact_delta(hide(BIT), epsilon, tf.Count(1), noise)
    assert audit.loss == pytest.approx(expected, abs=1e-14)
    assert audit.lower <= expected + 1e-15
    assert (audit.loss == 0) == (epsilon >= 1 / 3)


def test_delta_of_rounded_normal_noise_is_below_the_continuous_one() -> None:
    sigma, epsilon = 2, 0.5
    audit = exact_delta(hide(BIT), epsilon, tf.Count(1), RoundedNormal(Fraction(sigma), Fraction(1)))

    def upper(x: float) -> float:
        return 0.5 * math.erfc(x / math.sqrt(2))

    exact = upper(epsilon * sigma - 1 / (2 * sigma)) - math.exp(epsilon) * upper(epsilon * sigma + 1 / (2 * sigma))
    assert 0.9 * exact < audit.loss <= audit.upper <= exact + 1e-12


@pytest.mark.slow
def test_delta_for_any_start_is_enclosed() -> None:
    chain = tf.MarkovChain([[0.95, 0.05], [0.05, 0.95]], 4, initial="any")
    audit = exact_delta(hide(chain), 0.3, tf.Count(1), discrete(3))
    middle = exact_delta(hide(tf.MarkovChain(chain.matrix, 4, [0.5, 0.5])), 0.3, tf.Count(1), discrete(3))
    assert 0 < audit.lower <= audit.loss <= audit.upper <= 1
    assert middle.loss <= audit.upper


@pytest.mark.parametrize("matrix", [[[0.9, 0.1], [0.4, 0.6]], [[0.0, 1.0], [1.0, 0.0]]])
def test_delta_for_any_start_is_known_where_no_start_leads_to_both_values(matrix: list[list[float]]) -> None:
    framework = tf.Pufferfish(tf.entry(0, 0, 1), tf.MarkovChain(matrix, 3, initial="any"))
    audit = exact_delta(framework, 0.3, tf.Count(1), discrete(3))
    assert audit.upper - audit.lower < 1e-12
    assert audit.comparison
    mixed = tf.Pufferfish(tf.entry(0, 0, 1), tf.MarkovChain(matrix, 3, [0.3, 0.7]))  # X_0 tells the start
    assert exact_delta(mixed, 0.3, tf.Count(1), discrete(3)).loss == pytest.approx(audit.loss, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.sampled_from([0, 0, 1, 2, 5]), min_size=9, max_size=9), st.integers(2, 4), st.integers(0, 2**31))
def test_delta_for_any_start_is_reached_by_laws_and_never_passed(rates: list[int], length: int, seed: int) -> None:
    """Starts near two states reach the lower end; none of many laws passes the upper one."""
    matrix = np.array(rates, dtype=float).reshape(3, 3) + np.diag(np.array(rates).reshape(3, 3).sum(axis=1) == 0)
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    secret, rng = tf.entry(length - 1, 0, 1), np.random.default_rng(seed)
    anyhow = tf.MarkovChain(matrix, length, initial="any")
    assume(all(anyhow.possible(length - 1)[:2]))
    audit = exact_delta(tf.Pufferfish(secret, anyhow), "1/2", tf.Count(1), discrete(2))
    laws = [rng.dirichlet(np.ones(3)) for _ in range(5)]
    for u, v in itertools.permutations(range(3), 2):
        laws += [np.eye(3)[u] * (1 - t) + np.eye(3)[v] * t for t in (0.0, 1e-7, 0.3)]
    reached = 0.0
    for law in laws:
        of_law = tf.MarkovChain(matrix, length, law.tolist())
        if all(of_law.possible(length - 1)[:2]):
            reached = max(reached, exact_delta(tf.Pufferfish(secret, of_law), "1/2", tf.Count(1), discrete(2)).loss)
    assert audit.lower <= reached + 1e-5
    assert reached <= audit.upper


def test_independent_pieces_are_listed_together() -> None:
    chain = tf.MarkovChain([[0.6, 0.4], [0.3, 0.7]], 3)
    alone = exact_loss(hide(chain), tf.Count(1), discrete(2)).loss
    pieces = exact_loss(hide(tf.IndependentPieces(chain, [3, 2])), tf.Count(1), discrete(2)).loss
    assert pieces <= alone + 1e-12  # the other piece is independent noise
    anyhow = tf.MarkovChain(chain.matrix, 3, initial="any")
    one = exact_loss(hide(anyhow), tf.Count(1), discrete(2))
    two = exact_loss(hide(tf.IndependentPieces(anyhow, [3, 2])), tf.Count(1), discrete(2))
    assert pieces < two.loss <= one.upper


def test_a_single_clique_is_listed_as_its_table() -> None:
    clique = tf.CliqueInfection([["ana", "bo", "chi"]], {3: [Fraction(1, 2), 0, Fraction(3, 8), Fraction(1, 8)]})
    rows = list(itertools.product(clique.alphabet(0), repeat=3))
    masses = [{0: Fraction(1, 2), 2: Fraction(1, 8), 3: Fraction(1, 8)}.get(r.count(rows[-1][0]), 0) for r in rows]
    table = tf.JointTable(rows, masses, ["ana", "bo", "chi"])
    noise, query = DiscreteLaplace(Fraction(2), Fraction(1)), tf.Count(rows[-1][0])
    audits = [exact_loss(Pufferfish(every_entry(), belief), query, noise) for belief in (clique, table)]
    assert audits[0].loss == pytest.approx(audits[1].loss, rel=1e-12)
    assert audits[0].loss > 0.5


def test_a_class_of_chains_needs_some_of_its_chains() -> None:
    framework = hide(tf.ReversibleChains(0.3, 0.5, 4))
    nothing = exact_loss(framework, tf.Count(1), discrete(2))
    assert (nothing.lower, nothing.loss, nothing.upper) == (0, math.inf, math.inf)
    assert "class of distributions" in nothing.left_open
    assert exact_delta(framework, 1, tf.Count(1), discrete(2)).upper == 1
    with pytest.raises(InputError, match="eigengap"):
        exact_loss(framework, tf.Count(1), discrete(2), chains=[tf.MarkovChain([[0.9, 0.1], [0.1, 0.9]], 4, "any")])
    with pytest.raises(InputError, match="stationary masses"):
        exact_loss(framework, tf.Count(1), discrete(2), chains=[tf.MarkovChain([[0.9, 0.1], [0.6, 0.4]], 4, "any")])
    member = tf.MarkovChain([[0.7, 0.3], [0.3, 0.7]], 9, "any")
    audit = exact_loss(framework, tf.Count(1), discrete(2), chains=[member])
    assert audit.upper == math.inf
    assert audit.loss == exact_loss(hide(member.with_length(4)), tf.Count(1), discrete(2)).loss


SAMPLES = samples_of([("m", k % 2) for k in range(40)] + [("f", int(k % 4 == 0)) for k in range(40)], 2)


def counted(**about: Any) -> tf.FromPopulations:
    return tf.FromPopulations.counted(SAMPLES, ["a", "b"], 0.99, **about)


@pytest.mark.parametrize("rows", [1, 2])
def test_the_class_of_counted_populations_is_looked_at(rows: int) -> None:
    """Two members of the class lose nearly 1, the distributions in its middle .355 a row."""
    hidden = Pufferfish(tf.population_membership(), counted(rows=rows, independent=True))
    calibration = calibrate(hidden, tf.LocalValue(), epsilon=1, mechanism="randomised-response")
    audit = exact_loss(calibration)
    assert 0.999 < audit.lower <= audit.upper <= 1
    assert exact_delta(calibration).upper == 1
    regions = hidden.beliefs[0].regions.by_name
    corners = {name: shares(of.low, of.high) for name, of in regions.items()}
    worst = 0.0
    for m, f in itertools.product(corners["m"], corners["f"]):
        member = tf.FromPopulations({"m": m, "f": f}, rows, True)
        worst = max(worst, exact_loss(calibration, chains=[member]).loss)
    assert audit.lower <= worst <= audit.upper
    outside = tf.FromPopulations({"m": {"a": "0.01", "b": "0.99"}, "f": corners["f"][0]}, rows, True)
    with pytest.raises(InputError, match="not in the class"):
        exact_loss(calibration, chains=[outside])


def shares(low: Any, high: Any) -> list[dict[str, Fraction]]:
    """Return the two ends of a region of two values, whose masses are multiples of 2**-60."""
    ends = max(low[1], 2**60 - high[2]), min(high[1], 2**60 - low[2])
    return [{"a": Fraction(end, 2**60), "b": 1 - Fraction(end, 2**60)} for end in ends]


def test_it_is_public_and_needs_nothing_but_a_calibration() -> None:
    calibration = calibrate(hide(tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3)), tf.Count(1), epsilon=1)
    assert tf.exact_loss(calibration) == tf.audit.exact_loss(calibration)
    assert tf.exact_delta(calibration).upper < 1e-12
    with pytest.raises(InputError, match="needs an epsilon"):
        tf.exact_delta(calibration.framework, query=calibration.query, randomiser=calibration.randomiser)


def test_several_releases_and_other_secrets() -> None:
    table = tf.JointTable([(0, 0), (0, 1), (1, 1)], [Fraction(1, 3)] * 3, names=["ill", "test"])
    framework = Pufferfish(attribute("ill", 0, 1), table)
    releases = [(tf.Identity("ill"), discrete(4)), (tf.Identity("test"), discrete(2))]
    together = joint_loss(framework, releases)
    apart = [joint_loss(framework, [release]).loss for release in releases]
    assert max(apart) < together.loss <= sum(apart) + 1e-12
    assert together.comparison.startswith("'ill' = ")
    assert len(together.output) == 2


def test_secrets_without_mass_are_skipped_and_too_much_is_refused() -> None:
    lone = Pufferfish([entry(0, 0, 1), entry(1, 0, 1)], tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 2, initial=[1, 0]))
    assert "step 1" in exact_loss(lone, tf.Count(1), discrete(2)).comparison
    with pytest.raises(Unsupported, match="joint states"):
        exact_loss(hide(tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 40)), tf.Count(1), Exact(Fraction(1)))
    with pytest.raises(Unsupported, match="masses of outputs"):
        joint_loss(hide(tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 9)), [(tf.Histogram(), discrete(2, 2))] * 4)
    with pytest.raises(InputError, match="2 cells and the noise 1"):
        exact_loss(hide(BIT), tf.Histogram(), discrete(2))
    with pytest.raises(InputError, match="needs the query"):
        exact_loss(hide(BIT))


def test_it_uses_nothing_of_the_calibration() -> None:
    folder = Path(takifugu.audit.__file__).parent
    files = [folder / f"{module.name}.py" for module in pkgutil.iter_modules([str(folder)])]
    asking = [folder.parent / "analysis" / "questions" / "joint_states.py", folder.parent / "core" / "registry.py"]
    for file in (*files, *asking):
        for word in ("answer_laws.", "quilts.", "noised", "takifugu.analysis.answer_laws", "takifugu.mechanisms"):
            assert word not in file.read_text()
