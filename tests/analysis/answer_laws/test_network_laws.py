"""Laws of an answer given the nodes of a network: against every joint state, exact polynomials and chains."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import network_oracles as oracle
from tests.support import tree_networks as shapes

import takifugu as tf
from takifugu.analysis.answer_laws import chain as chain_laws
from takifugu.analysis.answer_laws import message_passing as passes
from takifugu.analysis.answer_laws import network as network_laws
from takifugu.analysis.answer_laws.dense import DenseFamily
from takifugu.analysis.answer_laws.join_tree import Join, contraction
from takifugu.analysis.answer_laws.message_passing import reading
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.networks.elimination import elimination_order
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.queries import Additive, Count, Linear
from takifugu.model.secrets.families import Family
from takifugu.numbers.extended.floats import Wide

SHAPES: dict[str, Callable[[np.random.Generator, int], list[list[int]]]] = {
    "tree": shapes.tree,
    "polytree": shapes.polytree,
    "general": lambda rng, size: [sorted(rng.choice(i, min(i, 2), replace=False).tolist()) for i in range(size)],
    "scattered": lambda rng, size: [[i - 1] if i and rng.random() < 0.5 else [] for i in range(size)],
}

seeds, sizes = st.integers(0, 10**6), st.integers(1, 7)


def weighted(net: BayesianNetwork, weights: dict[str, int]) -> Additive:
    return Linear([weights.get(str(name), 0) for name in net.listed], grid=1).resolve(net)


def added(net: BayesianNetwork, answer: Additive) -> list[list[int]]:
    return [np.broadcast_to(answer.contribution(v)[:, 0], (len(net.alphabet(v)),)).tolist() for v in range(net.size)]


def families_of(net: BayesianNetwork, answer: Additive, entries: Sequence[int] | None = None) -> list[DenseFamily]:
    family = Family(range(net.size) if entries is None else tuple(entries))
    return list(network_laws.NetworkLaw(net, answer, family).families())


def masses(family: DenseFamily, value: int) -> dict[int, Fraction]:
    """Return the law given a value, from its weights; exact."""
    (row,) = family.rows[value]
    weights = family.weights[row]
    numbers = [
        Fraction(m) * Fraction(2) ** e if m else Fraction(0)
        for m, e in zip(weights.mantissas.tolist(), weights.exponents.tolist(), strict=True)
    ]
    whole = sum(numbers)
    return {family.start + family.step * place: number / whole for place, number in enumerate(numbers) if number}


def agree(family: DenseFamily, value: int, law: dict[int, Fraction]) -> bool:
    """Whether all masses are those of an exact law up to the stated relative error."""
    got, bound = masses(family, value), Fraction(family.relative_error)
    return got.keys() == law.keys() and all(abs(got[j] - p) <= bound * p for j, p in law.items())


def all_agree(net: BayesianNetwork, spec: oracle.Spec, answer: Additive, entries: Sequence[int] | None = None) -> bool:
    joint = oracle.joint_law(spec, [str(name) for name in net.names])
    for family in families_of(net, answer, entries):
        laws = oracle.answer_laws(joint, added(net, answer), family.entry)
        if not all(agree(family, value, laws[value]) for value in family.rows):
            return False
    return True


@settings(max_examples=80, deadline=None)
@given(seeds, sizes, st.sampled_from(sorted(SHAPES)), st.booleans())
def test_every_law_agrees_with_all_joint_states(seed: int, size: int, shape: str, zeros: bool) -> None:
    rng = np.random.default_rng(seed)
    spec = shapes.spec_of(SHAPES[shape](rng, size), rng, zeros)
    net = BayesianNetwork(spec)
    answer = weighted(net, {f"n{i}": int(rng.integers(-3, 4)) for i in range(size) if rng.random() < 0.8})
    assert all_agree(net, spec, answer)
    some = sorted(rng.choice(size, size=int(rng.integers(1, size + 1)), replace=False).tolist())
    assert all_agree(net, spec, answer, some)
    families = families_of(net, answer)
    assert sorted(f.entry for f in families) == [v for v in range(size) if sum(net.possible(v)) > 1]


@settings(max_examples=12, deadline=None)
@given(seeds, st.integers(2, 40), st.booleans())
def test_larger_trees_agree_with_exact_polynomials(seed: int, size: int, zeros: bool) -> None:
    rng = np.random.default_rng(seed)
    parents = shapes.tree(rng, size)
    spec = shapes.spec_of(parents, rng, zeros)
    net = BayesianNetwork(spec)
    answer = weighted(net, {f"n{i}": int(rng.integers(-2, 3)) for i in range(size)})
    table = [added(net, answer)[net.position(f"n{i}")] for i in range(size)]
    for family in families_of(net, answer, rng.choice(size, size=2, replace=False).tolist()):
        node = int(str(net.names[family.entry])[1:])
        laws = shapes.laws_on_a_tree(spec, parents, table, node)
        for value in family.rows:
            assert agree(family, value, {j: p / sum(laws[value].values()) for j, p in laws[value].items()})


def star(size: int) -> list[list[int]]:
    return [[0] if i else [] for i in range(size)]


def comb(size: int) -> list[list[int]]:
    """A path with a leaf at every node: long shares meet short ones."""
    return [[] if not i else [i - 2 if i % 2 == 0 else i - 1] for i in range(size)]


@pytest.mark.mutants
@pytest.mark.parametrize("parents", [star(120), comb(120)], ids=["star", "comb"])
def test_tails_far_below_float64_are_right_to_the_last_mass(parents: list[list[int]]) -> None:
    rows = [[0.998, 0.002], [0.999, 0.001]]
    spec = [(f"n{i}", [0, 1], [f"n{p}" for p in above], rows if above else rows[0]) for i, above in enumerate(parents)]
    net = BayesianNetwork(spec)
    answer = Count(1).resolve(net)
    for family in families_of(net, answer, (5, 60)):
        node = int(str(net.names[family.entry])[1:])
        laws = shapes.laws_on_a_tree(spec, parents, [[0, 1]] * 120, node)
        for value in family.rows:
            law = {j: p / sum(laws[value].values()) for j, p in laws[value].items()}
            assert law[119] < Fraction(1, 10**308)
            assert agree(family, value, law)
        assert family.relative_error < 1e-11


@pytest.mark.parametrize("length", [1, 2, 40])
def test_a_path_has_the_laws_of_the_chain(length: int) -> None:
    matrix, start = [[0.2, 0.8, 0.0], [0.5, 0.1, 0.4], [0.1, 0.3, 0.6]], [0.3, 0.3, 0.4]
    chain = tf.MarkovChain(matrix, length, initial=start)
    nodes = [("x0", [0, 1, 2], [], start), *((f"x{t}", [0, 1, 2], [f"x{t - 1}"], matrix) for t in range(1, length))]
    net = BayesianNetwork(nodes)
    weights = [(3 * t) % 5 - 2 for t in range(length)]
    query = Linear(weights, grid=1)
    expected = {f.entry: f for f in chain_laws.ChainLaw(chain, query.resolve(chain), Family(range(length))).families()}
    for family in families_of(net, query.resolve(net)):
        other = expected[family.entry]
        bound = Fraction(family.relative_error + other.relative_error)
        for value in family.rows:
            one, two = masses(family, value), masses(other, value)
            assert one.keys() == two.keys()
            assert all(abs(one[j] - p) <= bound * p for j, p in two.items())


EDGES = {
    "one node": [("a", [0, 1], [], [0.25, 0.75])],
    "independent nodes": [("a", [0, 1], [], [0.25, 0.75]), ("b", [0, 1, 2], [], [0.25, 0.5, 0.25])],
    "a copy": [("a", [0, 1], [], [0.3, 0.7]), ("b", [0, 1], ["a"], [[1, 0], [0, 1]])],
    "an impossible value": [("a", [0, 1, 2], [], [0.3, 0.7, 0]), ("b", [0, 1], ["a"], [[1, 0], [0.5, 0.5], [0, 1]])],
    "an impossible first value": [
        ("a", [0, 1, 2], [], [0, 0.3, 0.7]),
        ("b", [0, 1], ["a"], [[1, 0]] * 2 + [[0.2, 0.8]]),
    ],
    "exclusive or": [
        ("a", [0, 1], [], [0.5, 0.5]),
        ("b", [0, 1], [], [0.5, 0.5]),
        ("c", [0, 1], ["a", "b"], [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]),
    ],
    "a loop": [
        ("a", [0, 1], [], [0.5, 0.5]),
        ("b", [0, 1], ["a"], [[0.9, 0.1], [0.2, 0.8]]),
        ("c", [0, 1], ["a"], [[0.6, 0.4], [0.3, 0.7]]),
        ("d", [0, 1], ["b", "c"], [[[0.5, 0.5], [0.1, 0.9]], [[0.7, 0.3], [1, 0]]]),
    ],
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("weights", [{}, {"a": 1}, {"b": -2}, {"a": 4, "b": 6, "c": -8}, {"d": 1}])
def test_edges(name: str, weights: dict[str, int]) -> None:
    net = BayesianNetwork(EDGES[name])
    assert all_agree(net, EDGES[name], weighted(net, weights))


def test_codes_of_any_sign_and_nodes_that_add_the_same_whatever_they_are() -> None:
    spec = [
        ("a", ["x", "y"], [], [0.25, 0.75]),
        ("b", ["p", "q", "r"], ["a"], [[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]]),
        ("c", ["k", "l"], ["b"], [[0.5, 0.5], [0.25, 0.75], [1, 0]]),
    ]
    net = BayesianNetwork(spec)
    tables = tuple(np.array(t)[:, None] for t in ([5, 5], [-7, 3, 13], [0, -20]))
    answer = Additive(Fraction(1), ("value",), tables, np.ones(3, dtype=np.int64), np.arange(3))
    assert all_agree(net, spec, answer)
    (family,) = families_of(net, answer, [0])
    assert (family.start, family.step) == (5 - 7 - 20, 10)
    assert network_laws.width(net, answer) == 5


def test_nodes_that_nothing_hangs_on_are_left_out() -> None:
    nodes = [(f"n{i}", [0, 1], [f"n{i - 1}"] if i else [], [[0.5, 0.5]] * 2 if i else [0.5, 0.5]) for i in range(50)]
    net = BayesianNetwork(nodes)
    some = weighted(net, {"n3": 1})
    far, near = (network_laws.NetworkLaw(net, some, Family((v,))).work()[0] for v in (49, 2))
    assert far > 5 * near


def test_each_secret_gets_a_plan_of_its_own_where_one_for_all_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    spec = oracle.random_network(rng, 7)
    net = BayesianNetwork(spec)
    answer = Count(1).resolve(net)
    together, _ = network_laws.NetworkLaw(net, answer, Family(range(7))).work()
    assert all_agree(net, spec, answer)
    monkeypatch.setattr(network_laws, "_fits", lambda plan: len(plan.places) == 1)
    assert all_agree(net, spec, answer)
    assert network_laws.NetworkLaw(net, answer, Family(range(7))).work()[0] > together
    monkeypatch.undo()
    monkeypatch.setattr(network_laws, "LARGEST_BYTES", 100.0)
    with pytest.raises(Unsupported, match=r"limit of 1e\+02.*a MarkovChain"):
        families_of(net, answer)


def test_a_network_too_wide_to_plan_is_refused_at_once() -> None:
    rng = np.random.default_rng(0)
    nodes = [(f"r{i}", [0, 1], [], [0.5, 0.5]) for i in range(60)]
    for i in range(600):
        one, other = rng.choice(60, size=2, replace=False)
        nodes.append((f"c{i}", [0, 1], [f"r{one}", f"r{other}"], [[[0.5, 0.5]] * 2] * 2))
    net = BayesianNetwork(nodes)
    answer = Count(1).resolve(net)
    secret = Family((net.position("r0"),))
    assert network_laws.NetworkLaw(net, answer, secret).work()[1] > network_laws.LARGEST_BYTES
    with pytest.raises(Unsupported, match="quilt-exact"):
        list(network_laws.NetworkLaw(net, answer, secret).families())


def test_roundings_add_up() -> None:
    one, other = (passes.ShareTable((), Wide.of(np.ones(size)), rounded) for size, rounded in ((9, 5), (4, 70)))
    assert passes.joined(one, other).rounded >= 5 + 70 + 4
    table = passes.ShareTable((0, 1), Wide.of(np.ones((3, 2, 4))), 11)
    assert passes.without(table, {0}).rounded >= 11 + 2
    assert passes.moved(table, 0, [0, 1, 5]).rounded >= 11


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(2, 9), st.sampled_from(sorted(SHAPES)))
def test_the_plan_knows_every_table_in_advance(seed: int, size: int, shape: str) -> None:
    rng = np.random.default_rng(seed)
    net = BayesianNetwork(shapes.spec_of(SHAPES[shape](rng, size), rng))
    answer = weighted(net, {f"n{i}": int(rng.integers(0, 3)) for i in range(size)})
    honest, seen = passes.outside, []

    def watched(plan, number, above, outer, inside, offsets):  # type: ignore[no-untyped-def]
        made = honest(plan, number, above, outer, inside, offsets)
        seen.append(number)
        assert set(made.scope) == set(plan.outer[number])
        assert made.polynomials.shape[-1] == plan.outer_width(number)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "outside", watched)
        families_of(net, answer)
    assert len(seen) == len(set(seen)) > 0


def test_a_star_is_not_joined_leaf_by_leaf() -> None:
    scopes = {0: (0,)} | {i: (0, i) for i in range(1, 1001)}
    sizes = dict.fromkeys(scopes, 2)
    plan = contraction(scopes, sizes, dict.fromkeys(scopes, 1))
    above = [-1] * len(plan.tables)
    for number, table in enumerate(plan.tables):
        for below in (table.first, table.second) if isinstance(table, Join) else ():
            above[below] = number
    depth, number = 0, above.index(next(n for n in above if n >= 0))
    while number >= 0:
        number, depth = above[number], depth + 1
    assert depth < 20
    half = {v: scopes[v] for v in range(501)}
    small = contraction(half, dict.fromkeys(half, 2), dict.fromkeys(half, 1))
    assert reading(plan, range(1001)).operations < 6 * reading(small, range(501)).operations


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 12))
def test_the_order_always_takes_the_smallest_table(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = {v: int(rng.integers(2, 5)) for v in range(size)}
    scopes = [tuple(sorted({int(v) for v in rng.integers(size, size=2)} | {i})) for i in range(size)]
    tables = [set(scope) for scope in scopes]
    for v in elimination_order(scopes, sizes):
        weights = {}
        for u in {u for t in tables for u in t}:
            weights[u] = int(np.prod([sizes[w] for w in set().union(*(t for t in tables if u in t))]))
        assert weights[v] == min(weights.values())
        together = set().union(*(t for t in tables if v in t)) - {v}
        tables = [t for t in tables if v not in t] + [together]


@pytest.mark.mutants
def test_the_trees_of_a_thousand_nodes_have_a_predicted_price() -> None:
    parents = shapes.tree(np.random.default_rng(0), 1000)
    rows = [[0.8, 0.2], [0.3, 0.7]]
    net = BayesianNetwork(
        [(f"n{i}", [0, 1], [f"n{p}" for p in above], rows if above else rows[0]) for i, above in enumerate(parents)]
    )
    share = SimpleNamespace(belief=net, answer=Count(1).resolve(net), family=Family(range(1000)))
    operations, memory = answer_law(share).work()
    assert 1e8 < operations < 1e10
    assert memory < 1e7
    family = next(iter(answer_law(share).families()))
    assert isinstance(family, DenseFamily)
    assert abs(float(sum(masses(family, 1).values())) - 1) < 1e-12
