"""A reading of the noise: against all joint states listed, calibrated, and from public facts alone."""

import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.releasing import files
from tests.support import estimate_oracles as oracle
from tests.support.simulated import stationary

import takifugu as tf
from takifugu.analysis.questions.law_of_cell import CellLaw, law_of_cell
from takifugu.analysis.randomisers import DiscreteLaplace, RoundedNormal
from takifugu.core.errors import Unsupported
from takifugu.core.escaping import number
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query, resolved
from takifugu.releasing.certificates.cells import read_table
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.postprocess import estimate
from takifugu.releasing.postprocess.release import releases_of
from takifugu.releasing.publishing.rehearsing import rehearse


def shares(row: list[int]) -> list[float]:
    return [n / sum(row) for n in row]


#: Rows of matrices, and some with zeros.
ROWS, ROWS_OF_3 = (st.lists(st.integers(1, 9), min_size=n, max_size=n).map(shares) for n in (2, 3))
WITH_ZEROS = st.lists(st.integers(0, 9), min_size=2, max_size=2).filter(sum).map(shares)
Adds = Callable[[int, int], list[int]]
SCALES = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(5, 2)])


def counted(entry: int, value: int) -> list[int]:
    return [int(value == state) for state in range(2)]


def agrees(
    framework: Framework, query: Query, joint: list[oracle.State], adds: Adds, published: list[int], scale: Fraction,
    blocks: list[range] = [],  # noqa: B006
) -> None:  # fmt: skip
    """Compare laws, means and intervals of all cells with those of the oracle."""
    noise, law_of_cells = DiscreteLaplace(scale, Fraction(1), len(published)), oracle.cells_of(joint, adds)
    priors = estimate.priors_of(framework, query)
    estimates = estimate.estimates_of(priors, noise, list(map(Fraction, published)))
    for cell, estimated in enumerate(estimates):
        wrong = oracle.is_contradicted(law_of_cells, published[cell], cell, float(scale), estimate.CONTRADICTS, 60)
        assert estimated.contradicts == wrong
        law = estimate.reading(priors[0], noise, published, cell)
        assert (law is None) == wrong
        if law is None:
            continue
        block = next((block for block in blocks if cell in block), range(cell, cell + 1))
        others = [other for other in block if other != cell]
        expected, evidence = oracle.posterior(law_of_cells, published, cell, float(scale), others)
        if evidence < 1e-9 and others:  # noises that improbable are left out of account
            continue
        for value, mass in expected.items():
            assert math.isclose(law.masses[value - law.start], mass, abs_tol=1e-6)
        mean = math.fsum(value * mass for value, mass in expected.items())
        assert law.mean == pytest.approx(mean, abs=1e-6)
        low, high = oracle.interval(expected)
        below = [sum(mass for value, mass in expected.items() if value <= end) for end in expected]
        if not any(abs(share - edge) < 1e-4 for share in below for edge in (0.025, 0.975)):
            assert (estimated.low, estimated.high) == (low, high)


@given(st.lists(WITH_ZEROS, min_size=2, max_size=2), ROWS, st.integers(1, 7), SCALES, st.integers(-4, 12),
       st.integers(-4, 12))  # fmt: skip
def test_both_cells_of_a_chain_are_those_of_all_joint_states(matrix, start, length, scale, first, second) -> None:
    chain = tf.MarkovChain(matrix, length, initial=start)
    joint = list(oracle.chain_states([matrix], length, start))
    agrees(tf.Pufferfish(tf.every_entry(), chain), tf.Histogram(), joint, counted, [first, second], scale, [range(2)])


@given(st.lists(st.lists(ROWS, min_size=2, max_size=2), min_size=2, max_size=3), st.integers(1, 6), SCALES,
       st.integers(-3, 9))  # fmt: skip
def test_a_chain_of_several_matrices(matrices, length, scale, value) -> None:
    start = [0.25, 0.75]
    chain = tf.PeriodicChain(matrices, length, initial=start)
    joint = list(oracle.chain_states(matrices, length, start))
    agrees(tf.Pufferfish(tf.every_entry(), chain), tf.Count(1), joint, lambda i, v: [int(v == 1)], [value], scale)


