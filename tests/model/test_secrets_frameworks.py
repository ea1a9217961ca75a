"""Secrets and frameworks: which comparisons are made, canonical forms, fingerprints, problems and bad input."""

import itertools
import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.core.errors import InputError
from takifugu.model import secrets
from takifugu.model.beliefs.chains.chain import MarkovChain, ReversibleChains
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.frameworks import Framework, Pufferfish, distribution_pair
from takifugu.model.secrets.families import Family
from takifugu.model.secrets.hypotheses import EntryIs, LawIs
from takifugu.model.secrets.of_entries import EveryEntry, attribute, entry, every_entry
from takifugu.numbers import Pmf

STATES = ("still", "walking", "running")


@st.composite
def chains(draw: st.DrawFn) -> MarkovChain:
    k, length = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    rows = [draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any)) for _ in range(k)]
    matrix = [[n / sum(row) for n in row] for row in rows]
    law = draw(st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any))
    initial = draw(st.sampled_from(["any", [n / sum(law) for n in law]]))
    return MarkovChain(matrix, length, initial, STATES[:k], source="a test")


@st.composite
def beliefs(draw: st.DrawFn) -> Any:
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return tf.IndependentPieces(draw(chains()), draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    if kind == 1:
        return ReversibleChains(draw(st.floats(0.01, 0.3)), draw(st.floats(0.01, 1)), draw(st.integers(1, 9)), STATES)
    if kind == 2:
        masses = draw(st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any))
        exact = [Fraction(m, sum(masses)) for m in masses]
        rows = list(itertools.product((0, 1), ("x", "y")))
        return tf.JointTable(rows, exact if draw(st.booleans()) else [float(p) for p in exact], names=["bit", "letter"])
    return draw(chains())


def reachable(chain: MarkovChain) -> list[set[int]]:
    """The states that each entry can be in, by following steps of positive probability."""
    now = set(range(len(chain.states))) if chain.initial == "any" else {i for i, p in enumerate(chain.initial) if p > 0}
    reached = [now]
    for _ in range(chain.length - 1):
        reached.append({j for i in reached[-1] for j in range(len(chain.states)) if chain.matrix[i, j] > 0})
    return reached


@given(chains())
def test_every_entry_compares_all_ordered_pairs_of_possible_values(chain: MarkovChain) -> None:
    seen = [(c.left, c.right) for c in secrets.comparisons(every_entry(), chain)]
    true = [
        (EntryIs(t, chain.states[a]), EntryIs(t, chain.states[b]))
        for t, alive in enumerate(reachable(chain))
        for a, b in itertools.permutations(sorted(alive), 2)
    ]
    assert seen == true
    assert {c.weight for c in secrets.comparisons(every_entry(), chain)} <= {1}


def test_values_farther_apart_than_a_largest_difference_are_not_compared() -> None:
    """Of a chain they once were, though the certificate said "up to a difference of 1"."""
    rows = [[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.1, 0.9]]
    near = Pufferfish(every_entry(max_difference=1), MarkovChain(rows, 3, states=[0, 1, 5]))
    pairs = Pufferfish([entry(i, 0, 1) for i in range(3)], near.beliefs)
    assert set(near.comparisons()) == set(pairs.comparisons())
    scales = [tf.calibrate(framework, tf.Sum(), epsilon=1).scale for framework in (near, pairs)]
    assert scales[0] == scales[1] < tf.calibrate(Pufferfish(every_entry(), near.beliefs), tf.Sum(), epsilon=1).scale
    table = tf.JointTable([(0, 2), (1, 3)], [0.5, 0.5], ["a", "b"])
    assert Pufferfish(every_entry("b", max_difference=1), table).secrets[0].family(table) == Family((1,), ((0, 1),))
    for belief in (MarkovChain(rows, 3, states=list("abc")), MarkovChain(rows, 3, states=[False, 5, True]), table):
        with pytest.raises(InputError, match="max_difference"):
            Pufferfish(every_entry(max_difference=1), belief)


