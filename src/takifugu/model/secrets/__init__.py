"""What must stay hidden: hypotheses about the data, and the lazy families of ordered pairs that are compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from typing import Protocol, runtime_checkable

import numpy as np

from takifugu.core.arrays import BoolArray
from takifugu.core.cache import cached
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain, PlainForm
from takifugu.core.registry import Registry
from takifugu.model.secrets.families import Believed, Family, InOrder, View
from takifugu.model.secrets.hypotheses import Comparison, Hypothesis, LawIs, PropertyIs, compared_runs, entry_is

#: Kinds of secrets about facts: the data say which hypothesis holds. Of other kinds nobody knows.
OF_FACTS = frozenset(("every-entry", "every-run", "entry", "presence", "dataset-property"))
#: Keys of written secrets that compare each value with some others only.
_OF_SOME = ("max_difference", "pairs", "sets")


@runtime_checkable
class Secret(Protocol):
    def family(self, belief: Believed) -> Family: ...

    def to_dict(self) -> Json: ...

    def describe(self) -> str: ...


@runtime_checkable
class OfViews(Protocol):
    """A secret about something else than entries, which reads a belief by a view of it."""

    def view(self, belief: Believed) -> View | None: ...


@runtime_checkable
class Weighted(Protocol):
    """A secret whose epsilon is multiplied by another number in each comparison."""

    def weight(self, belief: Believed, left: Hashable, right: Hashable) -> float: ...


@dataclass(frozen=True)
class WhichLaw(PlainForm, kind="which-law"):
    """Hide which of two distributions the answer is drawn from."""

    def family(self, belief: Believed) -> Family:
        return Family((0,), ((0, 1), (1, 0)))

    def describe(self) -> str:
        return "which of the two distributions the answer comes from"


def compares_some(secret: Plain) -> bool:
    """Return whether a written secret leaves values uncompared."""
    return any(map(secret.get, _OF_SOME))


def from_dict(data: Plain) -> Secret:
    """Read a secret back from its `to_dict` form."""
    return KINDS.find(data.get("kind"))(data)


def check_registered(secret: Secret) -> None:
    """Raise InputError for a secret read back as another type."""
    kind, kind_read = type(secret), type(from_dict(secret.to_dict()))
    if kind is not kind_read:
        raise InputError(
            f"a secret of type {kind.__name__} reads back from its to_dict as one of {kind_read.__name__}",
            rule="a ledger charges for what it reads back", fix="register its type under a kind of its own",
        ).at("kind")  # fmt: skip


#: How each kind of secret is read back.
KINDS: Registry[Callable[[Plain], Secret]] = Registry(
    "the secret's kind",
    {
        "every-entry": "model.secrets.of_entries:EveryEntry.from_dict",
        "every-run": "model.secrets.of_entries:EveryRun.from_dict",
        "entry": "model.secrets.of_entries:EntryPair.from_dict",
        "presence": "model.secrets.of_entries:Presence.from_dict",
        "which-law": "model.secrets:WhichLaw.from_dict",
        "dataset-property": "model.secrets.declared_properties:property_from",
        "distribution-parameter": "model.secrets.declared_properties:parameter_from",
        "policy": "model.policies.policy:policy_from",
        "which-population": "model.secrets.of_populations:WhichPopulation.from_dict",
    },
)
register = KINDS.register


def view(secret: Secret, belief: Believed) -> View | None:
    """Return the belief about a secret's values, None where the belief is read as it is."""
    if not isinstance(secret, OfViews):
        return None
    return cached(belief, (view, secret), lambda: secret.view(belief))


def comparisons(secret: Secret, belief: Believed) -> Iterator[Comparison]:
    """Yield the ordered comparisons of a secret, for tests and small cases."""
    read_view = view(secret, belief)
    whole = belief
    if read_view is not None:
        belief = read_view
    family = secret.family(belief)
    if family.run > 1 and isinstance(belief, InOrder):
        yield from _of_runs(belief, family)
        return
    for place in family.entries:
        values = belief.alphabet(place)
        for a, b in family.value_pairs(belief, place):
            left: Hypothesis
            right: Hypothesis
            if isinstance(secret, WhichLaw):
                left, right = LawIs(str(values[a])), LawIs(str(values[b]))
            elif read_view is not None:
                left, right = map(PropertyIs, map(read_view.describe_hypothesis, (a, b)))
            else:
                left, right = entry_is(belief, place, a), entry_is(belief, place, b)
            weight = secret.weight(whole, values[a], values[b]) if isinstance(secret, Weighted) else 1.0
            yield Comparison(belief, left, right, weight)


def _of_runs(belief: InOrder, family: Family) -> Iterator[Comparison]:
    """Yield every two paths of each run that have a positive probability under some law of the belief."""
    for number, sequence in enumerate(belief.components()):
        piece = belief.component(number)
        length = min(family.run, len(sequence))
        followers = piece.followers
        for first in range(len(sequence) - length + 1):
            values = [np.flatnonzero(piece.possible(first + step)).tolist() for step in range(length)]
            paths = [path for path in product(*values) if _can_be(path, first, followers)]
            for left, right in permutations(paths, 2):
                yield compared_runs(belief, sequence.start + first, (left, right))


def _can_be(path: tuple[int, ...], first: int, followers: BoolArray | None) -> bool:
    """Return whether each value of a path can follow the one before it."""
    if followers is None:
        return True
    steps = enumerate(pairwise(path), start=first)
    return all(followers[entry % len(followers)][before, after] for entry, (before, after) in steps)
