"""Answers and their changes by definition: one number at a time, every data set enumerated, Fractions throughout."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

Answer = tuple[Fraction, ...]


def answer(
    form: Mapping[str, Any],
    data: Sequence[Any],
    columns: Sequence[Any] | None = None,
    alphabets: Sequence[Sequence[Any]] = (),
) -> Answer:
    """Return the true answer of a query, given as its plain form, to one data set (a list of states, or of records).

    `columns` are the names of the entries, or of the columns of records; `alphabets` say what each entry can be.
    """
    return tuple(Fraction(number) for number in _OF_KIND[form["kind"]](form, data, columns, alphabets))


def _by(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    for _, chosen in form["cells"]:
        yield from answer({**form["query"], "entries": chosen}, data, columns, alphabets)


def _together(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    for part in form["queries"]:
        yield from answer(part, data, columns, alphabets)


def _count(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    yield Fraction(sum(data[i] in form["states"] for i in _read(form, data, columns)))


def _histogram(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    for cell in form["states"] or _values(alphabets):
        yield Fraction(sum(data[i] == cell for i in _read(form, data, columns)), form["total"] or 1)


def _count_above(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    for threshold in form["thresholds"]:
        yield Fraction(sum(_code(form, data[i]) > Fraction(threshold) for i in _read(form, data, columns)))


def _linear(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    products = [Fraction(w) * _code(form, x) for w, x in zip(form["weights"], data, strict=True)]
    yield sum((_rounded(product, form) for product in products), Fraction(0))


def _sum(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    yield sum((_rounded(_code(form, data[i]), form) for i in _read(form, data, columns)), Fraction(0))


def _mean(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    for total in _sum(form, data, columns, alphabets):
        yield total / len(_read(form, data, columns))


def _top(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    """Yield half of the count of each candidate, and of the entries that are none."""
    yield from _halves([data[i] for i in _read(form, data, columns)], form["states"] or _values(alphabets))


def _quantile(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    states = [data[i] for i in _read(form, data, columns)]
    if form["states"] is not None:
        yield from _halves(states, form["states"])
        return
    numbers = sorted({_code(form, state) for state in _values(alphabets)})
    yield from _halves([_code(form, state) for state in states], numbers)


def _halves(states: Sequence[Any], candidates: Sequence[Any]) -> Iterator[Fraction]:
    for candidate in candidates:
        yield Fraction(sum(state == candidate for state in states), 2)
    yield Fraction(sum(state not in candidates for state in states), 2)


def _visitors(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    everywhere = sorted({place for record in _values(alphabets) for place in record}, key=str)
    for place in form["places"] or everywhere:
        yield Fraction(sum(place in record for record in data))


def _each_value(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    for values, value in zip(alphabets, data, strict=True):
        yield Fraction(list(values).index(value))


def _every_change(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    places = [list(values).index(value) for values, value in zip(alphabets, data, strict=True)]
    for cell in range(max(map(len, alphabets))):
        yield Fraction(places.count(cell), 2)


def _count_rows(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    rows = 0
    for record in data:
        each = [record[list(columns).index(name)] in states for name, states in form["where"]]
        rows += any(each) if form["any_of"] else all(each)
    yield Fraction(rows)


def _cross_table(form: Any, data: Any, columns: Any, alphabets: Any) -> Iterator[Fraction]:
    """Yield a count for each cell; `alphabets` are those of the columns."""
    places = [list(columns).index(name) for name, _ in form["columns"]]
    values = [chosen or alphabets[place] for (_, chosen), place in zip(form["columns"], places, strict=True)]
    for cell in product(*values):
        yield Fraction(sum(tuple(record[place] for place in places) == cell for record in data), form["total"] or 1)


#: What each kind of query adds up; a threshold publishes no other number than what it is about.
_OF_KIND: dict[str, Any] = {
    "by": _by, "together": _together, "count": _count, "histogram": _histogram, "count-above": _count_above,
    "linear": _linear, "sum": _sum, "identity": _sum, "mean": _mean, "top-k": _top, "quantile": _quantile,
    "visitors": _visitors, "each-value": _each_value, "every-change": _every_change, "count-rows": _count_rows,
    "cross-table": _cross_table, "at-most": lambda form, *about: answer(form["query"], *about),
}  # fmt: skip


def _values(alphabets: Sequence[Sequence[Any]]) -> list[Any]:
    """Return all values that some entry can have, in the order in which they come."""
    return list(dict.fromkeys(value for values in alphabets for value in values))


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