@given(st.lists(WITH_ZEROS, min_size=2, max_size=2), ROWS, st.integers(1, 6), st.sampled_from(["1/3", "1", "9"]),
       st.integers(-4, 12), st.integers(-4, 12))  # fmt: skip
@example([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5], 2, "1/3", 0, 0)  # what noise has beyond was bounded by its last mass,
@example([[0.0, 1.0], [0.0, 1.0]], [0.5, 0.5], 1, "1/3", 0, -1)  # not by the next: the other cell was not read, then
def test_normal_noise_is_read_by_its_own_masses(matrix, start, length, deviation, first, second) -> None:
    chain, published = tf.MarkovChain(matrix, length, initial=start), (first, second)
    joint = oracle.cells_of(oracle.chain_states([matrix], length, start), counted)
    priors = estimate.priors_of(tf.Pufferfish(tf.every_entry(), chain), tf.Histogram())
    noise = RoundedNormal(Fraction(deviation), Fraction(1), 2)
    spread = float(noise.scale) * math.sqrt(2)
    for cell, estimated in enumerate(estimate.estimates_of(priors, noise, list(map(Fraction, published)))):
        masses = dict[int, float]()
        for cells, mass in joint.items():
            for number_told, value in zip(published, cells, strict=True):
                near = abs(number_told - value)
                mass *= (math.erfc((near - 0.5) / spread) - math.erfc((near + 0.5) / spread)) / 2
            masses[cells[cell]] = masses.get(cells[cell], 0.0) + mass
        whole = math.fsum(masses.values())
        if estimated.contradicts or whole < 1e-6:  # noises that improbable are left out of account
            continue
        below = math.fsum(mass for value, mass in masses.items() if value < estimated.low)
        above = math.fsum(mass for value, mass in masses.items() if value > estimated.high)
        assert max(below, above) <= 0.025 * whole * (1 + 1e-5)
        mean = math.fsum(value * mass for value, mass in masses.items()) / whole
        assert estimated.mean == pytest.approx(mean, abs=0.01 * (estimated.high - estimated.low) + 1e-6)


@pytest.mark.mutants
@given(st.lists(ROWS_OF_3, min_size=3, max_size=3), st.lists(st.integers(1, 3), min_size=1, max_size=3), SCALES,
       st.lists(st.integers(-2, 8), min_size=3, max_size=3))  # fmt: skip
def test_pieces_of_a_stationary_chain(matrix, lengths, scale, published) -> None:
    pieces = tf.IndependentPieces(tf.MarkovChain(matrix, max(lengths)), lengths)
    joint = list(oracle.pieces_states([
        list(oracle.chain_states([matrix], length, stationary(matrix))) for length in lengths
    ]))  # fmt: skip
    adds = lambda entry, value: [int(value == state) for state in range(3)]  # noqa: E731
    agrees(tf.Pufferfish(tf.every_entry(), pieces), tf.Histogram(), joint, adds, published, scale, [range(3)])


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=5).filter(any), SCALES, st.integers(-12, 12))
def test_a_weighted_sum_of_steps(weights, scale, value) -> None:
    matrix = [[0.7, 0.3], [0.2, 0.8]]
    chain = tf.MarkovChain(matrix, len(weights), initial=[0.5, 0.5])
    joint = list(oracle.chain_states([matrix], len(weights), [0.5, 0.5]))
    query = tf.Linear(weights, grid=1)
    agrees(tf.Pufferfish(tf.every_entry(), chain), query, joint, lambda i, v: [weights[i] * v], [value], scale)


@given(st.lists(ROWS, min_size=1, max_size=6), SCALES, st.integers(-3, 9))
def test_people_with_a_law_each(laws, scale, value) -> None:
    users = tf.IndependentUsers([dict(enumerate(law)) for law in laws])
    joint = list(oracle.users_states(laws))
    agrees(tf.Pufferfish(tf.every_entry(), users), tf.Sum(), joint, lambda i, v: [v], [value], scale)


