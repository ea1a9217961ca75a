"""Small parts that every room uses: arrays and mappings nobody writes into, what is kept, columns, registries."""

from importlib.metadata import EntryPoint, distribution
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.core.arrays import Fixed, unwritable
from takifugu.core.cache import cached, memoised
from takifugu.core.columns import no_list, transposed, values_of
from takifugu.core.entries import Components
from takifugu.core.errors import Fault, InputError
from takifugu.core.functions import as_named
from takifugu.core.plain import short_repr
from takifugu.core.plugins import package_of
from takifugu.core.registry import Question, Registry
from takifugu.core.searches import Search, running, stopping
from takifugu.core.sections import Key, values_by_field
from takifugu.core.tracebacks import without_data


def test_arrays_and_mappings_are_never_written_into() -> None:
    given = np.array([1, 2])
    array = unwritable(given)
    given[0] = 5
    assert (array.tolist(), array.flags.writeable, unwritable(array) is array) == ([1, 2], False, True)
    with pytest.raises(TypeError, match="make another one"):
        Fixed({"ill": 1})["ill"] = 2


def test_values_are_kept_with_their_owner() -> None:
    owner = SimpleNamespace()
    assert (cached(owner, "size", lambda: 3), cached(owner, "size", lambda: 4)) == (3, 3)
    numbers = memoised(lambda owner, size: list(range(size)))
    assert numbers(owner, 3) is numbers(owner, 3)


def test_columns_are_lists() -> None:
    assert [*map(no_list, ("still", {"still"}, ["still"]))] == ["a text", "a set, which has no order", None]
    assert (values_of(range(3)), values_of(np.array([1, 2]))) == ([0, 1, 2], [1, 2])
    assert (transposed([(1, "a"), (2, "b")], 2), transposed([], 2)) == ([[1, 2], ["a", "b"]], [[], []])


def test_components_are_made_when_asked_for() -> None:
    users = Components(range(1, 4))
    assert (users[-1], users[:2]) == (range(2, 3), [range(1), range(1, 2)])
    assert list(Components((2, 5))) == [range(2), range(2, 5)]


def test_a_name_and_a_version_stand_for_one_function() -> None:
    for plus_one in (lambda x: x + 1, lambda y: y + 1):
        assert as_named(plus_one, "the function", "next", 1)(2) == 3
    with pytest.raises(InputError, match="'next', version 1, is defined already: give it a new version"):
        as_named(lambda x: x + 2, "the function", "next", 1)


def test_packages_of_others_have_a_name() -> None:
    assert [*map(package_of, (InputError, EntryPoint, distribution))] == ["", "importlib", "importlib"]


def test_things_are_found_by_name_and_answers_by_type() -> None:
    shapes = Registry[Any]("the shape", {"circle": "core.text.pictures:circle"})
    shapes.register("square", 4)
    assert (shapes.find("square"), shapes.names, shapes.get("line")) == (4, ("circle", "square"), None)
    size = Question[Any]("how long it is", None)
    size.register(str, len)
    assert (size.of("belief")("belief"), size.of(3)) == (6, None)


def test_values_show_what_was_said_of_them() -> None:
    assert (short_repr(tf.Count("walking")), short_repr(tf.Histogram())) == ("Count(state='walking')", "Histogram()")
    assert values_by_field(Key("the day", 3)) == {"meaning": "the day", "example": 3, "rows": (), "read": None}


def test_an_interrupt_ends_a_search_with_its_best() -> None:
    with stopping(), running(secrets=1, most=10, seconds=0.0) as search:
        search.tell(4)
        raise KeyboardInterrupt
    assert (search.done, search.early) == (4, True)
    note = Search("quilts", 37, 300_000, 4.0, "quilts", True, done=1500, early=True).note
    assert note.startswith("the search was ended early, after 1,500 of 300,000 quilts: ")


def test_errors_that_leave_hold_no_data() -> None:
    @without_data
    def read(data: str) -> int:
        return {"well": 0}[data]

    with pytest.raises(Fault, match=r"KeyError at test_small_parts.py:\d+\); please report it"):
        read("ill")
