"""Secrets about columns as a whole: a property of the data at hand, or a parameter of the population (Zhang22 §3).

A *dataset property* is what the records at hand add up to: g(X_i), such as the mean income of these customers. A
*distribution parameter* governs the column in the population: phi_i, which the sample only estimates. Hypotheses are
that it has one value, or lies in one set; the belief says through `VIEWS` how it reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from takifugu.core.errors import InputError
from takifugu.core.functions import as_named
from takifugu.core.plain import LEFT_OUT, Plain, PlainForm, form, set_fields
from takifugu.core.rules import check_known, check_type, requires
from takifugu.core.typed import as_written
from takifugu.model.secrets.families import VIEWS, Believed, Family, View, view_of
from takifugu.model.secrets.value_sets import ValueSet, described, near, near_in_any_order, number
from takifugu.numbers.rationals import as_fractions

#: What these secrets are read under (`takifugu.accounting.definitions`).
ATTRIBUTE = "attribute"

Value = Hashable


@dataclass(frozen=True)
class NamedFunction(PlainForm):
    """Give a function of columns a name and a version, for ledgers.

    No file holds the function: `from_dict` finds it by name and version, where this process has defined it.

    Args:
        name: The name.
        version: Its version; another function needs another one.
        function: Takes the column's values, one for each record (one list for each column), and returns a number.

    Raises:
        InputError: For a missing part, and for another function under this name and version.

    Examples:
        >>> NamedFunction("width", 1, lambda values: max(values) - min(values))([3, 5, 4])
        2
    """

    name: str
    version: int
    function: Callable[..., object] = field(hash=False, repr=False, metadata=form(is_private=True))

    def __post_init__(self) -> None:
        check_type(self.version, Hashable, "a version", "write for example 1", "version")
        if not isinstance(self.name, str) or not self.name or not callable(self.function):
            raise InputError(
                "a function of a column needs a name, a version and what it computes",
                fix="write for example NamedFunction('range', 1, lambda values: max(values) - min(values))",
            ).at("function")
        set_fields(self, function=as_named(self.function, "the function", self.name, self.version, "version"))
        DEFINED[self.name, self.version] = self

    @classmethod
    def from_dict(cls, data: Plain) -> NamedFunction:
        """Return the function of a name and version.

        Args:
            data: What `to_dict` returned.

        Returns:
            The function that this process has defined under them.

        Raises:
            InputError: Where it has defined none.
        """
        with as_written():
            name, version = data["name"], data["version"]
            if (name, version) in DEFINED:
                return DEFINED[name, version]
        raise InputError(
            f"the function {name!r}, version {version}, is defined by nobody",
            fix="define it with NamedFunction(name, version, function) before it is read back",
        )

    def __call__(self, *columns: Sequence[Hashable]) -> object:
        return self.function(*columns)


DEFINED: dict[tuple[str, int], NamedFunction] = {}


@dataclass(frozen=True)
class DatasetProperty(PlainForm, kind="dataset-property"):
    """Hide g(X): a function of one column, or of several, over all records at hand (Zhang22 Definition 3)."""

    columns: tuple[str, ...]
    #: "mean", "sum" or "share" (of several columns a vector), a weight for each column's mean, or a function.
    function: str | tuple[Fraction, ...] | NamedFunction
    #: One of the next three says which values are compared, none: all. Of a vector one number a column.
    max_difference: tuple[Fraction, ...] | None = field(default=None, metadata=LEFT_OUT)
    pairs: tuple[tuple[Fraction, Fraction], ...] | None = field(default=None, metadata=LEFT_OUT)
    sets: tuple[ValueSet, ...] | None = field(default=None, metadata=LEFT_OUT)
    of: tuple[Value, ...] | None = field(default=None, metadata=form(list, is_left_out=True))

    definition = ATTRIBUTE

    def view(self, belief: Believed) -> View:
        """Return the view of a belief; raises InputError for one without records."""
        if VIEWS.of(belief) is None:
            beliefs = "Records(table, n), MultivariateNormal(...), Density(...) or Parameters(...)"
            raise requires("a property of columns is hidden", "a belief over records", beliefs).at("beliefs")
        view = view_of(belief, self)
        if view is None:
            raise InputError(f"a {type(belief).__name__} is not read by {self.what}").at("beliefs")
        return view

    def family(self, belief: Believed) -> Family:
        view = belief if isinstance(belief, View) else self.view(belief)
        return Family((0,), view.pairs)

    @property
    def is_vector(self) -> bool:
        """Whether several numbers are hidden together."""
        return len(self.columns) > 1 and isinstance(self.function, str)

    def compared(self, values: Sequence[Fraction]) -> tuple[tuple[int, int], ...] | None:
        """Return the compared pairs of indices of increasing values, each in one order; None for all."""
        if self.pairs is not None:
            place = {value: place for place, value in enumerate(values)}
            return tuple((_placed(place, a), _placed(place, b)) for a, b in self.pairs)
        if self.max_difference is None:
            return None
        return near(values, self.max_difference[0])

    def describe(self) -> str:
        words = f"{self.what} of the records at hand"
        if self.sets is not None:
            return f"{words}: {' or '.join(map(described, self.sets))}"
        if self.pairs is not None:
            return f"{words}: " + ", ".join(f"{number(a)} or {number(b)}" for a, b in self.pairs)
        if self.max_difference is not None:
            return f"{words}, up to a difference of {' and '.join(map(number, self.max_difference))}"
        return words

    @property
    def what(self) -> str:
        """The property in words."""
        names = " and ".join(map(repr, self.columns))
        if isinstance(self.function, NamedFunction):
            return f"{self.function.name} (version {self.function.version}) of {names}"
        if isinstance(self.function, tuple):
            weighed = zip(self.function, self.columns, strict=True)
            return "the sum of " + " and ".join(f"{number(w)} times the mean of {c!r}" for w, c in weighed)
        if self.of is None:
            return f"the {self.function} of {names}"
        return f"the {self.function} of {' or '.join(map(repr, self.of))} in {names}"


@dataclass(frozen=True)
class DistributionParameter(PlainForm, kind="distribution-parameter"):
    """Hide phi_i: the parameter that governs a column in the population (Zhang22 Definition 4)."""

    column: str
    #: Compared with each other; None: all that the belief knows, or all numbers of the interval.
    values: tuple[Value, ...] | None = field(default=None, metadata=form(list, is_left_out=True))
    interval: tuple[Fraction, Fraction] | None = field(default=None, metadata=LEFT_OUT)
    #: How a number of the interval becomes the column's distribution, as the belief defines it.
    map: str | None = field(default=None, metadata=LEFT_OUT)
    #: Only values up to so far apart are compared.
    max_difference: Fraction | None = field(default=None, metadata=LEFT_OUT)

    definition = ATTRIBUTE

    def view(self, belief: Believed) -> View | None:
        return view_of(belief, self)

    def family(self, belief: Believed) -> Family:
        if isinstance(belief, View):
            return Family((0,), belief.pairs)
        place = belief.position(self.column)
        alphabet = belief.alphabet(place)
        places = list(range(len(alphabet)))
        if self.interval is not None:  # the belief lists the parameter's values: those in the interval are compared
            low, high = self.interval
            numbers = as_fractions(alphabet, "a parameter", "values")
            places = [at for at, value in enumerate(numbers) if low <= value <= high]
        elif self.values is not None:
            check_known(self.values, alphabet, f"{self.column!r} has no parameter", "values")
            places = list(map(alphabet.index, self.values))
        elif self.max_difference is None:
            return Family((place,))
        pairs = self.compared([alphabet[place] for place in places])
        return Family((place,), tuple((places[a], places[b]) for a, b in pairs))

    def compared(self, values: Sequence[Value]) -> tuple[tuple[int, int], ...]:
        """Return the compared pairs of indices of values."""
        if self.max_difference is None:
            return tuple(combinations(range(len(values)), 2))
        numbers = as_fractions(values, "a value of the parameter", "max_difference")
        near_pairs = near_in_any_order(numbers, self.max_difference)
        if not near_pairs:
            raise InputError(
                f"no two values of {self.describe()} are that near", rule="nothing would be compared",
                fix="give a larger max_difference",
            ).at("max_difference")  # fmt: skip
        return near_pairs

    def describe(self) -> str:
        words = f"the parameter of {self.column!r} in the population"
        if self.interval is not None:
            words += f", from {number(self.interval[0])} to {number(self.interval[1])}"
        if self.values is not None:
            words += f": {' or '.join(map(repr, self.values))}"
        if self.max_difference is not None:
            words += f", up to a difference of {number(self.max_difference)}"
        return words


def _placed(place: Mapping[Fraction, int], value: Fraction) -> int:
    if value not in place:
        raise InputError(f"the secret names the value {value}, which the property cannot take").at("pairs")
    return place[value]
