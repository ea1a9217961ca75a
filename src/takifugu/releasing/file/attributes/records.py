"""Independent records of one joint distribution: counted in a public file, or declared row by row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.data import UNOBSERVED, Classes, Table, totals
from takifugu.data.values.texts import NOT_FINITE, NUMBER
from takifugu.model.beliefs.estimate import checked_source, point_estimate
from takifugu.model.beliefs.records.records import Records
from takifugu.model.beliefs.table import JointTable
from takifugu.model.queries import State
from takifugu.model.queries.sections import values_by_column
from takifugu.releasing.file.attributes.beliefs import ClassesSpec, IndependentRecordsSpec
from takifugu.releasing.file.attributes.build import Known, known_values
from takifugu.releasing.file.attributes.kind import Attributes
from takifugu.releasing.file.attributes.reading import classes_of, counted, values_of
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import about, fault
from takifugu.releasing.file.records.declared_table import declared_table, table_faults
from takifugu.releasing.file.same_data import FIT_ELSEWHERE, IS_PRIVATE, is_one_of, same_rows
from takifugu.releasing.file.sections import Source
from takifugu.releasing.file.source import open_public, private_files


class _IndependentRecords(Attributes):
    names = ("independent-records",)

    def shape_faults(self, spec: Any, folder: Path, data: Any) -> Iterator[TakifuguError]:
        given = spec.belief
        yield from table_faults(given)
        columns = given.columns if given.fit is None else given.fit.columns
        for name, classes in (given.classes or {}).items():
            yield from _faults_of(name, classes, columns or ())
        private = private_files(spec.source, folder, data)
        if given.fit is not None and not given.fit.private and is_one_of(folder / given.fit.file, private):
            yield fault(("belief", "fit", "file"), IS_PRIVATE, FIT_ELSEWHERE)

    def belief(self, spec: Any, folder: Path) -> Records:
        given: IndependentRecordsSpec = spec.belief
        with about("rows" if given.fit is None else "fit"):
            return self._checked(given, spec.source, folder)

    def _checked(self, given: IndependentRecordsSpec, source: Source, folder: Path) -> Records:
        table = declared_table(given) if given.fit is None else _fitted(given, source, folder)
        for name, classes in (given.classes or {}).items():
            odd = set(table.alphabet(table.position(name))) - set(values_of(classes))
            if odd:
                raise InputError(
                    f"a row has {sorted(map(str, odd))[0]!r} in column {name!r}, which is none of its classes",
                    fix=f"write one of {[str(value) for value in values_of(classes)]}",
                )
        return Records(table, given.records)

    def reveals(self, spec: Any, folder: Path, table: Table) -> Iterator[TakifuguError]:
        fit = spec.belief.fit
        if fit is not None and not fit.private and same_rows(
            open_public(fit, spec.source, folder / fit.file), table, fit.columns
        ):  # fmt: skip
            yield fault(("belief", "fit", "file"), "counts what the private data counts, row by row", FIT_ELSEWHERE)

    def layout(self, spec: Any) -> Mapping[str, Any]:
        """Return what decides which value a record has in a column: numbers have that of their class."""
        classes = {name: _in_words(one) for name, one in (spec.belief.classes or {}).items()}
        return {**super().layout(spec), "classes": classes or None}

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the records, listed by their values."""
        given = file.spec.belief  # type: ignore[attr-defined]
        rows = counted(file.table, self._read(file), given.classes or {}, given.records)
        return (Unit(None, [row for row, times in rows for _ in range(times)]),)

    def _read(self, file: ReleaseFile) -> Known:
        """Return the values that a column may hold: every class, also one in which the belief sees nobody."""
        given, known = file.spec.belief.classes or {}, values_by_column(file.belief)  # type: ignore[attr-defined]
        return {n: known_values({n: values_of(given[n])})[n] if n in given else values for n, values in known.items()}

    def assumptions(self, file: ReleaseFile) -> Iterator[str]:
        spec: Any = file.spec
        yield from super().assumptions(file)
        for name, classes in (spec.belief.classes or {}).items():
            pairs = zip(Classes(classes.ends).words, values_of(classes), strict=True)
            listed = ", ".join(words if words == str(value) else f"{words} as {value!r}" for words, value in pairs)
            rule = "" if classes.missing is None else f"; a missing value counts as {classes.missing!r}"
            yield f"the numbers of {name!r} are read in classes: {listed}{rule}"


def _in_words(classes: ClassesSpec) -> Mapping[str, str]:
    """Return which numbers count as which value of a column; a missing one counts as "missing" says."""
    pairs = zip(map(str, values_of(classes)), Classes(classes.ends).words, strict=True)
    return dict(pairs) if classes.missing is None else {**dict(pairs), "missing": str(classes.missing)}


def _faults_of(name: str, classes: ClassesSpec, columns: Sequence[str]) -> Iterable[TakifuguError]:
    where = ("belief", "classes", name)
    if columns and name not in columns:
        yield fault(where, "is no column of the belief", f"write one of {list(columns)}")
    try:
        words = Classes(classes.ends).words
    except TakifuguError as error:
        error.where = (*where, "ends")
        yield error
        return
    if classes.values is not None and (
        len(classes.values) != len(words) or len(set(map(str, classes.values))) != len(words)
    ):
        what = f"has {len(classes.values)} values for {len(words)} classes"
        yield fault((*where, "values"), what, "write one for each class, all different: one more than there are ends")
    elif classes.missing is not None and str(classes.missing) not in map(str, values_of(classes)):
        listed = list(map(str, values_of(classes)))
        yield fault((*where, "missing"), f"is {classes.missing!r}", f"write one of {listed}")


def _fitted(given: IndependentRecordsSpec, source: Source, folder: Path) -> JointTable:
    """Return the empirical distribution of some columns of a file of records, with exact masses count / total."""
    fit, classes = given.fit, given.classes or {}
    assert fit is not None
    counts = Counter[tuple[State, ...]]()
    public = open_public(fit, source, folder / fit.file)
    for group in totals(public, [], by=fit.columns, null_keys="keep"):
        read = zip(fit.columns, group.key, strict=True)
        counts[tuple(_fitted_value(name, text, classes.get(name), public) for name, text in read)] += group.rows
    origin = point_estimate(checked_source(f"{given.source}; counted in {fit.file}", fit.private))
    return JointTable.from_counts(list(counts), list(counts.values()), fit.columns, source=origin)


def _fitted_value(name: str, text: str | None, classes: ClassesSpec | None, public: Table) -> State:
    if classes is None:
        if text is None:
            raise DataError(f"{public.source}: column {name!r} has missing values", fix="fill them, or drop these rows")
        return text
    read = classes_of(classes)
    text = None if text is None else public.numerals.plain(text)
    if text is not None and not re.match(NUMBER, text) and not re.match(NOT_FINITE, text):
        raise DataError(f"{public.source}: column {name!r} has texts that are no numbers", fix="repair them")
    code = read.code(None if text is None else float(text))
    if code == UNOBSERVED:
        raise DataError(
            f"{public.source}: column {name!r} has missing values",
            fix="fill them, or write missing = ... in its classes",
        )
    return values_of(classes)[code]


RECORDS = _IndependentRecords()
