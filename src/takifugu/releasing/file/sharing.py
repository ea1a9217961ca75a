"""What tables promise, each for itself or together, and what is wrong with it, whatever their data.

A table without an epsilon of its own shares `joint_epsilon` with all others like it that are about the same window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from takifugu.calibration import LARGEST_EPSILON, LEAST_EPSILON
from takifugu.calibration.registry import find
from takifugu.core.errors import TakifuguError
from takifugu.model.frameworks import Framework
from takifugu.numbers.rationals import Number, as_delta, as_epsilon
from takifugu.numbers.transport.metrics import Declared, declared
from takifugu.releasing.file.calendars import WINDOW_KEYS
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.problems import blamed, broken, fault
from takifugu.releasing.file.sections import Table, numbered

#: The queries that choose among declared values.
CHOICES = ("median", "quantile", "mode", "top-k")
ITS_EPSILON = "give the table an epsilon of its own"
_SHARES = "belongs to a table that shares the joint epsilon"
_EPSILONS = "it must lie between 1e-9 and 10000, write for example 1.0"


def promise_problems(item: Table, number: int, definition: str) -> Iterator[TakifuguError]:
    """Yield the faults of one table's epsilon, delta, mechanism and metric."""
    place = ("table", number)
    if not item.shares_epsilon:
        is_odd = not LEAST_EPSILON <= as_epsilon(item.epsilon) <= LARGEST_EPSILON
        yield from broken((is_odd, f"table.{number}.epsilon", f"is {item.epsilon!r}", _EPSILONS))
    try:
        line = None if item.mechanism == "auto" else find(item.mechanism, definition)
        if line is not None and as_delta(item.delta) > 0 and not line.takes_delta:
            fault_text = f"{line.named_as(item.mechanism)} makes a pure promise that has no use for it"
            yield fault((*place, "delta"), fault_text, "leave delta out")
        if item.metric is not None and (line is None or not line.takes_metric):
            fix = 'write mechanism = "kantorovich-exponential", or leave the metric out'
            yield fault((*place, "metric"), f"is no use to the mechanism {item.mechanism!r}", fix)
    except TakifuguError as error:
        yield blamed(error, *place, "mechanism")
    try:
        metric_of(item)
    except TakifuguError as error:
        yield blamed(error, *place, "metric", *error.where)


def single_release_problems(source: Any, items: Sequence[Table | None]) -> Iterator[TakifuguError]:
    """Yield the fault of a `single_release` with several tables."""
    tables = list(filter(None, items))
    several = len(tables) > 1 or any(item.scope == "both" for item in tables)
    if source.single_release and several:
        yield fault(
            ("source", "single_release"), "is true, and several tables would be published about the same data",
            'publish one table (a single [[table]], not per = "both"), or leave single_release out',
        )  # fmt: skip


def epsilon_of(file: ReleaseFile, item: Table) -> Number:
    """Return the epsilon of a table, or the joint one."""
    if not item.shares_epsilon:
        return item.epsilon
    assert file.spec.joint_epsilon is not None  # which `sharing_problems` requires
    return file.spec.joint_epsilon


def metric_of(item: Table) -> Declared | None:
    """Return the metric that a table declares, if any."""
    if item.metric is None:
        return None
    return declared(item.metric.name, item.metric.parameter)


def sharing(file: ReleaseFile, item: Table) -> tuple[Table, ...]:
    """Return all tables of a table's epsilon: itself, or those of the joint one, unpublished ones included."""
    if not item.shares_epsilon:
        return (item,)
    same = [table for table in (*file.items, *file.others) if table.shares_epsilon and table.period == item.period]
    return tuple(sorted(same, key=lambda table: table.name))


def sharing_problems(
    items: Sequence[Table | None], joint: Number | None, framework: Framework | None, has_units: bool
) -> Iterator[TakifuguError]:
    """Yield the faults of tables with a shared or missing epsilon; `joint` is the file's joint one."""
    sharers, is_summed = [(number, item) for number, item in numbered(items) if item.shares_epsilon], True
    if framework is not None:
        is_summed = framework.definition == "pufferfish" and not framework.is_pair
    if joint is None:
        fix = "write epsilon = 1.0 (the promise, and what each person spends), or joint_epsilon above all sections"
        yield from broken(*((True, f"table.{number}.epsilon", "is missing", fix) for number, _ in sharers))
        return
    yield from broken(
        (not LEAST_EPSILON <= as_epsilon(joint) <= LARGEST_EPSILON, "joint_epsilon", f"is {joint!r}", _EPSILONS),
        (not sharers and None not in items, "joint_epsilon", "is shared by no table",
         "leave the epsilon of those tables out that should share it, or leave joint_epsilon out"),
        (not is_summed, "joint_epsilon", "is given, and under this definition no losses of entries add up",
         "give each table an epsilon of its own"),
    )  # fmt: skip
    for number, item in sharers:
        yield from _faults_of_sharing(item, f"table.{number}", sharers[0][1], has_units)


def _faults_of_sharing(
    item: Table, place: str, first: Table, has_units: bool
) -> Iterator[TakifuguError]:
    """Yield the faults of a table that shares an epsilon; `first` is the first one that does."""
    leave = f"leave it out, or {ITS_EPSILON}"
    has_other_scope = has_units and item.scope != first.scope and "both" not in (item.scope, first.scope)
    yield from broken(
        (as_delta(item.delta) > 0, f"{place}.delta", _SHARES, leave),
        (item.mechanism != "auto", f"{place}.mechanism",
         f"is {item.mechanism!r}, and the noise of tables that share an epsilon is found together", leave),
        (item.allow_zero_noise, f"{place}.allow_zero_noise", "is true, and noise that is shared is never zero", leave),
        (item.scope == "both", f"{place}.per", "is 'both', which publishes two tables of one release",
         f'write per = "unit" or per = "pooled", or {ITS_EPSILON}'),
        (has_other_scope, f"{place}.per",
         f"is {item.scope!r}, and {first.name!r}, which shares the epsilon, has {first.scope!r}",
         f"write the same, or {ITS_EPSILON}"),
    )  # fmt: skip
    for key, attribute in WINDOW_KEYS.items():
        if getattr(item, attribute, None) != getattr(first, attribute, None):
            what = f"is not that of {first.name!r}, which shares the epsilon"
            yield from broken((True, f"{place}.{key}", what, f"write the same window, or {ITS_EPSILON}"))
            return
