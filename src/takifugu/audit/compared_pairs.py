"""Which hypotheses a secret compares, by the meaning of its plain data over the values that occur.

A second listing, beside the families that calibrations use (`model.secrets.families`): every entry, every two values
that some joint state has there, and of them those that the words of the secret name.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

from takifugu.analysis.questions.joint_states import States
from takifugu.core.entries import position
from takifugu.core.plain import Plain
from takifugu.model.beliefs import Belief
from takifugu.model.policies.policy import Policy
from takifugu.model.policies.predicates import Predicate, Record
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import View, absent_index

#: Ordered pairs of numbers of values, or of hypotheses.
Pairs = tuple[tuple[int, int], ...]


def of_entries(secret: Secret, belief: Belief, states: States) -> Iterator[tuple[int, Pairs]]:
    """Yield each secret entry, with the ordered pairs of its values.

    A kind of secret that was registered elsewhere has no other meaning than its family.
    """
    words = secret.to_dict()
    if words["kind"] not in _ENTRIES:
        family = secret.family(belief)
        yield from ((entry, family.value_pairs(belief, entry)) for entry in family.entries)
        return
    for entry in _ENTRIES[words["kind"]](words, belief):
        letters, absent = belief.alphabet(entry), absent_index(belief, entry)
        occurring = set(states.values[:, entry].tolist())
        if states.nothing:  # of a user whose value is unknown
            occurring.add(states.nothing[entry])
        pairs = permutations(sorted(occurring), 2)
        yield entry, tuple(pair for pair in pairs if _is_of_entry(words, letters, absent, pair))


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
        of_left = [_is_in(left, members) for members in words["sets"]]
        of_right = [_is_in(right, members) for members in words["sets"]]
        return any(of_left) and any(of_right) and of_left != of_right
    if words.get("max_difference") is not None and not _are_near(left, right, words["max_difference"]):
        return False
    if words.get("values") is not None:
        has_left = any(_are_same(left, number) for number in words["values"])
        return has_left and any(_are_same(right, number) for number in words["values"])
    if words.get("interval") is not None:
        low, high = map(Fraction, words["interval"])
        return all(low <= _number(value) <= high for value in (left, right))
    return True


def is_allowed(policy: Policy, before: Record, after: Record) -> bool:
    """Whether a record's move keeps every true predicate of a policy."""
    values_before = before if isinstance(before, frozenset) else frozenset((before,))
    values_after = after if isinstance(after, frozenset) else frozenset((after,))
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


def _everyone(words: Plain, belief: Belief) -> Iterable[int]:
    if words["attribute"] is None:
        return range(belief.size)
    return (belief.position(words["attribute"]),)


def _users(words: Plain, belief: Belief) -> Iterable[int]:
    if words["user"] is None:
        return range(belief.size)
    return (position(belief, words["user"]),)


#: The entries that a secret is about, by its kind.
_ENTRIES: dict[str, Callable[[Plain, Belief], Iterable[int]]] = {
    "every-entry": _everyone,
    "entry": lambda words, belief: (position(belief, words["entry"]),),
    "presence": _users,
    "distribution-parameter": lambda words, belief: (belief.position(words["column"]),),
}


def _is_of_entry(words: Plain, letters: Sequence[Hashable], absent: int | None, pair: tuple[int, int]) -> bool:
    if words["kind"] == "entry":
        return {letters[value] for value in pair} == {words["a"], words["b"]}
    if words["kind"] == "presence":
        return absent in pair
    if absent in pair or words["kind"] == "every-entry":
        return absent not in pair
    return are_compared(words, *(letters[value] for value in pair))


def _is_in(value: Any, members: Any) -> bool:
    """Whether a number is in a set given as plain data."""
    if not isinstance(members, Mapping):
        return value in map(Fraction, members)
    for low, high in members.get("intervals", [members.get("between")]):
        if (low is None or Fraction(low) <= value) and (high is None or value < Fraction(high)):
            return True
    return False


def _are_near(left: Any, right: Any, reach: Any) -> bool:
    lefts = left if isinstance(left, tuple) else (left,)
    rights = right if isinstance(right, tuple) else (right,)
    most = reach if isinstance(reach, list) else [reach]
    coordinates = zip(lefts, rights, most, strict=True)
    return all(abs(_number(x) - _number(y)) <= Fraction(far) for x, y, far in coordinates)


def _are_same(value: Any, number: Any) -> bool:
    return bool(value == number) or (isinstance(value, Fraction) and value == Fraction(str(number)))


def _number(value: Any) -> Fraction:
    if isinstance(value, bool):
        return Fraction(int(value))
    return Fraction(str(value))
