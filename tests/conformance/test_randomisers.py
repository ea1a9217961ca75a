"""Every kind of randomiser that a mechanism returns for some problem of the corpus: its law, its draws, its words."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from tests.conformance.corpus import corpus
from tests.conformance.suite import bound_of, check_randomiser

from takifugu import choices
from takifugu.calibration.registry import REGISTRY
from takifugu.problem import Problem
from takifugu.releasing.certificate import NOISE


@cache
def returned() -> dict[str, Any]:
    """Return one randomiser of one cell of every kind that the registry's mechanisms return on the corpus."""
    found: dict[str, Any] = {}
    for line in REGISTRY:
        for case in corpus():
            delta = Fraction(1, 50) if line.takes_delta else Fraction(0)
            problem = Problem(case.framework, case.query, Fraction(1), delta)
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
        check_randomiser(noise, noise.channel.inputs, noise.outputs)
    else:
        reach = int(40 * noise.scale / noise.grid) + 1
        noise = replace(noise, on_grid=True) if hasattr(noise, "on_grid") else noise
        check_randomiser(noise, [0], range(-reach, reach + 1))
    assert len(NOISE[kind].split()) >= 2, "the certificate has no words for it"


def test_every_kind_is_returned_by_some_mechanism() -> None:
    assert set(returned()) == set(KINDS)
