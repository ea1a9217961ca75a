"""Every kind of randomiser that a mechanism returns for some problem of the corpus: its law, its draws, its words."""

import json
import math
from collections import Counter
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pytest
from tests.conformance.corpus import corpus, shrunk, whole
from tests.conformance.suite import bound_of, check_randomiser, check_sending

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import KINDS as ALL_KINDS
from takifugu.analysis.randomisers import MARKS, Direction, DiscreteLaplace
from takifugu.analysis.randomisers import from_dict as randomiser_from_dict
from takifugu.analysis.randomisers.choices import Choice
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric, OneSidedTruncated
from takifugu.analysis.randomisers.one_sided_real import OneSidedExponential
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.calibration.registry import REGISTRY
from takifugu.model.queries.choices.candidates import MostFrequent
from takifugu.numbers.noise import InsecureSeededEntropyForTests

DRAWS = 2000
#: Cases with little noise, whose law has few masses.
NEAR = ("chain, count", "two laws off any grid", "two laws that are one")


@cache
def returned() -> dict[str, Any]:
    """Return one randomiser of one cell of every kind that the registry's mechanisms return on the corpus.

    First on cases where common kinds have little noise, then from the end, where the rare ones are.
    """
    by_kind: dict[str, Any] = {}
    near = [case for case in whole() if case.name in NEAR]
    for case, line in product([*near, *reversed(shrunk(corpus()))], REGISTRY):
        if {*by_kind, *ONE_WAY, *CHOICES, "outside"} == {*KINDS}:
            break
        delta = Fraction(1, 50) if line.takes_delta else Fraction(0)
        problem = Problem(case.framework, case.query, Fraction(1), delta)
        bound = "one cell only" if problem.cells > 1 else bound_of(line.load(), problem)
        if not isinstance(bound, str):
            by_kind.setdefault(bound.randomiser.kind, bound.randomiser)
    return by_kind


KINDS = ALL_KINDS.names
#: What mechanisms return where moves go one way: noise, the answer whose errors are the largest, and its outputs.
ONE_WAY: dict[str, tuple[Any, int, range]] = {
    "one-sided-geometric": (OneSidedGeometric(Fraction(3), Fraction(1, 2)), 0, range(121)),
    "one-sided-truncated": (OneSidedTruncated(Fraction(3), Fraction(1, 2), 1, (Direction.UP,), 9), 9, range(10)),
    "one-sided-exponential": (OneSidedExponential(Fraction(3), Fraction(1, 2)), 0, range(121)),
}
#: What chooses among values, by counts of which each is one cell.
CHOICES = {"permute-and-flip": PermuteAndFlip(Fraction(7, 3), ("a", "b", "c"), MostFrequent(2))}


@pytest.mark.mutants
@pytest.mark.parametrize("kind", KINDS)
def test_its_law_its_draws_and_its_words(kind: str) -> None:
    if kind in ONE_WAY:
        noise, answer, outputs = ONE_WAY[kind]
        check_randomiser(noise, [answer], outputs)
        assert len(ALL_KINDS.find(kind).sentence.split()) >= 2, "the certificate has no words for it"
        return
    if kind in CHOICES:
        check_choice(CHOICES[kind], [(3, 1, 0, 2), (0, 0, 0, 1), (4, 4, 3, 0)])
        check_choice(replace(CHOICES[kind], groups=2), [(3, 1, 0, 2, 0, 0, 4, 1)])
        assert len(ALL_KINDS.find(kind).sentence.split()) >= 2, "the certificate has no words for it"
        return
    if kind == "outside":  # it draws nothing: tests/calibration/outside
        return
    noise = returned()[kind]
    if noise.output is MARKS:
        check_marks(noise)
    elif noise.output.is_column:
        check_sending(noise)
    elif isinstance(noise, Choice):
        check_randomiser(noise, noise.channel.inputs, noise.outputs)
    else:
        reach = int(40 * noise.scale / noise.grid) + 1
        noise = replace(noise, on_grid=True) if "on_grid" in {one.name for one in fields(noise)} else noise
        check_randomiser(noise, [0], range(-reach, reach + 1))
    assert len(ALL_KINDS.find(kind).sentence.split()) >= 2, "the certificate has no words for it"


