"""Faulty release files by the hundred: keys dropped, misspelt, of another type, out of range; each with its key."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.releasing import files

from takifugu.core.plain import toml_of

#: Sections whose keys the author chooses.
FREE = ("codes",)
WHO, RUN, AT, RAW, STATE = "Who is it?", "run no.", "t [min]", "état; raw", files.STATE

UNITS: dict[str, Any] = {
    "version": 1,
    "ledger": "ledger.db",
    "output": "out",
    "expect": {"source": "a test", "matters": 1000},
    "source": {
        "name": "study", "file": "data.csv", "rows": "samples", "unit": WHO, "recording": RUN, "order": AT, "step": 2,
        "value": STATE, "nulls": "refuse", "where": "spare <> 'NA'", "budget": 10,
    },
    "belief": {
        "kind": "markov-chain", "states": ["still", "walking"],
        "matrix": [[0.8, 0.2], [0.3, 0.7]], "initial": "stationary", "source": "a test", "recordings_independent": True,
        "units_independent": True, "max_length": 60,
    },
    "hide": {"kind": "every-entry"},
    "table": [
        {"name": "time-use", "query": "histogram", "epsilon": 1.0, "per": "both", "mechanism": "auto", "total": 100,
         "states": ["walking", "still"], "allow_zero_noise": False, "delta": 0},
        {"name": "moves", "query": "mean", "epsilon": "1/3", "codes": {"still": 0, "walking": "0.5"}, "grid": 0.5},
        {"name": "walks", "query": "count", "epsilon": 0.5, "states": ["walking"]},
    ],
}  # fmt: skip

ONE: dict[str, Any] = {
    "ledger": "ledger.db",
    "expect": {"source": "a test", "matters": 1000},
    "source": {
        "name": "one", "file": "one.csv", "rows": "samples", "order": AT, "step": 2, "value": STATE,
        "budget": {"epsilon": 3.0, "delta": 1e-6},
    },
    "belief": {
        "kind": "markov-chain", "states": ["still", "walking"],
        "fit": {"file": "public.csv", "value": STATE, "order": AT, "smoothing": 1, "private": False},
        "initial": [0.5, 0.5],
    },
    "hide": {"kind": "one-entry", "entry": 1, "a": "still", "b": "walking"},
    "table": [
        {"name": "rise", "query": "linear", "epsilon": 1, "codes": {"still": 0, "walking": 1},
         "weights": [1, 0, "1/2"]},
    ],
}  # fmt: skip

CLASS: dict[str, Any] = {
    "ledger": "ledger.db",
    "expect": {"source": "a test", "matters": 1000},
    "source": {"name": "one", "file": "one.csv", "rows": "samples", "order": AT, "step": 2, "value": STATE},
    "belief": {
        "kind": "markov-chain-class", "states": ["still", "walking"], "pi": 0.2, "g": 0.5,
    },
    "table": [{"name": "walks", "query": "sum", "epsilon": 1, "codes": {"still": 0, "walking": 1}}],
}  # fmt: skip

REQUIRED = (
    "ledger", "source", "belief", "table", "source.name", "source.file", "source.rows", "source.value",
    "belief.kind", "belief.states", "table.0.name", "table.0.query", "table.0.epsilon",
)  # fmt: skip
REQUIRED_HERE: dict[int, tuple[str, ...]] = {
    0: (*REQUIRED, "belief.matrix", "belief.recordings_independent", "belief.units_independent", "hide.kind",
        "table.1.codes", "table.1.name", "table.2.states", "table.2.epsilon"),
    1: (*REQUIRED, "belief.fit", "belief.fit.file", "hide.entry", "hide.a", "hide.b", "table.0.weights",
        "table.0.codes", "source.budget.epsilon"),
    2: (*REQUIRED, "belief.pi", "belief.g", "table.0.codes"),
}  # fmt: skip

OUT_OF_RANGE: dict[int, dict[str, tuple[Any, ...]]] = {
    0: {
        "version": (0, 2, 10**30),
        "ledger": ("",),
        "output": ("",),
        "source.name": ("",),
        "source.file": ("", "none.csv", ".", "https://example.org/data.csv", "s3://bucket/data.parquet"),
        "source.unit": ("who is it?", RUN, ""),
        "source.recording": ("run", RAW),
        "source.order": ("t", WHO, "spare"),
        "source.value": ("etat; raw", AT, "spare"),
        "source.step": (0, -1, float("inf"), "2 parsecs", "1min", "-1s", 4, 2.5),
        "source.where": ("", "spare", "random() > 0.5", "DROP TABLE x", "count(*) > 1", "(select true)"),
        "source.nulls": ("keep", "Refuse"),
        "source.budget": (0, -3, float("nan"), float("inf"), "ten", "1/0", 10**40),
        "belief.kind": ("markov", "chain", ""),
        "belief.states": ([], ["still"], ["still", "still"], ["still", "running"], ["still", "walking", "running"]),
        "belief.matrix": (
            [], [[]], [[1.0]], [[0.8, 0.2]], [[0.8, 0.2], [0.3]], [[0.8, 0.3], [0.3, 0.7]], [[-0.2, 1.2], [0.3, 0.7]],
            [[float("nan"), 1], [0.3, 0.7]], [[1, 0], [0, 1]], [[0.8, 0.2], [0.3, 0.7], [0.5, 0.5]], "none.csv",
            "data.csv",
        ),
        "belief.initial": ("any start", [1], [0.5, 0.6], [0.5, -0.5], [float("inf"), 0]),
        "belief.recordings_independent": (False,),
        "belief.units_independent": (False,),
        "belief.max_length": (0, 1, 20, 10**30),
        "hide.kind": ("entries", "every entry", ""),
        "table": ([],),
        "table.0.name": ("", "time use", "../time-use", "moves", "x" * 65, ".hidden", "a/b"),
        "table.0.query": ("", "histo", "maximum"),
        "table.0.epsilon": (0, -1, float("nan"), float("inf"), "1/0", "much", 1e-10, 10001, 1e300, "1e-400"),
        "table.0.delta": (-0.1, 1, 2, float("nan"), "1/0"),
        "table.0.per": ("everybody", "units", ""),
        "table.0.mechanism": ("quilt", "quilt_exact", "laplace", ""),
        "table.0.total": (0, -5, 10**30),
        "table.0.states": (["running"], ["walking", "walking"], []),
        "table.1.codes": ({"still": 0}, {"still": 0, "walking": "far"}, {"still": 0, "walkin": 1}, {}),
        "table.1.grid": (0, -1, float("nan")),
        "table.2.states": ([], ["walkin"], ["walking", "running"]),
    },
    1: {
        "source.budget": ({}, {"epsilon": 0}, {"epsilon": 1, "delta": 1}, {"epsilon": 1, "dleta": 0.1}),
        "belief.fit.file": ("", "none.csv", "one.csv", "./one.csv", "."),
        "belief.fit.value": ("state", AT),
        "belief.fit.order": ("minute", RAW),
        "belief.fit.smoothing": (-1, float("nan"), float("inf")),
        "belief.fit.confidence": (0, 1, 1.0, -0.5, float("nan"), "high", True),
        "belief.initial": ([1, 1], [0.5, 0.25, 0.25]),
        "hide.entry": (-1, 3000, 2.5, 10**30),
        "hide.a": ("stil", "walking", 7),
        "hide.b": ("running", "still"),
        "table.0.weights": ([], [0, 0], [1, 2], [1, float("nan"), 2], [1, "one", 2], "none.csv", "public.csv", "."),
        "table.0.codes": ({"still": 0}, {"walk": 1}),
        "table.0.grid": (0, -1, "0"),
    },
    2: {
        "belief.pi": (0, -0.1, 0.6, float("nan"), float("inf")),
        "belief.g": (0, -0.1, 1.5, float("nan")),
        "belief.states": (["still"], ["still", "still"]),
        "table.0.epsilon": (0, "0", "-1/2"),
    },
}  # fmt: skip


class Mutant(NamedTuple):
    """A faulty release file, what was done to which key, and the key that a message must name."""

    what: str
    raw: dict[str, Any]
    key: str


def mutants() -> list[Mutant]:
    return [m for number, base in enumerate((UNITS, ONE, CLASS)) for m in _of(number, base)]


def _of(number: int, base: dict[str, Any]) -> Iterator[Mutant]:
    for path in REQUIRED_HERE[number]:
        yield Mutant(f"{number} without {path}", changed(base, path), _last(path))
    for path, value in paths(base):
        if path.rsplit(".", 2)[-2:-1] not in [[name] for name in FREE]:
            for wrong in (f"{_last(path)}x", _last(path)[:-1] or "y", _last(path).upper()):
                yield Mutant(f"{number} {path} as {wrong}", renamed(base, path, wrong), wrong)
        for wrong_value in _wrong_types(path, value):
            yield Mutant(f"{number} {path} = {wrong_value!r}", changed(base, path, wrong_value), _last(path))
    for path, values in OUT_OF_RANGE[number].items():
        for value in values:
            yield Mutant(f"{number} {path} = {value!r}", changed(base, path, value), _last(path))


def _wrong_types(path: str, value: Any) -> list[Any]:
    """Return values of other types than the key takes; a key that takes a number takes it as text as well."""
    if isinstance(value, dict):
        return [3, "text", [1], True] if path != "source.budget" else ["text", [1], True]
    if isinstance(value, list):
        return [3, True, {"a": 1}]
    if isinstance(value, bool):
        return ["yes", 1, []]
    if isinstance(value, int | float) or path.endswith(("epsilon", "budget", "delta", "grid")):
        return [True, [], {"a": 1}, "SENTINEL"]
    if path.rsplit(".", 1)[-1] in ("a", "b") or ".codes." in path:
        return [[], {"a": 1}, True]
    return [3, True, [], {"a": 1}]


def paths(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key of nested sections with its value; sections that are repeated are counted."""
    for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
        path = f"{at}.{key}" if at else str(key)
        if isinstance(value, dict):
            yield path, inside
        if isinstance(inside, dict) or (isinstance(inside, list) and inside and isinstance(inside[0], dict)):
            yield from paths(inside, path)


