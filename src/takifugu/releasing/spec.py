"""The release file: a TOML text as typed values, every fault at once, and its JSON Schema."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)

from takifugu.errors import SpecError
from takifugu.laws.rationals import as_delta, as_epsilon
from takifugu.releasing.problems import problems_of


def _epsilon(value: int | float | str) -> int | float | str:
    as_epsilon(value, "the budget")
    return value


def _delta(value: int | float | str) -> int | float | str:
    as_delta(value, "delta")
    return value


_LARGEST = 2**53

Number = StrictInt | StrictFloat | StrictStr
Epsilon = Annotated[Number, AfterValidator(_epsilon)]
Delta = Annotated[Number, AfterValidator(_delta)]
State = StrictStr | StrictInt
Text = Annotated[StrictStr, Field(min_length=1)]
Positive = Annotated[StrictInt, Field(ge=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceSpec(_Strict):
    """Where the private data is, and which columns say what."""

    name: Annotated[Text, Field(description="the data's name in the ledger", examples=["activity-study"])]
    file: Annotated[Text, Field(description="a CSV or Parquet file, relative to this file", examples=["activity.csv"])]
    value: Annotated[Text, Field(description="the column with the states", examples=["state"])]
    unit: Annotated[Text | None, Field(description="the column that says whose row it is")] = None
    piece: Annotated[Text | None, Field(description="the column that numbers a unit's pieces")] = None
    order: Annotated[Text | None, Field(description="the column that orders the rows of a piece")] = None
    step: Annotated[
        StrictInt | StrictFloat | StrictStr | None,
        Field(description="the declared step between rows; missing steps are unobserved", examples=["1min"]),
    ] = None
    nulls: Annotated[
        Literal["refuse", "unobserved"],
        Field(description='missing states: "refuse", or "unobserved" where the pattern of gaps is public'),
    ] = "refuse"
    budget: Annotated[Epsilon | None, Field(description="the most epsilon that a unit may ever spend")] = None


class FitSpec(_Strict):
    """A chain estimated from the transitions in another file."""

    file: Annotated[Text, Field(description="a public file of sequences", examples=["public.csv"])]
    value: Annotated[Text | None, Field(description="its state column; default: the source's")] = None
    unit: Annotated[Text | None, Field(description="its unit column; default: the source's")] = None
    piece: Annotated[Text | None, Field(description="its piece column; default: the source's")] = None
    order: Annotated[Text | None, Field(description="its order column; default: the source's")] = None
    smoothing: Annotated[
        StrictInt | StrictFloat, Field(ge=0, allow_inf_nan=False, description="added to each count of transitions")
    ] = 1
    private: Annotated[StrictBool, Field(description="say true where the file holds the private data itself")] = False


class _ChainSpec(_Strict):
    states: Annotated[tuple[State, ...], Field(min_length=2, examples=[["still", "walking"]])]
    map: Annotated[dict[str, State], Field(description="raw values and the state that each one counts as")] = Field(
        default_factory=dict
    )
    source: Annotated[Text, Field(description="where the belief comes from")] = "assumed"
    pieces_independent: Annotated[
        StrictBool | None, Field(description="declare that pieces of one unit are independent")
    ] = None
    units_independent: Annotated[StrictBool | None, Field(description="declare that units are independent")] = None
    min_length: Annotated[Positive, Field(description="pieces with fewer steps are left out")] = 1
    max_length: Annotated[Positive | None, Field(description="the most steps that a piece may have")] = None
    longer: Annotated[Literal["refuse", "cut"], Field(description="what to do with a piece longer than max_length")] = (
        "refuse"
    )


class ChainSpec(_ChainSpec):
    """One Markov chain: its matrix is written here, read from a CSV file, or fitted to a public file."""

    kind: Literal["markov-chain"]
    matrix: Annotated[
        tuple[tuple[StrictInt | StrictFloat, ...], ...] | StrictStr | None,
        Field(
            description="k rows of k probabilities, or a CSV file that holds them", examples=[[[0.9, 0.1], [0.4, 0.6]]]
        ),
    ] = None
    fit: Annotated[FitSpec | None, Field(description="estimate the matrix from a public file")] = None
    initial: Annotated[
        Literal["stationary", "any"] | tuple[StrictInt | StrictFloat, ...],
        Field(description="the law of the first state"),
    ] = "stationary"


class ChainClassSpec(_ChainSpec):
    """Every reversible chain with stationary masses of at least pi and an eigengap of at least g."""

    kind: Literal["markov-chain-class"]
    pi: Annotated[StrictInt | StrictFloat, Field(gt=0, description="the smallest stationary mass", examples=[0.1])]
    g: Annotated[StrictInt | StrictFloat, Field(gt=0, description="the smallest eigengap", examples=[0.05])]


class HideSpec(_Strict):
    """What must stay secret."""

    kind: Literal["every-entry"] = "every-entry"


class ItemSpec(_Strict):
    """One table to publish."""

    name: Annotated[
        StrictStr,
        Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$", description="names its files", examples=["time-use"]),
    ]
    query: Annotated[Literal["histogram", "count", "sum", "mean"], Field(examples=["histogram"])]
    epsilon: Annotated[Epsilon, Field(description="the promise, and what a unit spends", examples=[1.0])]
    delta: Delta = 0
    mechanism: Annotated[Text, Field(description='a mechanism\'s name, or "auto"')] = "auto"
    per: Annotated[Literal["unit", "pooled", "both"], Field(description="one answer a unit, one for all, or both")] = (
        "pooled"
    )
    states: Annotated[tuple[State, ...] | None, Field(description="the states counted, or the cells")] = None
    codes: Annotated[
        dict[str, Number] | None, Field(description="the number that each state adds to a sum or mean")
    ] = None
    total: Annotated[Positive | None, Field(description="a public constant that a histogram is divided by")] = None
    allow_zero_noise: StrictBool = False


class ReleaseSpec(_Strict):
    """A release file, version 1: one source of sequences, one belief, one or more releases."""

    version: Literal[1] = 1
    ledger: Annotated[Text, Field(description="the ledger's file or URL", examples=["ledger.db"])]
    output: Annotated[Text, Field(description="the folder of the published files")] = "published"
    source: SourceSpec
    belief: Annotated[ChainSpec | ChainClassSpec, Field(discriminator="kind")]
    hide: HideSpec = HideSpec()
    release: Annotated[tuple[ItemSpec, ...], Field(min_length=1)]


@dataclass(frozen=True)
class ReleaseFile:
    """A release file that was read and checked; its paths are relative to `folder`."""

    path: Path
    spec: ReleaseSpec

    @property
    def folder(self) -> Path:
        return self.path.parent

    def inside(self, name: str) -> Path:
        """Return a path of the file as seen from here."""
        return self.folder / name


def load(path: str | Path) -> ReleaseFile:
    """Read a release file.

    Raises SpecError, whose `problems` hold every fault at once.
    """
    where = Path(path)
    try:
        raw = tomllib.loads(where.read_bytes().decode("utf-8"))
    except OSError as error:
        reason = "it is a folder" if where.is_dir() else (error.strerror or "it cannot be read").lower()
        raise SpecError([f"{where}: cannot be read ({reason}); give the path of a TOML release file"]) from None
    except UnicodeDecodeError:
        raise SpecError([f"{where}: is not UTF-8 text; save it as UTF-8"]) from None
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise SpecError([f"{where}: is not TOML: {error}; write `key = value` lines under [sections]"]) from None
    return ReleaseFile(where, parse(raw, where.parent))


def parse(raw: dict[str, Any], folder: Path = Path()) -> ReleaseSpec:
    """Check the parsed text of a release file; `folder` is where its relative paths start.

    Raises SpecError, whose `problems` hold every fault at once.
    """
    from takifugu.releasing.checks import meaning_problems

    found = list(_giants(raw))
    if found:
        raise SpecError(found)
    try:
        spec = ReleaseSpec.model_validate(raw)
    except ValidationError as error:
        found = problems_of(error.errors(), _schema(), raw)
        spec = _what_is_valid(raw)
    found += meaning_problems(spec, folder)
    if found:
        raise SpecError(found)
    return spec


def _giants(value: Any, path: str = "") -> Iterator[str]:
    """Name the whole numbers that no computer number holds: TOML has them, and comparisons with floats fail."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _giants(inside, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for position, inside in enumerate(value):
            yield from _giants(inside, f"{path}[{position}]")
    elif isinstance(value, int) and abs(value) > _LARGEST:
        yield f"{path}: is too large a number; write one of at most {_LARGEST}"


def _what_is_valid(raw: dict[str, Any]) -> ReleaseSpec:
    """Return the sections that are valid by themselves (the others are None), so that their meaning is checked too."""
    belief = raw.get("belief")
    of_class = isinstance(belief, dict) and belief.get("kind") == "markov-chain-class"
    items = raw.get("release")
    return ReleaseSpec.model_construct(
        source=_section(SourceSpec, raw.get("source")),
        belief=_section(ChainClassSpec if of_class else ChainSpec, belief),
        release=tuple(_section(ItemSpec, item) for item in items) if isinstance(items, list) else (),
    )


def _section(model: type[BaseModel], raw: Any) -> Any:
    try:
        return model.model_validate(raw)
    except ValidationError:
        return None


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a release file, for editors and for `takifugu schema`."""
    return deepcopy(_schema())


@cache
def _schema() -> dict[str, Any]:
    return ReleaseSpec.model_json_schema()
