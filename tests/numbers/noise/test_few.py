"""A few draws, number by number, are those of arrays: the same values from the same bytes, and as many bytes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from takifugu.numbers.noise import InsecureSeededEntropyForTests, discrete_laplace, integers

TOPS = [1, 33, 10**6, 2**63 - 1, 2**64 + 3, 2**70]
BOTTOMS = [1, 10, 7, 10**9, 2**66]


def drawn(scale: Fraction, size: int, seed: int) -> tuple[list[int], str, bytes]:
    """Return draws, their type, and the bytes that come after them."""
    entropy = InsecureSeededEntropyForTests(seed)
    values = discrete_laplace(scale, size, entropy)
    return values.tolist(), values.dtype.str, entropy.bytes(8)


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("bottom", BOTTOMS)
def test_the_same_values_come_from_the_same_bytes(top: int, bottom: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = np.random.default_rng(top % 1000 + bottom % 1000).integers(0, 20, size=12).tolist()
    scale = Fraction(top, bottom)
    draws = []
    for most in (-1, 10**9):
        monkeypatch.setattr(integers, "FEW", most)
        draws.append([drawn(scale, size, seed) for seed, size in enumerate(sizes)])
    assert draws[0] == draws[1]


def test_one_draw_is_made_number_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("one number needs no array")

    monkeypatch.setattr(integers, "_laplace_round", refused)
    entropy = InsecureSeededEntropyForTests(3)
    values = [int(discrete_laplace(Fraction(33, 10), 1, entropy)[0]) for _ in range(200)]
    assert min(values) < 0 < max(values)
