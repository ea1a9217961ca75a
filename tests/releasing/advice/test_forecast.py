"""Before it is paid: the noise beside what cells can be, the ledger before and after, and what would be refused."""

import math
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.releasing import files
from tests.support import release_files
from tests.support.commands import invoke, json_of, succeed, words_of

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.cli.group import DONE
from takifugu.core.errors import Notice
from takifugu.model.queries.answer import Additive
from takifugu.releasing.planning.expected import Blur, Expected
from takifugu.releasing.planning.notices import WHY_DEARER

changed = partial(release_files.changed, files.SPEC)


@pytest.mark.slow
def test_a_dry_run_says_what_the_noise_is_and_that_nothing_was_paid(tmp_path: Path) -> None:
    outcome = succeed("release", "--dry-run", files.write(tmp_path))
    assert [words for words in (
        "the source 'study' goes from epsilon 0 to epsilon", "half of the time",
        "of the range of the sum over all people (138)", "nothing was paid, drawn or written",
    ) if words not in words_of(outcome)] == []  # fmt: skip


@pytest.mark.slow
def test_what_is_foreseen_is_what_is_published_and_paid(tmp_path: Path) -> None:
    where = files.write(tmp_path)
    for number in range(2):
        again = {"replace": "time-use", "idempotency_key": "K"} if number else {}
        foreseen, made = tf.dry_run(where, **again), tf.release_file(where, **again)
        assert foreseen.account.after == made.reservation.spent
        for table, published in zip(foreseen.tables, made.tables, strict=True):
            widths = {Fraction(str(row["high"])) - Fraction(str(row["value"])) for row in published.rows}
            assert {blur.half_width for blur in table.blurs} == widths


@pytest.mark.slow
def test_the_ledger_is_asked_and_not_changed(tmp_path: Path) -> None:
    where = files.write(tmp_path)
    tf.release_file(where)
    before = Ledger.open(tmp_path / "ledger.db").show()
    foreseen = json_of("release", "--dry-run", where)
    assert (foreseen["forecast"]["tables"], foreseen["there"]) == ([], ["time-use-units", "time-use-pooled"])
    again = json_of("release", "--dry-run", "--replace", "time-use", "--idempotency-key", "K", where)
    account = again["forecast"]["account"]
    assert account["before"] == json_of("ledger", "show", tmp_path / "ledger.db")["sources"][0]["spent"]
    assert Fraction(account["after"]["epsilon"]) > Fraction(account["before"]["epsilon"])
    assert Ledger.open(tmp_path / "ledger.db").show() == before


@pytest.mark.slow
def test_what_two_promises_that_are_alone_cost_is_said_before(tmp_path: Path) -> None:
    only = changed(
        ("budget = 10", "budget = 10\nsingle_release = true"), ('per = "both"', 'per = "pooled"'),
        ('query = "histogram"', 'query = "count"\nstates = ["walking"]\nmechanism = "laplace-exact"'),
    )  # fmt: skip
    where = files.write(tmp_path, only)
    assert "time-use: this release is alone" in words_of(succeed("release", "--dry-run", where))
    said = invoke("release", where)
    assert "about to spend: the source 'study' goes from epsilon 0 to epsilon 1 of epsilon 10" in said.stderr
    assert "time-use: this release is alone" in said.stderr
    more = files.write(tmp_path, only.replace('name = "time-use"', 'name = "other"'))
    assert "goes from epsilon 1 to epsilon 1.89526" in succeed("release", "--dry-run", more).stdout


@pytest.mark.slow
def test_tables_of_units_are_judged_by_their_sum(tmp_path: Path) -> None:
    """One answer of 41 entries is hopeless at this epsilon; 300 of them together are not."""
    spec = changed(("epsilon = 1.0", 'epsilon = 0.5\nmechanism = "group-dp"'), ('per = "both"', 'per = "unit"'))
    assert tf.dry_run(files.write(tmp_path, spec, files.data({"a": (41,)}))).refused
    many = files.write(tmp_path, spec, files.data({f"u{i}": (41,) for i in range(300)}))
    foreseen = tf.dry_run(many)
    assert not foreseen.refused
    (table,) = foreseen.tables
    assert table.blurs[0].median > table.blurs[0].widest
    succeed("release", many)