@given(st.integers(1, 9), st.integers(1, 4), SCALES, st.integers(-3, 9))
def test_people_who_may_be_absent(percent, size, scale, value) -> None:
    present = percent / 10
    users = tf.IndependentUsers([{0: 0.25, 1: 0.75}] * size, presence=present, absence="removed")
    joint = list(oracle.users_states([[0.25 * present, 0.75 * present, 1 - present]] * size))
    adds = lambda entry, v: [int(v == 1)]  # noqa: E731
    agrees(tf.Pufferfish(tf.every_entry(), users), tf.Sum(), joint, adds, [value], scale)


def test_absence_as_an_unknown_value_changes_no_count() -> None:
    users = tf.IndependentUsers([{0: 0.25, 1: 0.75}] * 3, presence=0.5, absence="unknown")
    joint = list(oracle.users_states([[0.25, 0.75]] * 3))
    agrees(tf.Pufferfish(tf.every_entry(), users), tf.Sum(), joint, lambda i, v: [v], [2], Fraction(1))


@given(ROWS_OF_3, st.integers(1, 5), SCALES, st.integers(-3, 8), st.integers(-3, 8))
def test_records_of_a_table(law, size, scale, first, second) -> None:
    table = tf.JointTable([("a", 0), ("a", 1), ("b", 1)], law, names=["group", "ill"])
    joint = list(oracle.users_states([law] * size))
    adds = lambda entry, row: [int(row < 2), int(row == 2)]  # noqa: E731
    framework = tf.Pufferfish(tf.every_entry(), tf.Records(table, size))
    agrees(framework, tf.CrossTable(["group"]), joint, adds, [first, second], scale, [range(2)])


@given(ROWS_OF_3, SCALES, st.integers(-3, 5))
def test_one_record_of_a_table(law, scale, value) -> None:
    table = tf.JointTable([(0, 0), (0, 1), (1, 1)], law, names=["first", "second"])
    joint = [((0, 0), law[0]), ((0, 1), law[1]), ((1, 1), law[2])]
    agrees(tf.Pufferfish(tf.every_entry(), table), tf.Sum(), joint, lambda i, v: [v], [value], scale)


@given(ROWS, st.lists(ROWS, min_size=2, max_size=2), st.lists(ROWS, min_size=4, max_size=4), SCALES, st.integers(-3, 6))
def test_a_network(first, second, third, scale, value) -> None:
    network = tf.BayesianNetwork([
        ("a", [0, 1], [], first), ("b", [0, 1], ["a"], second), ("c", [0, 1], ["a", "b"], [third[:2], third[2:]]),
    ])  # fmt: skip
    tables = [
        {(): first}, {(0,): second[0], (1,): second[1]},
        {(a, b): third[2 * a + b] for a in range(2) for b in range(2)},
    ]  # fmt: skip
    joint = list(oracle.network_states([[], [0], [0, 1]], tables, [2, 2, 2]))
    agrees(tf.Pufferfish(tf.every_entry(), network), tf.Sum(), joint, lambda i, v: [v], [value], scale)


@given(st.lists(st.integers(1, 9), min_size=4, max_size=4), SCALES, st.integers(-3, 6))
def test_a_clique_where_the_number_of_ill_people_is_known(masses, scale, value) -> None:
    total = sum(masses)
    clique = tf.CliqueInfection([["a", "b", "c"]], {3: [Fraction(mass, total) for mass in masses]})
    joint = [
        (state, masses[sum(state)] / total / math.comb(3, sum(state)))
        for state in itertools.product(range(2), repeat=3)
    ]  # fmt: skip
    agrees(tf.Pufferfish(tf.every_entry(), clique), tf.Sum(), joint, lambda i, v: [v], [value], scale)


def test_many_pieces_have_the_law_of_their_sum_where_it_is_likely() -> None:
    """The binomial law of a million coins, at places that are a small part of all."""
    coins = tf.IndependentPieces(tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 1000), [1000] * 1000)
    law = law_of_cell(coins, tf.Count(1).resolve(coins), 0)
    assert len(law.masses) < 20_000
    assert law.error < 1e-8
    assert law.mean == pytest.approx(500_000)
    assert law.masses.max() == pytest.approx(1 / math.sqrt(math.pi * 5e5), rel=1e-5)


def hours(query: Query, number: int) -> tf.GroupBy:
    return tf.GroupBy(query, {str(hour): [hour] for hour in range(number)}, every=number)


