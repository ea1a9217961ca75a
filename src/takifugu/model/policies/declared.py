"""What the data can be under a policy, as a release file declares it: places, boxes of a grid, or values of people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le, MinLen

from takifugu.core.errors import DataError, InputError, about
from takifugu.core.plain import Plain
from takifugu.core.sections import FilePath, Key, Number, Positive, PublicFile, State, Text, written
from takifugu.model.beliefs.domain import Domain
from takifugu.model.beliefs.sections import Public
from takifugu.model.policies.boxes import Boxes
from takifugu.model.policies.places import Visits

Ends = tuple[Number, Number]


@dataclass(frozen=True, kw_only=True)
class Places(PublicFile):
    """The list of places in a public file; never in the private data, which would tell where anybody was."""

    instead: ClassVar = (
        "list the places from public knowledge: places read from the data would tell where somebody was"
    )

    file: Annotated[FilePath, Key("a public file with a row for each place", "places.csv")]
    column: Annotated[Text, Key("its column with the places", "place")]

    def counted(self, belief: object, source: Any) -> Sequence[str]:
        """Return the column, if the data have such a one."""
        return [self.column] if self.column == source.value else ()


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Equal boxes over a public range of coordinates, in rows and columns; a box is called r3c7, counted from 0."""

    x: Annotated[Ends, Key("from where to where the columns go", [-74.27, -73.68])]
    y: Annotated[Ends, Key("from where to where the rows go", [40.55, 40.99])]
    columns: Annotated[Positive, Le(4096), Key("how many columns", 71)]
    rows: Annotated[Positive, Le(4096), Key("how many rows", 71)]

    @property
    def boxes(self) -> Boxes:
        return Boxes.of(self.x, self.y, self.columns, self.rows)


def boxes_of(grid: Grid) -> Plain:
    """Return the boxes of a grid as plain data: boxes of two grids are named alike."""
    return grid.boxes.to_dict()


@dataclass(frozen=True, kw_only=True)
class PolicySection:
    """What the data can be. Nothing is believed about them: a policy protects whatever anybody knows."""

    kind: Annotated[Literal["asymmetric"], Key("a policy; nothing is believed")]
    places: Annotated[
        Places | tuple[State, ...] | None, Key("all the places, a list or a public file", ["bar", "shop"])
    ] = None
    grid: Annotated[Grid | None, Key("the places are boxes of a grid", read=boxes_of)] = None
    most: Annotated[
        Positive | None, Key("the most places of one person: a fact, such as one per hour; nothing is ever cut")
    ] = None
    values: Annotated[
        Annotated[tuple[State, ...], MinLen(2)] | None, Key("the values that a person can have, one each")
    ] = None
    people: Annotated[
        Annotated[int, Ge(1), Le(10_000_000)] | None, Key("with values: how many people there are, public")
    ] = None

    @property
    def forms(self) -> list[str]:
        """Return the keys of the data's form: one is due."""
        return written(self, ("places", "grid", "values"))

    def faults(self) -> Iterator[InputError]:
        if len(self.forms) != 1:
            if self.forms:
                yield InputError(f"has {' and '.join(self.forms)}", fix="write one of places, grid and values")
            else:
                fix = 'write places = ["bar", "shop"], or grid, or values'
                yield InputError("does not say what the data can be", fix=fix)
            return
        if (self.people is None) is (self.values is not None):
            if self.people is None:
                message = "is missing: how many people there are is public here"
            else:
                message = "is not used"
            yield InputError(message, fix="it belongs to values, and values need it").at("people")
        if self.most is not None and self.values is not None:
            yield InputError("is not used with values", fix="each person has one value").at("most")

    def belief(self, public: Public) -> Visits | Domain:
        """Return the domain of the data, from public files only."""
        with about(*self.forms):
            if self.values is not None and self.people is not None:
                return Domain.of(self.people, self.values)
            if self.grid is not None:
                return Visits.of_boxes(self.grid.boxes, self.most)
            if not isinstance(self.places, Places):
                return Visits.of(self.places or (), self.most)
            try:
                names = public.open(self.places).values(self.places.column)
            except DataError as error:
                raise error.of(InputError) from None
            return Visits.of(names, self.most)
