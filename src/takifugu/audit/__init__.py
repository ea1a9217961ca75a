"""The true loss of a mechanism, found without the mathematics that calibrated it."""

from __future__ import annotations

from takifugu.audit.exact import Audit, joint_loss, true_delta, true_loss

__all__ = ["Audit", "joint_loss", "true_delta", "true_loss"]
