"""What a mechanism returns: enough noise (a Bound), or why not (a Refusal), and beforehand what it takes (a Cost)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from takifugu.analysis.guarantee import Covers
from takifugu.core.typed import Typed

if TYPE_CHECKING:
    from takifugu.analysis.problem import Problem
    from takifugu.analysis.randomisers import Randomiser

#: Predicted operations per second of a core of 2024 (benchmarks/costs.py measures it; mechanisms differ).
OPERATIONS_A_SECOND = 3e8
#: Predicted bytes beyond which "auto" and `compare` skip a mechanism, and laws of the answer are not computed.
MEMORY_LIMIT = 4e9


@dataclass(frozen=True)
class Cost:
    """Predicted work: elementary operations and bytes held at once."""

    operations: float
    memory: float = 0.0

    @property
    def seconds(self) -> float:
        """About how long it takes: right within a factor of a few."""
        return self.operations / OPERATIONS_A_SECOND

    def describe(self) -> str:
        """Return the work in words.

        >>> Cost(1.2e10).describe(), Cost(9e13, 2e10).describe()
        ('about 40 s', 'about 3 days and 20,000 MB')
        """
        units = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "s"))
        size, name = next((unit for unit in units if self.seconds >= 2 * unit[0]), units[-1])
        count = self.seconds / size
        time = f"about {max(count, 1):.0f} {name}" if count < 1e6 else "too long to wait for"
        if self.memory < 1e8:
            return time
        return f"{time} and {self.memory / 1e6:,.0f} MB"


@dataclass(frozen=True)
class Witness(Typed):
    """What forced the noise: the comparison, and the numbers that made it the worst."""

    comparison: str
    detail: str = ""
    numbers: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Bound:
    """Enough noise: a randomiser and the promise that it keeps for the problem."""

    randomiser: Randomiser
    epsilon: Fraction
    delta: Fraction
    covers: Covers
    witness: Witness
    conditions: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Return whether a ledger can hold epsilon and delta as they are."""
        return isinstance(self.epsilon, Fraction | int) and isinstance(self.delta, Fraction | int)


@dataclass(frozen=True)
class Refusal:
    """Why a mechanism does not apply, in words a user can act on."""

    reason: str


class Mechanism(Protocol):
    """Find enough noise for a problem.

    Implement this protocol for a mechanism of your own (docs/extending.md). `cost` predicts the work. `bound` decides
    and computes in one traversal.

    Examples:
        >>> from takifugu.calibration.registry import REGISTRY
        >>> "influence" in [line.name for line in REGISTRY]
        True
    """

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> str: ...

    def cost(self, problem: Problem) -> Cost: ...

    def bound(self, problem: Problem) -> Bound | Refusal: ...
