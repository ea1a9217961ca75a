"""What one release costs under a framework, by hand: its own promise, or how far its answer moves over its scale."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from tests.support.ledger_tools import chain_framework, laplace, made, pieces, users, view

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.accounting.composition.losses import (
    WHAT,
    any_change,
    as_whole,
    covering,
    noise_loss,
    plain,
    raised,
    steady_cost,
    whole_cost,
)
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import CompositionRefused
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.sent import Sending
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Count, Query
from takifugu.numbers.distributions.channel import Channel

WHOLE, DATA, QUILT, SINGLE = Covers
HALF = Fraction(1, 2)


def data(about: Framework, query: Query, scale: Any, kind: Covers = DATA, **changes: Any) -> Charge:
    """Return a charge that promises next to nothing of its own, so that its noise alone decides."""
    return replace(charge_of(laplace(about, query, scale, kind, "1/1000")), **changes)


def normal(framework: Framework, query: Query, kind: Covers) -> Charge:
    return charge_of(made(framework, query, RoundedNormal(Fraction(9), Fraction(1)), kind, HALF, Fraction(1, 1000)))


def test_a_whole_release_costs_the_change_of_all_components_and_a_data_release_that_of_the_largest() -> None:
    """What it promised counts where it was promised, and nowhere else."""
    framework = pieces(6, 4)
    for kind, by_noise in ((WHOLE, Fraction(1)), (DATA, Fraction(6, 10))):
        for epsilon, here in ((Fraction(1, 1000), by_noise), (Fraction(3), 3)):
            one = data(framework, Count(1), 10, kind, epsilon=epsilon)
            assert steady_cost(view(framework), one) == here
            assert steady_cost(view(framework), replace(one, framework="another belief")) == by_noise


def test_a_promise_without_a_scale_is_believed_where_the_query_reads_alike() -> None:
    framework, other, one = pieces(6, 4), pieces(6, 5), pieces(6, 4, secrets=tf.entry(0, 0, 1))
    for kind in (WHOLE, DATA):
        assert steady_cost(view(framework), normal(framework, Count(1), kind)) == HALF
    with pytest.raises(CompositionRefused, match="person or component, without Laplace noise, was calibrated"):
        steady_cost(view(other), normal(framework, Count(1), DATA))
    assert steady_cost(view(chain_framework(10)), normal(framework, Count(1), WHOLE)) == HALF
    with pytest.raises(CompositionRefused, match="change of the data, without Laplace noise, was calibrated"):
        steady_cost(view(users(4)), normal(framework, Count(1), WHOLE))
    assert steady_cost(view(one), normal(one, Count(1), DATA)) == HALF


def test_only_a_whole_promise_covers_the_whole_data_without_a_scale() -> None:
    one = pieces(6, 4, secrets=tf.entry(0, 0, 1))
    assert whole_cost(view(one), normal(one, Count(1), WHOLE)) == HALF
    for kind in (DATA, QUILT, SINGLE):
        with pytest.raises(CompositionRefused, match=f"covers {WHAT[kind]}, without Laplace noise, has no cost"):
            whole_cost(view(one), normal(one, Count(1), kind))


def test_the_whole_data_cost_their_change_whatever_a_smaller_promise_says() -> None:
    framework, promised = pieces(6, 4), {"epsilon": Fraction(3)}
    for kind, more, expected in (
        (DATA, {}, 1), (QUILT, {}, 1), (SINGLE, {}, 1), (WHOLE, {}, 3), (WHOLE, {"framework": "another belief"}, 1),
    ):  # fmt: skip
        assert whole_cost(view(framework), data(framework, Count(1), 10, kind, **promised, **more)) == expected
    with pytest.raises(CompositionRefused, match="nothing bounds how far"):
        whole_cost(view(framework), data(framework, Count(1), 10, WHOLE, change=None))


def test_under_another_definition_a_release_costs_what_its_noise_loses() -> None:
    framework = pieces(6, 4)
    one = data(framework, Count(1), 20, QUILT, definition="another", at=3)
    whole = as_whole(one, "pufferfish", one.change)
    assert (whole.epsilon, whole.covers, whole.definition) == (HALF, WHOLE, "pufferfish")
    assert (whole.scale, whole.entries, whole.answers) == (None, 0, ())
    assert (whole.names, whole.lengths, whole.at) == ((), (), None)
    for boundless in (replace(one, scale=Fraction(0)), replace(one, change=None), normal(framework, Count(1), WHOLE)):
        with pytest.raises(CompositionRefused, match="no cost for a change of the whole data"):
            as_whole(boundless, "pufferfish", boundless.change)
    assert as_whole(replace(one, scale=None), "pufferfish", one.change).epsilon == HALF  # as its randomiser says
    unread = replace(one, scale=Fraction(0), change=Fraction(0))
    assert as_whole(unread, "pufferfish", unread.change).epsilon == noise_loss(unread, unread.change) == 0


def test_what_a_change_at_will_loses_is_the_larger_of_promise_and_noise_where_both_hold() -> None:
    framework = pieces(6, 4)
    one = data(framework, Count(1), 20)
    assert any_change(one) == HALF
    assert any_change(replace(one, epsilon=Fraction(3))) == HALF
    whole = replace(one, covers=WHOLE)
    assert [any_change(replace(whole, epsilon=Fraction(e))) for e in (0, 3)] == [HALF, 3]
    assert any_change(replace(whole, epsilon=Fraction(3), definition="unknown")) == HALF
    assert any_change(normal(framework, Count(1), WHOLE)) == HALF
    for boundless in (normal(framework, Count(1), DATA), replace(one, scale=Fraction(0)), replace(one, change=None)):
        assert any_change(boundless) is None
    assert any_change(replace(one, scale=None, change=Fraction(0))) == 0


def test_rows_that_are_randomised_each_by_itself_lose_what_their_channel_does_for_any_rows() -> None:
    for masses in ([3, 1], [5, 3]):
        rows = [[Fraction(p, sum(masses)) for p in row] for row in (masses, masses[::-1])]
        channel = Channel.of([0, 1], ["x", "y"], rows)
        noise = Sending(3, 0.0, 1.0, "", Sender(channel))
        sent = Charge(
            "populations", "distribution", DATA, Fraction(1, 1000), Fraction(0), tf.LocalValue(0, "").to_dict(),
            noise.to_dict(), None, Fraction(3), Fraction(3), 3, (),
        )  # fmt: skip
        true = 3 * math.log(masses[0] / masses[1])
        assert true <= (any_change(sent) or 0) <= true * (1 + 1e-9)
        assert any_change(replace(sent, definition="pufferfish")) is None
        assert any_change(replace(sent, epsilon=Fraction(50), covers=WHOLE)) == 50
        assert any_change(replace(sent, covers=WHOLE)) == any_change(sent)


def test_what_covers_other_data_costs_what_it_is_said_to_under_any_framework() -> None:
    framework = pieces(6, 4)
    one = covering(data(framework, Count(1), 20, scope="pooled", at=3, begins_series=True), HALF, Fraction(1, 9))
    assert (one.epsilon, one.delta, one.covers, one.scale, one.entries) == (HALF, Fraction(1, 9), WHOLE, None, 0)
    assert (one.scope, one.reading, one.at, one.begins_series) == ("unit", "", None, False)
    for about in (framework, users(3)):
        other = data(about, Count(1), 1000)
        joined = joint(about, [other, one])
        assert (joined.epsilon, joined.delta) == (HALF + cost_by_noise(view(about), [other]), one.delta)


def test_a_raised_delta_is_never_below_the_true_one_and_exact_where_nothing_was_lost() -> None:
    """Also where the floating-point exponential is a little too small and its product with delta a short number."""
    for earlier in range(1, 40):
        for delta in (Fraction(1, 100) / Fraction(math.exp(earlier)), Fraction(1, 3 * 10**18)):
            with mpmath.workdps(50):
                true = mpmath.exp(earlier) * delta.numerator / delta.denominator
                bound = raised(delta, Fraction(earlier))
                assert true <= mpmath.mpf(bound.numerator) / bound.denominator <= true * (1 + mpmath.mpf(10) ** -10)
    assert raised(Fraction(1, 3), Fraction(0)) == Fraction(1, 3)
    assert raised(Fraction(0), Fraction(10**9)) == 0
    assert raised(Fraction(1, 10**9), Fraction(30)) == raised(Fraction(1, 10**9), Fraction(10**9)) == 1
    assert raised(Fraction(1, 10**305), Fraction(700)) < Fraction(1, 2)
    assert raised(Fraction(1, 10**305), Fraction(701)) == 1


def test_a_searched_cost_is_rounded_up_to_a_short_fraction_by_a_billionth_at_most() -> None:
    assert plain(Fraction("0.333333333332")) == Fraction(1, 3)
    assert plain(Fraction("0.3334")) == Fraction(1667, 5000)
