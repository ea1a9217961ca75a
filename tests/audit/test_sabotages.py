"""Sabotages that the audit must notice: one part of calibration, model or drawing is broken, and a promise with it.

Each case calibrates, and draws, with one part replaced; as it stands, the same case is kept.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.analysis.sensitivity import component_change
from takifugu.influence.chains.runs import Runs
from takifugu.influence.curves import influence_losses
from takifugu.mechanisms.local.choosing import largest_strength
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.one_sided import Asymmetric, Policy, none_of
from takifugu.model.beliefs.counted_populations import samples_of
from takifugu.model.beliefs.domain import Domain
from takifugu.model.beliefs.records.normal_views import _near as near_view
from takifugu.model.queries.answer import _largest_change as largest_change
from takifugu.model.secrets.families import Family
from takifugu.model.secrets.of_entries import EveryRun
from takifugu.numbers.noise import discrete_laplace, rounded_normal
from takifugu.numbers.rationals import round_up
from takifugu.releasing.auditing import audited
from takifugu.releasing.planning.truth import answer_of

whole_losses = Runs._losses
Patch = Callable[[pytest.MonkeyPatch], None]
STICKY = [[0.9, 0.1], [0.4, 0.6]]
THREE = [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]


@dataclass(frozen=True)
class Sabotage:
    """One part that is broken, a calibration that rests on it, and how often is drawn."""

    name: str
    patch: Patch
    calibrate: Callable[[], Any]
    draws: int = 0


def chain(matrix: Any = STICKY, length: int = 4, **about: Any) -> tf.MarkovChain:
    return tf.MarkovChain(matrix, length, **about)


def made(mechanism: str, query: Any, belief: Any = None, secret: Any = None, epsilon: Any = 1, **how: Any) -> Any:
    """Return what makes everything anew, so that nothing is kept from a case that was not broken."""

    def make() -> Any:
        framework = tf.Pufferfish(secret or tf.every_entry(), (belief or chain)())
        how_alone = {"single_release": True, "allow_zero_noise": True, **how}
        return tf.calibrate(framework, query, epsilon, mechanism=mechanism, **how_alone)

    return make


def put(place: str, value: Any) -> Patch:
    return lambda patch: patch.setattr(place, value)


def wrapped(owner: Any, name: str, change: Callable[..., Any]) -> Patch:
    """Replace a method: `change` gets what it returned, and its arguments."""
    right = getattr(owner, name)

    def wrong(self: Any, *about: Any) -> Any:
        return change(right(self, *about), self, *about)

    return lambda patch: patch.setattr(owner, name, wrong)


def half(number: Any) -> Fraction:
    return round_up(number) / 2


def near_only(pairs: Sequence[tuple[int, int]], *_: Any) -> tuple[tuple[int, int], ...]:
    return tuple((a, b) for a, b in pairs if abs(a - b) == 1)


def three() -> Any:
    return chain(THREE, 5)


def counted() -> Any:
    samples = samples_of([("m", k % 2) for k in range(40)] + [("f", int(k % 4 == 0)) for k in range(40)], 2)
    return tf.FromPopulations.counted(samples, ["a", "b"], 0.99)


def exact() -> Any:
    return tf.FromPopulations({"m": {"a": "0.8", "b": "0.2"}, "f": {"a": "0.3", "b": "0.7"}})


def people() -> Any:
    rows = list(itertools.product("gh", (0, 1, 2)))
    return tf.Records(tf.JointTable(rows, [Fraction(n, 21) for n in range(1, 7)], ["group", "ill"]), 2)


def body() -> Any:
    return tf.MultivariateNormal([170, 70], [[49, 40], [40, 144]], names=["height", "weight"], records=4)


def incomes(deviation: float = 1) -> Any:
    return tf.Density("income", "mean", {a: tf.Normal(a, deviation) for a in (0, 1, 2)})


def users() -> Any:
    return tf.IndependentUsers([{0: 0.5, 1: 0.25, 4: 0.25}] * 3, presence=[Fraction(7, 10)] * 3, absence="removed")


def levels() -> Any:
    net = tf.BayesianNetwork([("x", ["low", "mid", "high"], [], [0.4, 0.3, 0.3])])
    return tf.Parameters(net, {"x": {"low": {0: "0.9", 1: "0.1"}, "mid": {0: "0.5", 1: "0.5"},
                                     "high": {0: "0.1", 1: "0.9"}}}, 2)  # fmt: skip


def asymmetric(mechanism: str, query: Any) -> Any:
    def make() -> Any:
        framework = Asymmetric(Policy.of(none_of("ill")), Domain.of(2, ["well", "mild", "ill"]))
        return tf.calibrate(framework, query, 1, mechanism=mechanism)

    return make


SUM = tf.Sum(codes={0: 0, 1: 1, 2: 2})
WHICH, INCOME = tf.population_membership(), tf.dataset_property("income", "mean")
WEIGHT = tf.dataset_property("weight", "mean", max_difference=20)

#: Where scales of every kind are rounded up, and what the mechanisms on densities promise.
HALVED = "takifugu.mechanisms.common.answer_noise.round_up"
WITH_DELTA: dict[str, Any] = {"delta": "0.01"}
ON_DENSITIES = {
    "wasserstein": {}, "laplace-exact": {}, "wasserstein-delta": WITH_DELTA,
    "gaussian-exact": WITH_DELTA, "gaussian-analytic": WITH_DELTA, "attribute-gaussian-approx": WITH_DELTA,
    "kantorovich-gaussian-a": WITH_DELTA, "kantorovich-gaussian-b": {"delta": "0.1"},  # twice what is needed at .01
}

SABOTAGES = (
    # What is compared.
    Sabotage("only neighbouring values are compared", wrapped(Family, "value_pairs", near_only),
             made("laplace-exact", SUM, three)),
    Sabotage("a state is taken for impossible", wrapped(tf.MarkovChain, "possible", lambda can, *_: (*can[:-1], False)),
             made("laplace-exact", SUM, three)),
    Sabotage("absence is compared with one value", wrapped(Family, "value_pairs", lambda pairs, *_: pairs[:4]),
             made("wasserstein", tf.Sum(), users, tf.presence())),
    Sabotage("only near sums of records are compared", wrapped(Family, "value_pairs", near_only),
             made("wasserstein", tf.Sum("ill"), people, tf.dataset_property("ill", "sum"))),
    Sabotage("only near populations are compared", wrapped(Family, "value_pairs", near_only),
             made("laplace-exact", tf.Sum("x"), levels, tf.distribution_parameter("x"))),
    Sabotage("a move is not allowed", wrapped(Policy, "allows", lambda can, _, before, after: can and after != "well"),
             asymmetric("asymmetric-geometric", tf.Sum(codes={"well": 0, "mild": 2, "ill": 3}))),
    # How much noise.
    Sabotage("half the noise of the whole answer", put(HALVED, half),
             made("laplace-exact", tf.Count(1))),
    Sabotage("half the noise by the distance of laws", put(HALVED, half),
             made("wasserstein", tf.Count(1), lambda: chain(length=1))),
    Sabotage("half the noise by influence", put("takifugu.mechanisms.influence.influence_losses",
             lambda *about: [(loss / 2, why) for loss, why in influence_losses(*about)]),
             made("influence", tf.Count(1))),
    Sabotage("a run is one step shorter",
             wrapped(EveryRun, "family", lambda family, *_: replace(family, run=family.run - 1)),
             made("influence", tf.Count(1), secret=tf.every_run(3))),
    Sabotage("steps between the ends of a run tell nothing",
             wrapped(Runs, "_largest_between", lambda sums, *_: 0 * sums),
             made("influence", tf.Count(1), secret=tf.every_run(3))),
    Sabotage("nothing lies behind a run", wrapped(Runs, "_losses", lambda _, runs, firsts, before, after:
             whole_losses(runs, firsts, before, 0 * after)),
             made("influence", tf.Count(1), lambda: chain(length=6), tf.every_run(2))),
    Sabotage("half the normal noise", put(HALVED, half),
             made("gaussian-exact", tf.Count(1), delta="0.01")),
    Sabotage("entries are taken for independent",
             put("takifugu.mechanisms.group_dp.component_change", lambda problem: replace(
                 component_change(problem), size=Fraction(1))),
             made("group-dp", tf.Count(1), lambda: chain([[0.99, 0.01], [0.01, 0.99]]))),
    Sabotage("half of how far an entry moves the answer",
             put("takifugu.model.queries.answer._largest_change", lambda table: largest_change(table) // 2),
             made("group-dp", tf.Sum(codes={0: 0, 1: 2}, grid=1), lambda: chain(length=1))),
    Sabotage("twice the strength of what is sent",
             put("takifugu.mechanisms.local.choosing.largest_strength", lambda *about: 2 * largest_strength(*about)),
             made("randomised-response", tf.LocalValue(), exact, WHICH)),
    Sabotage("a class is looked at in its middle",
             put("takifugu.mechanisms.local.populations.Populations", lambda *about: Populations(*about[:-1], None)),
             made("randomised-response", tf.LocalValue(), counted, WHICH)),
    Sabotage("half the largest difference of normal records",
             put("takifugu.model.beliefs.records.normal_views._near", lambda belief, secret, weights, reach, *more:
                 near_view(belief, secret, weights, tuple(x / 2 for x in reach), *more)),
             made("attribute-gaussian-exact", tf.Mean("height"), body, WEIGHT, delta="0.01")),
    Sabotage("only near densities are compared", wrapped(Family, "value_pairs", near_only),
             made("attribute-gaussian-approx", tf.Identity(grid="0.01"), incomes, INCOME, delta="0.01")),
    # How much noise on a density, by each mechanism that looks at densities.
    *(Sabotage(f"half the noise of {mechanism} on a density", put(HALVED, half),
               made(mechanism, tf.Identity(grid="0.01"), partial(incomes, 0.1), INCOME, **promise))
      for mechanism, promise in ON_DENSITIES.items()),
    # What is drawn.
    Sabotage("half the noise is drawn", put("takifugu.numbers.noise.discrete_laplace", lambda scale, *more:
             discrete_laplace(Fraction(scale) / 2, *more)), made("laplace-exact", tf.Count(1)), 2000),
    Sabotage("half the normal noise is drawn", put("takifugu.numbers.noise.rounded_normal", lambda centre, sigma, *more:
             rounded_normal(centre, sigma / 2, *more)), made("gaussian-exact", tf.Count(1), delta="0.01"), 2000),
    Sabotage("the answer itself is released", put("takifugu.releasing.publishing.publish._randomised", lambda one, bits:
             [x * one.calibration.randomiser.grid for x in answer_of(one.calibration, one.seen)]),
             made("laplace-exact", tf.Count(1)), 500),
    Sabotage("a distance of populations is dropped", put("takifugu.mechanisms.local.choosing.per_distance",
             lambda loss, distance: loss),
             made("exponential", tf.LocalValue(), exact, tf.population_membership({"m": {"f": "1/2"}}))),
    Sabotage("the value itself is sent", put("takifugu.mechanisms.local.senders.randomised",
             lambda channel, codes, entropy: codes), made("randomised-response", tf.LocalValue(), exact, WHICH), 500),
    Sabotage("the best candidate is always chosen", put("takifugu.numbers.noise.permute_and_flip",
             lambda deficits, rate, entropy: deficits.index(min(deficits))), made("group-dp", tf.Mode()), 500),
    Sabotage("noise on one side is left out", put("takifugu.numbers.noise.geometric",
             lambda scale, size, entropy: np.zeros(size, dtype=np.int64)),
             asymmetric("asymmetric-geometric", tf.Count("ill")), 500),
)  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda one: one.name)
def test_it_is_noticed(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = audited("it", None, sabotage.calibrate(), sabotage.draws)
    assert honest.verdict == "kept", honest
    assert not honest.is_faulty, honest
    sabotage.patch(monkeypatch)
    broken = audited("it", None, sabotage.calibrate(), sabotage.draws)
    assert broken.is_faulty, broken


#: Noise of which none is to spare, so that a fiftieth less breaks the promise.
LEAST: dict[str, Callable[[], Any]] = {
    "laplace-exact": made("laplace-exact", tf.Count(1)),
    "wasserstein": made("wasserstein", SUM, lambda: chain(THREE, 1)),
    "influence": made("influence", tf.Count(1), lambda: chain(length=6, initial="any")),
    "gaussian-exact": made("gaussian-exact", tf.Count(1), **WITH_DELTA),
    "attribute-gaussian-exact": made("attribute-gaussian-exact", tf.Mean("height"), body, WEIGHT, **WITH_DELTA),
}


@pytest.mark.parametrize("mechanism", LEAST)
def test_a_fiftieth_less_noise_is_noticed(mechanism: str) -> None:
    calibration, less = LEAST[mechanism](), Fraction(49, 50)
    noise = calibration.randomiser
    if isinstance(noise, DiscreteLaplace):
        noise = replace(noise, units=noise.units * less)
    else:
        noise = replace(noise, scale=noise.scale * less)
    assert audited("it", None, calibration, 0).verdict == "kept"
    assert audited("it", None, replace(calibration, randomiser=noise), 0).is_faulty


@pytest.mark.mutants
def test_each_mechanism_on_densities_is_broken_once() -> None:
    """A mechanism that begins to look at densities is halved here, too."""
    rows = tf.compare(tf.Pufferfish(INCOME, incomes(0.1)), tf.Identity(grid="0.01"), 1, "0.01", single_release=True)
    assert {row.name for row in rows if row.scale is not None} == {*ON_DENSITIES}
