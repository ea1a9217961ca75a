"""Numbers at the border: read exactly or refused, and scales rounded to the safe side by no more than is promised."""

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.core.errors import InputError
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.beliefs.users import IndependentUsers
from takifugu.numbers.rationals import (
    SCALE_BITS,
    as_delta,
    as_epsilon,
    as_fraction,
    as_interval,
    as_non_negative,
    as_positive,
    as_truth,
    as_whole,
    both_in_common_unit,
    common_denominator,
    decimal_up,
    float_above,
    float_below,
    in_common_unit,
    is_whole,
    read_fraction,
    round_up,
    to_text,
)

TINY = Fraction(1, 10**40)
READ: list[tuple[Any, Fraction]] = [
    (3, Fraction(3)),
    (np.int64(-3), Fraction(-3)),
    (np.uint8(7), Fraction(7)),
    (Fraction(2, 6), Fraction(1, 3)),
    (0.1, Fraction(1, 10)),
    (np.float64(0.1), Fraction(1, 10)),
    (1e-310, Fraction(1, 10**310)),
    (-0.0, Fraction(0)),
    (" 1/3 ", Fraction(1, 3)),
    ("1e-6", Fraction(1, 10**6)),
    (Decimal("0.30"), Fraction(3, 10)),
    (Decimal("1e-50"), Fraction(1, 10**50)),
]
NO_NUMBERS: list[Any] = [
    math.nan, math.inf, -math.inf, "", "x", "1/0", "nan", Decimal("NaN"), Decimal("Infinity"), None, [], 1j, True,
]  # fmt: skip


@given(st.lists(st.fractions() | st.integers() | st.floats(allow_nan=False, allow_infinity=False), max_size=6))
def test_numbers_in_their_common_unit_are_whole_and_as_few_as_can_be(numbers: list[Any]) -> None:
    multiples, unit = in_common_unit(numbers)
    assert [Fraction(multiple, unit) for multiple in multiples] == list(map(Fraction, numbers))
    assert unit == math.lcm(*(Fraction(number).denominator for number in numbers))
    assert both_in_common_unit(numbers[:2], numbers[2:]) == (multiples[:2], multiples[2:], unit)


@pytest.mark.parametrize(("value", "expected"), READ)
def test_a_number_is_the_rational_that_it_shows(value: Any, expected: Fraction) -> None:
    rational = as_fraction(value, "x")
    assert rational == expected
    assert type(rational.numerator) is type(rational.denominator) is int


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_finite_number_is_refused_by_name(value: Any) -> None:
    for read in (as_fraction, as_epsilon, as_delta):
        with pytest.raises(InputError, match=r"the budget is .*: it must be a"):
            read(value, "the budget")


def test_truth_values_are_told_from_numbers() -> None:
    with pytest.raises(InputError, match="not true or false"):
        as_fraction(True, "x")


def test_the_range_of_a_promise() -> None:
    assert as_epsilon(TINY) == TINY
    assert as_delta(0) == 0
    assert as_delta(1 - TINY) == 1 - TINY
    for value in (0, -TINY, "-1"):
        with pytest.raises(InputError, match="above 0"):
            as_epsilon(value)
    for value in (-TINY, 1, 1 + TINY):
        with pytest.raises(InputError, match="at least 0 and below 1"):
            as_delta(value)


def test_the_ranges_of_other_numbers() -> None:
    assert (as_positive(TINY, "it"), as_non_negative(0, "it"), as_interval((0, TINY), "it")) == (TINY, 0, (0, TINY))
    assert [as_whole(n, "it", least=n) for n in (-3, 0, 2**63 - 1)] == [-3, 0, 2**63 - 1]
    refused: tuple[tuple[Any, Any, str], ...] = (
        (as_positive, 0, "above 0"), (as_positive, -TINY, "above 0"), (as_non_negative, -TINY, "not be negative"),
        (as_whole, 2**63, "below 2"), (as_whole, -1, "from 0"), (as_interval, (0, 0), "inside"),
        (as_interval, (TINY, 0), "inside"), (as_interval, (1, 2, 3), "low, high"), (as_interval, (1,), "low, high"),
    )  # fmt: skip
    for read, value, words in refused:
        with pytest.raises(InputError, match=words):
            read(value, "it")


