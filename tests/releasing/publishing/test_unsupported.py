"""Queries that are not published under their own name: each is told with a recipe, and each recipe is carried out."""

import math
from pathlib import Path
from statistics import median_low, pvariance
from typing import Any

import pytest
from tests.releasing import attribute_files, files
from tests.support.release_files import believe, hide, read_from, release_text, section
from tests.support.releases import put, refusal_of

import takifugu as tf
from takifugu.releasing.file.unsupported import _NAMES, _RECIPES, instead_of

AGES = [3, 4, 4, 7, 12, 13, 18, 22, 23, 23, 23, 29]
#: The bins of AGES: name, from, to (not included), the number in the middle.
BINS = {"child": (0, 10, 5), "teen": (10, 20, 15), "adult": (20, 30, 25), "old": (30, 99, 35)}
CODES = [next(middle for low, high, middle in BINS.values() if low <= age < high) for age in AGES]

SEQUENCE = release_text(
    read_from("study", "ages.csv", value="age", bins={name: [*ends] for name, (*ends, _) in BINS.items()}, budget=1e6),
    believe("markov-chain", states=list(BINS), matrix=[[0.25] * 4] * 4),
    output="out",
)
RECORDS = release_text(
    read_from("study", "ages.csv", budget=1000000.0),
    believe("independent-records", records=12, source="a survey", columns=["age"], rows=[[5], [15], [25], [35]],
            probabilities=["0.25", "0.25", "0.25", "0.25"]),
    section("[belief.classes.age]", ends=[10, 20, 30], values=[5, 15, 25, 35]),
    hide(record={"attribute": "age"}),
    output="out",
)  # fmt: skip
FILES = {"sequences": SEQUENCE, "records": RECORDS}


def release(kind: str, folder: Path, *items: dict[str, Any]) -> list[list[Any]]:
    """Publish tables with next to no noise; return the rows of each."""
    text, about = FILES[kind], {"attribute": "age"} if kind == "records" else {}
    for number, item in enumerate(items):
        text += "\n" + section("[[release]]", name=f"t{number}", epsilon=1e4, **item, **about) + "\n"
    ages = "age\n" + "\n".join(map(str, AGES)) + "\n"
    tf.release_file(put(folder, {"release.toml": text, "ages.csv": ages}))
    return [list(tf.read_table(folder / "out" / f"t{number}.csv")) for number in range(len(items))]


def codes(kind: str, of: Any) -> dict[str, Any]:
    """Return the code of each bin, by the name that this kind of file gives it."""
    named = {name if kind == "sequences" else str(middle): middle for name, (_, _, middle) in BINS.items()}
    return {name: of(middle) for name, middle in named.items()}


def histogram(kind: str, folder: Path) -> list[Any]:
    return release(kind, folder, {"query": "histogram"})[0]


def quantile(rows: list[Any], share: float) -> str:
    """Return the first bin at which the counts up to it reach a share of their sum."""
    whole, so_far = sum(row["value"] for row in rows), 0
    for row in rows:
        so_far += row["value"]
        if so_far >= share * whole:
            return str(row["cell"])
    raise AssertionError


def bin_of(kind: str, middle: int) -> str:
    return next(name for name, code in codes(kind, lambda m: m).items() if code == middle)


def moments(kind: str, folder: Path) -> tuple[float, float]:
    """Return the means of the codes and of their squares."""
    means = [{"query": "mean", "codes": codes(kind, of)} for of in (lambda m: m, lambda m: m * m)]
    one, other = release(kind, folder, *means)
    return one[0]["value"], other[0]["value"]


