"""What channels, tuples, bits, classes and promises do not take."""

import math
from collections.abc import Callable
from fractions import Fraction as F

import pytest

from kawamoto import channels
from kawamoto.composing import PairPromise, after_stable
from takifugu.core.errors import InputError
from takifugu.mechanisms.local import classes, measuring
from takifugu.mechanisms.local.tupling import Tupling
from takifugu.numbers import Pmf

GRID = [(float(i), float(j)) for i in range(4) for j in range(3)]


@pytest.mark.parametrize("wrong", [
    lambda: channels.randomised_response(["a"], 1), lambda: channels.randomised_response(["a", "a"], 1),
    lambda: channels.planar_laplace([(0.0, 1.0), (0.0, math.nan)], 1),
    lambda: channels.planar_laplace([(0.0, 1.0), (1.0, 1.0)], 0), lambda: channels.planar_normal(GRID, 0),
    lambda: channels.restricted_laplace(GRID, 1, -1), lambda: channels.exponential([0, 1], [0, 1], lambda x, y: -1, 1),
    lambda: measuring.metric_loss(channels.randomised_response([0, 1], 1), lambda x, y: -1),
    lambda: classes.worst_pair(4, F(1, 5), Tupling(1), 1), lambda: classes.worst_pair(4, 0, Tupling(1), 1),
    lambda: classes.worst_pair(4, 1, Tupling(1, [1]), 1),
    lambda: classes.worst_pair(1, 1, Tupling(1, Pmf([0], [1])), 1),
    lambda: Tupling(-1), lambda: Tupling(True), lambda: Tupling(1).delta([1], [1, 0], 1),
    lambda: Tupling(1).delta([0.5], [1], 1), lambda: Tupling(1).delta([1, -0.0, "x"], [1, 0, 0], 1),
    lambda: Tupling(1).delta([1, 0], [0, 1], -1), lambda: Tupling(1).delta([1, 0], Pmf([0], [1]), 1),
    lambda: Tupling(1, [1]).delta([1, 0], [0, 1], 1), lambda: Tupling(1, [2, -1]).delta([1, 0], [0, 1], 1),
])  # fmt: skip
def test_it_is_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        wrong()


@pytest.mark.parametrize("wrong", [
    lambda: PairPromise(-1), lambda: PairPromise(1, -1), lambda: PairPromise(math.inf),
    lambda: after_stable(PairPromise(1), -1), lambda: after_stable(PairPromise(1), 1.0),  # type: ignore[arg-type]
    lambda: after_stable(PairPromise(1), True),
])  # fmt: skip
def test_what_promises_do_not_take_is_named(wrong: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=r"epsilon|delta|steps are (-1|1.0|True)"):
        wrong()
