"""What a charge and an audit ask of a calibration: what is hidden, what is published, the noise, the promise."""

from typing import Protocol, runtime_checkable

from takifugu.analysis.guarantee import Guarantee
from takifugu.analysis.randomisers import Randomiser
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query


@runtime_checkable
class Calibrated(Protocol):
    """A calibration, as those see it that may not import one."""

    @property
    def framework(self) -> Framework: ...

    @property
    def query(self) -> Query: ...

    @property
    def randomiser(self) -> Randomiser: ...

    @property
    def guarantee(self) -> Guarantee: ...
