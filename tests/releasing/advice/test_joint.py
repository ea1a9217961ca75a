"""There is one ±: that of the advice is the one that the dry run shows and the release prints, all values at once."""

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conformance.release_files import Example
from tests.conformance.test_release_files import EXAMPLES as KINDS
from tests.releasing.advice.test_advice import NO_CALENDAR, of_units
from tests.releasing.advice.test_advice import NORMAL as NORMAL_RECORDS
from tests.releasing.test_windows import INFLUENCE, written
from tests.support.commands import invoke

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace, RoundedLaplace, RoundedNormal
from takifugu.analysis.randomisers.additive import Exact
from takifugu.cli.samples.examples import write_example
from takifugu.core.escaping import number, plus_minus
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.advice.advice import EXPECTED_HEADER
from takifugu.releasing.advice.bands import coverage
from takifugu.releasing.planning.expected import AT_ONCE
from takifugu.releasing.postprocess.intervals import LEVEL

COUNT = ('query = "histogram"', 'query = "count"\nstates = ["on"]')
POOLED = ('per = "unit"', 'per = "pooled"')
CLEAR = ("epsilon = 0.2", "epsilon = 4")
ADJUSTED, BOTH = ("per =", "adjust = true\nper ="), ('per = "unit"', 'per = "both"')
NORMAL = ("epsilon = 0.2", 'epsilon = 4\ndelta = 1e-5\nmechanism = "influence-gaussian"')


def both(path: Path) -> tuple[Any, Any]:
    """Return what `advise` and `release --dry-run` say, as JSON."""
    outcomes = [invoke(*words, path, "--json") for words in (["advise"], ["release", "--dry-run", "--allow-useless"])]
    advised, dry = (json.loads(outcome.stdout) for outcome in outcomes)
    return advised["files"][0], dry


def check_one_width(path: Path) -> list[str]:
    """Check that the ± of every table is the dry run's, wherever the advice has one; return these."""
    advised, dry = both(path)
    assert [table["name"] for table in advised["tables"]] == [table["name"] for table in dry["forecast"]["tables"]]
    widths = []
    for table, foreseen, again in zip(advised["tables"], dry["forecast"]["tables"], dry["advice"], strict=True):
        printed = [] if "told" in foreseen else [answer["half_width"] for answer in foreseen["answers"]]
        if table["half_width"] is not None:
            assert table["half_width"] in printed
            assert again["half_width"] == table["half_width"]
            assert table["coverage"] >= LEVEL - 1e-9
            widths.append(table["half_width"])
    return widths


