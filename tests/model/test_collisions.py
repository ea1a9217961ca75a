"""What would be taken for something else, and hide or add up less: names, columns and functions that are read alike."""

import statistics
from functools import partial
from typing import Any

import pytest

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.model.policies.predicates import checked

PAIR: dict[Any, Any] = {"home": {"a": "0.9", "b": "0.1"}, "out": {"a": "0.1", "b": "0.9"}}


def test_a_population_is_never_lost_to_another_one_that_is_written_alike() -> None:
    laws: dict[Any, Any] = {1: PAIR["home"], "1": PAIR["out"], "other": {"a": "0.2", "b": "0.8"}}
    with pytest.raises(InputError, match="populations 1 and '1': they are written alike"):
        tf.FromPopulations(laws)


def test_parameters_and_columns_are_never_lost_to_others_that_are_written_alike() -> None:
    prior, law = tf.JointTable([(0, 0), (1, 1)], [0.5, 0.5], names=[1, "1"]), {0: {"yes": 1}, 1: {"no": 1}}
    with pytest.raises(InputError, match="columns 1 and '1': they are written alike"):
        tf.Parameters(prior, {1: law, "1": law}, 10)  # type: ignore[dict-item]


def test_the_columns_of_sent_rows_are_a_list_that_nobody_changes() -> None:
    """A text was read back as the list of its letters: "ab" and ("a", "b") cost as one column, 2.2 in place of 9.6."""
    with pytest.raises(InputError, match="the columns: this is a text"):
        tf.LocalValue(columns="ab")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not the name of a batch"):
        tf.LocalValue(batch=5)  # type: ignore[arg-type]
    columns: Any = ["a", "b"]
    query = tf.LocalValue(columns=columns)
    columns[:] = ["c"]
    assert query == tf.LocalValue(columns=("a", "b"))


#: How many values `test_a_property_that_reads_something_else` adds up.
COUNT = [1]


def test_a_property_that_reads_something_else_has_noise_of_its_own() -> None:
    """What it calls was edited, and it ran again: it had the noise of before, 1 in place of 6."""
    belief, scales = tf.Records(tf.JointTable([(0,), (1,)], [0.5, 0.5], names=["ill"]), 6), []
    for COUNT[0] in (1, 6):
        hidden = tf.dataset_property("ill", tf.NamedFunction("counted", 1, lambda values: sum(values[: COUNT[0]])))
        scales.append(tf.calibrate(tf.Pufferfish(hidden, belief), tf.Sum("ill"), 1, mechanism="wasserstein").scale)
    assert scales == [1, 6]


def of_first(count: int) -> Any:
    """Return a function that is written as all of these are."""
    return lambda values: sum(values[:count])


def test_another_function_of_one_name_and_version_is_refused() -> None:
    """An edited property had the noise of the one before it, and an edited statistic that one's value."""
    makers: list[Any] = [partial(tf.NamedFunction, "edited", 1), partial(tf.Statistic, "edited", 1, "ill", grid=1)]
    for make, rest in zip(makers, ({}, {"column_sensitivity": 1}), strict=True):
        make(function=lambda values: values[0], **rest)
        make(function=lambda numbers: numbers[0], **rest)  # the same one, written again
        for other in (lambda values: values[1], lambda values: sum(values), sum, of_first(1)):
            with pytest.raises(InputError, match="'edited', version 1, is defined already: give it a new version"):
                make(function=other, **rest)
    once = of_first(1)
    tf.NamedFunction("of first", 1, once)
    tf.NamedFunction("of first", 1, once)
    with pytest.raises(InputError, match="defined already"):
        tf.NamedFunction("of first", 1, of_first(2))


#: How many values `first_values` reads.
LIMIT = 1


def first_values(values: Any) -> Any:
    return values[:LIMIT]


def total(values: Any) -> Any:
    """Return what `test_a_named_function_is_the_one_that_was_named` hides."""
    return sum(first_values(values))


