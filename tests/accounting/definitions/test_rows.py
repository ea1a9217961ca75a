"""What releases about rows of one person cost together, against the truth by enumeration of all rows and outputs."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction as F
from itertools import combinations, permutations, product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.mechanisms.local.test_together import LAW, RESPONSE, charge, framework
from tests.support import region_oracles
from tests.support import rows_oracle as oracle
from tests.support.ledger_tools import chain_framework, with_delta
from tests.support.ledger_tools import charge as of_a_chain
from tests.support.population_oracles import channels as channels_of
from tests.support.population_oracles import laws

import takifugu as tf
from kawamoto.channels import randomised_response
from kawamoto.composing import on_one_value
from takifugu.accounting.composition import Charge, joint
from takifugu.accounting.definitions import rows
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import CompositionRefused
from takifugu.mechanisms.local import together
from takifugu.mechanisms.local.over_classes import masses_of_values
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.sent import Sending
from takifugu.model.beliefs.counted_populations import covering, samples_of
from takifugu.model.frameworks import Framework
from takifugu.numbers.distributions.channel import Channel

#: What rounding upwards may have missed in the oracle, which takes logarithms of exact ratios in floating point.
CLOSE = 1e-9
#: Rows that a reading may be of, and the names of batches, which are of other rows each.
MAY, JUNE = ("May", (0,)), ("June", (1,))


@dataclass(frozen=True)
class Case:
    """Laws of two populations, and releases: a channel, the rows that it reads, its batch and its reading."""

    laws: tuple[dict[int, F], ...]
    releases: tuple[tuple[Channel, tuple[int, ...], str, str], ...]

    @property
    def about(self) -> Framework:
        return framework({f"p{n}": law for n, law in enumerate(self.laws)}, independent=True)

    def charges(self, about: Framework) -> list[Charge]:
        return [
            charge(as_sent(channel, len(read)), about, len(read) * promise(channel, self.laws), batch, reading)
            for channel, read, batch, reading in self.releases
        ]

    def sent(self, pair: Iterable[dict[int, F]]) -> list[dict[Any, F]]:
        tables = [table(channel) for channel, *_ in self.releases]
        read = [of for _, of, *_ in self.releases]
        return [oracle.sent_of_rows(law, read, tables) for law in pair]

    def exact_loss(self, pair: tuple[dict[int, F], dict[int, F]]) -> float:
        return oracle.loss(*self.sent(pair))


def as_sent(channel: Channel, rows: int = 1) -> Sending:
    return Sending(rows, 0.0, 1.0, "", Sender(channel))


def table(channel: Channel) -> dict[Any, dict[Any, F]]:
    return {x: channel.row(x) for x in channel.inputs}


def promise(channel: Channel, pair: tuple[dict[int, F], ...]) -> F:
    """Return what a channel tells of the populations, of one row, exactly but for the last digits."""
    sent = [oracle.sent({(x,): mass for x, mass in law.items()}, [table(channel)]) for law in pair]
    return F(max(oracle.loss(one, other) for one, other in combinations(sent, 2))) * (1 + F(1, 10**12))


@st.composite
def cases(draw: Any, populations: int = 2, turned: bool = False) -> Case:
    """Draw up to three releases: of two batches, of one reading, or of any rows, these among them.

    With `turned` some of them list the values in another order, so that nothing adds up place by place.
    """
    count = draw(st.integers(2, 3))
    drawn = tuple(draw(laws(count, least=1)) for _ in range(populations))
    anywhere = st.tuples(st.just(""), st.sampled_from([(0,), (1,), (2,), (1, 2)]))
    releases = []
    for number in range(draw(st.integers(1, 3))):
        batch, read = draw(st.one_of(st.sampled_from([MAY, JUNE]), anywhere))
        together = "" if batch else draw(st.sampled_from(["", f"of {read}"]))
        channel = draw(channels_of(count, 2, least=1))
        if turned and draw(st.booleans()):
            values = channel.inputs[::-1]
            channel = Channel.of(values, channel.outputs, [[*channel.row(x).values()] for x in values])
        releases.append((channel, read, batch, together or f"number {number}"))
    return Case(drawn, tuple(releases))


def assert_no_less(true: float, cost: Any) -> None:
    """Assert that a set costs no less than it tells."""
    assert true <= cost * (1 + F(CLOSE)) + F(CLOSE)


@pytest.mark.slow
@settings(max_examples=300)
@given(cases())
def test_no_set_costs_less_than_it_tells(case: Case) -> None:
    about = case.about
    assert_no_less(case.exact_loss(case.laws), joint(about, case.charges(about)).epsilon)


#: Values that are told apart by both channels, which list them in two orders, and laws that are about one of them each.
NEARLY_SURE = tuple({x: F(9998 if x == sure else 1, 10000) for x in range(3)} for sure in (0, 1))
SHARES = [[F(9, 10), F(1, 10)], [F(1, 10), F(9, 10)], [F(1, 2), F(1, 2)]]
BOTH_ORDERS = [Channel.of(values, [0, 1], [SHARES[x] for x in values]) for values in ([0, 1, 2], [2, 1, 0])]


@settings(max_examples=150)
@example(Case(NEARLY_SURE, tuple((channel, (0,), "May", "") for channel in BOTH_ORDERS)), 1)
@given(cases(turned=True), st.sampled_from([1, 8, 20]))
def test_where_outputs_cannot_be_listed_no_set_costs_less_than_it_tells(case: Case, most: int) -> None:
    about = case.about
    exact = joint(about, case.charges(about)).epsilon
    with pytest.MonkeyPatch.context() as few:
        few.setattr(together, "MOST_NUMBERS", most)
        again = case.about
        cost = joint(again, case.charges(again)).epsilon
    assert_no_less(case.exact_loss(case.laws), cost)
    assert exact <= cost + F(CLOSE)


@settings(max_examples=100)
@given(cases(), st.sampled_from(["", "another"]))
def test_batches_with_names_cost_what_they_tell_and_no_more(case: Case, made_under: str) -> None:
    about = case.about
    charges = [
        replace(charge, framework=made_under or charge.framework)
        for charge in case.charges(about)
        if tf.LocalValue.from_dict(charge.query).batch
    ]
    named = replace(case, releases=tuple(release for release in case.releases if release[2]))
    true = named.exact_loss(case.laws) if charges else 0
    alone = max((charge.epsilon for charge in charges), default=0)
    assert float(joint(about, charges).epsilon) == pytest.approx(max(true, alone), abs=CLOSE)


@pytest.mark.mutants
@settings(max_examples=150)
@given(cases(turned=True), st.tuples(*[st.tuples(st.sampled_from([F(0), F(1, 2), F(1)]), st.booleans())] * 3))
def test_no_set_of_promises_with_a_delta_costs_less_than_it_tells(case: Case, drawn: Any) -> None:
    """Each promises a share of what it tells, and the rest as its delta; another column may hold the same values."""
    about, charges = case.about, list[Charge]()
    for one, release, (share, is_other) in zip(case.charges(about), case.releases, drawn, strict=False):
        epsilon, alone = one.epsilon * share, replace(case, releases=(release,))
        delta = F(oracle.excess(*alone.sent(case.laws), float(epsilon)))
        query = replace(tf.LocalValue.from_dict(one.query), columns=("another",) if is_other else ())
        charges.append(replace(one, epsilon=epsilon, delta=delta, query=query.to_dict()))
        assert joint(about, charges[-1:]).epsilon <= epsilon
    total = joint(about, charges)
    assert oracle.excess(*case.sent(case.laws), float(total.epsilon)) <= total.delta + F(CLOSE)


@settings(max_examples=60)
@given(cases(populations=4))
def test_of_several_beliefs_the_pairs_of_one_of_them_count(case: Case) -> None:
    pairs = (case.laws[:2], case.laws[2:])
    beliefs = [tf.FromPopulations(dict(zip("ab", pair, strict=True)), 1, True) for pair in pairs]
    about = tf.Pufferfish(tf.population_membership(), beliefs)
    promised = [
        charge(
            as_sent(channel, len(read)), about, len(read) * max(promise(channel, pair) for pair in pairs), *where
        )
        for channel, read, *where in case.releases
    ]
    cost, read = joint(about, promised).epsilon, sum(len(read) for _, read, *_ in case.releases)
    for pair in pairs:
        assert_no_less(case.exact_loss(pair), cost)
        assert cost <= read * max(map(rows_cap, beliefs)) * (1 + CLOSE) + CLOSE


def rows_cap(belief: Any) -> float:
    return oracle.loss(*(dict(enumerate(law)) for law in belief.laws))


@settings(max_examples=60)
@given(cases(), st.randoms(use_true_random=False))
def test_no_release_lowers_a_total_and_no_order_changes_it(case: Case, chance: Any) -> None:
    about = case.about
    charges = case.charges(about)
    chance.shuffle(charges)
    costs = [joint(about, charges[:count]).epsilon for count in range(len(charges) + 1)]
    assert costs == sorted(costs)
    assert {joint(about, order).epsilon for order in permutations(charges)} == {costs[-1]}


PEOPLE = {"home": {"a": F(6, 10), "b": F(3, 10), "c": F(1, 10)}, "out": {"a": F(2, 10), "b": F(5, 10), "c": F(3, 10)}}
SECOND = {"home": {"a": F(7, 10), "b": F(3, 10)}, "out": {"a": F(1, 5), "b": F(4, 5)}}


@pytest.mark.parametrize(("law", "cap"), [(PEOPLE, math.log(3)), (SECOND, math.log(3.5))])
def test_a_value_sent_again_tells_at_most_what_the_value_itself_tells(law: Any, cap: float) -> None:
    about = tf.Pufferfish(tf.population_membership(), tf.FromPopulations(law, independent=True))
    calibration = tf.calibrate(about, tf.LocalValue(batch="May"), 1, mechanism="optimal")
    noise: Any = calibration.randomiser
    costs = [tf.compose([calibration] * times).epsilon for times in (1, 2, 50)]
    twice = [oracle.sent(oracle.repeated(of, 2), [table(noise.sender.channel)] * 2) for of in law.values()]
    assert costs[0] == 1
    assert float(costs[1]) == pytest.approx(oracle.loss(*twice), rel=1e-9)
    assert 1 < float(costs[1]) < cap
    assert float(costs[2]) == pytest.approx(cap, rel=1e-9)
    assert 2 * noise.local_loss() > 40


# What has no cap, and what does not add up: each by an example in which the truth is above what it would be.

FLIP = randomised_response(["0", "1"], 3)
FAIR = {"0": F(1, 2), "1": F(1, 2)}


def true_loss_of_two(pairs: tuple[dict[Any, F], dict[Any, F]]) -> float:
    one, other = (oracle.sent(law, [table(FLIP)] * 2) for law in pairs)
    return oracle.loss(one, other)


EQUAL_OR_NOT = ({("0", "0"): F(1, 2), ("1", "1"): F(1, 2)}, {("0", "1"): F(1, 2), ("1", "0"): F(1, 2)})


def test_dependent_rows_and_two_columns_have_no_cap_together() -> None:
    true = true_loss_of_two(EQUAL_OR_NOT)
    assert true == pytest.approx(math.log(math.cosh(3)))
    for independent, columns in ((False, ("x", "x")), (True, ("x", "y"))):
        about = framework({"p": FAIR, "q": FAIR}, independent=independent)
        both = [
            charge(as_sent(FLIP), about, F(0), batch=batch, columns=(column,))
            for batch, column in zip(("May", "June"), columns, strict=True)
        ]
        assert joint(about, both[:1]).epsilon == 0
        assert true <= joint(about, both).epsilon == F(as_sent(FLIP).local_loss())
    two_rows = framework({"p": FAIR, "q": FAIR}, rows=2)
    assert joint(two_rows, [charge(Sending(2, 0.0, 1.0, "", Sender(FLIP)), two_rows, F(6))]).epsilon == pytest.approx(6)


@st.composite
def dependent(draw: Any) -> list[dict[tuple[int, int], F]]:
    """Draw two laws of a pair of values, as they are in two rows or in two columns."""
    weights = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(lambda w: w[0] + w[1] and w[0] + w[2] and w[3])
    pairs = list(product((0, 1), repeat=2))
    return [{pair: F(w, sum(of)) for pair, w in zip(pairs, of, strict=True)} for of in (draw(weights), draw(weights))]


@settings(max_examples=150)
@given(dependent(), st.tuples(channels_of(2, 2, least=1), channels_of(2, 2, least=1)), st.booleans(), st.booleans())
def test_dependent_rows_never_cost_less_than_they_tell(
    both: list[dict[tuple[int, int], F]], sending: tuple[Channel, Channel], independent: bool, is_ours: bool
) -> None:
    """The belief says of the first place of the pair what it is, and of the second nothing."""
    first = [{x: sum((m for pair, m in law.items() if pair[0] == x), F(0)) for x in (0, 1)} for law in both]
    about = framework({"p": first[0], "q": first[1]}, independent=independent)
    one, other = (oracle.sent(law, [table(channel) for channel in sending]) for law in both)
    known = promise(sending[0], tuple(first))
    for where in ({"batch": "June"}, {}, {"batch": "May", "columns": ("y",)}):
        charges = [
            charge(as_sent(sending[0]), about, known, batch="May"),
            replace(charge(as_sent(sending[1]), about, F(0), **where), framework="another"),
        ]
        if not is_ours:
            charges[0] = replace(charges[0], framework="another")
        if "columns" not in where:
            if independent:
                continue  # these are dependent
            second = [{x: sum((m for pair, m in law.items() if pair[1] == x), F(0)) for x in (0, 1)} for law in both]
            if first != second:
                continue  # rows of one column have one law
        assert_no_less(oracle.loss(one, other), joint(about, charges).epsilon)


def test_promises_about_one_row_do_not_add_up() -> None:
    """Two bits of one value: each tells nothing, both tell whether they are equal."""
    values = ["00", "11", "01", "10"]
    bits = [Channel.of(values, ["0", "1"], [list(FLIP.row(v[n]).values()) for v in values]) for n in (0, 1)]
    about = framework({"p": {"00": F(1, 2), "11": F(1, 2)}, "q": {"01": F(1, 2), "10": F(1, 2)}}, independent=True)
    true = true_loss_of_two(EQUAL_OR_NOT)
    for where in ({"batch": "May"}, {"reading": "one"}, {}):
        both = [charge(as_sent(bit), about, F(0), **where) for bit in bits]
        cost = joint(about, both).epsilon
        assert true <= cost * (1 + F(CLOSE))  # type: ignore[arg-type]
        assert float(cost) == pytest.approx(true if where else 3)
    apart = [charge(as_sent(bit), about, F(0), batch=name) for bit, name in zip(bits, ("May", "June"), strict=True)]
    assert joint(about, apart).epsilon == 0


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(lambda n: sum(n) > 1), st.booleans())
def test_the_cap_of_a_class_is_the_largest_ratio_of_its_corners(counts: list[int], of_texts: bool) -> None:
    """Four values in a tree of halves, or with single values only."""
    listed = [("p", x) for x, n in enumerate(counts) for _ in range(n)]
    listed += [("q", x) for x, n in enumerate(reversed(counts)) for _ in range(n)]
    names = ["a", "b", "c", "d"] if of_texts else [1, 2, 3, 4]
    regions = covering(samples_of(listed, 4), names, 0.9)
    for region in regions.by_name.values():
        low, high = masses_of_values(region)
        for value, place in product(range(4), (0, 1)):
            column = [int(x == value) for x in range(4)]
            assert (low, high)[place][value] == (region.least(column), region.largest(column))[place][0]
    corners = [region_oracles.corners(region, 4) for region in regions.by_name.values()]
    worst = max(region_oracles.loss(one, other) for p, q in product(*corners) for one, other in ((p, q), (q, p)))
    belief = tf.FromPopulations.counted(samples_of(listed, 4), names, 0.9, independent=True)
    assert float(rows.cap(belief, belief.rows)) == pytest.approx(float(worst))
    about, flip = tf.Pufferfish(tf.population_membership(), belief), randomised_response(names, 2)
    twice = on_one_value(flip, flip)
    pairs = [pair for p, q in product(*corners) for pair in ((p, q), (q, p))]
    once, both = (
        max(float(region_oracles.loss(*(region_oracles.sent(channel, law) for law in pair))) for pair in pairs)
        for channel in (flip, twice)
    )
    cost = joint(about, [charge(as_sent(flip), about, F(once), "May")] * 2).epsilon
    assert float(cost) == pytest.approx(both)


def test_a_delta_is_paid_again_with_each_release() -> None:
    about = framework({"p": PEOPLE["home"], "q": PEOPLE["out"]}, independent=True)
    noise, share = as_sent(randomised_response(list("abc"), 2)), F(1, 100)
    sent = [replace(charge(noise, about, F(1, 10), batch=name), delta=share) for name in ("May", "May", "June")]
    totals = [(joint(about, sent[:count]).epsilon, joint(about, sent[:count]).delta) for count in (1, 2, 3)]
    assert totals[0] == (F(1, 10), share)
    assert totals[1][0] > F(1, 10)
    assert [delta for _, delta in totals] == [share, 2 * share, 3 * share]
    assert totals == sorted(totals)
    assert joint(about, [replace(one, delta=F(9, 10)) for one in sent]).delta == 1
    assert joint(about, sent[:1]).covers is Covers.COMPONENT  # the weakest kind of all


@pytest.mark.parametrize(("independent", "batch", "columns", "of_values"), [
    (True, "June", (), None), (True, "", (), math.log(3)), (False, "June", (), 2), (True, "June", ("y",), 2),
])  # fmt: skip
def test_promises_with_a_delta_add_up_where_all_rows_are_known_to_be_distinct(
    independent: bool, batch: str, columns: tuple[str, ...], of_values: float | None
) -> None:
    """Else one of both costs what its rows tell of the population, and the other what they tell of the values."""
    about = framework({"p": PEOPLE["home"], "q": PEOPLE["out"]}, independent=independent)
    channel = randomised_response(list("abc"), 2)
    noise, row = as_sent(channel), float(promise(channel, tuple(PEOPLE.values())))
    sent = [charge(noise, about, F(1, 10), "May"), charge(noise, about, F(1, 10), batch, columns=columns)]
    total = joint(about, [replace(one, delta=F(1, 100)) for one in sent])
    assert total.delta == F(1, 50)
    assert float(total.epsilon) == pytest.approx(0.2 if of_values is None else row + of_values)
    assert row > 0.2


def test_where_outputs_of_a_class_cannot_be_listed_it_costs_no_less(monkeypatch: pytest.MonkeyPatch) -> None:
    samples, costs = samples_of([("p", 0), ("p", 1), ("q", 1)] * 9, 2), list[float]()
    for most in (together.MOST_OF_CLASS, 1):
        monkeypatch.setattr(together, "MOST_OF_CLASS", most)
        belief = tf.FromPopulations.counted(samples, ["a", "b"], 0.9, independent=True)
        about = tf.Pufferfish(tf.population_membership(), belief)
        twice = [charge(as_sent(randomised_response(["a", "b"], 1)), about, F(9), "May")] * 2
        costs.append(float(joint(about, twice).epsilon))
    assert costs == sorted(costs)


def test_a_delta_is_raised_by_what_was_seen_of_the_same_rows_under_another_definition() -> None:
    about, share = framework(LAW), F(1, 20)
    noise = Sending(1, 0.0, 1.0, "", Sender(RESPONSE))
    one = replace(charge(noise, about), delta=share)
    other = of_a_chain(chain_framework(3), tf.Count(1), 3, Covers.EVERYTHING)
    late, early = joint(about, [other, one]), joint(about, [one, other])
    assert 1 < late.epsilon == early.epsilon < 2
    assert early.delta == share
    assert late.delta == pytest.approx(math.e * share, rel=1e-11)
    assert joint(about, [other, replace(one, covers=Covers.EVERYTHING)]).delta == share  # whatever the rows are
    with pytest.raises(CompositionRefused):
        joint(about, [with_delta(chain_framework(3), 1), one])
    after = joint(about, [replace(other, delta=F(1, 1000)), one])  # it may have betrayed the rows
    assert after.epsilon == 1 + F(noise.local_loss()) > late.epsilon
    assert after.delta == late.delta + F(1, 1000)
