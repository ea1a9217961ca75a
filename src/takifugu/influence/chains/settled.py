"""What anybody can check of a chain's loss: the bounds at which its sweeps settle, each a number that a step keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from takifugu.core.arrays import FloatArray
from takifugu.core.plain import Json
from takifugu.influence.chains.chains import reversed_runs, sides_of, worst
from takifugu.influence.chains.sweeps import Track, sweep
from takifugu.influence.profiles.profile import Loss, Profile
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.secrets.families import Family
from takifugu.numbers.rationals import decimal_up, to_text

#: Bounds are rounded up to so many decimals: far below the rounding that a sweep has added already.
PLACES = 24
#: Rows of floats sum to 1 up to 2^-53 each: whoever divides them by their exact sums may find steps larger by that.
ROWS_OFF = Fraction(1, 10**15)


@dataclass(frozen=True, eq=False)
class Settled:
    """A chain's largest loss, the jumps of its sweeps, and the bounds at which these settle, each (k, k)."""

    loss: Loss
    jumps: tuple[int, ...]
    after: FloatArray | None  # of R of every step; None where the sweep goes on to the end of the recording
    before: FloatArray | None  # of L, likewise

    def to_dict(self) -> Json:
        """Return it as plain data: the step is counted from 0, values are codes, and numbers are decimals."""
        loss = self.loss
        pair = None if any(loss.paths) else [loss.left, loss.right]  # of a run there are two paths
        return {
            "loss": to_text(decimal_up(Fraction(loss.epsilon))), "step": loss.entry, "pair": pair,
            "jumps": list(self.jumps), "after": _decimals(self.after), "before": _decimals(self.before),
        }  # fmt: skip


def settled(chain: PeriodicChain, profile: Profile, family: Family, most: int) -> Settled:
    """Return what the sweeps of `chain_loss` come to, for a profile that is the same for all steps."""
    ahead, behind = sides_of(chain, profile.size)
    jumps = ahead.jumps
    right, left = sweep(ahead, reversed_runs(profile), jumps, most), sweep(behind, profile, jumps, most)
    return Settled(worst(chain, profile, family, right, left), (1, *jumps), _bound(right[-1]), _bound(left[-1]))


def _bound(last: Track) -> FloatArray | None:
    """Return the bound at which a sweep settles, if it does."""
    return last.repeated[0] if len(last.repeated) == 1 else None


def _decimals(bound: FloatArray | None) -> list[list[str]] | None:
    """Write a bound of different values as decimals, rounded up."""
    if bound is None:
        return None
    decimals = [[decimal_above(Fraction(loss) + ROWS_OFF) for loss in row] for row in bound.tolist()]
    for code, row in enumerate(decimals):
        row[code] = "0"
    return decimals


def decimal_above(value: Fraction) -> str:
    """Write a number of at least 0 as the least decimal of 24 places that is not below it."""
    whole, rest = divmod(math.ceil(value * 10**PLACES), 10**PLACES)
    return f"{whole}.{rest:0{PLACES}}".rstrip("0").rstrip(".")