def test_one_entry_is_compared_both_ways_and_impossible_values_are_skipped() -> None:
    chain = MarkovChain(np.full((3, 3), 1 / 3), 4, [1, 0, 0], STATES)
    pairs = [c.label for c in secrets.comparisons(entry(2, "still", "running"), chain)]
    assert pairs == ["step 2 = 'still' against step 2 = 'running'", "step 2 = 'running' against step 2 = 'still'"]
    assert list(secrets.comparisons(entry(0, "still", "running"), chain)) == []


def test_columns_are_found_by_name() -> None:
    table = tf.JointTable([(0, "x"), (1, "y")], [0.5, 0.5], names=["bit", "letter"])
    assert attribute("letter", "x", "y").family(table) == Family((1,), ((0, 1), (1, 0)))
    assert every_entry("letter").family(table) == Family((1,))
    assert len(list(secrets.comparisons(every_entry(), table))) == 4


def test_two_laws_are_compared_both_ways() -> None:
    framework = distribution_pair(Pmf([0], [1]), Pmf([1], [1]))
    assert [(c.left, c.right) for c in framework.comparisons()] == [
        (LawIs("left"), LawIs("right")),
        (LawIs("right"), LawIs("left")),
    ]


@given(beliefs(), st.sampled_from([every_entry(), entry(0, "still", "walking"), attribute("bit", 0, 1)]))
def test_forms_read_back_through_json_with_the_same_fingerprint(belief: Any, secret: Any) -> None:
    try:
        framework = Pufferfish(secret, belief)
    except InputError:
        framework = Framework((every_entry(),), (belief,))
    text = json.dumps(framework.to_dict())
    again = Framework.from_dict(json.loads(text))
    assert json.dumps(again.to_dict()) == text
    assert again.fingerprint() == framework.fingerprint()
    assert again.describe() == framework.describe()
    assert [c.label for c in again.comparisons()] == [c.label for c in framework.comparisons()]


@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=4, unique=True),
    st.sampled_from([1, Fraction(1, 3), 0.1]),
    st.booleans(),
)
def test_two_laws_read_back_exactly(values: list[int], unit: Any, exact: bool) -> None:
    share = Fraction(1, len(values)) if exact else 1 / len(values)
    framework = distribution_pair(Pmf([v * unit for v in values], [share] * len(values)), Pmf([0], [1]))
    again = Framework.from_dict(json.loads(json.dumps(framework.to_dict())))
    first, second = framework.beliefs[0], again.beliefs[0]
    assert isinstance(first, LawPair)
    assert isinstance(second, LawPair)
    assert (second.left, second.right) == (first.left, first.right)
    assert again.fingerprint() == framework.fingerprint()


def test_fingerprints_tell_frameworks_apart() -> None:
    chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10, states=STATES[:2])
    other = MarkovChain([[0.9, 0.1], [0.5, 0.5]], 10, states=STATES[:2])
    frameworks = [
        Pufferfish(every_entry(), chain),
        Pufferfish(every_entry(), other),
        Pufferfish(every_entry(), chain.with_length(11)),
        Pufferfish(entry(0, "still", "walking"), chain),
        Pufferfish([every_entry(), entry(0, "still", "walking")], chain),
        Pufferfish(every_entry(), [chain, other]),
    ]
    assert len({f.fingerprint() for f in frameworks}) == len(frameworks)


def test_assumptions_are_listed_once() -> None:
    chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10)
    assert Pufferfish(every_entry(), [chain, chain]).assumptions() == chain.assumptions()


def pieces(*lengths: int) -> tf.IndependentPieces:
    return tf.IndependentPieces(MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5, states=STATES[:2]), lengths)


def parts(framework: Framework, query: Any) -> list[tuple[int, int, list[int]]]:
    problem_parts = Problem(framework, query, Fraction(1)).parts
    return [(p.start, p.belief.size, list(p.family.entries)) for p in problem_parts]


def test_pieces_that_look_the_same_are_one_part() -> None:
    framework = Pufferfish(every_entry(), pieces(3, 2, 3))
    assert parts(framework, tf.Count("still")) == [(0, 3, [0, 1, 2]), (3, 2, [0, 1])]
    assert parts(framework, tf.Linear([1] * 8, {"still": 0, "walking": 1})) == [(0, 3, [0, 1, 2]), (3, 2, [0, 1])]
    uneven = tf.Linear([1, 1, 1, 1, 1, 2, 1, 1], {"still": 0, "walking": "0.4"}, grid=1)
    assert [start for start, *_ in parts(framework, uneven)] == [0, 3, 5]