positive = st.one_of(
    st.fractions(min_value=0).filter(bool),
    st.floats(min_value=1e-300, max_value=1e300),
    st.integers(1, 2**200),
    st.builds(Fraction, st.integers(1, 2**90), st.integers(1, 2**90)),
)


@given(positive)
def test_scales_are_rounded_up_and_stay_short(value: Fraction | float) -> None:
    exact, rounded = Fraction(value), round_up(value)
    assert exact <= rounded <= exact * (1 + Fraction(1, 2 ** (SCALE_BITS - 1)))
    assert Fraction(1, 2 ** (SCALE_BITS - 1)) < Fraction(1, 10**10)
    power = rounded.numerator & -rounded.numerator
    assert (rounded.numerator // power).bit_length() <= SCALE_BITS + 1 <= 37


def test_scales_that_are_short_stay_and_others_do_not() -> None:
    longest = 2**SCALE_BITS - 1
    for short in (
        Fraction(0),
        Fraction(10, 3),
        Fraction(longest),
        Fraction(1, longest),
        Fraction(longest, longest - 1),
    ):
        assert round_up(short) == short
    for value in (Fraction(2 * longest + 1, 3), Fraction(3, 2 * longest + 1)):
        assert value < round_up(value) <= value * (1 + Fraction(1, 2**35))
    with pytest.raises(InputError, match="must not be negative"):
        round_up(-TINY)


def test_rounding_is_tight_enough_to_be_noticed() -> None:
    """One bit less would exceed what is promised for some of these."""
    excess = [round_up(Fraction(2**80 + n * 2**44 + 1, 2**80)) - 1 - Fraction(n * 2**44 + 1, 2**80) for n in range(64)]
    assert Fraction(1, 2**36) * Fraction(9, 10) < max(excess) <= Fraction(1, 2**35)


@given(st.one_of(st.fractions(), st.integers().map(Fraction), st.decimals(-1000, 1000, places=5).map(Fraction)))
def test_what_is_written_reads_back(value: Fraction) -> None:
    assert Fraction(to_text(value)) == value


@pytest.mark.parametrize(("value", "text"), [
    (Fraction(4), "4"),
    (Fraction(-1, 10), "-0.1"),
    (Fraction(1, 3), "1/3"),
    (Fraction(1, 10**7), "1/10000000"),
    (Fraction(10**400, 3), f"{10**400}/3"),
])  # fmt: skip
def test_what_is_written_is_plain(value: Fraction, text: str) -> None:
    assert to_text(value) == text


@given(positive.map(Fraction))
def test_a_cost_is_shortened_upwards_to_twelve_digits(value: Fraction) -> None:
    """Against decimal arithmetic, which rounds a quotient once."""
    upwards = Context(prec=12, rounding=ROUND_CEILING)
    expected = Fraction(upwards.divide(Decimal(value.numerator), Decimal(value.denominator)))
    assert value <= decimal_up(value) == expected


def test_a_short_cost_stays_and_nothing_costs_nothing() -> None:
    for value in (Fraction(0), Fraction(1), Fraction(10), Fraction(1, 1000), Fraction(999_999_999_999, 10**6)):
        assert decimal_up(value) == value
    assert decimal_up(1 + TINY) == 1 + Fraction(1, 10**11)


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


def test_whole_numbers_are_no_truth_values_and_no_floats() -> None:
    assert [is_whole(3), is_whole(0, 1), is_whole(True), is_whole(2.0)] == [True, False, False, False]


def test_a_switch_is_true_or_false() -> None:
    assert as_truth(1, "private") is True
    with pytest.raises(InputError, match="not True or False: write private=True, or leave it out"):
        as_truth("no", "private")


def test_multiples_of_a_common_denominator_are_whole() -> None:
    assert common_denominator([Fraction(1, 4), Fraction(1, 6)]) == 12


@given(st.fractions())
def test_floats_enclose_a_rational(value: Fraction) -> None:
    assert float_below(value) <= value <= float_above(value) <= math.nextafter(float_below(value), math.inf)