def carried_out(name: str, kind: str, folder: Path) -> tuple[Any, Any]:
    """Return what the recipe for a name gives, and what is right."""
    if name in ("median", "quantile"):
        share = 0.5 if name == "median" else 0.25
        right = median_low(CODES) if name == "median" else sorted(CODES)[math.ceil(0.25 * len(CODES)) - 1]
        return quantile(histogram(kind, folder), share), bin_of(kind, right)
    if name in ("max", "min", "range", "count_distinct", "mode", "top-k", "frequencies"):
        rows = [] if name == "frequencies" else histogram(kind, folder)
        held = [row["cell"] for row in rows if row["low"] > 0]
        first, last = bin_of(kind, min(CODES)), bin_of(kind, max(CODES))
        if name in ("mode", "top-k"):
            return max(rows, key=lambda row: row["value"])["cell"], bin_of(kind, max(CODES, key=CODES.count))
        if name == "frequencies":
            (rows,) = release(kind, folder, {"query": "histogram", "total": len(CODES)})
            return rows[0]["value"], pytest.approx(CODES.count(5) / len(CODES))
        return {"max": (held[-1], last), "min": (held[0], first), "range": ((held[0], held[-1]), (first, last)),
                "count_distinct": (len(held), len(set(CODES)))}[name]  # fmt: skip
    if name == "proportion":
        (rows,) = release(kind, folder, {"query": "mean", "codes": codes(kind, lambda m: int(m == 25))})
        return rows[0]["value"], pytest.approx(CODES.count(25) / len(CODES))
    if name in ("average", "total"):
        (rows,) = release(kind, folder, {"query": "mean" if name == "average" else "sum",
                                         "codes": codes(kind, lambda m: m)})  # fmt: skip
        return rows[0]["value"], pytest.approx(sum(CODES) / (len(CODES) if name == "average" else 1))
    first_moment, second_moment = moments(kind, folder)
    variance = second_moment - first_moment**2
    right_variance = pvariance(CODES)
    return (variance, pytest.approx(right_variance)) if name == "variance" else (
        math.sqrt(variance), pytest.approx(math.sqrt(right_variance)))  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", _RECIPES)
def test_each_recipe_is_carried_out(name: str, kind: str, tmp_path: Path) -> None:
    computed, right = carried_out(name, kind, tmp_path)
    assert computed == right


KINDS = {"sequences": files.SPEC, "independent-records": attribute_files.RECORDS, "normal": attribute_files.NORMAL}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted({"median", "quantile", "rate", "variance", "std", "max", "min", "average",
                                         "count_distinct", "proportion", "percentile"}))  # fmt: skip
def test_the_error_names_the_query_and_what_to_write(name: str, kind: str, tmp_path: Path) -> None:
    if kind == "sequences" and name in ("median", "quantile"):
        name = f"{name}s"  # these are published under their own name
    text = KINDS[kind]
    query_line = next(line for line in text.splitlines() if line.startswith("query"))
    (tmp_path / "release.toml").write_text(text.replace(query_line, f'query = "{name}"'))
    caught = refusal_of(tmp_path / "release.toml")
    (line,) = [line for line in caught.problems if line.startswith("release[0].query")]
    assert line.startswith(f'release[0].query: "{name}" is not published')
    assert 'write query = "' in line or "this kind of file publishes" in line
    assert not (tmp_path / "ledger.db").exists()


def test_each_spelling_leads_to_a_recipe_of_a_query_that_there_is() -> None:
    allowed = ["histogram", "count", "sum", "mean", "linear"]
    assert set(_NAMES.values()) == set(_RECIPES)
    for spelling in _NAMES:
        for written in (spelling, spelling.upper(), f" {spelling}-"):
            error = instead_of(written, allowed, {"belief": {"kind": "users"}})
            assert error is not None
            assert any(f'write query = "{query}"' in error.fix for query in allowed)


@pytest.mark.parametrize("odd", ["histgram", "", 3, None, True, ["median"], "median" * 20, "médian"])
def test_another_text_is_no_such_name(odd: Any) -> None:
    assert instead_of(odd, ["histogram"], {}) is None


@pytest.mark.parametrize(("allowed", "raw", "fix"), [
    *(("histogram", raw, "histogram") for raw in (None, [], {}, {"belief": 3}, {"belief": {"kind": ["x"]}})),
    ("each-value", {"belief": {"kind": "populations"}}, 'this kind of file publishes "each-value"'),
])  # fmt: skip
def test_a_broken_file_is_no_reason_to_fail_and_one_without_counts_says_what_it_publishes(
    allowed: str, raw: Any, fix: str
) -> None:
    error = instead_of("median", [allowed], raw)
    assert error is not None
    assert fix in error.fix


