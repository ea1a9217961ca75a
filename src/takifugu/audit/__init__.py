"""The true loss of a mechanism, found without the mathematics that calibrated it.

Its names load their modules when they are first used: a report needs one file, and not the whole audit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.registry import loading

if TYPE_CHECKING:
    from takifugu.audit.exact import exact_delta, exact_loss, joint_loss
    from takifugu.audit.results import Audit
    from takifugu.audit.sampling import LowerBound, sampled_loss

__all__ = ["Audit", "LowerBound", "exact_delta", "exact_loss", "joint_loss", "sampled_loss"]

__getattr__ = loading(__name__, {
    **dict.fromkeys(("exact_delta", "exact_loss", "joint_loss"), "exact"),
    "Audit": "results",
    **dict.fromkeys(("LowerBound", "sampled_loss"), "sampling"),
})  # fmt: skip


def __dir__() -> list[str]:
    return list(__all__)
