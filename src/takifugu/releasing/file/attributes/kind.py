"""What all files share that hide a property of whole columns: their secrets, their queries, and what they assume."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from takifugu.core.errors import SpecError, TakifuguError
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Additive, Query
from takifugu.model.secrets import Secret
from takifugu.releasing.file.attributes.beliefs import (
    IndependentRecordsSpec,
    NormalSpec,
    ParameterBoxSpec,
    ParametersSpec,
)
from takifugu.releasing.file.attributes.build import Known, query_of, secret_of
from takifugu.releasing.file.attributes.draft import draft
from takifugu.releasing.file.attributes.sections import (
    AttributeHideSpec,
    AttributeItemSpec,
    AttributeReleaseSpec,
    AttributeSourceSpec,
)
from takifugu.releasing.file.columns import Column
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit, foreign_keys
from takifugu.releasing.file.partial import valid_section
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.promise import promise_problems
from takifugu.releasing.file.sections import FileSpec, Section

#: The keys of [[release]] that only some queries have, and those that a query needs.
_BELONGS = {
    "attribute": ("mean", "sum", "count", "histogram"),
    "by": ("histogram",),
    "weights": ("linear",),
    "states": ("count", "histogram"),
    "codes": ("mean", "sum"),
    "grid": ("mean", "sum", "linear"),
    "where": ("count-rows",),
    "total": ("histogram",),
    "adjust": ("histogram", "count", "count-rows"),
}
_NEEDS = {
    "mean": {"attribute": 'the column that is averaged, attribute = "weight"'},
    "sum": {"attribute": 'the column that is added, attribute = "weight"'},
    "linear": {"weights": "the weight of each column that is added up, weights = { weight = 1, height = -1 }"},
    "histogram": {"attribute": 'the column whose values are counted, attribute = "education"'},
    "count": {
        "attribute": 'the column whose values are counted, attribute = "smoker"',
        "states": 'the values to count, states = ["yes"]',
    },
    "count-rows": {"where": 'the values that a row must have, where = { height = "tall" }'},
}
_BELIEFS: Mapping[str, type[Section]] = {
    "normal": NormalSpec, "independent-records": IndependentRecordsSpec, "parameters": ParametersSpec,
    "parameter-box": ParameterBoxSpec,
}  # fmt: skip
#: The setting that a key of [hide] belongs to: the kinds of belief of the other one have no use for it.
_SETTINGS = {"property": "the records at hand", "record": "the records at hand", "parameter": "the population"}


class Attributes(Kind):
    """A kind whose records are hidden as a whole; `hides` are the keys of [hide] that its beliefs have an answer to."""

    sections: ClassVar[type[FileSpec]] = AttributeReleaseSpec
    hides: ClassVar[tuple[str, ...]] = ("property", "record")
    believes_from = ("belief",)
    harmless = frozenset({"belief.records", "belief.source"})

    def draft(self, data: Path, output: Path, columns: Sequence[Column], kind: str) -> str:
        return draft(data, output, columns, kind)

    def known(self, belief: Any) -> Known:
        """Return the values of the columns, by their texts."""
        return {}

    def hidden(self, belief: Any) -> Known:
        """Return the values that a secret about a column may name, by their texts."""
        return self.known(belief)

    def shape(self, spec: AttributeReleaseSpec, folder: Path, data: Any) -> Iterable[TakifuguError]:
        given = _given(spec)
        for key in given:
            if key not in self.hides:
                what = f"is about {_SETTINGS[key]}, and a belief of kind {spec.belief.kind!r} is about "
                what += _SETTINGS[self.hides[0]]
                yield fault(("hide", key), what, f"write {' or '.join(self.hides)}, or another kind of belief")
        if not given:
            yield fault(("hide",), "hides nothing", f"write {' or '.join(self.hides)} = {{ ... }}")
        yield from self.shape_faults(spec, folder, data)

    def valid_parts(self, raw: dict[str, Any]) -> tuple[Any, frozenset[str]]:
        """Return the sections that are valid by themselves, None for the others."""
        faulty, belief, items = set[str](), raw.get("belief"), raw.get("release")
        model = _BELIEFS.get(belief.get("kind", "") if isinstance(belief, dict) else "", NormalSpec)
        spec = AttributeReleaseSpec.model_construct(
            source=valid_section(AttributeSourceSpec, raw.get("source"), "source", faulty),
            belief=valid_section(model, belief, "belief", faulty),
            hide=valid_section(AttributeHideSpec, raw.get("hide")),
            release=tuple(map(_valid_item, items)) if isinstance(items, list) else (),
        )
        return spec, frozenset({*faulty, "release"})

    def shape_faults(self, spec: Any, folder: Path, data: Any) -> Iterable[TakifuguError]:
        """Yield what does not fit together in the sections of this kind."""
        return ()

    def framework_of(self, spec: AttributeReleaseSpec, belief: Any) -> Framework:
        """Return what is hidden from those who hold the belief; SpecError names every secret that is faulty."""
        secrets = _secrets(spec, self.hidden(belief))
        try:
            return Pufferfish(secrets, belief)
        except TakifuguError as error:
            raise SpecError([blamed(error, "hide", *_hide_key(spec, error))]) from None

    def hidden_alone(self, spec: AttributeReleaseSpec) -> None:
        _secrets(spec, {})

    def total(self, file: ReleaseFile, units: Sequence[Unit], answer: Any) -> Fraction | None:
        """Return the total of a histogram of all values: how many records there are is public, and none lacks one."""
        return answer.constant_sum() if isinstance(answer, Additive) else None

    def columns(self, spec: AttributeReleaseSpec, belief: Any) -> Sequence[tuple[tuple[str, ...], str]]:
        return [(("source", "file"), name) for name in belief.columns]

    def item(self, item: AttributeItemSpec, number: int, belief: Any, folder: Path) -> Iterator[TakifuguError]:
        faults: list[TakifuguError] = [
            fault(("release", number, key), "is missing", f"write {what}")
            for key, what in _NEEDS[item.query].items()
            if not getattr(item, key) and not (key == "attribute" and item.by and item.query == "histogram")
        ]  # fmt: skip
        faults += foreign_keys(item, number, _BELONGS)
        if item.any_of and item.query != "count-rows":
            faults.append(fault(("release", number, "any_of"), f"does not belong to a {item.query}", "leave it out"))
        yield from faults
        yield from promise_problems(item, number)
        if belief is None or faults:
            return
        try:
            belief.resolve(self.query(item, belief, folder))
        except TakifuguError as error:
            key = error.where[0] if error.where and error.where[0] in _BELONGS else _blamed_key(item)
            yield blamed(error, "release", number, str(key))

    def query(self, item: AttributeItemSpec, belief: Any, folder: Path) -> Query:
        """Return the query of one table; names of values become the belief's own."""
        return query_of(item, self.known(belief), belief.columns)

    def assumptions(self, spec: AttributeReleaseSpec) -> Iterator[str]:
        yield "the number of records is public"
        yield from super().assumptions(spec)


