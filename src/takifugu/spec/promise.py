"""What the tables of a release file promise, whatever its data: are they promises that some mechanism can make?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from takifugu.calibration import LARGEST_EPSILON, LEAST_EPSILON
from takifugu.calibration.registry import find
from takifugu.errors import TakifuguError
from takifugu.laws.rationals import as_delta, as_epsilon
from takifugu.spec.problems import as_problem

if TYPE_CHECKING:
    from takifugu.spec.records.sections import RecordItemSpec, RecordSourceSpec
    from takifugu.spec.sections import ItemSpec, SourceSpec


def promise_problems(item: ItemSpec | RecordItemSpec, path: str) -> Iterator[str]:
    """Yield what is wrong with the epsilon, delta and mechanism of one table, each as `path: what; what instead`."""
    if not LEAST_EPSILON <= as_epsilon(item.epsilon) <= LARGEST_EPSILON:
        yield f"{path}.epsilon: is {item.epsilon!r}; it must lie between 1e-9 and 10000, write for example 1.0"
    try:
        line = None if item.mechanism == "auto" else find(item.mechanism)
        if line is not None and as_delta(item.delta) > 0 and not line.takes_delta:
            yield f"{path}.delta: {item.mechanism} makes a pure promise that has no use for it; leave delta out"
    except TakifuguError as error:
        yield f"{path}.mechanism: {as_problem(error)}"


def only_release_problems(
    source: SourceSpec | RecordSourceSpec, items: Sequence[ItemSpec | RecordItemSpec | None]
) -> Iterator[str]:
    """Yield what is wrong where a file with several tables about the same data calls each of them the only one."""
    several = len(items) > 1 or any(getattr(item, "per", "") == "both" for item in items)
    if source.only_release and several:
        yield (
            "source.only_release: is true, and several tables would be published about the same data; publish one "
            "table (a single [[release]], not per = \"both\"), or leave only_release out"
        )
