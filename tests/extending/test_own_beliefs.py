"""A belief from outside that says its distribution has the curve, the distributions of answers and the audit of it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.capabilities import check_capabilities
from tests.conformance.suite import check_belief
from tests.support import influence_oracle as oracle
from tests.support import own_beliefs
from tests.support.own_beliefs import Draws, ListedStays, Stays

import takifugu as tf
from takifugu import extending
from takifugu.analysis.questions.made_up_data import made_up
from takifugu.core.errors import CalibrationRefused, InputError
from takifugu.model import beliefs
from takifugu.model.beliefs.derived.own import law_of
from takifugu.numbers.noise import InsecureSeededEntropyForTests

STATES = ("a", "b")


@pytest.fixture(autouse=True)
def _registered() -> None:
    own_beliefs.register()


def scales(belief: tf.Belief, query: tf.Query) -> dict[str, float | None]:
    rows = tf.compare(tf.Pufferfish(tf.every_entry(), belief), query, epsilon=1)
    return {row.name: row.scale for row in rows}


@pytest.mark.parametrize(
    "belief", [Draws(4, 9, 3), Draws(2, 2, 1), Stays(4, STATES, 0.1), ListedStays(4, STATES, 0.1)], ids=repr
)
def test_it_is_a_belief_as_ours_are(belief: tf.Belief) -> None:
    check_belief(belief)
    check_capabilities(belief)


@pytest.mark.mutants
@given(st.integers(2, 5), st.integers(2, 9), st.integers(1, 9))
def test_the_noise_of_an_urn_is_that_of_the_program_over_all_its_states(size: int, balls: int, red: int) -> None:
    """At the scale that is found the worst likelihood that the profile admits loses epsilon, and no less."""
    urn = Draws(size, size + balls, min(red, size + balls - 1))
    law = np.zeros((2,) * size)
    table = law_of(urn)
    for row, mass in zip(table.rows, table.masses, strict=True):
        law[row] = mass
    law /= law.sum()
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), urn), tf.Count(1), epsilon=1, mechanism="influence")
    tables = [(1 - np.eye(2)) / calibration.scale] * size
    assert max(oracle.worst_pairs(law, tables, entry).max() for entry in range(size)) == pytest.approx(1, abs=1e-6)
    assert tf.exact_loss(calibration).upper <= 1


@pytest.mark.mutants
def test_a_chain_of_somebody_elses_has_the_noise_of_its_curve_and_not_of_its_group() -> None:
    own = scales(Stays(10, STATES, 0.1), tf.Count("b"))
    assert own["group-dp"] == 10
    assert own["influence"] == pytest.approx(3.9113695524, abs=1e-8)
    assert own == scales(Stays(10, STATES, 0.1).distribution(), tf.Count("b"))
    listed = tf.Pufferfish(tf.every_entry(), ListedStays(6, STATES, 0.1))
    chain = scales(Stays(6, STATES, 0.1), tf.Count("b"))
    assert tf.calibrate(listed, tf.Count("b"), epsilon=1).scale == pytest.approx(chain["influence"], rel=1e-8)


def test_what_names_its_steps_and_what_several_recordings_cost_are_its_own() -> None:
    framework = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(ListedStays(4, STATES, 0.1), [3, 4, 3]))
    calibration = tf.calibrate(framework, tf.Count("b"), epsilon=1)
    assert calibration.mechanism == "influence"
    assert calibration.witness.comparison.startswith("step ")
    pieces = tf.IndependentPieces(Stays(4, STATES, 0.1).distribution(), [3, 4, 3])
    chain = tf.calibrate(tf.Pufferfish(tf.every_entry(), pieces), tf.Count("b"), epsilon=1)
    assert calibration.scale == pytest.approx(chain.scale, rel=1e-8)
    joint, of_chains = (float(tf.compose([one, one]).epsilon) for one in (calibration, chain))
    assert joint == pytest.approx(of_chains, rel=1e-8)
    drawn = made_up(framework.beliefs[0], InsecureSeededEntropyForTests(3))
    assert [len(piece) for piece in drawn] == [3, 4, 3]
    assert len(made_up(Draws(4, 9, 3), InsecureSeededEntropyForTests(3))) == 4


def test_recordings_of_somebody_elses_belief_are_marked_as_its_authors_word() -> None:
    pieces = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(Stays(4, STATES, 0.1), [3, 4]))
    (condition,) = tf.calibrate(pieces, tf.Count("b"), epsilon=1).guarantee.conditions
    assert condition.startswith("promise of the package 'tests', by its belief 'Stays'")


def test_it_is_read_back_with_its_tuples() -> None:
    for belief in (Draws(4, 9, 3), Stays(4, STATES, 0.1)):
        assert beliefs.from_dict(beliefs.to_dict(belief)) == belief
    assert beliefs.from_dict(beliefs.to_dict(Stays(4, STATES, 0.1))).states == STATES


@dataclass(frozen=True)
class Wrong(extending.OwnBelief, kind="wrong"):
    """A belief whose distribution is whatever it is given."""

    given: object
    names = ("ana", "ben")

    def distribution(self) -> object:
        return self.given


@dataclass(frozen=True)
class Kindless(extending.OwnBelief):
    """A belief that nobody could read back."""

    def distribution(self) -> tf.JointTable:
        return tf.JointTable([(0,), (1,)], [0.5, 0.5])


class Derived(tf.JointTable):
    """A table of somebody else's, of which nothing is proved."""