def test_only_pieces_with_a_possible_secret_are_parts() -> None:
    framework = Pufferfish(entry(4, "still", "walking"), pieces(3, 2, 3))
    assert parts(framework, tf.Count("still")) == [(3, 2, [1])]
    fixed = MarkovChain(np.eye(2), 3, [1, 0], STATES[:2])
    free = MarkovChain([[0.5, 0.5], [0.5, 0.5]], 3, states=STATES[:2])
    assert len(parts(Pufferfish(every_entry(), [fixed, free]), tf.Count("still"))) == 1


def test_problems_need_one_grid_and_the_same_cells() -> None:
    two = MarkovChain([[0.5, 0.5], [0.5, 0.5]], 3, states=(0, 1))
    three = MarkovChain(np.full((3, 3), 1 / 3), 3, states=(0, 1, 2))
    with pytest.raises(InputError, match="probability 0 where one never occurs"):
        Pufferfish(every_entry(), [two, three])
    never = MarkovChain([[0.5, 0.5, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]], 3, states=(0, 1, 2))
    swapped = MarkovChain(np.full((3, 3), 1 / 3), 3, states=(2, 1, 0))
    with pytest.raises(InputError, match="declare the states or the grid"):
        _ = Problem(Pufferfish(every_entry(), [never, swapped]), tf.Histogram(), Fraction(1)).answers
    assert Problem(Pufferfish(every_entry(), [never, swapped]), tf.Histogram([0, 1]), Fraction(1)).cells == 2
    pair = Problem(distribution_pair(Pmf([0, 2], [0.5, 0.5]), Pmf([6], [1])), tf.Identity(), Fraction(1))
    assert (pair.grid, pair.cells, pair.parts) == (2, 1, ())
    with pytest.raises(InputError, match=r"publish Identity\(\)"):
        _ = Problem(pair.framework, tf.Sum(), Fraction(1)).grid
    with pytest.raises(InputError, match="no values"):
        _ = pair.answers


@given(
    st.lists(st.one_of(st.integers(-9, 9), st.floats(-1e9, 1e9), st.floats(-1e-9, 1e-9)), min_size=1, max_size=4),
    st.sampled_from([None, 1, "0.1"]),
)
def test_the_grid_of_two_laws_holds_them_or_is_a_millionth_of_what_they_span(atoms: list[float], grid: Any) -> None:
    laws = [Pmf(sorted({*some}), [Fraction(1, len({*some}))] * len({*some})) for some in (atoms, atoms[:1])]
    problem = Problem(distribution_pair(*laws), tf.Identity(grid=grid), Fraction(1))
    exact = [*map(Fraction, atoms)]
    held = all((atom / problem.grid).denominator == 1 for atom in exact)
    if grid is not None:
        assert (problem.grid, problem.on_grid) == (Fraction(grid), held)
    elif problem.on_grid:
        assert held
        assert problem.grid.denominator <= 10**6
    else:
        span = (max(exact) - min(exact) or abs(exact[0])) / 10**6
        assert problem.grid <= span < 10 * problem.grid
        assert {*str(problem.grid.numerator), *str(problem.grid.denominator)} <= {"0", "1"}


CHAIN = MarkovChain([[0.9, 0.1], [0.4, 0.6]], 3, states=STATES[:2])
IDENTITY = MarkovChain(np.eye(2), 3, [1, 0], STATES[:2])
COLUMNS = tf.JointTable([(0, "x"), (1, "y")], [0.5, 0.5], names=["bit", "letter"])


