"""The plain form of a frozen dataclass follows from its fields."""

import json
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.core.errors import InputError
from takifugu.core.plain import LEFT_OUT, VALUES, PlainForm, form, indented, set_fields, to_plain, writes_all


class Side(StrEnum):
    LEFT = "left"


@dataclass(frozen=True)
class Part(PlainForm):
    share: Fraction = field(metadata=form(read=Fraction))


@dataclass(frozen=True)
class Whole(PlainForm, kind="whole"):
    parts: tuple[Part, ...] = field(metadata=form(read=lambda parts: tuple(map(Part.from_dict, parts))))
    states: tuple[object, ...] | None = field(default=None, metadata=VALUES)
    side: Side = field(default=Side.LEFT, metadata=form(read=Side))
    note: str = field(default="", metadata=LEFT_OUT)
    size: int = field(default=1, metadata=form(key="size"))


@dataclass(frozen=True)
class Hidden(PlainForm, kind="hidden"):
    name: str
    secret: int = field(default=0, metadata=form(is_private=True))


WHOLE = Whole((Part(Fraction(1, 3)), Part(Fraction(2, 3))), ("a", 2), note="odd")


def test_a_form_reads_back_through_json() -> None:
    data = WHOLE.to_dict()
    assert data == {
        "kind": "whole", "parts": [{"share": "1/3"}, {"share": "2/3"}], "states": ["a", 2], "side": "left",
        "note": "odd", "size": 1,
    }  # fmt: skip
    again = Whole.from_dict(json.loads(json.dumps(data)))
    assert again.parts == WHOLE.parts
    assert (again.side, again.note) == (Side.LEFT, "odd")


def test_a_field_with_its_default_is_left_out() -> None:
    assert "note" not in Whole((), None).to_dict()


def test_none_is_written_and_read_only_where_the_type_allows_it() -> None:
    assert Whole((), None).to_dict()["states"] is None
    assert Whole.from_dict({"parts": [], "states": None}).states is None
    with pytest.raises(TypeError):
        Whole.from_dict({"parts": None})


def test_a_missing_key_is_bad_input() -> None:
    with pytest.raises(InputError) as caught:
        Whole.from_dict({"kind": "whole"})
    assert "parts" in caught.value.what


def test_a_private_field_is_never_written() -> None:
    assert Hidden("x", 3).to_dict() == {"kind": "hidden", "name": "x"}


@pytest.mark.parametrize(("kind", "does"), [(Whole, True), (Part, True), (Hidden, False), (int, False)])
def test_which_forms_write_everything(kind: type, does: bool) -> None:
    assert writes_all(kind) is does


def test_plain_values() -> None:
    values = (Fraction(1, 4), [Side.LEFT], np.array([[1.5, 2.0]]), None)
    assert to_plain(values) == ["0.25", ["left"], [[1.5, 2.0]], None]


def test_fields_are_set_while_a_value_is_made() -> None:
    part = Part(Fraction(1))
    set_fields(part, share=Fraction(2))
    assert part.share == 2


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
JSON = st.recursive(LEAVES, lambda part: st.lists(part) | st.dictionaries(st.text(), part), max_leaves=30)


@given(JSON | st.lists(st.integers()) | st.lists(st.booleans() | st.integers()))
def test_data_are_indented_as_the_standard_library_does(data: object) -> None:
    assert indented(data) == json.dumps(data, indent=2, ensure_ascii=False)
    assert indented({"in": [data]}) == json.dumps({"in": [data]}, indent=2, ensure_ascii=False)