FAIR = [(0, 0), (1, 1)], [0.5, 0.5]


@pytest.mark.parametrize(("distribution", "words"), [
    ({(0, 0): 1}, "a value of type dict is not the distribution of Wrong: return a JointTable, a MarkovChain"),
    (Derived(*FAIR, names=["ana", "ben"]), "a value of type Derived is not the distribution"),
    (tf.JointTable(*FAIR), r"has the names \('x1', 'x2'\), and the belief has \('ana', 'ben'\)"),
])  # fmt: skip
def test_what_is_no_distribution_of_the_belief_is_refused(distribution: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Wrong(distribution).alphabet(0)


@pytest.mark.parametrize(("made", "words"), [
    (lambda table: tf.Records(table, 3), "the distribution of a record: give a JointTable"),
    (lambda table: tf.Parameters(table, {"ill": {0: {1: 0.4, 0: 0.6}, 1: {1: 0.7, 0: 0.3}}}, 10), "a finite prior"),
])  # fmt: skip
def test_a_derived_table_is_not_read_as_ours_inside_another_belief(
    made: Callable[[tf.JointTable], tf.Belief], words: str
) -> None:
    """Records of it were no word of a package, and written down as records of our table."""
    assert made(tf.JointTable(*FAIR, names=["ill", "old"])).size
    with pytest.raises(InputError, match=f"a value of type Derived is not .*{words}"):
        made(Derived(*FAIR, names=["ill", "old"]))


def test_a_size_that_the_distribution_does_not_have_and_a_kind_that_is_missing_are_refused() -> None:
    @dataclass(frozen=True)
    class Longer(Draws, kind="longer"):
        def distribution(self) -> tf.JointTable:
            return tf.JointTable(*FAIR)

    with pytest.raises(InputError, match="has the size 2, and the belief has 3"):
        law_of(Longer(3, 9, 3))
    with pytest.raises(InputError, match=r"Kindless has no kind: write class Kindless\(extending.OwnBelief, kind="):
        Kindless().to_dict()


@dataclass(frozen=True)
class Forgetful(extending.OwnBelief, kind="forgetful"):
    """A belief whose author has forgotten a field."""

    def distribution(self) -> tf.JointTable:
        return tf.JointTable(*self.rows)  # type: ignore[attr-defined]


def test_a_slip_in_the_distribution_is_said_as_one() -> None:
    """It was said of the whole belief that it is none."""
    extending.register_belief("forgetful", Forgetful)
    with pytest.raises(InputError, match=r"distribution\(\) of Forgetful fails: .* no attribute 'rows': correct it"):
        tf.Pufferfish(tf.every_entry(), Forgetful())


@dataclass(frozen=True)
class Fitted(extending.OwnSequence, kind="fitted"):
    """A chain that is counted from the data that it is to protect."""

    length: int
    states: tuple[str, ...]

    def distribution(self) -> tf.MarkovChain:
        chain = tf.MarkovChain.fit([["a", "b", "b", "a"]], self.length, self.states, source="all of it", private=True)
        assert isinstance(chain, tf.MarkovChain)
        return chain


@dataclass(frozen=True)
class Assumed(Fitted, kind="assumed-fitted"):
    """The same, which calls itself assumed."""

    source: str = "assumed"


def test_what_is_estimated_from_the_private_data_is_refused_whoever_estimates_it() -> None:
    """Its source was "assumed" unless it said another, and the noise told of the data."""
    for kind in (Fitted, Assumed):
        extending.register_belief(kind.kind, kind)
    fitted = Fitted(6, STATES)
    assert fitted.source == fitted.distribution().source
    for belief in (fitted, tf.IndependentPieces(fitted, [4, 6])):
        framework = tf.Pufferfish(tf.every_entry(), belief)
        with pytest.raises(CalibrationRefused, match="was estimated from the private data"):
            tf.calibrate(framework, tf.Count("b"), epsilon=1)
        allowed = tf.calibrate(framework, tf.Count("b"), epsilon=1, allow_private_belief=True)
        assert any("the promise does not cover that" in words for words in allowed.guarantee.conditions)
    with pytest.raises(InputError, match=r"was estimated from the private data: .*, and the belief says 'assumed'"):
        tf.Pufferfish(tf.every_entry(), Assumed(6, STATES))
