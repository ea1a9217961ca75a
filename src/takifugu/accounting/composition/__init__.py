"""What many releases about one source promise together."""

from takifugu.accounting.composition.charges import charge_of
from takifugu.accounting.composition.joint import compose, joint
from takifugu.accounting.composition.losses import Joint
from takifugu.analysis.guarantee import Charge

__all__ = ["Charge", "Joint", "charge_of", "compose", "joint"]
