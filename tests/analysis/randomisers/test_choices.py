"""One of finitely many outputs, by its table; and where an answer lies that some noise has published."""

import json
import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.analysis.randomisers.base import Direction, around
from takifugu.analysis.randomisers.choices import ChannelChoice, ExponentialChoice, from_dict
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric
from takifugu.core.errors import InputError
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.noise import InsecureSeededEntropyForTests

UP, DOWN, EITHER = Direction.UP, Direction.DOWN, Direction.EITHER


@st.composite
def choices(draw: st.DrawFn) -> ChannelChoice:
    inputs = sorted(draw(st.sets(st.fractions(-4, 4, max_denominator=2), min_size=1, max_size=4)))
    outputs = sorted(draw(st.sets(st.integers(-4, 4), min_size=1, max_size=4)))
    rows = [draw(st.lists(st.integers(0, 5), min_size=len(outputs), max_size=len(outputs)).filter(any)) for _ in inputs]
    weights = draw(st.lists(st.integers(1, 5), min_size=len(inputs), max_size=len(inputs)))
    channel = Channel.of(inputs, outputs, [[F(mass, sum(row)) for mass in row] for row in rows])
    grid, prior = draw(st.sampled_from([F(1), F(1, 10), F(3)])), tuple(w / sum(weights) for w in weights)
    return ChannelChoice(channel, grid, prior)


@settings(max_examples=25)
@given(choices(), st.fractions(-6, 6, max_denominator=4))
def test_an_answer_is_published_as_the_nearest_input_would_be(noise: ChannelChoice, answer: F) -> None:
    inputs, outputs, total = noise.channel.inputs, noise.channel.outputs, noise.channel.total
    nearest = min(abs(x - answer) for x in inputs)  # type: ignore[operator]
    rows = [row for x, row in zip(inputs, noise.channel.masses, strict=True) if abs(x - answer) == nearest]  # type: ignore[operator]
    masses = tuple(noise.mass(answer, y) for y in outputs)  # type: ignore[arg-type]
    assert masses in [tuple(F(mass, total) for mass in row) for row in rows]
    for y, mass in zip(outputs, masses, strict=True):
        density = noise.log_density([answer], [y * noise.grid])  # type: ignore[operator]
        assert density == (pytest.approx(math.log(mass), abs=1e-12) if mass else -math.inf)
    assert noise.mass(answer, 9) == 0
    drawn = noise.draw_column(np.array([answer] * 3, dtype=object), InsecureSeededEntropyForTests(1))
    assert all(masses[outputs.index(y)] > 0 for y in drawn.tolist())
    with pytest.raises(InputError, match="2 cells"):
        noise.draw([answer, answer], InsecureSeededEntropyForTests(1))
    with pytest.raises(InputError, match="level"):
        noise.half_width(1.0)


@settings(max_examples=25)
@given(choices(), st.sampled_from([0.3, 0.5, 0.95]), st.sampled_from([None, 1, 3]))
def test_its_errors_are_those_of_its_table(noise: ChannelChoice, level: float, cells: int | None) -> None:
    grid, total = noise.grid, noise.channel.total
    table = [(p, x, dict(zip(noise.channel.outputs, row, strict=True)))
             for p, x, row in zip(noise.prior, noise.channel.inputs, noise.channel.masses, strict=True)]  # fmt: skip
    means = {}
    for power in (1, 2):
        means[power] = [
            math.fsum(m / total * float(abs(y - x) * grid) ** power for y, m in row.items())  # type: ignore[operator]
            for _, x, row in table
        ]
    assert (noise.expected_error(), noise.variance()) == pytest.approx((max(means[1]), max(means[2])), rel=1e-12)
    assert noise.mean_error() == pytest.approx(np.dot(noise.prior, means[1]), rel=1e-12)
    width = noise.half_width(level, cells)
    each = level ** (1 / (cells or 1))

    def within(reach: F) -> float:
        return min(sum(m for y, m in row.items() if abs(y - x) * grid <= reach) / total for _, x, row in table)  # type: ignore[operator]

    assert within(width) >= each - 1e-12
    assert width == 0 or within(width - grid) < each + 1e-12
    again = from_dict(json.loads(json.dumps(noise.to_dict())))
    assert (again.channel, again.grid, again.prior) == (noise.channel, grid, noise.prior)


def covered(noise: ChannelChoice, intervals: dict[F, tuple[F, F]]) -> list[F]:
    """Return with which probability each input lies in the interval of what is published of it, by enumeration."""
    grid, outputs = noise.grid, noise.outputs
    chances = []
    for x, row in zip(noise.channel.inputs, noise.channel.masses, strict=True):
        answer = x * grid  # type: ignore[operator]
        inside = [
            m for y, m in zip(outputs, row, strict=True) if intervals[y * grid][0] <= answer <= intervals[y * grid][1]
        ]
        chances.append(F(sum(inside), noise.channel.total))
    return chances


