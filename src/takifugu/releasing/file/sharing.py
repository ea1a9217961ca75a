"""Tables that share the joint promise of their file: which they are, and what is wrong with them.

A table without an epsilon of its own shares `joint_epsilon` and `joint_delta` with all others like it that are about
the same window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from takifugu.calibration import LARGEST_EPSILON, LEAST_EPSILON
from takifugu.core.errors import TakifuguError
from takifugu.core.sections import written
from takifugu.model.frameworks import Framework
from takifugu.numbers.rationals import Number, as_delta, as_epsilon
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.sections import Item, SharedTable, per_of, window_of

#: The queries that choose among declared values.
CHOICES = ("median", "quantile", "mode", "top-k")
ITS_EPSILON = "give the table an epsilon of its own"
#: The keys that say about which window a table is.
_WINDOW = {"from_": "from", "to": "to", "window": "window", "every": "every"}


def epsilon_of(file: ReleaseFile, item: Item) -> Number:
    """Return the epsilon of a table: its own, or the one that it shares."""
    epsilon = file.spec.joint_epsilon if item.epsilon is None else item.epsilon
    assert epsilon is not None  # which `sharing_problems` requires
    return epsilon


def delta_of(file: ReleaseFile, item: Item) -> Number:
    """Return the delta of a table: its own, or the one that it shares."""
    return file.spec.joint_delta if item.epsilon is None else item.delta


def begins_series(file: ReleaseFile, item: Item) -> bool:
    """Whether a table begins a series if its noise is normal: the file says so, or it shares a delta."""
    return file.source.begins_series or (item.epsilon is None and as_delta(file.spec.joint_delta) > 0)


def sharing(file: ReleaseFile, item: Item) -> tuple[Item, ...]:
    """Return the tables that share the joint epsilon with one, itself among them, whichever are published now."""
    window = window_of(item)
    same = [one for one in (*file.items, *file.others) if one.epsilon is None and window_of(one) == window]
    return tuple(sorted(same, key=lambda one: one.name))


def importance_of(item: Item) -> Number:
    """Return what one unit of a table's error counts beside the others that share an epsilon; 1 by default."""
    importance = item.importance if isinstance(item, SharedTable) else None
    return 1 if importance is None else importance


def sharing_problems(
    items: Sequence[Item | None], joint: Number | None, delta: Number, framework: Framework | None, has_units: bool
) -> Iterator[TakifuguError]:
    """Yield what is wrong with the tables that share an epsilon, and with those that have none at all.

    `joint` and `delta` are the file's joint promise, `framework` what is known of what is hidden from whom.
    """
    sharers = [(number, item) for number, item in enumerate(items) if item is not None and item.epsilon is None]
    for number, item in enumerate(items):
        if item is not None and item.epsilon is not None and written(item, ("importance",)):
            what = "belongs to a table that shares the joint epsilon"
            yield fault(("release", number, "importance"), what, "leave it out, or leave the table's epsilon out")
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
        what = f"is given, and under the definition {framework.definition!r} no losses of entries add up"
        yield fault(("joint_epsilon",), what, "give each table an epsilon of its own")
    for number, item in sharers:
        yield from _keys_of_sharing(item, number)
        if failing:
            yield from _keys_at_delta(item, number, has_units)
    for number, item in sharers[1:]:
        yield from _other_data(item, number, sharers[0][1], has_units)


def _keys_of_sharing(item: Item, number: int) -> Iterator[TakifuguError]:
    where = ("release", number)
    if as_delta(item.delta) > 0:
        what = "belongs to a table that shares the joint epsilon"
        yield fault((*where, "delta"), what, f"write joint_delta above all sections, or {ITS_EPSILON}")
    if item.mechanism != "auto":
        what = f"is {item.mechanism!r}, and the noise of tables that share an epsilon is found together"
        yield fault((*where, "mechanism"), what, f"leave it out, or {ITS_EPSILON}")
    if item.allow_zero_noise:
        what = "is true, and noise that is shared is never zero"
        yield fault((*where, "allow_zero_noise"), what, f"leave it out, or {ITS_EPSILON}")
    if per_of(item) == "both":
        what = "is 'both', which publishes two tables of one release"
        yield fault((*where, "per"), what, f'write per = "unit" or per = "pooled", or {ITS_EPSILON}')


def _keys_at_delta(item: Item, number: int, has_units: bool) -> Iterator[TakifuguError]:
    """Yield what cannot share normal noise."""
    where, fix = ("release", number), f"leave joint_delta out, or {ITS_EPSILON}"
    if item.query in CHOICES:
        yield fault((*where, "query"), "publishes a choice, to which no normal noise is added", fix)
    if has_units and per_of(item) == "pooled":
        yield fault((*where, "per"), "is 'pooled', and normal noise over several people has no joint promise", fix)


def _other_data(item: Item, number: int, first: Item, has_units: bool) -> Iterator[TakifuguError]:
    """Yield what is not about the same data as the first table that shares the epsilon."""
    one, other = per_of(item), per_of(first)
    if has_units and one != other and "both" not in (one, other):
        what = f"is {one!r}, and {first.name!r}, which shares the epsilon, has {other!r}"
        yield fault(("release", number, "per"), what, f"write the same, or {ITS_EPSILON}")
    for attribute, key in _WINDOW.items():
        if getattr(item, attribute, None) != getattr(first, attribute, None):
            what = f"is not that of {first.name!r}, which shares the epsilon"
            yield fault(("release", number, key), what, f"write the same window, or {ITS_EPSILON}")
            return
