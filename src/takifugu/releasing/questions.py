"""What is asked of the private data: an answer to publish, and the same once its data were read and found valid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from takifugu.frameworks import Framework
from takifugu.releasing.truth import Seen

if TYPE_CHECKING:
    from takifugu.calibration import Calibration


@dataclass(frozen=True, eq=False)
class Question:
    """One answer to be published: its calibration, the private data, and the units whose data it reads.

    `readers` are the units that are debited ("" where a source is one unit), each with the framework about its data;
    `unit` is None where the answer is not about one unit alone. Questions with the same `release` name are one release.
    `written` are the readers' names as the data or the caller spell them, `at` is the declared step where the data
    start in the unit's one recording.
    """

    release: str
    unit: str | None
    calibration: Calibration
    data: Any = field(repr=False)
    readers: Mapping[str, Framework] = field(repr=False)
    written: Mapping[str, str] = field(default_factory=dict, repr=False)
    at: int | None = None


@dataclass(frozen=True, eq=False)
class Ready:
    """A question whose data were read and found valid, before anything is paid for."""

    question: Question
    labels: tuple[str, ...]
    seen: Seen = field(repr=False)