def intervals_of(noise: ChannelChoice, level: float, cells: int | None = None) -> dict[F, tuple[F, F]]:
    values = [y * noise.grid for y in noise.outputs]
    return dict(zip(values, noise.intervals(values, level, cells), strict=True))


@settings(max_examples=60)
@given(choices(), st.sampled_from([0.3, 0.5, 0.95]), st.sampled_from([None, 1, 3]))
def test_every_answer_is_in_its_interval_as_often_as_is_said(
    noise: ChannelChoice, level: float, cells: int | None
) -> None:
    intervals = intervals_of(noise, level, cells)
    assert min(covered(noise, intervals)) >= F(level ** (1 / (cells or 1))) - F(1, 10**15)
    assert all(low <= value <= high for value, (low, high) in intervals.items())


def test_an_output_that_tells_nothing_leaves_every_answer_in_its_interval() -> None:
    """One number is published whatever the answer, and another from which the answer can be told."""
    rows = Channel.of(range(5), [2, 4], [[F(1), F(0)]] * 4 + [[F(1, 10), F(9, 10)]])
    noise = ChannelChoice(rows, F(1), (0.4, 0.3, 0.1, 0.1, 0.1))
    assert intervals_of(noise, 0.85) == {2: (0, 3), 4: (4, 4)}
    assert intervals_of(noise, 0.95) == {2: (0, 4), 4: (4, 4)}
    assert noise.intervals([F(7)], 0.95) == [(0, 7)]  # no output: nothing is known
    assert (noise.expected_error(), noise.mean_error()) == (2.0, pytest.approx(0.4 * 2 + 0.3 + 0.1 + 0.1 * 0.2))


@pytest.mark.parametrize("masses", [[["1", "3"], ["2", "3"]], [["1", "3"], ["-1", "5"]], [["1", "3"]]])
def test_a_table_that_was_edited_is_refused(masses: list[list[str]]) -> None:
    rows = Channel.of([0, 1], [0, 1], [[F(1, 4), F(3, 4)], [F(1, 2), F(1, 2)]])
    written = ChannelChoice(rows, F(1), (0.5, 0.5)).to_dict()
    assert from_dict(written).channel == rows
    with pytest.raises(InputError, match="not distributions"):
        from_dict({**written, "masses": masses})


@pytest.mark.parametrize(("grid", "prior", "outputs"), [
    (F(0), (0.5, 0.5), [0, 1]), (F(-1), (0.5, 0.5), [0, 1]), (F(1), (1.0,), [0, 1]), (F(1), (0.5, 0.6), [0, 1]),
    (F(1), (1.5, -0.5), [0, 1]), (F(1), (0.5, 0.5), [0, F(1, 2)]), (F(1), (0.5, 0.5), [1, 0]),
])  # fmt: skip
def test_what_is_no_choice(grid: F, prior: tuple[float, ...], outputs: list[F]) -> None:
    with pytest.raises(InputError):
        ChannelChoice(Channel.of([0, 1], outputs, [[1, 0], [0, 1]]), grid, prior)
    with pytest.raises(InputError, match="increasing order"):
        ChannelChoice(Channel.of([1, 0], [0, 1], [[1, 0], [0, 1]]), F(1), (0.5, 0.5))


@pytest.mark.parametrize(("moves", "ends"), [
    ((UP,), [(3, 5), (3, 5)]), ((DOWN,), [(1, 3), (1, 3)]), ((EITHER,), [(1, 5), (1, 5)]),
    ((UP, DOWN), [(3, 5), (1, 3)]),
])  # fmt: skip
def test_an_answer_lies_on_the_side_that_its_noise_leaves_it(
    moves: tuple[Direction, ...], ends: list[tuple[int, int]]
) -> None:
    """Noise of answers that move DOWN only adds, so that what was published is above the answer."""
    noise = OneSidedGeometric(F(2), F(1), 2, moves)
    assert around(noise.directions, [F(3), F(3)], F(2)) == ends
    assert around(DiscreteLaplace(F(2), F(1), 2).directions, [F(0), F(3)], F(2)) == [(-2, 2), (1, 5)]
    entropy = InsecureSeededEntropyForTests(2)
    for _ in range(10):
        assert all(low <= 3 <= high for low, high in around(noise.directions, noise.draw([3, 3], entropy), F(100)))


def test_the_scale_of_an_exponential_choice_is_in_answer_units() -> None:
    rows = Channel.of([0, 1], [0, 1], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    choice = ExponentialChoice(rows, F(2), (0.5, 0.5), F(11, 10))
    assert (choice.scale, choice.expected_error()) == (F(20, 11), 0.5)
    assert (choice.half_width(0.7), choice.half_width(0.8)) == (0, 2)
