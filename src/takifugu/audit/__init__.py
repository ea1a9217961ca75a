"""The true loss of a mechanism, found without the mathematics that calibrated it.

Its names load their modules when they are first used: a report needs one file, and not the whole audit.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from takifugu.audit.exact import Audit, exact_delta, exact_loss, joint_loss
    from takifugu.audit.sampling import LowerBound, sampled_loss

__all__ = ["Audit", "LowerBound", "exact_delta", "exact_loss", "joint_loss", "sampled_loss"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'takifugu.audit' has no attribute {name!r}")
    home = "sampling" if name in ("LowerBound", "sampled_loss") else "exact"
    return getattr(import_module(f"takifugu.audit.{home}"), name)


def __dir__() -> list[str]:
    return list(__all__)