def check_choice(noise: Any, answers: list[tuple[int, ...]]) -> None:
    """Check what chooses among values: its masses sum to one, draws follow them, and it reads back."""
    for number, answer in enumerate(answers):
        masses = {output: math.exp(noise.log_density(answer, output)) for output in noise.possible()}
        assert abs(sum(masses.values()) - 1) < 1e-9
        entropy, seen = InsecureSeededEntropyForTests(number), Counter[Any]()
        for _ in range(DRAWS):
            seen[noise.draw(answer, entropy)] += 1
        for output, mass in masses.items():
            assert abs(seen[output] - DRAWS * mass) <= 6 * math.sqrt(DRAWS * mass) + 1, (answer, output)
    assert randomiser_from_dict(json.loads(json.dumps(noise.to_dict()))) == noise


def check_marks(noise: Any) -> None:
    """Check a randomiser of one cell that says "safe": its masses sum to one, draws follow them, and it reads back."""
    most = noise.thresholds[0] + math.ceil(40 * noise.units)
    for answer in range(noise.thresholds[0] + 3):
        masses = {mark: math.exp(noise.log_density([answer], [mark])) for mark in ("safe", *range(answer, most + 1))}
        assert abs(sum(masses.values()) - 1) < 1e-6
        assert (masses["safe"] > 0) == (answer <= noise.thresholds[0])
        entropy, seen = InsecureSeededEntropyForTests(answer), Counter[Any]()
        for _ in range(DRAWS):
            seen[noise.draw([answer], entropy)[0]] += 1
        for mark, mass in masses.items():
            assert abs(seen[mark] - DRAWS * mass) <= 6 * math.sqrt(DRAWS * mass) + 1, (answer, mark)
    assert randomiser_from_dict(json.loads(json.dumps(noise.to_dict()))) == noise


def test_every_kind_is_returned_by_some_mechanism() -> None:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 4))
    assert tf.calibrate(framework, tf.Mode(), 1).randomiser.kind in CHOICES
    assert set(returned()) | set(ONE_WAY) | set(CHOICES) | {"outside"} == set(KINDS)


@dataclass(frozen=True)
class Wrong(DiscreteLaplace):
    """Discrete Laplace noise that misstates one thing about itself."""

    what: str = ""

    def log_mass(self, difference: int | Fraction) -> float:
        return super().log_mass(difference) + (0.01 if self.what == "sum" else 0.0)

    def expected_error(self) -> float:
        return super().expected_error() * (1.001 if self.what == "error" else 1)

    def variance(self) -> float:
        return super().variance() * (1.001 if self.what == "variance" else 1)

    def half_width(self, level: float, cells: int | None = None) -> Fraction:
        return super().half_width(level, cells) + self.grid * {"wide": 1, "narrow": -1}.get(self.what, 0)

    def draw(self, answer: Any, entropy: Any) -> tuple[Fraction, ...]:
        noise = replace(self, units=self.units * 6 / 5) if self.what == "draws" else self
        return DiscreteLaplace(noise.units, self.grid).draw(answer, entropy)


@pytest.mark.mutants
@pytest.mark.parametrize(("what", "message"), [
    ("sum", "masses sum to"), ("error", "expected error"), ("variance", "variance"), ("wide", "quantile"),
    ("narrow", "quantile"), ("draws", "draws do not follow"), ("", "read back"),
])  # fmt: skip
def test_one_that_misstates_itself_is_noticed(what: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_randomiser(Wrong(Fraction(3), Fraction(1, 2), what=what), [0], range(-150, 151))
