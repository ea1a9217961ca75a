"""Answers and their changes by definition: one number at a time, every data set enumerated, Fractions throughout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Answer = tuple[Fraction, ...]


def answer(form: Mapping[str, Any], data: Sequence[Any], columns: Sequence[Any] | None = None) -> Answer:
    """Return the true answer of a query, given as its plain form, to one data set (a list of states)."""
    if form["kind"] == "by":
        parts = [answer({**form["query"], "entries": chosen}, data) for _, chosen in form["cells"]]
        return tuple(number for part in parts for number in part)
    read = _read(form, data, columns)
    kind = form["kind"]
    if kind == "count":
        return (Fraction(sum(data[i] in form["states"] for i in read)),)
    if kind == "histogram":
        return tuple(Fraction(sum(data[i] == c for i in read), form["total"] or 1) for c in form["states"])
    if kind == "count-above":
        return tuple(Fraction(sum(_code(form, data[i]) > Fraction(t) for i in read)) for t in form["thresholds"])
    if kind == "linear":
        products = [Fraction(w) * _code(form, x) for w, x in zip(form["weights"], data, strict=True)]
        return (sum((_rounded(product, form) for product in products), Fraction(0)),)
    total = sum((_rounded(_code(form, data[i]), form) for i in read), Fraction(0))
    return (total / len(read),) if kind == "mean" else (total,)


def largest_change(form: Mapping[str, Any], alphabets: Sequence[Sequence[Any]], changed: Sequence[int]) -> Fraction:
    """Return the largest L1 change of the answer when only the entries in `changed` change, over all data sets."""
    fixed = [i for i in range(len(alphabets)) if i not in changed]
    largest = Fraction(0)
    for rest in product(*(alphabets[i] for i in fixed)):
        answers = list(_answers(form, alphabets, changed, fixed, rest))
        for a in answers:
            for b in answers:
                largest = max(largest, sum((abs(x - y) for x, y in zip(a, b, strict=True)), Fraction(0)))
    return largest


def largest_cell_change(
    form: Mapping[str, Any], alphabets: Sequence[Sequence[Any]], entries: Sequence[int]
) -> Fraction:
    """Return the largest change of one cell when one of `entries` changes, over all data sets."""
    largest = Fraction(0)
    for entry in entries:
        fixed = [i for i in range(len(alphabets)) if i != entry]
        for rest in product(*(alphabets[i] for i in fixed)):
            answers = list(_answers(form, alphabets, [entry], fixed, rest))
            largest = max([largest, *(abs(x - y) for a in answers for b in answers for x, y in zip(a, b, strict=True))])
    return largest


def _answers(
    form: Mapping[str, Any],
    alphabets: Sequence[Sequence[Any]],
    changed: Sequence[int],
    fixed: Sequence[int],
    rest: Sequence[Any],
) -> Iterator[Answer]:
    for moved in product(*(alphabets[i] for i in changed)):
        data = [None] * len(alphabets)
        for i, value in (*zip(fixed, rest, strict=True), *zip(changed, moved, strict=True)):
            data[i] = value
        yield answer(form, data)


def _read(form: Mapping[str, Any], data: Sequence[Any], columns: Sequence[Any] | None) -> list[int]:
    if form.get("attribute") is not None:
        assert columns is not None
        return [list(columns).index(form["attribute"])]
    if form.get("entries") is None:
        return list(range(len(data)))
    return [i for first, last in form["entries"] for i in range(first, last + 1)]


def _code(form: Mapping[str, Any], state: Any) -> Fraction:
    if form.get("codes") is None:
        return Fraction(str(state))
    return next(Fraction(code) for s, code in form["codes"] if s == state)


def _rounded(value: Fraction, form: Mapping[str, Any]) -> Fraction:
    if form.get("grid") is None:
        return value
    grid = Fraction(form["grid"])
    below = value // grid
    rest = value / grid - below
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1)
    return (below + up) * grid