def test_a_table_by_hours_uses_the_sum_of_each_hour() -> None:
    """Of each hour both states add up: an estimate is that from two values of one number."""
    chain = tf.MarkovChain([[0.8, 0.2], [0.4, 0.6]], 48)
    query = hours(tf.Histogram(), 24)
    (prior,) = estimate.priors_of(tf.Pufferfish(tf.every_entry(), chain), query)
    assert [(list(cells), total) for cells, total in prior.blocks] == [([2 * h, 2 * h + 1], 2) for h in range(24)]


@pytest.mark.parametrize("value", [480, 495, 497, 500])
def test_noise_beyond_what_is_looked_at_is_not_taken_for_impossible(value) -> None:
    """Between two likely values, far from both: the farther one is nearly as likely as the nearer one."""
    ends = np.zeros(1001)
    ends[[0, -1]] = 0.5
    prior = estimate.Prior(Fraction(1), (CellLaw(0, ends, 0.0),), ())
    read = estimate.reading(prior, DiscreteLaplace(Fraction(18), Fraction(1)), [value], 0)
    share = 1 / (1 + math.exp((1000 - 2 * value) / 18))
    assert read is None or abs(read.masses[-1] - share) <= read.error


def test_of_several_beliefs_the_interval_covers_all() -> None:
    beliefs = [tf.MarkovChain([[1 - p, p], [1 - p, p]], 40) for p in (0.2, 0.6)]
    noise = DiscreteLaplace(Fraction(20), Fraction(1), 1)
    estimated = list[estimate.Estimate]()
    for chosen in (beliefs[:1], beliefs[1:], beliefs):
        priors = estimate.priors_of(tf.Pufferfish(tf.every_entry(), chosen), tf.Count(1))
        estimated += estimate.estimates_of(priors, noise, [Fraction(16)])
    first, second, both = estimated
    assert both.low == min(first.low, second.low)
    assert both.high == max(first.high, second.high)
    assert both.mean == pytest.approx(first.mean, abs=0.1)
    assert both.expected[0] == pytest.approx(8)


def test_a_belief_that_the_value_contradicts_has_no_number() -> None:
    chain = tf.MarkovChain([[0.99, 0.01], [0.99, 0.01]], 1000)
    priors = estimate.priors_of(tf.Pufferfish(tf.every_entry(), chain), tf.Count(1))
    noise = DiscreteLaplace(Fraction(2), Fraction(1), 1)
    (far,), (near,) = (estimate.estimates_of(priors, noise, [Fraction(value)]) for value in (400, 12))
    assert far.contradicts
    assert str(far) == estimate.CONTRADICTED
    assert (far.mean, far.low, far.high) == (None, None, None)
    assert far.columns == {"estimate": None, "estimate_low": None, "estimate_high": None}
    assert not near.contradicts
    assert near.low <= near.mean <= near.high
    some = estimate.narrowing([near.columns, far.columns], [(noise, 2)], "")
    assert some == "The belief makes 1 of 2 published values less likely than 1 in 1,000, so it has no estimate"
    assert "the published value less likely" in estimate.narrowing([far.columns], [(noise, 1)], "")
    assert estimate.narrowing([{"value": 3}], [(noise, 1)], "") == ""
    assert estimate.narrowing([near.columns], [(noise, 1)], "") == ""
    wide = DiscreteLaplace(Fraction(40), Fraction(1), 1)
    assert "an estimate is within ±" in estimate.narrowing([near.columns], [(wide, 1)], "steps")


COINS = tf.JointTable([(0,), (1,)], [0.5, 0.5], names=["ill"])


