"""The true loss of a mechanism, found without the mathematics that calibrated it."""

from __future__ import annotations

from takifugu.audit.exact import Audit, joint_loss, true_delta, true_loss
from takifugu.audit.sampling import LowerBound, sampled_loss

__all__ = ["Audit", "LowerBound", "joint_loss", "sampled_loss", "true_delta", "true_loss"]
