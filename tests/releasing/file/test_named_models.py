"""The model of a file's own queries and belief takes what the model of all takes, and reads it alike."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from takifugu.releasing.file.kinds import KINDS, model_of_file, model_of_named
from takifugu.releasing.file.partial import tables_in
from takifugu.releasing.file.sections import FileSpec

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.toml"))


def read(model: type[FileSpec], raw: Any) -> object:
    try:
        return model.model_validate(raw).model_dump()
    except ValidationError:
        return None


def changed(raw: Any) -> Iterator[Any]:
    """Yield the file with each of its keys left out, and with another value."""
    sections = [raw, raw["source"], raw["belief"], *raw["release"]]
    for section in sections:
        for key, value in list(section.items()):
            del section[key]
            yield copy.deepcopy(raw)
            for other in ("?", -1, [], {}, True):
                section[key] = other
                yield copy.deepcopy(raw)
            section[key] = value


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_both_models_take_the_same_files_and_read_them_alike(path: Path) -> None:
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    kind = KINDS.find(raw["belief"]["kind"])
    named, whole = model_of_named(kind, raw), model_of_file(kind)
    assert read(named, raw) == read(whole, raw) is not None
    assert {table.__name__ for table in tables_in(named)} <= {table.__name__ for table in tables_in(whole)}
    assert len(tables_in(named)) == len({table["query"] for table in raw["release"]})
    for other in changed(raw):
        assert read(model_of_named(kind, other), other) == read(whole, other)


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("belief", "kind", "markov"),
        ("belief", "kind", []),
        ("release", "query", "histogramm"),
        ("release", "query", []),
    ],
)
def test_an_unknown_name_asks_for_the_model_of_all(section: str, key: str, value: object) -> None:
    kind, raw = (
        KINDS.find("markov-chain"),
        dict[str, Any](belief={"kind": "markov-chain"}, release=[{"query": "count"}]),
    )
    assert model_of_named(kind, raw) is not model_of_file(kind)
    (raw[section][0] if section == "release" else raw[section])[key] = value
    assert model_of_named(kind, raw) is model_of_file(kind)


@pytest.mark.parametrize("raw", [{}, {"belief": 3, "release": 3}, {"belief": {"kind": "markov-chain"}, "release": [3]}])
def test_so_does_what_is_no_file(raw: Any) -> None:
    kind = KINDS.find("markov-chain")
    assert model_of_named(kind, raw) is model_of_file(kind)