@pytest.mark.slow
@pytest.mark.parametrize("scales", [(1.0, 1.0), (1.0, 3.0), (2.0,) * 5, (1.0,) * 40, (1.0, 0.1)])
def test_half_of_a_sum_of_noises(scales: tuple[float, ...]) -> None:
    """Against a million sums of Laplace noise: never more than 1 % above the median, never more than 8 % below."""
    generator = np.random.default_rng(5)
    sums = sum(generator.laplace(0, b, 1_000_000) for b in scales)
    blurs = [Blur(None, 1, 1, Fraction(1), Fraction(1), (Fraction(1),), 2 * b * b, 3.0) for b in scales]
    median = Expected("t", "unit", tuple(blurs)).noise_and_range[0]
    assert 0.92 <= median / float(np.median(np.abs(sums))) <= 1.01


def test_the_range_of_a_cell_is_what_brute_force_finds() -> None:
    generator = np.random.default_rng(3)
    for _ in range(20):
        tables = tuple(generator.integers(-3, 4, (k, 2)) for k in (2, 3))
        weights, which = generator.integers(-2, 3, 4), generator.integers(0, 2, 4)
        answer = Additive(Fraction(1, 2), ("a", "b"), tables, weights, which)
        every = np.array([answer.evaluate(np.array(x)) for x in np.ndindex(*(len(tables[t]) for t in which))])
        assert answer.cell_ranges() == tuple(int(v) for v in every.max(axis=0) - every.min(axis=0))
    assert Additive(Fraction(1), ("a",), (np.array([[0], [3]]),), np.array([1, 0, 2])).cell_ranges() == (9,)


def test_shares_are_of_each_cells_own_range() -> None:
    blur = Blur(None, 1, 2, Fraction(5), Fraction(1), (Fraction(10), Fraction(50)), 1.0, 3.0)
    assert blur.shares == (0.1, 0.5)
    assert Blur(None, 1, 1, Fraction(5), Fraction(1), (Fraction(0),), 1.0, 3.0).shares == (math.inf, math.inf)
    nothing = Expected("t", "all", (Blur(None, 1, 1, Fraction(5), Fraction(1), (Fraction(0),), 1.0, 3.0),))
    assert nothing.hopeless
    assert "more than" in nothing.words()


@pytest.mark.slow
def test_a_charge_above_the_releases_own_epsilon_is_never_silent(tmp_path: Path) -> None:
    """Another belief about the same minutes is charged for what was published before it."""
    spec = changed(('per = "both"', 'per = "pooled"'))
    where = files.write(tmp_path, spec)
    tf.release_file(where)
    other = spec.replace("[[0.8, 0.2], [0.3, 0.7]]", "[[0.97, 0.03], [0.04, 0.96]]")
    where = files.write(tmp_path, other.replace("epsilon = 1.0", "epsilon = 0.2"))
    foreseen = tf.dry_run(where, force=True)
    assert all(charge.added.epsilon > charge.alone.epsilon for charge in foreseen.account.charges)
    (words,) = (notice for notice in foreseen.notices if "charged" in notice)
    people = sum(charge.units for charge in foreseen.account.charges)
    assert f"each of {people} people would be charged epsilon" in words
    assert words.endswith(WHY_DEARER)
    with pytest.warns(Notice, match="would be charged epsilon"):
        tf.release_file(where, force=True, allow_useless=True)


@pytest.mark.mutants
def test_records_are_foreseen_with_and_without_their_units(tmp_path: Path) -> None:
    where = files.people(tmp_path)
    foreseen = tf.dry_run(where)
    (charged,) = foreseen.account.charges
    assert foreseen.account.after.epsilon == charged.added.epsilon < charged.alone.epsilon == 1
    assert "The ledger was not consulted" in succeed("cost", where).stdout
    tf.release_file(where)
    again = invoke("release", "--dry-run", where)
    assert (again.exit_code, "already published" in again.output) == (DONE, True)


@pytest.mark.parametrize(("reach", "rest"), [((Fraction(9),), "; the range of a cell is 9"), ((), "; nothing bounds")])
def test_noise_that_is_mostly_zero_is_said_to_be(reach: tuple[Fraction, ...], rest: str) -> None:
    blur = Blur(None, 1, 2, Fraction(3), Fraction(0), reach, 0.5, 3.0)
    assert Expected("table", "pooled", (blur,)).words().startswith(f"the noise is 0 at least half of the time{rest}")