def test_a_named_function_is_the_one_that_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it reads or calls changed: it had the noise of before, 1 in place of 6, or was taken for the one before."""
    belief, scales = tf.Records(tf.JointTable([(0,), (1,)], [0.5, 0.5], names=["ill"]), 6), []
    named = tf.NamedFunction("of some", 1, total)
    for limit in (1, 6):
        monkeypatch.setattr(f"{__name__}.LIMIT", limit)
        hidden = tf.Pufferfish(tf.dataset_property("ill", named), belief)
        scales.append(tf.calibrate(hidden, tf.Sum("ill"), 1, mechanism="wasserstein").scale)
    assert scales == [1, 1]
    assert named([1] * 6) == 1
    with pytest.raises(InputError, match="the function 'of some', version 1, is defined already"):
        tf.NamedFunction("of some", 1, total)
    assert tf.NamedFunction("of some", 2, total)([1] * 6) == 6
    monkeypatch.setattr(f"{__name__}.LIMIT", 1)
    assert tf.NamedFunction("of some", 1, total)([1] * 6) == 1
    monkeypatch.setattr(f"{__name__}.first_values", lambda values: values)
    with pytest.raises(InputError, match="is defined already"):
        tf.NamedFunction("of some", 1, total)


def test_a_function_is_also_what_it_reads_around_it() -> None:
    def count() -> Any:
        return sum(at for at in range(limit))

    def counted(values: Any, first: Any = lambda: count()) -> Any:
        return first() + counted([], lambda: 0) if values else 0

    limit = 3
    named = tf.NamedFunction("around", 1, counted)
    limit = 4
    assert named([1]) == 3
    with pytest.raises(InputError, match="is defined already"):
        tf.NamedFunction("around", 1, counted)


@pytest.mark.parametrize(("first", "second"), [
    (lambda values: values[0] * 1, lambda values: values[0] * 1.0),
    (lambda values: 1 in (values[0], 2), lambda values: True in (values[0], 2)),
    (lambda values: max(values, default=0), lambda values: max(values, default=False)),
])  # fmt: skip
def test_constants_that_are_equal_are_others_of_another_type(first: Any, second: Any) -> None:
    tf.NamedFunction("typed", f"{first.__code__.co_firstlineno}", first)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is defined already"):
        tf.NamedFunction("typed", f"{first.__code__.co_firstlineno}", second)  # type: ignore[arg-type]


def test_methods_and_functions_of_other_modules_are_what_they_are() -> None:
    values = [0, 1]
    for function in (values.count, sum, max, partial(sum, start=1), statistics.median):
        for _ in range(2):
            tf.NamedFunction("as it is", repr(function), function)  # type: ignore[arg-type]
    tf.NamedFunction("as it is", repr(values.count), values.count)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is defined already"):
        tf.NamedFunction("as it is", repr(values.count), [0, 1].count)  # type: ignore[arg-type]


def defined(text: str) -> Any:
    """Return the function `f` of a module with this text, as if a cell of a notebook ran."""
    module = dict[str, Any]()
    exec(text, module)
    return module["f"]


@pytest.mark.parametrize("text", [
    "limit, ends = 10**20, (10**30, 'above')\ndef f(values): return sum(values) > limit or ends",
    "def f(values, *, first=10**20): return f.last\nf.last = 10**20",
    "def f(values): return g(values)\ndef g(values): return f(values)",
    "from collections import namedtuple\nends = namedtuple('Ends', 'low')(0)\ndef f(values): return ends.low",
])  # fmt: skip
def test_a_cell_that_runs_again_defines_the_same_function(text: str) -> None:
    for _ in range(2):
        tf.NamedFunction("of a cell", text, defined(text))  # type: ignore[arg-type]


@pytest.mark.parametrize(("first", "second"), [
    ("def f(values): return max(values, key=lambda x: x)", "def f(values): return max(values, key=lambda x: -x)"),
    ("def f(values, *, a=1, b): return a - b", "def f(values, *, a, b=1): return a - b"),
    ("def f(values): return f.of\nf.of = 1", "def f(values): return f.of\nf.of = 2"),
    ("def g(a, b): return a - b\ndef f(values): return g(a=1, b=2)",
     "def g(b, a): return b - a\ndef f(values): return g(a=1, b=2)"),
    ("def f(values): return (lambda a, b: a - b)(a=1, b=2)", "def f(values): return (lambda b, a: b - a)(a=1, b=2)"),
    ("def g(*, a, b): return a - b\ndef f(values): return g(a=1, b=2)",
     "def g(*, b, a): return b - a\ndef f(values): return g(a=1, b=2)"),
    ("a, b = (1,), 2\ndef f(values): return a, b", "a, b = 1, (2,)\ndef f(values): return a, b"),
    ("class Sums(list):\n    def of(self, values): return sum(self)\nf = Sums([1]).of",
     "class Sums(list):\n    def of(self, values): return sum(self)\nf = Sums([2]).of"),
    ("from functools import partial\nf = partial(lambda values, a, b: a - b, a=1, b=2)",
     "from functools import partial\nf = partial(lambda values, b, a: b - a, a=1, b=2)"),
    ("def a(): pass\ndef b(): return 1\nc = a\ndef f(values): return a(), b(), c()",
     "def a(): pass\ndef b(): return 1\nc = b\ndef f(values): return a(), b(), c()"),
])  # fmt: skip
def test_what_is_written_inside_a_function_or_beside_it_is_part_of_it(first: str, second: str) -> None:
    tf.NamedFunction("written", first, defined(first))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is defined already"):
        tf.NamedFunction("written", first, defined(second))  # type: ignore[arg-type]


def wrapped(function: Any) -> Any:
    """Return what a decorator of another module makes of a function."""
    return lambda *arguments: function(*arguments)


@pytest.mark.parametrize("text", [
    "f = partial(g)",
    "def h(start, values): return start + g(values)\nf = partial(h, 0)",
    "of = partial(g)\ndef f(values): return of(values)",
    "f = wrapped(g)",
    "@wrapped\ndef h(values): return g(values)\ndef f(values): return h(values)",
    "class Sums:\n    def of(self, values): return g(values)\nf = Sums().of",
    "class Sums:\n    @classmethod\n    def of(cls, values): return g(values)\nf = Sums.of",
    "class Sums:\n    def __call__(self, values): return g(values)\nf = Sums()",
    "class Sums:\n    def __call__(self, values): return g(values)\nf = partial(Sums())",
    "every = (max, g)\ndef f(values): return every[1](values)",
    "def f(values, every=((max, g),)): return every[0][1](values)",
])  # fmt: skip
def test_what_is_made_of_a_function_is_named_as_that_is(text: str) -> None:
    """What a decorated function, a method or a part of one reads changed: the noise was that of before."""
    module: dict[str, Any] = {"partial": partial, "wrapped": wrapped}
    exec(f"LIMIT = 1\ndef g(values): return sum(values[:LIMIT])\n{text}", module)
    named = tf.NamedFunction("made", text, module["f"])  # type: ignore[arg-type]
    tf.NamedFunction("made", text, module["f"])  # type: ignore[arg-type]
    module["LIMIT"] = 6
    assert (named([1] * 6), module["f"]([1] * 6)) == (1, 6)
    with pytest.raises(InputError, match="is defined already"):
        tf.NamedFunction("made", text, module["f"])  # type: ignore[arg-type]


def test_a_function_keeps_what_was_written_to_it() -> None:
    assert tf.NamedFunction("with a number", 1, defined("def f(values): return f.of\nf.of = 7"))([]) == 7


def test_a_function_reads_what_is_defined() -> None:
    def early(values: Any) -> Any:
        return below(values)

    with pytest.raises(InputError, match="the function 'early' reads 'below', which is not defined"):
        tf.NamedFunction("early", 1, early)
    below = min
    assert tf.NamedFunction("early", 1, early)([2, 1]) == 1
    with pytest.raises(InputError, match=r"the statistic 'late' reads 'later', which is not defined: define it before"):
        tf.Statistic("late", 1, ["ill"], lambda ill: later(ill), 1, grid=1)  # type: ignore[name-defined]  # noqa: F821


def test_the_body_of_a_class_reads_its_module_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "LIMIT", 3)

    def above(values: tuple[int, ...]) -> int:
        class Limits:
            limit = LIMIT  # type: ignore[name-defined]

        return max(values) - Limits.limit

    assert tf.NamedFunction("above the limit", 1, above)((1, 5)) == 2


def test_a_predicate_is_its_function() -> None:
    """Two of one name and version were one: a policy kept the first, a certificate was read back with the last."""
    checked("is-small", 1, lambda record: record < 2)
    with pytest.raises(InputError, match="the predicate 'is-small', version 1, is defined already"):
        checked("is-small", 1, lambda record: record < 3)
