"""Which hypotheses a secret compares, by the meaning of its plain data over the values that occur.

A second listing, beside the families that calibrations use (`model.secrets.families`): every entry, every two values
that some joint state has there, and of them those that the words of the secret name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.entries import position
from takifugu.core.plain import Plain
from takifugu.model.beliefs import Belief
from takifugu.model.policies.policy import Policy
from takifugu.model.policies.predicates import Predicate, Record, held
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import View, absent_index

#: Ordered pairs of numbers of values, or of hypotheses.
Pairs = tuple[tuple[int, int], ...]
#: All paths of a run are compared up to so many.
MOST_PATHS = 64


def of_entries(
    secret: Secret, belief: Belief, occurring: Callable[[int], Iterable[int]]
) -> Iterator[tuple[int, Pairs]]:
    """Yield each secret entry, with the ordered pairs of its occurring values."""
    words = secret.to_dict()
    if words["kind"] not in _ENTRIES:
        # A kind of secret from elsewhere has no other meaning than its family.
        family = secret.family(belief)
        for entry in family.entries:
            yield entry, family.value_pairs(belief, entry)
        return
    for entry in _entries(words, belief):
        letters, absent = belief.alphabet(entry), absent_index(belief, entry)
        pairs = permutations(sorted(occurring(entry)), 2)
        yield entry, tuple(pair for pair in pairs if _is_of_entry(words, letters, absent, pair))


def runs_of(secret: Secret, belief: Belief) -> Iterator[tuple[int, int]]:
    """Yield the first entry of each secret run, and its length; none of a secret about single entries."""
    words = secret.to_dict()
    if words["kind"] != "every-run":
        return
    for sequence in belief.components():
        length = min(int(words["length"]), len(sequence))
        for first in range(sequence.start, sequence.stop - length + 1):
            yield first, length


def is_of_runs(secret: Secret) -> bool:
    return bool(secret.to_dict()["kind"] == "every-run")


def paths(values: int, length: int) -> IntArray:
    """Return the paths of a run that are compared: all, or those that change at its ends only, one a row."""
    if are_all_compared(values, length):
        return np.array(list(product(range(values), repeat=length)))
    ends: Iterable[tuple[int, ...]] = ((value, value, value) for value in range(values))
    if values**3 <= MOST_PATHS:
        ends = product(range(values), repeat=3)
    return np.array([(first, *[middle] * (length - 2), last) for first, middle, last in ends])


def are_all_compared(values: int, length: int) -> bool:
    """Whether all paths of a run are few enough to be compared."""
    return length == 1 or length * math.log(max(values, 1)) <= math.log(MOST_PATHS) + 1e-9


def left_out(secrets: Iterable[Secret], belief: Belief) -> str:
    """Say which paths of runs are not compared; "" where all are."""
    for secret in secrets:
        longest = max((length for _, length in runs_of(secret, belief)), default=1)
        if longest > 1 and not are_all_compared(len(belief.alphabet(0)), longest):
            return (
                f"runs of {longest} steps have more paths than the audit compares, so it compares those that change "
                "after the first or before the last step only: a lower bound"
            )
    return ""


def of_view(secret: Secret, view: View, occurring: Iterable[int]) -> Pairs:
    """Return a secret's ordered pairs of `occurring` column or population hypotheses."""
    words, hypotheses = secret.to_dict(), view.alphabet(0)
    pairs = tuple(permutations(sorted(set(occurring)), 2))
    if words.get("sets") is not None and all(isinstance(number, int) for number in hypotheses):
        return pairs  # a hypothesis is a set already
    return tuple((a, b) for a, b in pairs if are_compared(words, hypotheses[a], hypotheses[b]))


def are_compared(words: Plain, left: Any, right: Any) -> bool:
    """Whether a secret's words compare two numbers, vectors or letters."""
    if words.get("pairs") is not None:
        return any({left, right} == {Fraction(a), Fraction(b)} for a, b in words["pairs"])
    if words.get("sets") is not None:
        of_left = list(map(partial(_is_in, left), words["sets"]))
        of_right = list(map(partial(_is_in, right), words["sets"]))
        return True in of_left and True in of_right and of_left != of_right
    if words.get("max_difference") is not None and not _are_near(left, right, words["max_difference"]):
        return False
    if words.get("values") is not None:
        return _is_listed(left, words["values"]) and _is_listed(right, words["values"])
    if words.get("interval") is not None:
        low, high = map(Fraction, words["interval"])
        return low <= _number(left) <= high and low <= _number(right) <= high
    return True


def is_allowed(policy: Policy, before: Record, after: Record) -> bool:
    """Whether a record's move keeps every true predicate of a policy."""
    values_before, values_after = held(before), held(after)
    for rule in policy.rules:
        words = rule.to_dict()
        values = frozenset(words.get("values") or (values_before | values_after))
        if words["kind"] == "none-of":
            stays = bool(values_before & values) or not values_after & values
        elif words["kind"] == "any-of":
            stays = not values_before & values or bool(values_after & values)
        elif words["kind"] == "each-of":
            stays = values_after & values <= values_before
        else:  # a function of a record is its own meaning
            stays = isinstance(rule, Predicate) and (not rule(before) or rule(after))
        if not stays:
            return False
    return True


#: The word that names a secret's entry, by its kind; None stands for every entry.
_ENTRIES = {"every-entry": "attribute", "entry": "entry", "presence": "user", "distribution-parameter": "column"}


def _entries(words: Plain, belief: Belief) -> Iterable[int]:
    """Return the entries of a secret, by its words."""
    name = words[_ENTRIES[words["kind"]]]
    if name is None:
        return range(belief.size)
    if words["kind"] in ("entry", "presence"):
        return (position(belief, name),)
    return (belief.position(name),)


def _is_of_entry(words: Plain, letters: Sequence[Hashable], absent: int | None, pair: tuple[int, int]) -> bool:
    if words["kind"] == "presence":
        return absent in pair
    left, right = map(letters.__getitem__, pair)
    if words["kind"] == "entry":
        return {left, right} == {words["a"], words["b"]}
    if absent in pair or words["kind"] == "every-entry":
        return absent not in pair
    return are_compared(words, left, right)


def _is_in(value: Any, members: Any) -> bool:
    """Whether a number is in a set given as plain data."""
    if not isinstance(members, Mapping):
        return value in map(Fraction, members)
    for low, high in members.get("intervals", [members.get("between")]):
        if (low is None or Fraction(low) <= value) and (high is None or value < Fraction(high)):
            return True
    return False


def _are_near(left: Any, right: Any, reach: Any) -> bool:
    """Whether two numbers, or vectors, differ by `reach` at most."""
    if not isinstance(left, tuple):
        left, right = (left,), (right,)
    if not isinstance(reach, list):
        reach = [reach]
    coordinates = zip(left, right, reach, strict=True)
    return all(abs(_number(x) - _number(y)) <= Fraction(far) for x, y, far in coordinates)


def _is_listed(value: Any, numbers: Sequence[Any]) -> bool:
    if value in numbers:
        return True
    return isinstance(value, Fraction) and value in map(Fraction, map(str, numbers))


def _number(value: Any) -> Fraction:
    if isinstance(value, bool):
        return Fraction(int(value))
    return Fraction(str(value))
