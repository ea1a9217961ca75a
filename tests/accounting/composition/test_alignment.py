"""Releases about one recording without declared places, against the true joint loss at every placement."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import exact_rows, float_law, stationary_vector
from tests.support.ledger_tools import contributions_of, joint_loss, laplace, made, promised, worst_joint_loss
from tests.support.window_oracles import STARTS

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, compose, joint
from takifugu.accounting.composition.alignment import is_one_reading
from takifugu.accounting.composition.several import several
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import CompositionRefused, InputError
from takifugu.mechanisms import group
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Linear, Query
from takifugu.numbers.noise import SystemEntropy
from takifugu.releasing.planning.questions import Question, debits_of

WHOLE, DATA, QUILT, SINGLE = Covers
Window = tuple[int, Any, Any]  # where it starts, what each of its values adds, scale


def chain(rows: Sequence[Sequence[float]], length: int, initial: Any = "stationary") -> Framework:
    return Pufferfish(tf.every_entry(), tf.MarkovChain(rows, length, initial))


def unplaced(framework: Framework, query: Query, units: Any, **options: Any) -> Charge:
    """Return the charge of a quilt release, charged by its noise alone."""
    return replace(charge_of(laplace(framework, query, units, QUILT), **options), framework="another belief")


def test_releases_of_several_readings_are_not_known_to_read_the_same_entries() -> None:
    release = unplaced(chain([[0.9, 0.1], [0.4, 0.6]], 3), Count(1), 2, reading="file")
    assert is_one_reading([release, several(release)])
    assert not is_one_reading([release, replace(several(release), readings=2)])


def window(framework: Framework, query: Query, units: Any, start: int) -> Window:
    return start, contributions_of(framework, query), units


def true_loss(rows: Sequence[Sequence[float]], length: int, start: Any, windows: Sequence[Window]) -> float:
    """Return the true joint loss about every step of a recording of which the windows are published."""
    law = float_law(rows, length, start)
    releases = []
    for first, adds, scale in windows:
        nothing = [0] * len(rows)
        releases.append(([adds[i - first] if 0 <= i - first < len(adds) else nothing for i in range(length)], scale))
    return worst_joint_loss(law, releases, length)


def starts_of(rows: Sequence[Sequence[float]], initial: Any) -> list[Any]:
    """Return initial laws to try: the stationary one, or else some, of which point starts are not the worst."""
    return [stationary_vector(exact_rows(rows))] if initial == "stationary" else STARTS


@st.composite
def recordings(draw: st.DrawFn) -> Any:
    rows = [[p, 1 - p] for p in draw(st.lists(st.sampled_from([0.1, 0.3, 0.6, 0.9]), min_size=2, max_size=2))]
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=3))
    weights = [draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)) for n in sizes]
    starts = [draw(st.integers(0, 7 - n)) for n in sizes]
    scales = draw(st.lists(st.sampled_from([1, 2, 6]), min_size=len(sizes), max_size=len(sizes)))
    return rows, draw(st.sampled_from(["stationary", "any"])), weights, starts, scales


@pytest.mark.mutants
@settings(max_examples=30, deadline=None)
@given(recordings())
def test_no_placement_loses_more_than_is_charged(case: Any) -> None:
    rows, initial, weights, starts, scales = case
    frameworks = [chain(rows, len(w), initial) for w in weights]
    charges = [unplaced(f, Linear(w), b) for f, w, b in zip(frameworks, weights, scales, strict=True)]
    charged = max(joint(f, charges).epsilon for f in frameworks)
    windows = [window(f, Linear(w), b, s) for f, w, b, s in zip(frameworks, weights, scales, starts, strict=True)]
    for law in starts_of(rows, initial):
        assert true_loss(rows, 7, law, windows) <= charged + 1e-9
    assert charged <= sum(Fraction(sum(w), b) for w, b in zip(weights, scales, strict=True))


def test_a_day_that_two_windows_read_is_charged_twice() -> None:
    """Day 60 read twice at epsilon 1 once cost 1.00001."""
    framework = chain([[0.6, 0.4], [0.4, 0.6]], 100)
    windows = [Linear([int(i == 60 - s) for i in range(100)]) for s in (0, 50)]
    calibrations = [tf.calibrate(framework, w, 1, mechanism="quilt-exact") for w in windows]
    charges = [charge_of(c) for c in calibrations]
    assert joint(framework, charges).epsilon >= 2 - Fraction(1, 10**9)
    assert compose(calibrations).epsilon < 1.01  # the same entries: days 60 and 10 are two days
    for second, least, most in ((50, 1.99, 2.01), (49, 1, 2), (400, 1, 1.01)):
        placed = [replace(c, at=at) for c, at in zip(charges, (0, second), strict=True)]
        assert least <= joint(framework, placed).epsilon < most


def test_mutant_the_same_entries_are_not_the_worst_placement() -> None:
    rows = [[0.6, 0.4], [0.4, 0.6]]
    framework = chain(rows, 3)
    queries = [Linear([1, 0, 0]), Linear([0, 0, 1])]
    windows = [window(framework, queries[0], 1, 2), window(framework, queries[1], 1, 0)]
    true = true_loss(rows, 5, stationary_vector(exact_rows(rows)), windows)
    assert true == pytest.approx(2)
    assert joint(framework, [unplaced(framework, q, 1) for q in queries]).epsilon >= true - 1e-9
    assert joint(framework, [unplaced(framework, q, 1, reading="one") for q in queries]).epsilon < 1.5


def test_a_start_vector_fixes_the_place() -> None:
    """Two sequences that both start in one law are the same entries, or how they lie is unknown."""
    framework = chain([[0.9, 0.1], [0.3, 0.7]], 30, (0.5, 0.5))
    one = unplaced(framework, Count(1), 60)
    known = replace(one, framework=framework.fingerprint(), epsilon=Fraction(1, 100))
    assert joint(framework, [one, one]).epsilon == 1
    assert joint(framework, [replace(one, reading="one")] * 2).epsilon < 1
    assert joint(framework, [replace(known, at=5), replace(known, at=5)]).epsilon < 1
    assert joint(framework, [replace(known, at=5), replace(one, at=8)]).epsilon < 1
    assert joint(framework, [replace(known, at=5), replace(one, at=4)]).epsilon == 1


def test_pieces_are_recordings_of_their_own() -> None:
    rows = [[0.8, 0.2], [0.3, 0.7]]
    pieces = Pufferfish(tf.every_entry(), tf.IndependentPieces(tf.MarkovChain(rows, 9), [9, 5]))
    one, swapped = (unplaced(pieces, Linear(w), 3) for w in ([1] * 9 + [0] * 5, [0] * 9 + [1] * 5))
    alone = [joint(pieces, [c]).epsilon for c in (one, swapped)]
    assert max(alone) < joint(pieces, [one, swapped]).epsilon <= 3 + Fraction(5, 3)
    assert joint(pieces, [replace(c, reading="one") for c in (one, swapped)]).epsilon == max(alone)
    whole = chain(rows, 14)  # somebody who believes in one sequence does not know how the pieces lie in it
    assert joint(whole, [one, swapped]).epsilon >= joint(pieces, [one, swapped]).epsilon


def test_a_user_without_a_name_may_be_one_who_holds_no_secret_in_another_reading() -> None:
    users = tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3)
    framework = Pufferfish(tf.entry(0, 0, 1), users)
    quiet, loud = (laplace(framework, Linear(w), 1, DATA) for w in ([1, 0, 0], [1, 0, 1000]))
    assert joint(framework, [charge_of(quiet), charge_of(loud)]).epsilon == 1001  # loud's user 2 may be quiet's user 0
    assert compose([quiet, loud]).epsilon == 2
    noise = RoundedNormal(Fraction(30), Fraction(1))
    normal = made(framework, Linear([1, 0, 1000]), noise, DATA, 1, Fraction(1, 1000))
    assert joint(framework, [charge_of(quiet, reading="one"), charge_of(normal, reading="one")]).epsilon == 2
    with pytest.raises(CompositionRefused, match="other states, values or pieces"):
        joint(framework, [charge_of(quiet), charge_of(normal)])
    everybody = Pufferfish(tf.every_entry(), users)
    both = [charge_of(made(everybody, Count(1), noise, DATA, 1, Fraction(1, 1000))) for _ in range(2)]
    assert joint(everybody, both).epsilon == 2


def test_a_pair_of_values_is_the_same_pair_under_a_belief_that_lists_them_otherwise() -> None:
    """Two windows at declared places make a longer belief, whose states are numbered as its own belief lists them."""
    sticky = [[0.98, 0.01, 0.01], [0.02, 0.49, 0.49], [0.02, 0.49, 0.49]]  # states z, y, x: only z tells of its like
    listed = tf.MarkovChain(sticky, 4, states=["z", "y", "x"])
    steady = tf.MarkovChain([[0.4, 0.4, 0.2]] * 3, 4, states=["x", "y", "z"])
    query = tf.Sum(codes={"x": 0, "y": 0, "z": 1})

    def cost(*beliefs: tf.MarkovChain) -> Fraction:
        framework = Pufferfish(tf.entry(1, "y", "z"), beliefs)
        return joint(framework, [charge_of(tf.with_scale(framework, query, 8), at=at) for at in (0, 2)]).epsilon

    releases = [(first, contributions_of(Pufferfish(tf.every_entry(), listed), query), 8) for first in (0, 2)]
    law = float_law(sticky, 6)
    shifted = [([adds[i - s] if 0 <= i - s < 4 else [0] * 3 for i in range(6)], b) for s, adds, b in releases]
    true = max(joint_loss(law, shifted, 1, a, b) for a, b in ((0, 1), (1, 0)))
    assert true <= cost(listed) == cost(steady, listed) == cost(listed, steady)


@pytest.mark.parametrize("kind", ["network", "table", "users", "cliques"])
def test_names_decide_what_is_the_same_entry(kind: str) -> None:
    """The same variables in another order once gave n releases for the price of one."""
    makers = {
        "network": lambda *names: tf.BayesianNetwork([(v, [0, 1], [], [0.5, 0.5]) for v in names]),
        "table": lambda *names: tf.JointTable(list(itertools.product([0, 1], repeat=2)), [Fraction(1, 4)] * 4, names),
        "users": lambda *names: tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 2, names=names),
        "cliques": lambda *names: tf.CliqueInfection([[name] for name in names], {1: [0.5, 0.5]}),
    }
    frameworks = [Pufferfish(tf.every_entry(), makers[kind](*order)) for order in (("hiv", "flu"), ("flu", "hiv"))]
    counts = [laplace(f, Count(1, entries=[n]), 1, QUILT) for n, f in enumerate(frameworks)]  # both read "hiv"
    charges = [charge_of(c) for c in counts]
    assert [joint(f, charges).epsilon for f in frameworks] == [2, 2]
    assert compose(counts).epsilon == 2
    apart = [charges[0], charge_of(laplace(frameworks[1], Linear([1, 0]), 1, QUILT))]  # hiv and flu
    alone = [float(joint(f, apart).epsilon) for f in frameworks]
    assert alone == pytest.approx([1, 1], rel=1e-10)
    assert min(alone) >= 1
    for f in frameworks:  # charges that do not say which names they count
        old = [replace(c, names=(), lengths=()) for c in apart]
        assert joint(f, old).epsilon == 2
    other = Pufferfish(tf.every_entry(), makers[kind]("hiv", "age"))
    assert joint(other, [*apart, charge_of(laplace(other, Count(1, entries=["hiv"]), 1, QUILT))]).epsilon == 3


def test_a_promise_about_one_entry_is_none_about_the_entry_that_another_reading_means() -> None:
    """Step 0 of one recording may be step 3 of the other, which the quiet release lays open."""
    framework = Pufferfish(tf.entry(0, 0, 1), tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 4))
    quiet = laplace(framework, Linear([1, 0, 0, 50]), 1, QUILT)
    single = replace(charge_of(quiet), covers=SINGLE)
    whole = charge_of(laplace(framework, Linear([1, 0, 0, 0]), 1, WHOLE))
    true = true_loss([[0.5, 0.5], [0.5, 0.5]], 7, [Fraction(1, 2)] * 2, [
        window(framework, Linear([1, 0, 0, 50]), 1, 0), window(framework, Linear([1, 0, 0, 0]), 1, 3)
    ])  # fmt: skip
    assert true > 50
    assert joint(framework, [charge_of(quiet), whole]).epsilon >= true - 1e-9
    assert joint(framework, [single, whole]).epsilon >= true - 1e-9
    together = [replace(charge, reading="one") for charge in (charge_of(quiet), single, whole)]
    for charge in together[:2]:
        assert joint(framework, [charge, together[2]]).epsilon == 2
    everywhere = Pufferfish(tf.every_entry(), framework.beliefs)
    known = [replace(charge, framework=everywhere.fingerprint()) for charge in (single, whole)]
    assert joint(everywhere, known).epsilon == 2


def test_a_longer_run_in_which_a_secret_is_impossible_costs_nothing() -> None:
    """Of two beliefs only one knows both values; under the other there is nothing to hide at any declared place."""
    stuck = tf.MarkovChain([[1, 0], [1, 0]], 3, initial=[1, 0])
    framework = Pufferfish(tf.entry(1, 0, 1), [tf.MarkovChain([[0.6, 0.4], [0.4, 0.6]], 3, initial=[0.5, 0.5]), stuck])
    other = Pufferfish(tf.every_entry(), tf.MarkovChain([[0.6, 0.4], [0.4, 0.6]], 3))
    charges = [charge_of(laplace(f, Count(1), 3, QUILT), at=at) for f, at in ((framework, 0), (other, 2))]
    assert joint(framework, charges[:1]).epsilon <= joint(framework, charges).epsilon <= 2


def test_a_variable_is_no_step_of_a_sequence() -> None:
    """Somebody who believes in a sequence does not know which of its steps a variable is."""
    coins = tf.BayesianNetwork([(name, [0, 1], [], [0.5, 0.5]) for name in "abcde"])
    network, steps = Pufferfish(tf.every_entry(), coins), chain([[0.52, 0.48], [0.48, 0.52]], 5)
    one = charge_of(laplace(network, Count(1, entries=[4]), 1, QUILT), reading="one")
    per_step = [charge_of(laplace(steps, Linear([int(i == j) for j in range(5)]), 1, QUILT)) for i in range(5)]
    foreign = [replace(c, framework="another belief", reading="one") for c in per_step]
    row = charge_of(laplace(steps, Linear([1, 1, 0, 0, 0]), 4, QUILT), reading="one")
    dearest = max(joint(steps, [c, row]).epsilon for c in foreign)
    assert joint(steps, [one, row]).epsilon >= dearest - Fraction(1, 10**9)


def test_the_same_noise_costs_the_same_whoever_found_the_scale() -> None:
    framework = chain([[0.99, 0.01], [0.02, 0.98]], 168)
    by_quilt = [charge_of(laplace(framework, Count(1), 336, QUILT, Fraction(1, 2)))] * 12
    by_group = [charge_of(promised(framework, Count(1), group.MECHANISM, Fraction(1, 2)))] * 12
    assert by_group[0].scale == 336
    assert joint(framework, by_quilt).epsilon == joint(framework, by_group).epsilon
    assert joint(framework, [*by_quilt[:5], *by_group[:7]]).epsilon == joint(framework, by_group).epsilon
    costs = [joint(framework, by_group[:n]).epsilon for n in range(13)]
    assert costs == sorted(costs)
    assert 0 < costs[1] < Fraction(1, 2)  # noise for a change of everything hides one step better
    assert costs[12] < 6


def test_declared_places_in_a_ledger(tmp_path: Any) -> None:
    framework = chain([[0.6, 0.4], [0.4, 0.6]], 20)
    week = tf.calibrate(framework, Count(1), 1, mechanism="quilt-exact")
    account = {"entries": "values", "ledger": tmp_path / "ledger.db", "source": "p", "budget": "1.2"}
    for at in (0, 20, 40, 60):
        noisy = tf.release(week, [0, 1] * 10, at=at, **account)
        assert f"the sequence starts at step {at} of the recording" in noisy.certificate.assumptions
    with pytest.raises(InputError, match="where one sequence starts"):
        tf.release(week, [0, 1] * 10, at=-1, **account)


def test_answers_of_one_draw_read_the_same_entries() -> None:
    """Two answers about different people of one list cost what each costs; a third, who knows about whom."""
    users = Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 4))
    halves = [tf.calibrate(users, Count(1, entries=e), 1, mechanism="group") for e in ([0, 1], [2, 3])]
    questions = [Question(name, None, c, [0, 1, 1, 0], {"": users}) for name, c in zip("ab", halves, strict=True)]
    debits = [*debits_of(questions), *debits_of(questions[1:])]
    charges = [kind.charge for one in debits for kind in one.kinds]
    assert joint(users, charges[:2]).epsilon == 1
    assert joint(users, charges).epsilon == 2


def test_whoever_calls_itself_private_is_not_believed() -> None:
    class Zeros(SystemEntropy):
        def bytes(self, n: int) -> bytes:
            return bytes(n - 1) + bytes([1])

    framework = chain([[0.6, 0.4], [0.4, 0.6]], 3)
    calibration = tf.calibrate(framework, Count(1), 1, mechanism="group")
    assert Zeros().private
    assert not tf.release(calibration, [0, 1, 1], entropy=Zeros()).certificate.private
    assert tf.release(calibration, [0, 1, 1]).certificate.private


def test_half_a_hash_is_another_one() -> None:
    framework = chain([[0.6, 0.4], [0.4, 0.6]], 9)
    full = charge_of(laplace(framework, Count(1), 9, QUILT, Fraction(1, 100)))
    assert len(full.framework) == len(full.answers[0]) == 32
    half = replace(full, framework=full.framework[:16], answers=tuple(a[:16] for a in full.answers))
    assert joint(framework, [half]).epsilon > joint(framework, [full]).epsilon == Fraction(1, 100)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", [[[0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]])
def test_what_is_never_forgotten_costs_its_sum_at_unknown_places(rows: Any) -> None:
    """Losses along an endless recording of such a chain rise for ever: that is given up, and not waited for."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(rows, 20))
    release = charge_of(tf.calibrate(framework, tf.Count(1), 1, mechanism="group"))
    assert joint(framework, [release] * 2).epsilon == 2


@pytest.mark.parametrize("records", [1, 3])
def test_what_records_add_up_to_is_another_property_in_another_reading(records: int) -> None:
    table = tf.JointTable([(0, 1), (1, 0), (1, 2)], [0.5, 0.25, 0.25], names=["ill", "x"])
    framework = Pufferfish(tf.dataset_property("x", "sum"), tf.Records(table, records))
    calibration = tf.calibrate(framework, tf.Sum("ill"), 1, only_release=True)
    single = replace(charge_of(calibration, reading="one"), covers=SINGLE)
    whole = charge_of(tf.calibrate(framework, tf.Sum("x"), 1, mechanism="group"), reading="one")
    assert joint(framework, [single, whole]).epsilon == 2
    assert joint(framework, [single, replace(whole, reading="two")]).epsilon >= 2
    with pytest.raises(CompositionRefused, match="may be other values"):
        joint(framework, [replace(single, scale=Fraction(0)), replace(whole, reading="two")])
