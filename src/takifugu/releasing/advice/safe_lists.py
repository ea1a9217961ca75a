"""What a list of safe places is worth: which share of those that are safe it is expected to name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.core.errors import InputError
from takifugu.core.escaping import number
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.advice.bands import Band
from takifugu.releasing.advice.worth import GOOD, ROUGH, Expectation, Verdict, Worth
from takifugu.releasing.file.policies.sections import PriorSpec

if TYPE_CHECKING:
    from takifugu.releasing.file.expectations import ExpectSpec

#: A list is good if it names this share of what is safe, rough if it names that one.
GOOD_SHARE, ROUGH_SHARE = 0.8, 0.2
#: What [expect] can say beside its source.
_EXPECTED = ("values", "shares", "people", "rows", "matters")


@dataclass(frozen=True)
class Named(Worth):
    """The share of what is safe that a list names, as expected: its error is the share that it misses."""

    @property
    def share(self) -> float:
        return 1 - self.cell.width

    @property
    def ratio(self) -> float:
        """Return a comparable ratio: 1 if just good, 5 if just rough.

        The ratio falls as the share rises, to 0 where all is named, so the list that names most comes first.
        """
        if self.share > GOOD_SHARE:
            return GOOD * (1 - self.share) / (1 - GOOD_SHARE)
        return GOOD + (GOOD_SHARE - self.share) * (ROUGH - GOOD) / (GOOD_SHARE - ROUGH_SHARE)

    def sentence(self, unit: str = "") -> str:
        share = f"{number(100 * self.share, digits=3)} % of {self.expectation.source}"
        if self.verdict is not Verdict.GOOD:
            share = f"only {share}"
        return f"{self.verdict}: {share} are expected to be called safe"


def refuse_unused(expect: ExpectSpec, place: tuple[str | int, ...]) -> None:
    """Raise InputError for expectations of a safe list, judged by [prior] alone."""
    unused = next((key for key in _EXPECTED if getattr(expect, key) is not None), None)
    if unused is not None:
        fault = "is not used by a list of safe places, which is judged by what counts and shares under [prior] say"
        raise InputError(fault, fix="take it out, or write [prior]").at(*place, unused)


def worth_of_list(noise: SafeCells, prior: PriorSpec | None) -> Named:
    """Return a list's worth by [prior]'s counts, or by zero counts."""
    threshold = min(noise.thresholds)
    if prior is None:
        shares, whose = {0: Fraction(1)}, "the places where nobody was"
    else:
        shares = {n: as_fraction(s, "a share") for n, s in zip(prior.counts, prior.shares, strict=True)}
        whose = "the safe places"
    missed = 1.0
    if any(share and count <= threshold for count, share in shares.items()):
        missed -= noise.expected_shares(shares, threshold)[0]
    return Named(Band(missed, 1.0), None, 1 - GOOD_SHARE, Expectation(None, 1 - GOOD_SHARE, whose))