def _valid_item(raw: Any) -> AttributeItemSpec | None:
    """Return a table to publish, with examples in place of faulty keys where they tell nothing wrong about others."""
    faulty = set[str]()
    item: AttributeItemSpec | None = valid_section(AttributeItemSpec, raw, "", faulty)
    return item if faulty <= {".name", ".epsilon"} else None


def _given(spec: AttributeReleaseSpec) -> list[str]:
    """Return the keys of [hide] that are there."""
    return [key for key in _SETTINGS if getattr(spec.hide, key)]


def _secrets(spec: AttributeReleaseSpec, hidden: Known) -> list[Secret]:
    """Return what [hide] hides; SpecError names every secret that is faulty by itself."""
    secrets, faults = list[Secret](), list[TakifuguError]()
    for place, given in _listed(spec):
        try:
            secrets.append(secret_of(given, hidden))
        except TakifuguError as error:
            faults.append(blamed(error, "hide", *place, *error.where[:1]))
    if faults:
        raise SpecError(faults)
    return secrets


def _hide_key(spec: AttributeReleaseSpec, error: TakifuguError) -> tuple[str, ...]:
    """Return the key of [hide] that is to blame for secrets that do not fit the belief, as far as it is known."""
    given = _given(spec)
    if len(given) != 1 or isinstance(secret := getattr(spec.hide, given[0]), tuple):
        return tuple(given[:1]) if len(given) == 1 else ()
    key = str(error.where[0]) if error.where else ""
    return (given[0], key) if getattr(secret, key, None) is not None else (given[0],)


def _listed(spec: AttributeReleaseSpec) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield each secret of [hide] with its place there."""
    for key in _given(spec):
        given = getattr(spec.hide, key)
        if isinstance(given, tuple):
            yield from (((key, number), one) for number, one in enumerate(given))
        else:
            yield (key,), given


def _blamed_key(item: AttributeItemSpec) -> str:
    """Return the key to blame for a query that does not fit, where the error does not say."""
    if item.query in ("count-rows", "linear"):
        return "where" if item.query == "count-rows" else "weights"
    return "codes" if item.codes is not None else "by" if item.by else "attribute"


