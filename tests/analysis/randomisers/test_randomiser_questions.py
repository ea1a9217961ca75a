"""What every randomiser answers: its loss for a change, its output as text, a whole column at once."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.steps import calls

from takifugu.analysis.randomisers import (
    KINDS,
    LABEL,
    NUMBER,
    ONE_SIDED,
    PARTS,
    Base,
    Direction,
    DiscreteLaplace,
    Exact,
    Kind,
    RoundedLaplace,
    RoundedNormal,
    answered,
    from_dict,
    register,
)
from takifugu.analysis.randomisers.choices import ChannelChoice
from takifugu.core.errors import InputError, Unsupported
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.noise import InsecureSeededEntropyForTests, SystemEntropy

F = Fraction
FLIP = ChannelChoice(Channel.of([0, 1], [0, 1], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]), F(1), (0.5, 0.5))
LAPLACE = [DiscreteLaplace(F(3), F(1, 2)), RoundedLaplace(F(3, 2), F(1, 2))]


@pytest.mark.parametrize("noise", LAPLACE)
def test_the_loss_of_laplace_noise_is_the_largest_log_ratio_of_its_law(noise: Any) -> None:
    for steps in range(4):
        ratios = [noise.log_density([0], [y * noise.grid]) - noise.log_density([steps], [y * noise.grid])
                  for y in range(-60, 61)]  # fmt: skip
        for direction in Direction:
            assert float(noise.loss(steps * noise.grid, direction)) == pytest.approx(max(ratios), abs=1e-9)


def test_a_loss_is_nothing_without_a_change_and_infinite_where_nothing_bounds_it() -> None:
    for noise in (*LAPLACE, Exact(F(1)), RoundedNormal(F(2), F(1)), FLIP):
        assert noise.loss(F(0)) == 0
    assert Exact(F(1)).loss(F(1)) == math.inf
    assert RoundedNormal(F(2), F(1)).loss(F(1)) == math.inf
    assert float(FLIP.loss(F(1))) == pytest.approx(math.log(3))
    assert FLIP.loss(F(1)) >= math.log(3) * (1 - 1e-12)


def test_what_a_change_is_hidden_by() -> None:
    assert DiscreteLaplace(F(2), F(1)).hides(F(2), F(1), F(0))
    assert not DiscreteLaplace(F(2), F(1)).hides(F(3), F(1), F(0))
    assert RoundedNormal(F(10), F(1)).hides(F(1), F(1), F(1, 100))
    assert not RoundedNormal(F(1, 10), F(1)).hides(F(1), F(1), F(1, 100))
    assert FLIP.hides(F(1), F(11, 10), F(0))
    assert not FLIP.hides(F(1), F(1), F(0))


@pytest.mark.parametrize("noise", [*LAPLACE, RoundedNormal(F(2), F(1, 2)), Exact(F(1, 2)), FLIP])
def test_a_column_is_drawn_as_its_answers_would_be_one_by_one(noise: Any) -> None:
    answers = np.array([0, 1] * 20_000)
    drawn = noise.draw_column(answers, InsecureSeededEntropyForTests(3))
    assert (len(drawn), drawn.dtype) == (len(answers), np.int64)
    for answer in (0, 1):
        mine = drawn[answers == answer]
        chi = cells = 0.0
        for y in range(-6, 8):
            expected = len(mine) * math.exp(noise.log_density([answer], [y * noise.grid]))
            if expected > 20:
                chi += (np.count_nonzero(mine == y) - expected) ** 2 / expected
                cells += 1
        assert cells
        assert chi < cells + 6 * math.sqrt(2 * cells)


def test_a_column_keeps_numbers_beyond_64_bits() -> None:
    huge = np.array([2**63, -(2**70), 5], dtype=object)
    for noise in (DiscreteLaplace(F(2), F(1)), RoundedLaplace(F(2), F(1)), Exact(F(1))):
        drawn = noise.draw_column(huge, InsecureSeededEntropyForTests(1))
        assert all(abs(int(y) - x) < 100 for x, y in zip(huge.tolist(), drawn.tolist(), strict=True))
    near = np.array([2**63 - 1] * 50)
    assert all(abs(int(y) - int(near[0])) < 100 for y in DiscreteLaplace(F(2), F(1)).draw_column(near, SystemEntropy()))


def test_a_column_of_a_million_takes_no_step_of_python_for_each() -> None:
    answers = np.zeros(1_000_000, dtype=np.int64)
    for noise in (RoundedLaplace(F(2), F(1)), FLIP):
        assert calls(lambda: noise.draw_column(answers, SystemEntropy())) < 50_000  # noqa: B023


def test_a_column_is_whole_numbers() -> None:
    for wrong in ([0.5], [[1]], ["a"]):
        with pytest.raises(InputError, match="whole steps of the grid"):
            LAPLACE[0].draw_column(np.array(wrong), SystemEntropy())


@pytest.mark.parametrize(("output", "value"), [
    (NUMBER, F(-7, 3)), (LABEL, "yes, 3"), (PARTS, (F(1, 3), F(2))), (PARTS, ((F(1), F(2)), (F(3), F(4)))),
    (PARTS, ()), (ONE_SIDED, None), (ONE_SIDED, F(5)),
])  # fmt: skip
def test_every_type_of_output_reads_back_from_its_text(output: Any, value: Any) -> None:
    assert output.read(output.write(value)) == value


def test_a_question_may_have_a_reason_instead_of_an_answer() -> None:
    class Label(Base):
        kind = "label"  # type: ignore[assignment]
        output = LABEL

    questions: list[Any] = [
        lambda: Label().scale, Label().expected_error, Label().variance, lambda: Label().half_width(0.95),
        lambda: Label().log_reach(F(1)),
    ]  # fmt: skip
    for question in questions:
        with pytest.raises(Unsupported, match="label"):
            question()
    assert answered(Label().variance) is None
    assert (Label().laplace_scale, Label().loss(F(1)), Label().loss(F(0))) == (None, math.inf, 0)


def test_a_kind_registers_once() -> None:
    register("test-flip", Kind(lambda data: FLIP, "a flip", "a coin decides"))
    assert from_dict({"kind": "test-flip"}) is FLIP
    for taken in ("test-flip", "channel"):
        with pytest.raises(InputError, match="registered already"):
            register(taken, KINDS.find("channel"))
