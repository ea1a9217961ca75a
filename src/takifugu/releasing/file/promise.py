"""What the tables of a release file promise, whatever its data: are they promises that some mechanism can make?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from takifugu.calibration import LARGEST_EPSILON, LEAST_EPSILON
from takifugu.calibration.registry import find
from takifugu.core.errors import TakifuguError
from takifugu.numbers.rationals import as_delta, as_epsilon
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.sections import Item, Source, per_of


def promise_problems(item: Item, number: int, definition: str = "") -> Iterator[TakifuguError]:
    """Yield what is wrong with the epsilon, delta and mechanism of one table under a definition of privacy."""
    where = ("release", number)
    if item.epsilon is not None and not LEAST_EPSILON <= as_epsilon(item.epsilon) <= LARGEST_EPSILON:
        rule = "it must lie between 1e-9 and 10000, write for example 1.0"
        yield fault((*where, "epsilon"), f"is {item.epsilon!r}", rule=rule)
    try:
        line = None if item.mechanism == "auto" else find(item.mechanism, definition)
        if line is not None and as_delta(item.delta) > 0 and not line.takes_delta:
            what = f"{item.mechanism} makes a pure promise that has no use for it"
            yield fault((*where, "delta"), what, "leave delta out")
    except TakifuguError as error:
        yield blamed(error, *where, "mechanism")


def only_release_problems(source: Source, items: Sequence[Item | None]) -> Iterator[TakifuguError]:
    """Yield what is wrong where a file with several tables about the same data calls each of them the only one."""
    several = len(items) > 1 or any(per_of(item) == "both" for item in items if item is not None)
    if source.only_release and several:
        yield fault(
            ("source", "only_release"), "is true, and several tables would be published about the same data",
            'publish one table (a single [[release]], not per = "both"), or leave only_release out',
        )  # fmt: skip
