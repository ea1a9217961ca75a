"""What many releases about one source promise together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.registry import loading

if TYPE_CHECKING:
    from takifugu.accounting.composition.charges import charge_of
    from takifugu.accounting.composition.composing import compose, joint
    from takifugu.accounting.composition.losses import Joint
    from takifugu.analysis.guarantee import Charge

__all__ = ["Charge", "Joint", "charge_of", "compose", "joint"]

__getattr__ = loading(
    __name__,
    {"Charge": "charges", "Joint": "losses", "charge_of": "charges", "compose": "composing", "joint": "composing"},
)
