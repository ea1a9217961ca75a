"""What many releases about one source promise together."""

from takifugu.composition.charges import charge_of
from takifugu.composition.joint import compose, joint
from takifugu.composition.losses import Joint
from takifugu.guarantee import Charge

__all__ = ["Charge", "Joint", "charge_of", "compose", "joint"]
