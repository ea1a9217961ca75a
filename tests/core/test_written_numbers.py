"""Numbers for people: a bound that is read back is never on the wrong side, and short decimals stay as they are."""

import math
from decimal import Context, Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from takifugu.core.escaping import at_least, at_most, float_at_least, float_at_most, number, power_at_most

RATIONALS = st.fractions(max_denominator=10**9) | st.builds(
    lambda p, q, tens: Fraction(p, q) * Fraction(10) ** tens,
    st.integers(-(10**30), 10**30), st.integers(1, 10**30), st.integers(-400, 400),
)  # fmt: skip
DECIMALS = st.builds(lambda n, tens: n * Fraction(10) ** tens, st.integers(-999_999, 999_999), st.integers(-12, 12))


def read(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


@given(RATIONALS, st.integers(1, 9))
def test_a_bound_read_back_is_on_the_safe_side(value: Fraction, digits: int) -> None:
    above, below = read(at_most(value, digits)), read(at_least(value, digits))
    assert below <= value <= above
    assert above - below <= abs(value) * Fraction(10) ** (1 - digits)


@given(DECIMALS)
def test_a_short_decimal_is_written_exactly(value: Fraction) -> None:
    assert read(at_most(value)) == read(at_least(value)) == value
    assert at_most(value) == at_least(value) == number(value)


@given(st.integers(-999_999, 999_999), st.integers(-12, 0))
def test_a_float_is_its_shortest_decimal(whole: int, tens: int) -> None:
    value = float(f"{whole}e{tens}")
    assert at_most(value) == at_least(value) == number(value)


@given(st.fractions(0, 99), st.integers(2, 9))
def test_a_power_of_e_is_below_what_is_written(exponent: Fraction, digits: int) -> None:
    power, _, above = power_at_most(exponent, digits).partition(" < ")
    written = read(power.removeprefix("e^").removesuffix(" = 1"))
    assert written >= exponent
    if not above:
        assert written == 0
        return
    fine = Context(prec=80)
    quotient = fine.divide(Decimal(written.numerator), Decimal(written.denominator))
    assert fine.exp(quotient) < Decimal(above.replace(",", ""))


def test_powers_of_e_that_certificates_tell() -> None:
    assert [power_at_most(e) for e in (Fraction(1, 2), 1, 2, 3)] == [
        "e^0.5 < 1.649", "e^1 < 2.719", "e^2 < 7.39", "e^3 < 20.09"
    ]  # fmt: skip
    assert power_at_most(1000) == "e^1,000"
    assert at_most(Fraction(1, 10**400)) == "1e-400"
    assert (at_most(float("inf")), at_least(float("inf"))) == ("inf", "inf")


@given(st.fractions(-(10**300), 10**300, max_denominator=10**9))
def test_a_float_of_a_bound_is_written_on_the_safe_side(value: Fraction) -> None:
    above, below = float_at_most(value), float_at_least(value)
    assert Fraction(str(below)) <= value <= Fraction(str(above))
    assert float(value) in (above, below)
    assert above in (below, math.nextafter(below, math.inf))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_bound_that_is_a_float_stays_as_it_is(value: float) -> None:
    exact = Fraction(str(value))
    assert float_at_most(exact) == float_at_least(exact) == value