@pytest.mark.parametrize(("make", "says"), [
    (lambda: entry(-1, 0, 1), "counted from 0"),
    (lambda: entry(1.5, 0, 1), "counted from 0"),
    (lambda: entry("x", 0, 1), "attribute"),
    (lambda: entry(True, 0, 1), "counted from 0"),
    (lambda: entry(float("nan"), 0, 1), "counted from 0"),
    (lambda: attribute(3, 0, 1), "entry"),
    (lambda: Pufferfish(entry(3, "still", "walking"), CHAIN), "entries 0 to 2"),
    (lambda: Pufferfish(entry(0, "stil", "walking"), CHAIN), "did you mean 'still'"),
    (lambda: Pufferfish(entry(0, "still", "still"), CHAIN), "two different values"),
    (lambda: Pufferfish(attribute("bit", 0, 1), CHAIN), "no column"),
    (lambda: Pufferfish(attribute("bits", 0, 1), COLUMNS), "did you mean 'bit'"),
    (lambda: Pufferfish(every_entry("bits"), COLUMNS), "did you mean 'bit'"),
    (lambda: Pufferfish([], CHAIN), "has no secret"),
    (lambda: Pufferfish(CHAIN, every_entry()), "MarkovChain is not a secret.*the secrets first"),
    (lambda: Pufferfish(every_entry(), []), "no belief"),
    (lambda: Pufferfish(every_entry, CHAIN), "not a secret"),
    (lambda: Pufferfish("every_entry", CHAIN), "not a secret"),
    (lambda: Pufferfish(every_entry(), "chain"), "not a belief"),
    (lambda: Pufferfish(every_entry(), 3), "not a belief"),
    (lambda: Pufferfish(every_entry(), IDENTITY), "probability zero under every belief"),
    (lambda: Pufferfish(entry(0, "still", "walking"), IDENTITY), "probability zero under every belief"),
    (lambda: Pufferfish(every_entry(), distribution_pair(Pmf([0], [1]), Pmf([1], [1])).beliefs), "distribution_pair"),
    (lambda: distribution_pair([0.5, 0.5], Pmf([1], [1])), "write Pmf"),
    (lambda: Pufferfish(every_entry(), MarkovChain([[1]], 3, states=[(0, 1)])), "write text, a number"),
    (lambda: Pufferfish(every_entry(), MarkovChain([[1]], 3, states=[Fraction(1, 2)])), "write text, a number"),
    (lambda: Framework.from_dict({"secrets": []}), "lacks"),
    (lambda: Framework.from_dict({"secrets": [], "beliefs": [], "definition": "puffer"}), "definition"),
    (lambda: Framework.from_dict({"secrets": [{"kind": "entri"}], "beliefs": []}), "did you mean 'entry'"),
    (lambda: Framework.from_dict({"secrets": [{"kind": "entry", "a": 1}], "beliefs": []}), "lacks"),
    (lambda: Framework.from_dict({"secrets": [], "beliefs": [{"kind": "chain"}]}), "belief's kind"),
])  # fmt: skip
def test_bad_input_says_what_to_write(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


class First(EveryEntry):
    """A secret about the first entry that writes itself down as one about all."""

    def family(self, belief: Any) -> Family:
        return Family((0,))


def test_a_secret_that_would_be_charged_as_another_one_is_refused() -> None:
    with pytest.raises(InputError, match="reads back from its to_dict as one of EveryEntry"):
        Pufferfish(First(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], 4))


def test_a_pair_given_in_one_order_is_compared_in_both() -> None:
    """Quilts with laws of near sets needed less noise for 0 against 1 alone than for both orders."""
    assert Family((0,), ((0, 1),)).pairs == ((0, 1), (1, 0))
    assert Family((0,), ((2, 0), (0, 1), (0, 2), (1, 0))).pairs == ((2, 0), (0, 1), (0, 2), (1, 0))


@pytest.mark.parametrize("write", [Framework.fingerprint, Framework.to_dict])
def test_a_number_that_no_file_reads_back_is_refused_wherever_it_stands(write: Any) -> None:
    """It was a TypeError of JSON."""
    normal = tf.MultivariateNormal([0], [[1]], names=["x"], records=5)
    records = tf.Records(tf.JointTable([(Fraction(8, 7), 0), (1, 1)], [0.5, 0.5], names=["x", "y"]), 5)
    for secret, belief in (
        (tf.distribution_parameter("x", map="mean", values=[1, Fraction(8, 7)]), normal),
        (tf.distribution_parameter("x", map="mean", values=[1, Decimal("1.5")]), normal),
        (tf.dataset_property("y", "mean"), records),
    ):
        with pytest.raises(InputError, match=r"of type \w+: a file could not read it back; write text, a number"):
            write(Pufferfish(secret, belief))