@pytest.mark.mutants
@pytest.mark.parametrize(("belief", "query", "words"), [
    (tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 9, initial="any"), tf.Count(1), "does not say how a recording starts"),
    (tf.ReversibleChains(0.2, 0.5, 9), tf.Count(1), "no distribution of a count is known"),
    (tf.Records(COINS, 9, within=[(0.4, 0.6)] * 2), tf.CrossTable(["ill"]), "a class of distributions"),
    (tf.MultivariateNormal([0.0], [[1.0]], names=["a"], records=9), tf.Mean("a"), "no sum over single values"),
    (tf.MarkovChain([[0.5, 0.5]] * 2, 20), tf.Linear([10**6 + i for i in range(20)], grid=1), "likely values"),
    (tf.MarkovChain([[0.5, 0.5]] * 2, 30_000), tf.Linear(range(30_000), grid=1), "too many ways"),
    (tf.IndependentPieces(tf.MarkovChain([[0.5, 0.5]] * 2, 9_000), range(1_000, 9_000)), tf.Histogram(), "too long"),
])  # fmt: skip
def test_where_no_law_is_computed_one_sentence_says_so(belief, query, words) -> None:
    secret = tf.every_entry()
    if isinstance(belief, tf.MultivariateNormal):
        secret = tf.every_entry("a", max_difference=1)
    with pytest.raises(Unsupported, match=words):
        estimate.priors_of(tf.Pufferfish(secret, belief), query)


@pytest.mark.mutants
def test_the_estimates_of_a_table_follow_from_its_certificate(tmp_path: Path) -> None:
    """Computed anew from the certificate and the values of the table, without the file of the private data."""
    spec = files.SPEC.replace('per = "both"', 'per = "unit"')
    outcome = tf.release_file(files.write(tmp_path, spec), allow_useless=True)
    (tmp_path / "data.csv").unlink()
    certificate = read_certificate(tmp_path / "out" / "time-use.certificate.json")
    written = list(map(dict, read_table(tmp_path / "out" / "time-use.csv")))
    assert list(map(dict, outcome.tables[0].rows)) == written
    rows = iter(written)
    for unit, release in releases_of(certificate).items():
        assert release.answer.complete
        for cell, estimated in release.estimate().items():
            row = next(rows)
            assert (row["unit"], row["cell"]) == (unit, cell)
            assert {key: row[key] for key in estimate.ESTIMATED} == estimated.columns


def test_a_report_shows_each_estimate_beside_its_value(tmp_path: Path) -> None:
    spec = files.SPEC.replace('per = "both"', 'per = "pooled"')
    (table,) = rehearse(files.write(tmp_path, spec), 7, allow_useless=True).tables
    report = next(path for path in table.files if path.name.endswith(".report.html")).read_text(encoding="utf-8")
    for row in table.rows:
        assert f">{number(row['estimate'])}</td>" in report


