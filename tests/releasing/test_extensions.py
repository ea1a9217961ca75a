"""What is written outside the package works everywhere; what is written badly is refused before any release."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.conformance.corpus import Case, corpus
from tests.support import registries, urn
from tests.support.plain_belief import Plain
from tests.support.urn import Urn

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.calibration import registry
from takifugu.core.errors import InputError
from takifugu.mechanisms.group_dp import MECHANISM as GROUP
from takifugu.model import beliefs
from takifugu.model.secrets.of_entries import EveryRun


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    with registries.restored():
        urn.register()
        yield


def of_plain(given: Sequence[Any]) -> bool:
    return bool(given) and not any(hasattr(belief, "resolve") or hasattr(belief, "populations") for belief in given)


def entry_cases() -> list[Case]:
    """Return the cases of the corpus about values of entries: an unknown belief has no absent users, and no columns.

    A belief over columns, or over populations, reads queries and secrets itself; one that does not do so is about other
    entries. A policy is about no belief.
    """
    users = ("presence", "signed codes", "people")
    of_entries = [case for case in corpus() if of_plain(case.framework.beliefs)]
    return [case for case in of_entries if not case.framework.is_pair and not any(word in case.name for word in users)]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("case", entry_cases(), ids=lambda case: case.name)
def test_a_belief_of_which_nothing_is_known_is_never_charged_less(case: Case) -> None:
    """Two releases cost at least what they cost under the same belief of a known type, in one reading and in two."""
    beliefs.register("plain", Plain)
    if any(isinstance(secret, EveryRun) for secret in case.framework.secrets):  # a run is one of a sequence
        with pytest.raises(InputError, match="it requires a belief about a sequence"):
            tf.Pufferfish(case.framework.secrets, [Plain(belief) for belief in case.framework.beliefs])
        return
    plain = tf.Pufferfish(case.framework.secrets, [Plain(belief) for belief in case.framework.beliefs])
    known, unknown = (tf.calibrate(f, case.query, 1, mechanism="group-dp") for f in (case.framework, plain))
    assert unknown.scale == known.scale
    for readings in (("a", "a"), ("a", "b")):
        less, more = (
            joint(calibration.framework, [charge_of(calibration, reading=reading) for reading in readings]).epsilon
            for calibration in (known, unknown)
        )
        assert less <= more <= 2


class Unwritten(Urn):
    """A belief that cannot be written down."""

    to_dict = None


class Lacking(DiscreteLaplace):
    """Noise that cannot be written down."""

    to_dict = None


class Unknown(DiscreteLaplace):
    """Noise of a kind that nobody has registered."""

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "kind": "unknown"}


class Forgetful(DiscreteLaplace):
    """Noise that reads back as other noise."""

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "units": "1"}


@dataclass(frozen=True)
class With:
    """Group noise, drawn by another randomiser."""

    noise: type[DiscreteLaplace]
    name: str = "other"
    source: str = "this test"

    def cost(self, problem: Problem) -> Any:
        return GROUP.cost(problem)

    def bound(self, problem: Problem) -> Any:
        bounded = GROUP.bound(problem)
        noise: Any = bounded.randomiser  # type: ignore[union-attr]
        return replace(bounded, randomiser=self.noise(noise.units, noise.grid, noise.cells))  # type: ignore[type-var]


@pytest.mark.parametrize("noise", [Lacking, Unknown, Forgetful])
def test_noise_that_no_ledger_can_read_back_is_refused_at_first_use(noise: Any) -> None:
    registry.register(With(noise))
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 6))
    with pytest.raises(InputError, match="noise that does not read back from its to_dict"):
        tf.calibrate(framework, tf.Count(1), 1, mechanism="other")
    assert tf.calibrate(framework, tf.Count(1), 1).mechanism != "other"  # which "auto" never asks


def test_a_belief_that_no_ledger_can_read_back_is_refused() -> None:
    with pytest.raises(InputError, match=r"object lacks alphabet, assumptions, .*, to_dict"):
        beliefs.register("nothing", object)
    for nothing in (object(), Unwritten(6, 10, 4)):
        with pytest.raises(InputError, match="is not a belief"):
            tf.Pufferfish(tf.every_entry(), nothing)  # type: ignore[arg-type]
    attributes = {name: value for name, value in vars(Urn).items() if name not in ("__dict__", "__weakref__")}
    stray = object.__new__(type("Stray", (), attributes))
    vars(stray).update(vars(Urn(6, 10, 4)))
    with pytest.raises(InputError, match="Stray is registered by nobody"):
        tf.Pufferfish(tf.every_entry(), stray)
