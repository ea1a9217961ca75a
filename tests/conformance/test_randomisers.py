"""Every kind of randomiser that a mechanism returns for some problem of the corpus: its law, its draws, its words."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from tests.conformance.corpus import corpus
from tests.conformance.suite import bound_of, check_randomiser

from takifugu import choices
from takifugu.calibration.registry import REGISTRY
from takifugu.mechanisms.base import Problem
from takifugu.releasing.certificate import noise_words


@cache
def returned() -> dict[str, Any]:
    """Return one randomiser of one cell of every kind that the registry's mechanisms return on the corpus."""
    found: dict[str, Any] = {}
    for line in REGISTRY:
        for case in corpus():
            problem = Problem(case.framework, case.query, Fraction(1), Fraction(1, 50) if line.takes_delta else Fraction(0))
            if problem.cells > 1 or len(found) == len(KINDS):
                continue
            bound = bound_of(line.load(), problem)
            if not isinstance(bound, str):
                found.setdefault(bound.randomiser.kind, bound.randomiser)
    return found


KINDS = ("none", "discrete-laplace", "rounded-laplace", "rounded-normal", *choices.KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_its_law_its_draws_and_its_words(kind: str) -> None:
    noise = returned()[kind]
    if isinstance(noise, choices.Choice):
        outputs = [(y * noise.grid,) for y in noise.outputs]
        answers = [(noise.outputs[0],)]
    else:
        reach = int(40 * noise.scale / noise.grid) + 1
        outputs = [(y * noise.grid,) for y in range(-reach, reach + 1)]
        answers = [(0,)]
    check_randomiser(noise, answers, outputs)
    assert len(noise_words(noise.to_dict()).split()) >= 2


def test_every_kind_is_returned_by_some_mechanism() -> None:
    assert set(returned()) == set(KINDS)
