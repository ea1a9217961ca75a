"""What a list of safe places is worth: the share of them that it is expected to name."""

from __future__ import annotations

import pytest

from takifugu.releasing.advice.bands import Band
from takifugu.releasing.advice.safe_lists import Named
from takifugu.releasing.advice.worth import Expectation, Verdict


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(1.0, Verdict.GOOD), (0.8, Verdict.GOOD), (0.79, Verdict.ROUGH), (0.2, Verdict.ROUGH), (0.19, Verdict.USELESS),
     (0.0, Verdict.USELESS)],
)  # fmt: skip
def test_good_from_four_fifths_and_rough_from_one_fifth(share: float, verdict: Verdict) -> None:
    named = Named(Band(1 - share, 1.0), None, 0.2, Expectation(None, 0.2, "the safe places"))
    assert named.verdict is verdict
    assert named.sentence().startswith(f"{verdict}: ")
    assert f"{100 * share:.3g} % of the safe places" in named.sentence()
