"""What is published is finite, and can be written and read back (`calibration.trials.is_writable`): every query, noise.

Each registered mechanism and each registered kind of query is asked for numbers at the edges of what is accepted. It
is refused before payment, or published, written and read back equal, and the ledger can be read either way.
"""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.corpus import Case, whole

import takifugu as tf
from takifugu import calibration
from takifugu.accounting.ledger import Ledger
from takifugu.analysis import randomisers
from takifugu.calibration import trials
from takifugu.calibration.registry import REGISTRY, Line
from takifugu.core.errors import ReleaseState, TakifuguError
from takifugu.mechanisms.one_sided import Asymmetric, Policy, Visits, none_of, visits
from takifugu.model.beliefs.domain import Domain
from takifugu.model.queries.additive.counts import EveryChange
from takifugu.model.queries.registry import KINDS
from takifugu.model.secrets.families import ABSENT
from takifugu.numbers import Pmf
from takifugu.releasing.certificates.checksum import from_dict

#: Epsilons and deltas at the edges of what is accepted, and usual ones.
PROMISES = (("1", 0), ("20", 0), ("1e-9", 0), ("10000", 0), ("1", "1e-300"), ("20", "1e-300"), ("1", "0.999"))
#: Grids: the finest that is needed, one of these, or as large as the numbers.
GRIDS = (None, "1", "1e-300", "the same")
#: Numbers of ordinary size, and those that floats just hold.
SIZES = ("1", "1e-300", "1e-30", "1e30", "1e260", "1e272", "1e305")


def data_of(framework: Any) -> Any:
    """Return data that the framework's beliefs allow."""
    if framework.is_pair:
        return max(framework.pairs[0].left.values)
    domain = framework.domain
    if isinstance(domain, tf.MultivariateNormal | tf.NormalRegion):
        return {name: [100.0] * domain.records for name in domain.columns}
    if isinstance(domain, tf.Density):
        return 1
    if isinstance(domain, Visits):
        return [[place] for place in domain.places]
    if hasattr(domain, "described"):
        return [[column.states[-1] for column in domain.described]] * domain.records
    if isinstance(domain, tf.JointTable):
        return domain.rows[-1]
    values = [[value for value in domain.alphabet(entry) if value != ABSENT][-1] for entry in range(domain.size)]
    if isinstance(domain, tf.IndependentPieces):
        rest = iter(values)
        return [[next(rest) for _ in piece] for piece in domain.components()]
    if isinstance(domain, tf.BayesianNetwork):
        return dict(zip(domain.names, values, strict=True))
    return values


class Tries:
    """Releases into one ledger, each about a source of its own."""

    def __init__(self, folder: Path) -> None:
        self.book, self.sources = Ledger.open(folder / "ledger.db"), list[str]()

    def outcome(self, case: Case, mechanism: str, epsilon: str, delta: Any, data: Any = None) -> str | None:
        """Release, and return the kind of noise; None where it is refused, and then nothing is paid."""
        source = f"source {len(self.sources)}"
        try:
            calibrated = tf.calibrate(
                case.framework, case.query, epsilon, delta, mechanism, single_release=True, allow_zero_noise=True
            )
            noisy = tf.release(
                calibrated, data or data_of(case.framework),
                    entries="v", ledger=self.book, source=source, budget=(10**6, "0.9999"),
                same_people=True,
            )  # fmt: skip
        except TakifuguError as error:
            refused = error
        else:
            refused = None
        if refused is not None:
            assert refused.state in (None, ReleaseState.NOTHING), (case.name, refused)
            assert source not in {row.name for row in self.book.show()}, (case.name, refused)
            return None
        self.sources.append(source)
        assert from_dict(json.loads(noisy.certificate.to_json())) == noisy.certificate
        json.loads(noisy.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is written"))
        for value in noisy.values:
            assert not isinstance(value, int | float | Fraction) or math.isfinite(value)
        assert [paid.fate for paid in self.book.payments(source)] == ["published"]
        assert randomisers.from_dict(json.loads(json.dumps(calibrated.randomiser.to_dict()))) == calibrated.randomiser
        return calibrated.randomiser.kind

    def check(self) -> None:
        assert self.book.check() == ()


@pytest.mark.slow
@pytest.mark.parametrize("line", REGISTRY, ids=lambda line: line.key)
def test_each_mechanism_refuses_or_publishes_what_can_be_read(line: Line, tmp_path: Path) -> None:
    tries, delta = Tries(tmp_path), "0.02" if line.takes_delta else 0
    ours = [case for case in whole() if case.framework.definition in line.definitions]
    usual = [
        *islice((case for case in ours if any(tries.outcome(case, line.name, e, delta) for e in ("4", "0.5"))), 2)
    ]
    assert usual
    for case in usual:
        for epsilon, other in PROMISES:
            if line.takes_delta or not other:
                tries.outcome(case, line.name, epsilon, other)
    tries.check()


CHAIN = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.6, 0.4], [0.4, 0.6]], 4))
TABLE = tf.JointTable([(0, 0), (0, 1), (1, 0), (1, 1)], ["0.3", "0.2", "0.2", "0.3"], ["a", "b"])
LEVELS = tf.BayesianNetwork([("x", [0, 1], [], [0.5, 0.5]), ("y", [0, 1], ["x"], [[0.7, 0.3], [0.4, 0.6]])])
COINS: Any = {0: {0: "1/2", 1: "1/2"}, 1: {0: "1/4", 1: "3/4"}}
POPULATION = tf.Pufferfish(tf.distribution_parameter("x"), tf.Parameters(LEVELS, {"x": COINS, "y": COINS}, 2))
RECORDS = tf.Pufferfish(tf.dataset_property("a", "share", of=1), tf.Records(TABLE, 3))
ROWS = tf.FromPopulations({"x": {"a": "0.6", "b": "0.4"}, "y": {"a": "0.4", "b": "0.6"}})


