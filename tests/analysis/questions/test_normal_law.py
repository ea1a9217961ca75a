"""The deviation of a normal answer is its variance's root, never below it."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from takifugu.analysis.questions.normal_law import deviation_up

SIZES = st.fractions(min_value=Fraction(1, 10**12), max_value=10**12)


@given(SIZES, st.sampled_from([Fraction(1), Fraction(10) ** 40, Fraction(1, 10**40)]))
def test_a_deviation_is_never_below_the_root_and_hardly_above(variance: Fraction, unit: Fraction) -> None:
    square = deviation_up(variance * unit) ** 2
    assert variance * unit <= square <= variance * unit * (1 + Fraction(1, 2**48))
    assert deviation_up((variance * unit) ** 2) >= variance * unit
