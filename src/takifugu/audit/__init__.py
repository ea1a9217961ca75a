"""The true loss of a mechanism, found without the mathematics that calibrated it."""

from __future__ import annotations

from takifugu.audit.exact import Audit, exact_delta, exact_loss, joint_loss
from takifugu.audit.sampling import LowerBound, sampled_loss

__all__ = ["Audit", "LowerBound", "exact_delta", "exact_loss", "joint_loss", "sampled_loss"]
