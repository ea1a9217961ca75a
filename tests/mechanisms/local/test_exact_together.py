"""The exact loss of all that is sent of a row, against every output in rationals: laws, classes, tuples and bits."""

import math
from fractions import Fraction as F
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mechanisms.local.test_together import charge
from tests.support import region_oracles
from tests.support import rows_oracle as oracle
from tests.support.population_oracles import channels as channels_of
from tests.support.population_oracles import laws as laws_of

import takifugu as tf
from kawamoto.channels import randomised_response
from kawamoto.composing import on_one_value
from takifugu.accounting.composition import joint
from takifugu.audit import joint_loss
from takifugu.mechanisms.local.populations import Populations, populations_of
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.sent import Sending
from takifugu.mechanisms.local.together import losses_together
from takifugu.model.beliefs.counted_populations import samples_of

#: What is rounded upwards, at these sizes.
CLOSE = 1e-11


def populations(laws: Any) -> Populations:
    belief = tf.FromPopulations({f"p{n}": law for n, law in enumerate(laws)}, 1, True, supports="align")
    return populations_of(belief)


def table(sender: Sender) -> dict[Any, dict[Any, F]]:
    """Return the probability of every output, tuples and sets of bits with all their masses."""
    return {x: {y: sender.mass(n, y) for y in sender.outputs} for n, x in enumerate(sender.values)}


def one_way(one: Any, other: Any) -> float:
    return max(math.log(mass / other[y]) if other.get(y) else math.inf for y, mass in one.items() if mass)


def assert_exact(laws: Any, senders: list[Sender]) -> None:
    losses = losses_together(senders, populations(laws))
    assert losses is not None
    tables = [table(sender) for sender in senders]
    sent = {f"p{n}": oracle.sent(oracle.repeated(law, len(senders)), tables) for n, law in enumerate(laws)}
    assert set(losses) == set(permutations(sent, 2))
    for (one, other), loss in losses.items():
        true = one_way(sent[one], sent[other])
        assert true <= loss * (1 + 1e-15), (true, loss)
        assert loss == true or loss <= true * (1 + CLOSE) + CLOSE


@st.composite
def senders_of(draw: Any, count: int) -> Sender:
    return Sender(draw(channels_of(count, draw(st.integers(1, 3)))), draw(st.integers(0, 2)))


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(2, 3))
def test_it_is_the_largest_ratio_of_all_outputs_each_way(data: Any, count: int) -> None:
    two_or_more = laws_of(count).filter(lambda law: sum(mass > 0 for mass in law.values()) > 1)
    laws = data.draw(st.lists(two_or_more, min_size=2, max_size=3))
    senders = data.draw(st.lists(senders_of(count), min_size=1, max_size=3))
    if math.prod(len(sender.outputs) for sender in senders) < 4000:
        assert_exact(laws, senders)


def test_numbers_far_below_the_smallest_float_are_counted() -> None:
    small = F(1, 10**200)
    laws = [{"a": small, "b": 1 - small}, {"a": small**2, "b": 1 - small**2}]
    rare = Sender(rare_errors(small))
    losses = losses_together([rare] * 3, populations(laws))
    assert losses is not None
    right, wrong = (1 - small) ** 3, small**3
    exact = (small * right + (1 - small) * wrong) / (small**2 * right + (1 - small**2) * wrong)
    true = math.log(exact.numerator) - math.log(exact.denominator)
    assert true == pytest.approx(200 * math.log(10))
    assert true <= losses["p0", "p1"] <= true * (1 + 1e-11)


def rare_errors(small: F) -> Any:
    return randomised_response(["a", "b"], 1).of(["a", "b"], [0, 1], [[1 - small, small], [small, 1 - small]])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), channels_of(3, 2, 1), channels_of(3, 2, 1))
def test_over_a_class_it_is_that_of_its_corners(counts: list[int], first: Any, second: Any) -> None:
    listed = [("p", x) for x, n in enumerate(counts) for _ in range(n)] + [("q", x) for x in range(3) for _ in range(5)]
    belief = tf.FromPopulations.counted(samples_of(listed, 3), [0, 1, 2], 0.9, independent=True)
    losses = losses_together([Sender(first), Sender(second)], populations_of(belief))
    assert losses is not None
    both, regions = on_one_value(first, second), belief.regions
    assert regions is not None
    corners = {name: region_oracles.corners(region, 3) for name, region in regions.by_name.items()}
    for one, other in permutations("pq"):
        sides = [[region_oracles.sent(both, law) for law in corners[name]] for name in (one, other)]
        true = max(math.log(a / b) for p, q in product(*sides) for a, b in zip(p, q, strict=True))
        assert losses[one, other] == pytest.approx(true, rel=1e-12, abs=1e-12)
    about = tf.Pufferfish(tf.population_membership(), belief)
    releases: Any = [(tf.LocalValue(), Sending(1, 0.0, 1.0, "", Sender(channel))) for channel in (first, second)]
    audit = joint_loss(about, releases)
    assert max(losses.values()) <= audit.upper * (1 + 1e-12) + 1e-9
    assert audit.lower <= max(losses.values())


@pytest.mark.mutants
def test_outputs_that_are_too_many_are_left_to_the_bounds() -> None:
    values = tuple(range(30))
    two = [dict.fromkeys(values, F(1, 30)), {x: F(x + 1, 465) for x in values}]
    response = Sender(randomised_response(values, 1))
    assert losses_together([response] * 4, populations(two)) is not None
    assert losses_together([response] * 50, populations(two)) is None
    about = tf.Pufferfish(tf.population_membership(), tf.FromPopulations(dict(zip("pq", two, strict=True)), 1, True))
    often = [charge(Sending(1, 0.0, 1.0, "", response), about, F(1), "May")] * 50
    assert float(joint(about, often).epsilon) == pytest.approx(math.log(15.5))  # what the value tells: 465/30 to 1


def test_two_populations_lose_most_one_way_and_two_others_the_other_way() -> None:
    """May tells a from b, June a from c: their sum is lost by no two populations."""
    masses = {"a": (6, 3, 1), "b": (2, 7, 1), "c": (4, 2, 4)}
    laws = {name: {x: F(mass, 10) for x, mass in enumerate(of)} for name, of in masses.items()}
    about = tf.Pufferfish(tf.population_membership(), tf.FromPopulations(laws, 2, True))
    keeps = [Sender(whether(place)) for place in (0, 2)]
    charges = []
    for sender, batch in zip(keeps, ("May", "June"), strict=True):
        most = F(2 * max(losses_together([sender], populations(laws.values())).values()))  # type: ignore[union-attr]
        charges.append(charge(Sending(2, 0.0, 1.0, "", sender), about, most, batch))
    tables = [table(sender) for sender in keeps]
    sent = [oracle.sent_of_rows(law, [(0,), (1,)], tables) for law in laws.values()]
    true = 2 * max(one_way(one, other) for one, other in permutations(sent, 2))
    assert true <= float(joint(about, charges).epsilon) * (1 + 1e-12)
    assert float(joint(about, charges).epsilon) == pytest.approx(true)
    assert true < 0.95 * float(sum(one.epsilon for one in charges))


def whether(place: int) -> Any:
    """Return the channel that says, mostly truly, whether a value is this one."""
    flip = randomised_response([0, 1], 2)
    return flip.of([0, 1, 2], [0, 1], [list(flip.row(int(x == place)).values()) for x in range(3)])
