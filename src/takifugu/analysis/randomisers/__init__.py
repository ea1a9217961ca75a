"""Randomisers: what turns an answer into an output, as a law that the audit can enumerate and an exact draw.

An answer is a vector of `cells` numbers in units of `grid`: integers for DiscreteLaplace, any rationals for the others,
which round once what they publish. `on_grid` says that every answer is known to be a multiple of the grid; otherwise
half-widths hold wherever it lies, and errors are averages over its place between two multiples. `draw` returns
multiples of the grid, in answer units; `scale` and errors are in answer units too. Every cell gets its own independent
noise.
"""

from __future__ import annotations

from takifugu.analysis.randomisers.additive import DiscreteLaplace, Exact, Noise, laplace_or_exact
from takifugu.analysis.randomisers.base import (
    LABEL,
    MARKS,
    NUMBER,
    ONE_SIDED,
    PARTS,
    Answer,
    Base,
    Direction,
    Kind,
    Loss,
    Output,
    Randomiser,
    answered,
    scale_text,
)
from takifugu.analysis.randomisers.rounded import RoundedLaplace, RoundedNormal, laplace
from takifugu.core.plain import Plain
from takifugu.core.registry import Registry

__all__ = [
    "KINDS", "LABEL", "MARKS", "NUMBER", "ONE_SIDED", "PARTS", "Answer", "Base", "Direction", "DiscreteLaplace",
    "Exact", "Kind", "Loss", "Noise", "Output", "Randomiser", "RoundedLaplace", "RoundedNormal", "answered",
    "from_dict", "laplace", "laplace_or_exact", "register", "scale_text",
]  # fmt: skip

#: Every kind of randomiser, by the name under which it is written down.
KINDS: Registry[Kind] = Registry(
    "the kind of noise",
    {
        "none": "analysis.randomisers.additive:NONE",
        "discrete-laplace": "analysis.randomisers.additive:DISCRETE_LAPLACE",
        "rounded-laplace": "analysis.randomisers.rounded:ROUNDED_LAPLACE",
        "rounded-normal": "analysis.randomisers.rounded:ROUNDED_NORMAL",
        "exponential-choice": "analysis.randomisers.choices:EXPONENTIAL",
        "channel": "analysis.randomisers.choices:CHANNEL",
        "permute-and-flip": "analysis.randomisers.selection:PERMUTE_AND_FLIP",
        "one-sided-geometric": "analysis.randomisers.one_sided:GEOMETRIC",
        "one-sided-truncated": "analysis.randomisers.one_sided:TRUNCATED",
        "one-sided-exponential": "analysis.randomisers.one_sided_real:EXPONENTIAL",
        "sparse": "mechanisms.one_sided.safe_cells:SPARSE",
        "outside": "analysis.randomisers.outside:OUTSIDE",
        "sent-value": "mechanisms.local.sent:VALUE",
        "sent-tuple": "mechanisms.local.sent:TUPLE",
    },
)


def register(name: str, kind: Kind) -> None:
    """Register a kind of randomiser, to be read back by name.

    Raises InputError for a name that is taken.
    """
    KINDS.register(name, kind)


def from_dict(data: Plain) -> Randomiser:
    """Read a randomiser back from its `to_dict` form; raises InputError for an unknown kind."""
    return KINDS.find(data.get("kind")).read(data)