@pytest.mark.sampled(10)
@pytest.mark.parametrize("example", KINDS, ids=lambda example: example.kind)
def test_every_kind_of_file_has_the_width_of_its_dry_run(example: Example, tmp_path: Path) -> None:
    assert len(check_one_width(example.write(tmp_path))) == (example.kind not in ("populations", "asymmetric"))


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("changes", [
    (), (CLEAR,), (COUNT, CLEAR), (POOLED, COUNT), (POOLED, CLEAR), (NORMAL, *NO_CALENDAR), (ADJUSTED,), (BOTH,),
], ids=["units", "clear", "number of each", "one number", "pooled", "normal", "adjusted", "both"])  # fmt: skip
def test_what_is_shown_is_what_is_printed(changes: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    path = of_units(tmp_path, ("budget = 8", "budget = { epsilon = 8, delta = 1e-3 }"), *changes)
    widths = check_one_width(path)
    advice = tf.advise(path)
    assert widths == [str(table.joint.half_width) for table in advice.tables if table.joint is not None]
    dry = invoke("release", "--dry-run", "--allow-useless", path).stdout
    for width in widths:
        text_of_width = number(float(Fraction(width)))
        assert f"are the ± {text_of_width} of its release" in " ".join(str(advice).split())
        assert f"  {text_of_width}  " in dry
        assert f">{text_of_width}<" in advice._repr_html_()
    assert all(AT_ONCE in " ".join(words.split()) for words in (str(advice), dry))
    assert AT_ONCE in advice._repr_html_()
    assert EXPECTED_HEADER[2] in dry
    assert ("before they are adjusted" in " ".join(str(advice).split())) == (ADJUSTED in changes)
    for table, published in zip(advice.tables, tf.release_file(path, allow_useless=True).tables, strict=True):
        (width,) = {Fraction(str(row["high"])) - Fraction(str(row["value"])) for row in published.rows}
        assert table.joint.half_width == width


@pytest.mark.slow
def test_units_of_different_lengths_have_the_width_of_the_worst(tmp_path: Path) -> None:
    path = of_units(tmp_path, *NO_CALENDAR)
    lengths = {"a": 40, "b": 168}
    rows = [f"{who},{hour},{'on' if hour % 3 else 'off'}" for who, most in lengths.items() for hour in range(most)]
    (tmp_path / "rows.csv").write_text("\n".join(["who,hour,state", *rows]) + "\n")
    (width,) = check_one_width(path)
    assert width


@pytest.mark.slow
def test_a_number_without_a_verdict_says_the_width(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("glucose,insulin\n" + "100,15\n" * 500)
    path = tmp_path / "release.toml"
    expect = '\n[expect]\nsource = "a test"\npeople = 7\n'
    path.write_text(NORMAL_RECORDS.replace("[source]", "[source]\nsingle_release = true") + expect)
    (width,) = check_one_width(path)
    (table,) = tf.advise(path).tables
    assert (table.to_dict()["verdict"], table.to_dict()["half_width"]) == (None, width)
    assert table.to_dict()["coverage"] == pytest.approx(0.95, abs=0.01)
    assert table.sentence.endswith(f"; the value lies within ± {plus_minus(Fraction(width))} with probability 95 %")


@pytest.mark.slow
def test_before_the_people_are_read_the_width_is_that_of_one(tmp_path: Path) -> None:
    """`calibrate` reads none of them and says so; `advise` counts them where they can be read."""
    (path, *_) = (one for one in write_example("people", tmp_path) if one.suffix == ".toml")
    calibrated = invoke("cost", path).stdout
    assert "It was not read which people there are: the ± is that of one person" in " ".join(calibrated.split())
    assert "It was not read" not in invoke("release", "--dry-run", path).stdout
    (table,) = tf.advise(path).tables
    assert (table.joint.values, table.joint.half_width) == (5, 1)
    assert table.sentence == "good: any one value is off by at most 1 with 95 % probability"
    (tmp_path / "people.csv").unlink()
    advice = tf.advise(path)
    assert (advice.tables[0].joint, advice.tables[0].sentence) == (None, table.sentence)
    assert re.search(r"^value  1\.01\n\n", str(advice), re.MULTILINE)
    assert "depends on how many people there are, and their data cannot be read yet" in " ".join(str(advice).split())
    assert ">-<" in advice._repr_html_()


LAWS: list[Callable[[Fraction, Fraction], Any]] = [DiscreteLaplace, RoundedLaplace, RoundedNormal]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("values", [1, 4, 25])
def test_all_values_lie_inside_at_once_as_often_as_stated(law: Any, values: int) -> None:
    noise = law(Fraction(3), Fraction(1), values)
    width = noise.half_width(LEVEL, values)
    stated, runs, entropy = coverage(noise, width, values), 4000, InsecureSeededEntropyForTests(5)
    errors = noise.draw_column(np.zeros(runs * values, dtype=np.int64), entropy).reshape(runs, values)
    inside = int((abs(errors).max(axis=1) <= float(width)).sum())
    assert stated >= LEVEL > coverage(noise, width - 1, values)
    assert abs(inside - runs * stated) < 4 * math.sqrt(runs * stated * (1 - stated))


def test_values_without_noise_always_lie_inside() -> None:
    assert coverage(Exact(Fraction(1), 5), Fraction(0), 5) == 1.0


@pytest.mark.mutants
def test_each_window_has_the_width_of_its_dry_run(tmp_path: Path) -> None:
    histogram = 'query = "count"\nstates = ["busy"]', 'query = "histogram"'
    path = written(tmp_path, histogram, INFLUENCE)
    assert len(check_one_width(path)) == 4
    assert [name for name, _ in tf.advise(path).alike] == ["busy-2026-W02 and 3 more like it"]