def changed(base: dict[str, Any], path: str, value: Any = None) -> dict[str, Any]:
    """Return a copy with another value at a path, or without it."""
    raw = copy.deepcopy(base)
    inside, key = _place(raw, path)
    if value is None:
        del inside[key]
    else:
        inside[key] = value
    return raw


def renamed(base: dict[str, Any], path: str, name: str) -> dict[str, Any]:
    raw = copy.deepcopy(base)
    inside, key = _place(raw, path)
    inside[name] = inside.pop(key)
    return raw


def _place(raw: Any, path: str) -> tuple[Any, Any]:
    *parts, last = path.split(".")
    for part in parts:
        raw = raw[int(part)] if isinstance(raw, list) else raw[part]
    return raw, int(last) if isinstance(raw, list) else last


def _last(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def toml(raw: dict[str, Any]) -> str:
    return "".join(f"{key} = {toml_of(value)}\n" for key, value in raw.items())


def write_data(folder: Path) -> None:
    """Write the data that the three files are about."""
    (folder / "data.csv").write_text(files.data(), encoding="utf-8")
    rows = [f"{t * 2},{['sitting', 'walking', 'lying'][t % 3]}" for t in range(3)]
    (folder / "one.csv").write_text("\n".join([f"{AT},{RAW}", *rows]) + "\n", encoding="utf-8")
    many = [f"{t * 2},{['sitting', 'walking', 'lying'][t * t % 3]}" for t in range(300)]
    (folder / "public.csv").write_text("\n".join([f"{AT},{RAW}", *many]) + "\n", encoding="utf-8")
