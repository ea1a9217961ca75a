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
    read_from("study", "ages.csv", order="n", step=1, value="age", budget=1e6,
              bins={name: [*ends] for name, (*ends, _) in BINS.items()}),
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


def codes(kind: str, of: Any) -> dict[str, Any]:
    """Return the code of each bin, by the name that this kind of file gives it."""
    named = {name if kind == "sequences" else str(middle): middle for name, (_, _, middle) in BINS.items()}
    return {name: of(middle) for name, middle in named.items()}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[Any]]]:
    """The rows of every table that some recipe needs, for each kind of file, published with next to no noise."""
    published = {}
    for kind, text in FILES.items():
        items = {
            "counts": {"query": "histogram"}, "shares": {"query": "histogram", "total": len(CODES)},
            "mean": {"query": "mean", "codes": codes(kind, lambda m: m)},
            "squares": {"query": "mean", "codes": codes(kind, lambda m: m * m)},
            "adults": {"query": "mean", "codes": codes(kind, lambda m: int(m == 25))},
            "total": {"query": "sum", "codes": codes(kind, lambda m: m)},
        }  # fmt: skip
        about = {"epsilon": 1e4, **({"attribute": "age"} if kind == "records" else {})}
        sections = [section("[[table]]", name=name, **item, **about) for name, item in items.items()]
        ages = "n,age\n" + "".join(f"{n},{age}\n" for n, age in enumerate(AGES))
        file = put(tmp_path_factory.mktemp(kind), {"release.toml": "\n".join([text, *sections]), "ages.csv": ages})
        tf.release_file(file)
        published[kind] = {name: list(tf.read_table(file.parent / "out" / f"{name}.csv")) for name in items}
    return published


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


@pytest.mark.mutants
@pytest.mark.parametrize("kind", FILES)
def test_each_recipe_is_carried_out(tables: dict[str, dict[str, list[Any]]], kind: str) -> None:
    counts, shares = tables[kind]["counts"], tables[kind]["shares"]
    mean, squares, adults, total = (tables[kind][name][0]["value"] for name in ("mean", "squares", "adults", "total"))
    occurring = [row["cell"] for row in counts if row["low"] > 0]
    first, last = bin_of(kind, min(CODES)), bin_of(kind, max(CODES))
    most, right_most = max(counts, key=lambda row: row["value"])["cell"], bin_of(kind, max(CODES, key=CODES.count))
    lower = sorted(CODES)[math.ceil(0.25 * len(CODES)) - 1]
    #: What the recipe for a name gives, and what is right.
    carried_out = {
        "median": (quantile(counts, 0.5), bin_of(kind, median_low(CODES))),
        "quantile": (quantile(counts, 0.25), bin_of(kind, lower)),
        "max": (occurring[-1], last), "min": (occurring[0], first),
        "range": ((occurring[0], occurring[-1]), (first, last)), "count_distinct": (len(occurring), len(set(CODES))),
        "mode": (most, right_most), "top-k": (most, right_most),
        "frequencies": (shares[0]["value"], pytest.approx(CODES.count(5) / len(CODES))),
        "proportion": (adults, pytest.approx(CODES.count(25) / len(CODES))),
        "average": (mean, pytest.approx(sum(CODES) / len(CODES))), "total": (total, pytest.approx(sum(CODES))),
        "variance": (squares - mean**2, pytest.approx(pvariance(CODES))),
        "std": (math.sqrt(squares - mean**2), pytest.approx(math.sqrt(pvariance(CODES)))),
    }  # fmt: skip
    assert carried_out.keys() == _RECIPES.keys()
    for name, (computed, right) in carried_out.items():
        assert computed == right, name


KINDS = {"sequences": files.SPEC, "records": attribute_files.RECORDS, "normal": attribute_files.NORMAL}


@pytest.mark.parametrize(("name", "kind"), [("medians", "sequences"), ("max", "records"), ("std", "normal")])
def test_the_error_names_the_query_and_what_to_write(name: str, kind: str, tmp_path: Path) -> None:
    text = KINDS[kind]
    query_line = next(line for line in text.splitlines() if line.startswith("query"))
    path = put(tmp_path, {"release.toml": text.replace(query_line, f'query = "{name}"')})
    (line,) = [line for line in refusal_of(path).problems if line.startswith("table[0].query")]
    assert line.startswith(f'table[0].query: "{name}" is not published')
    assert 'write query = "' in line or "this kind of file publishes" in line


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
def test_a_broken_file_is_no_reason_to_fail_and_one_without_counts_says_so(allowed: str, raw: Any, fix: str) -> None:
    error = instead_of("median", [allowed], raw)
    assert error is not None
    assert fix in error.fix
