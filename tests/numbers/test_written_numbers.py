"""Written numbers: what is not a number, or would exhaust the machine to write out, is refused at once."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from takifugu.core.errors import InputError
from takifugu.data import parse_step
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.numbers.rationals import as_delta, as_epsilon, as_fraction, read_fraction

GIANTS = [
    "1e99999999", "1E+99999999", "-1e-99999999", "1e1_000_000", "0.1e9999", "1e" + "9" * 5000,
    "1e\u0661\u0661\u0661\u0661", Decimal("1e99999999"), Decimal("1e-99999999"),
    "9" * 20_000, "1/" + "3" * 20_000, "9" * 5000, "0." + "0" * 9_999,
]  # fmt: skip


@pytest.mark.parametrize("giant", GIANTS, ids=lambda giant: str(giant)[:16])
@pytest.mark.parametrize("read", [as_fraction, as_epsilon, as_delta], ids=lambda read: read.__name__)
def test_giants_are_refused_at_once_and_not_repeated(read: Any, giant: Any) -> None:
    with pytest.raises(InputError, match="it must be a finite number") as refused:
        read(giant, "the number")
    assert len(str(refused.value)) < 200


def test_numbers_that_people_write_are_read_exactly() -> None:
    written = {"1e-300": Fraction(1, 10**300), "1_0.5e1_0": 105 * Fraction(10) ** 9, " 1/3 ": Fraction(1, 3)}
    for text, value in written.items():
        assert as_fraction(text, "the number") == value
    assert read_fraction("1/" + "7" * 4000).denominator == int("7" * 4000)
    assert as_fraction(Decimal("0.10"), "the number") == Fraction(1, 10)


def test_the_limits_of_what_is_written() -> None:
    """10,000 characters, nine digits of an exponent, exponents to 1,000, and what a float can hold."""
    assert read_fraction(" " * 9_999 + "1") == read_fraction("1e0000000" + "00") == 1
    assert read_fraction("1e-1000") == read_fraction("1e-000001000") == Fraction(1, 10**1000)
    assert read_fraction("1e308") == 10**308
    for text in (" " * 10_000 + "1", "1e0000000000", "1e-1001", "0e1001"):
        with pytest.raises(ValueError, match="too long or too large"):
            read_fraction(text)
    for text in ("1e309", "-1e309", "9" * 309):
        with pytest.raises(OverflowError):
            read_fraction(text)


def test_a_refused_value_is_shown_whole_up_to_sixty_characters() -> None:
    for length in (1, 57, 58):
        with pytest.raises(InputError, match=f"^x is '{'y' * length}': "):
            as_fraction("y" * length, "x")
    for length in (59, 60, 61, 20_000):
        with pytest.raises(InputError, match=rf"^x is '{'y' * 56}\.\.\.: "):
            as_fraction("y" * length, "x")


def test_stored_beliefs_are_read_with_the_same_limits() -> None:
    law = {"left": [["1e99999999", "1"]], "right": [["0", "1"]]}
    with pytest.raises(InputError, match="finite number"):
        LawPair.from_dict(law)
    with pytest.raises(InputError, match="finite number"):
        IndependentUsers.from_dict(
            {"laws": [{"law": [["a", "1"]], "presence": "1e99999999"}], "users": [[1, 0]], "absence": "unknown"}
        )


@pytest.mark.parametrize("step", ["9" * 5000 + "s", "1" * 10, 1e300, 1e-300, 10**400, 1e-15])
def test_giant_steps_are_refused(step: Any) -> None:
    with pytest.raises(InputError, match="the step is"):
        parse_step(step)