def spread(size: str, grid: str | None) -> Any:
    return tf.Statistic(
        f"spread {size} {grid}", 1, ["x", "y"], lambda x, y: (max(x) - min(y)) * Fraction(size), size, grid=grid or size
    )


#: Queries of each registered kind, with numbers and a grid (or another positive number) of given sizes.
SIZED: dict[str, tuple[Any, Callable[[str, str | None], Any]]] = {
    "count": (CHAIN, lambda size, grid: tf.Count(1)),
    "sum": (CHAIN, lambda size, grid: tf.Sum(codes={0: 0, 1: size}, grid=grid)),
    "mean": (CHAIN, lambda size, grid: tf.Mean(codes={0: 0, 1: size}, grid=grid)),
    "histogram": (CHAIN, lambda size, grid: tf.Histogram(total=4)),
    "linear": (CHAIN, lambda size, grid: tf.Linear([1, "-2", size, 0], grid=grid)),
    "identity": (None, lambda size, grid: tf.Identity(grid=grid)),
    "count-rows": (RECORDS, lambda size, grid: tf.CountRows({"a": 1, "b": 1})),
    "together": (CHAIN, lambda size, grid: tf.JointQuery([tf.Count(1), tf.Sum(codes={0: 0, 1: size}, grid=grid)])),
    "statistic": (POPULATION, spread),
    "visitors": (Asymmetric(visits(), Visits.of(["bar", "shop"], 1)), lambda size, grid: tf.Visitors()),
    "at-most": (
        Asymmetric(Policy.of(none_of(1)), Domain.of(3, [0, 1])),
        lambda size, grid: tf.AtMost(tf.Sum(codes={0: 0, 1: size}, grid=grid), size),
    ),
    "each-value": (
        tf.Pufferfish(tf.population_membership(), ROWS),
        lambda size, grid: tf.LocalValue(radius=None if grid is None else size),
    ),
    "every-change": (CHAIN, lambda size, grid: EveryChange()),
    "by": (CHAIN, lambda size, grid: tf.GroupBy(tf.Sum(codes={0: 0, 1: size}, grid=grid), {"a": [0, 1], "b": [2, 3]})),
    "cross-table": (RECORDS, lambda size, grid: tf.CrossTable(["a", "b"], total=3)),
    "quantile": (CHAIN, lambda size, grid: tf.Quantile("0.5")),
    "top-k": (CHAIN, lambda size, grid: tf.TopK(1)),
    "count-above": (CHAIN, lambda size, grid: tf.CountAbove([0, size], codes={0: 0, 1: size})),
}  # fmt: skip


def test_every_registered_kind_of_query_is_tried() -> None:
    assert {*SIZED} == {*KINDS.names}


def pair(size: str) -> Any:
    values = [0, Fraction(size)]
    return tf.distribution_pair(Pmf(values, [Fraction(1, 2)] * 2), Pmf(values, [Fraction(2, 5), Fraction(3, 5)]))


def tried(kind: str, promises: Any, folder: Path) -> int:
    """Return how many queries of a kind are published."""
    tries, published, seen = Tries(folder), 0, set[str]()
    for size, grid in product(SIZES, GRIDS):
        try:
            framework, query = SIZED[kind][0] or pair(size), SIZED[kind][1](size, size if grid == "the same" else grid)
            written = f"{query.to_dict()} {framework.to_dict()}"
        except TakifuguError:
            continue
        if written not in seen:
            seen.add(written)
            for promise in promises:
                published += tries.outcome(Case(kind, framework, query), "auto", *promise) is not None
    tries.check()
    return published


@pytest.mark.slow
@pytest.mark.parametrize("kind", SIZED)
def test_each_query_is_refused_or_published_and_can_be_read(kind: str, tmp_path: Path) -> None:
    assert tried(kind, PROMISES, tmp_path)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", SIZED)
def test_each_query_with_little_noise_is_refused_or_published_and_can_be_read(kind: str, tmp_path: Path) -> None:
    assert tried(kind, PROMISES[1:2], tmp_path)


def test_without_the_rule_a_number_would_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room in (calibration, trials):
        monkeypatch.setattr(room, "is_writable", lambda problem, noise: True)
    with pytest.raises((ArithmeticError, ValueError)):
        tried("statistic", PROMISES[1:2], tmp_path)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", ["-1e269", "1e269", "1e300", "-1e-300"])
def test_columns_of_real_numbers_are_refused_or_published_and_can_be_read(size: str, tmp_path: Path) -> None:
    body = tf.MultivariateNormal([170, 70], [[49, 40], [40, 144]], names=["height", "weight"], records=4)
    near = tf.Pufferfish(tf.dataset_property("weight", "mean", max_difference=2), body)
    tries, data = Tries(tmp_path), {"height": [float(size)] * 4, "weight": [1] * 4}
    for epsilon, grid in product(("1", "20", "1e-9"), (None, "1e-300", "1e260")):
        tries.outcome(Case("normal", near, tf.Mean("height", grid=grid)), "auto", epsilon, 0, data)
    tries.check()


@pytest.mark.parametrize("first", ["1", f"1/{2**40}"])
def test_no_number_wraps_where_queries_are_joined_on_one_grid(first: str) -> None:
    """2^40 in steps of 2^-40 are 2^80, which 64 bits hold as 0."""
    small, large = (tf.Sum(codes={0: 0, 1: code}, grid=code) for code in (f"1/{2**40}", 2**40))
    with pytest.raises(TakifuguError, match="can exceed 2"):
        tf.calibrate(CHAIN, tf.JointQuery([small, large] if first == "1" else [large, small]), 1)