@pytest.mark.mutants
def test_no_estimate_sees_private_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data of other counts with the same public facts and the same noisy values have the same estimates."""
    tables = []
    sevens = lambda self, answer, entropy: tuple(7 * self.grid + 0 * x for x in answer)  # noqa: E731
    monkeypatch.setattr(DiscreteLaplace, "draw", sevens)
    for words in ("sitting", "walking"):
        folder = tmp_path / words
        folder.mkdir()
        toml = files.write(folder, table=re.sub("sitting|walking|lying", words, files.data()))
        tf.release_file(toml, allow_useless=True)
        tables.append([(folder / "out" / f"time-use-{scope}.csv").read_text() for scope in ("units", "pooled")])
    assert tables[0] == tables[1]
    assert "estimate" in tables[0][0]


@pytest.mark.mutants
def test_pooled_recordings_with_gaps_have_none(tmp_path: Path) -> None:
    """Which steps are missing is not on the certificate of a pooled table; that of one person names them."""
    gaps = "\n".join(line for number, line in enumerate(files.data().split("\n")) if number % 9 != 5)
    toml = files.write(tmp_path, files.SPEC, gaps)
    units, pooled = tf.release_file(toml, allow_useless=True).tables
    assert "estimate" in units.rows[0]
    assert "estimate" not in pooled.rows[0]
    certificate = read_certificate(tmp_path / "out" / "time-use-pooled.certificate.json")
    with pytest.raises(Unsupported, match="which values are missing is not on the certificate"):
        releases_of(certificate)[None].estimate()


#: How many simulations are quick, and how many are enough to see that intervals cover.
QUICK, ENOUGH = 400, 20_000


def chain_counts(chance: np.random.Generator, runs: int, matrices: list, start: list[float], length: int) -> np.ndarray:
    """Return the states of chains, drawn step by step, shape (runs, length)."""
    states = np.empty((runs, length), dtype=np.int64)
    states[:, 0] = (chance.random(runs) > start[0]).astype(np.int64)
    for step in range(1, length):
        stays = np.array(matrices[(step - 1) % len(matrices)])[states[:, step - 1], 0]
        states[:, step] = chance.random(runs) > stays
    return states


def of_chain(chance, runs):
    matrix = [[0.9, 0.1], [0.3, 0.7]]
    states = chain_counts(chance, runs, [matrix], stationary(matrix), 60)
    return tf.MarkovChain(matrix, 60), tf.Histogram(), np.stack([(states == s).sum(axis=1) for s in (0, 1)], axis=1)


def of_hours(chance, runs):
    matrices = [[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0.6, 0.4]], [[0.2, 0.8], [0.1, 0.9]]]
    states = chain_counts(chance, runs, matrices, [0.5, 0.5], 45)
    belief = tf.PeriodicChain(matrices, 45, initial=[0.5, 0.5])
    return belief, hours(tf.Count(1), 3), np.stack([states[:, hour::3].sum(axis=1) for hour in range(3)], axis=1)


def of_mean(chance, runs):
    matrix = [[0.6, 0.4], [0.2, 0.8]]
    states = chain_counts(chance, runs, [matrix], [1.0, 0.0], 30)
    return tf.MarkovChain(matrix, 30, initial=[1, 0]), tf.Mean(), states.sum(axis=1)[:, None]


def of_users(chance, runs):
    laws = [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]] * 10
    values = np.stack([chance.choice(3, size=runs, p=law) for law in laws], axis=1)
    return tf.IndependentUsers([dict(enumerate(law)) for law in laws]), tf.Sum(), values.sum(axis=1)[:, None]


def of_records(chance, runs):
    law = [0.5, 0.3, 0.2]
    table = tf.JointTable([("a", 0), ("a", 1), ("b", 1)], law, names=["group", "ill"])
    counts = chance.multinomial(50, law, size=runs)
    groups = np.stack([counts[:, 0] + counts[:, 1], counts[:, 2]], axis=1)
    return tf.Records(table, 50), tf.CrossTable(["group"]), groups


def of_network(chance, runs):
    a = chance.random(runs) < 0.3
    rest = [chance.random(runs) < np.where(a, 0.9, 0.2) for _ in range(12)]
    nodes = [("a", [0, 1], [], [0.7, 0.3])]
    nodes += [(f"b{i}", [0, 1], ["a"], [[0.8, 0.2], [0.1, 0.9]]) for i in range(12)]
    return tf.BayesianNetwork(nodes), tf.Sum(), (a + np.sum(rest, axis=0)).astype(np.int64)[:, None]


def covered(kind, runs: int) -> tuple[float, float]:
    """Return which share of intervals covers, and which share of values the belief contradicts."""
    chance = np.random.default_rng(2026)
    belief, query, counts = kind(chance, runs)
    answer = resolved(query, belief)
    noise, scale = DiscreteLaplace(Fraction(4), answer.grid, answer.cells), 4
    priors = estimate.priors_of(tf.Pufferfish(tf.every_entry(), belief), query)
    a = math.exp(-1 / scale)
    noisy = counts + chance.geometric(1 - a, counts.shape) - chance.geometric(1 - a, counts.shape)
    hits = contradicted = 0
    for exact, published in zip(counts.tolist(), noisy.tolist(), strict=True):
        estimated = estimate.estimates_of(priors, noise, [value * answer.grid for value in published])
        for value, one in zip(exact, estimated, strict=True):
            contradicted += one.contradicts
            hits += not one.contradicts and one.low <= float(value * answer.grid) + 1e-9 and (
                float(value * answer.grid) - 1e-9 <= one.high
            )
    number = counts.size
    return hits / (number - contradicted), contradicted / number


KINDS = [of_chain, of_hours, of_mean, of_users, of_records, of_network]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover_as_often_as_they_say(kind) -> None:
    share, contradicted = covered(kind, QUICK)
    assert share > 0.92
    assert contradicted < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover_in_many_simulations(kind) -> None:
    share, contradicted = covered(kind, ENOUGH)
    assert share >= 0.94
    assert contradicted < 2 * estimate.CONTRADICTS
