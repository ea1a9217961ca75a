"""What tables promise, each for itself or together, and what is wrong with it, whatever their data.

A table without an epsilon of its own shares `joint_epsilon` and `joint_delta` with all others like it that are about
the same window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from takifugu.calibration import LARGEST_EPSILON, LEAST_EPSILON
from takifugu.calibration.registry import find
from takifugu.core.errors import TakifuguError
from takifugu.core.sections import written
from takifugu.model.frameworks import Framework
from takifugu.numbers.rationals import Number, as_delta, as_epsilon
from takifugu.numbers.transport.metrics import Declared
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.sections import SourceKeys
from takifugu.releasing.file.tables import SharedTable, Table

#: The queries that choose among declared values.
CHOICES = ("median", "quantile", "mode", "top-k")
ITS_EPSILON = "give the table an epsilon of its own"
_SHARES, _ONE_SCOPE = "belongs to a table that shares the joint epsilon", 'write per = "unit" or per = "pooled"'
#: The keys that say about which window a table is.
_WINDOW = {"from_": "from", "to": "to", "window": "window", "every": "every"}


def promise_problems(item: Table, number: int, definition: str) -> Iterator[TakifuguError]:
    """Yield the faults of one table's epsilon, delta, mechanism and metric."""
    place = ("release", number)
    if not item.shares_epsilon and not LEAST_EPSILON <= as_epsilon(item.epsilon) <= LARGEST_EPSILON:
        rule = "it must lie between 1e-9 and 10000, write for example 1.0"
        yield fault((*place, "epsilon"), f"is {item.epsilon!r}", rule=rule)
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


def only_release_problems(source: SourceKeys, items: Sequence[Table | None]) -> Iterator[TakifuguError]:
    """Yield the fault of an `only_release` with several tables."""
    several = len(items) > 1 or any(item.scope == "both" for item in items if item is not None)
    if source.only_release and several:
        yield fault(
            ("source", "only_release"), "is true, and several tables would be published about the same data",
            'publish one table (a single [[release]], not per = "both"), or leave only_release out',
        )  # fmt: skip


def epsilon_of(file: ReleaseFile, item: Table) -> Number:
    """Return the epsilon of a table, or the joint one."""
    epsilon = file.spec.joint_epsilon if item.shares_epsilon else item.epsilon
    assert epsilon is not None  # which `sharing_problems` requires
    return epsilon


def delta_of(file: ReleaseFile, item: Table) -> Number:
    """Return the delta of a table, or the joint one."""
    return file.spec.joint_delta if item.shares_epsilon else item.delta


def metric_of(item: Table) -> Declared | None:
    """Return the metric that a table declares, if any."""
    return None if item.metric is None else item.metric.declared


def begins_series(file: ReleaseFile, item: Table) -> bool:
    """Return whether a table of normal noise begins a series."""
    return file.source.begins_series or (item.shares_epsilon and as_delta(file.spec.joint_delta) > 0)


def sharing(file: ReleaseFile, item: Table) -> tuple[Table, ...]:
    """Return all tables with a table's joint epsilon, unpublished ones included."""
    same = [table for table in (*file.items, *file.others) if table.shares_epsilon and table.period == item.period]
    return tuple(sorted(same, key=lambda table: table.name))


def importance_of(item: Table) -> Number:
    """Return the weight of a table's error beside others; 1 by default."""
    importance = item.importance if isinstance(item, SharedTable) else None
    return 1 if importance is None else importance


def sharing_problems(
    items: Sequence[Table | None], joint: Number | None, delta: Number, framework: Framework | None, has_units: bool
) -> Iterator[TakifuguError]:
    """Yield the faults of tables with a shared or missing epsilon.

    `joint` and `delta` are the file's joint promise.
    """
    sharers = [(number, item) for number, item in enumerate(items) if item is not None and item.shares_epsilon]
    for number, item in enumerate(items):
        if item is not None and not item.shares_epsilon and written(item, ("importance",)):
            fix = "leave it out, or leave the table's epsilon out"
            yield fault(("release", number, "importance"), _SHARES, fix)
    failing = as_delta(delta)
    if failing and joint is None:
        yield fault(("joint_delta",), "is given without joint_epsilon", "write joint_epsilon, too, or leave it out")
    if joint is None:
        for number, _ in sharers:
            fix = "write epsilon = 1.0 (the promise, and what each person spends), or joint_epsilon above all sections"
            yield fault(("release", number, "epsilon"), "is missing", fix)
        return
    if not LEAST_EPSILON <= as_epsilon(joint) <= LARGEST_EPSILON:
        rule = "it must lie between 1e-9 and 10000, write for example 1.0"
        yield fault(("joint_epsilon",), f"is {joint!r}", rule=rule)
    if not sharers and None not in items:
        fix = "leave the epsilon of those tables out that should share it, or leave joint_epsilon out"
        yield fault(("joint_epsilon",), "is shared by no table", fix)
    if framework is not None and (framework.definition != "pufferfish" or framework.is_pair):
        fault_text = f"is given, and under the definition {framework.definition!r} no losses of entries add up"
        yield fault(("joint_epsilon",), fault_text, "give each table an epsilon of its own")
    for number, item in sharers:
        yield from _keys_of_sharing(item, number)
        if failing:
            yield from _keys_at_delta(item, number, has_units)
    for number, item in sharers[1:]:
        yield from _other_data(item, number, sharers[0][1], has_units)


def _keys_of_sharing(item: Table, number: int) -> Iterator[TakifuguError]:
    leave = "leave it out"
    together = f"is {item.mechanism!r}, and the noise of tables that share an epsilon is found together"
    rules = (
        ("delta", as_delta(item.delta) > 0, _SHARES, "write joint_delta above all sections"),
        ("mechanism", item.mechanism != "auto", together, leave),
        ("allow_zero_noise", item.allow_zero_noise, "is true, and noise that is shared is never zero", leave),
        ("per", item.scope == "both", "is 'both', which publishes two tables of one release", _ONE_SCOPE),
    )
    for key, is_unfit, words, fix in rules:
        if is_unfit:
            yield fault(("release", number, key), words, f"{fix}, or {ITS_EPSILON}")


def _keys_at_delta(item: Table, number: int, has_units: bool) -> Iterator[TakifuguError]:
    """Yield the faults of tables unable to share normal noise."""
    place, fix = ("release", number), f"leave joint_delta out, or {ITS_EPSILON}"
    if item.query in CHOICES:
        yield fault((*place, "query"), "publishes a choice, to which no normal noise is added", fix)
    if has_units and item.scope == "pooled":
        yield fault((*place, "per"), "is 'pooled', and normal noise over several people has no joint promise", fix)


def _other_data(item: Table, number: int, first: Table, has_units: bool) -> Iterator[TakifuguError]:
    """Yield the differences in data of tables with a shared epsilon."""
    scope, other = item.scope, first.scope
    if has_units and scope != other and "both" not in (scope, other):
        fault_text = f"is {scope!r}, and {first.name!r}, which shares the epsilon, has {other!r}"
        yield fault(("release", number, "per"), fault_text, f"write the same, or {ITS_EPSILON}")
    for attribute, key in _WINDOW.items():
        if getattr(item, attribute, None) != getattr(first, attribute, None):
            fault_text = f"is not that of {first.name!r}, which shares the epsilon"
            yield fault(("release", number, key), fault_text, f"write the same window, or {ITS_EPSILON}")
            return
