"""Independent records as a release file declares them: one joint distribution, counted or written row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import MinLen

from takifugu.core.assumptions import Assumption, reading
from takifugu.core.errors import InputError, about
from takifugu.core.sections import Key, Number, State, Text, written
from takifugu.data.values.bins import Classes
from takifugu.data.values.texts import MISSING
from takifugu.model.beliefs import sections
from takifugu.model.beliefs.estimate import checked_source, intervals
from takifugu.model.beliefs.records.records import Records
from takifugu.model.beliefs.sections import Cited, Columns, Counts, Probabilities, Public, Rows, SureFit
from takifugu.model.beliefs.table import DECLARED, counted_table, declaration_faults, declared_table


@dataclass(frozen=True, kw_only=True)
class DeclaredClasses:
    """Classes of a column of numbers: below the first end, from each end to below the next, from the last one on."""

    ends: Annotated[tuple[Number, ...], MinLen(1), Key("where a new class begins", [20, 40])]
    values: Annotated[
        tuple[State, ...] | None,
        Key("what each class counts as, one more than ends; default: its words", [10, 30, 50]),
    ] = None
    missing: Annotated[State | None, Key("the class of a missing or infinite value")] = None

    @property
    def called(self) -> tuple[State, ...]:
        """Return the value of each class: the declared one, or its words."""
        return self.values if self.values is not None else Classes(self.ends).words

    def classes(self, texts: Sequence[str] = ()) -> Classes:
        """Return the classes of numbers, by the `texts` of their values."""
        names = [*texts] or list(map(str, self.called))
        return Classes(self.ends, MISSING if self.missing is None else names.index(str(self.missing)))

    @property
    def words(self) -> dict[str, str]:
        """Return the numbers of each value in words, missing ones included."""
        words = dict(zip(map(str, self.called), Classes(self.ends).words, strict=True))
        return words if self.missing is None else {**words, "missing": str(self.missing)}

    def faults(self) -> Iterator[InputError]:
        try:
            words = Classes(self.ends).words
        except InputError as error:
            error.where = ("ends",)
            yield error
            return
        if self.values is not None and (
            len(self.values) != len(words) or len(set(map(str, self.values))) != len(words)
        ):
            message = f"has {len(self.values)} values for {len(words)} classes"
            fix = "write one for each class, all different: one more than there are ends"
            yield InputError(message, fix=fix).at("values")
        elif self.missing is not None and str(self.missing) not in map(str, self.called):
            fix = f"write one of {list(map(str, self.called))}"
            yield InputError(f"is {self.missing!r}", fix=fix).at("missing")


def in_words(classes: Mapping[str, DeclaredClasses]) -> dict[str, dict[str, str]]:
    """Return the classes of numbers by column, in words."""
    return {name: of_column.words for name, of_column in classes.items()}


@dataclass(frozen=True, kw_only=True)
class RecordsSection:
    """Independent records, each with the same joint distribution of its columns."""

    kind: Annotated[Literal["independent-records"], Key("independent records of one table")]
    records: sections.Records
    source: Cited
    fit: Annotated[SureFit | None, Key("count the rows of a public file")] = None
    classes: Annotated[
        dict[str, DeclaredClasses] | None,
        Key("the classes of columns of numbers", {"hours": {"ends": [20, 40]}}, read=in_words),
    ] = None
    columns: Columns = None
    rows: Rows = None
    counts: Counts = None
    probabilities: Probabilities = None

    def faults(self) -> Iterator[InputError]:
        yield from declaration_faults(self.fit, written(self, DECLARED))
        columns: Sequence[Text] = (self.columns if self.fit is None else self.fit.columns) or ()
        for name, classes in (self.classes or {}).items():
            if columns and name not in columns:
                fix = f"write one of {list(columns)}"
                yield InputError("is no column of the belief", fix=fix).at("classes", name)
            for error in classes.faults():
                yield error.at("classes", name)

    def belief(self, public: Public) -> Records:
        with about("rows" if self.fit is None else "fit"):
            classes, counts = self.classes or {}, list[int]()
            if self.fit is None:
                table = declared_table(self.columns, self.rows, self.counts, self.probabilities, self.source)
            else:
                table, counts = counted_table(self.fit, self.source, public, classes)
            for name, of_column in classes.items():
                odd = set(table.alphabet(table.position(name))) - set(of_column.called)
                if odd:
                    raise InputError(
                        f"a row has {sorted(map(str, odd))[0]!r} in column {name!r}, which is none of its classes",
                        fix=f"write one of {list(map(str, of_column.called))}",
                    )
            if self.fit is None or self.fit.confidence is None:
                return Records(table, self.records)
            origin = f"{self.source}; counted in {self.fit.file}, with confidence {self.fit.confidence}"
            source = checked_source(origin, self.fit.private)
            return Records(table, self.records, source, intervals(counts, self.fit.confidence))

    def assumptions(self) -> Iterator[Assumption]:
        for name, classes in (self.classes or {}).items():
            pairs = zip(Classes(classes.ends).words, classes.called, strict=True)
            parts = []
            for words, value in pairs:
                parts.append(words if words == str(value) else f"{words} as {value!r}")
            classes_in_words = ", ".join(parts)
            rule = ""
            if classes.missing is not None:
                rule = f" A missing value counts as {classes.missing!r}."
            yield reading(f"The numbers of {name!r} are read in classes: {classes_in_words}.{rule}")
