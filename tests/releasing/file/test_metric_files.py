"""A metric in a release file: what it changes, what is told of it, and what is no metric."""

import json
from pathlib import Path

import pytest
from tests.support.commands import ended, json_of, succeed, words_of

from takifugu.cli.group import BAD_INPUT
from takifugu.cli.samples.examples import write_example

EPSILON = "epsilon = 2.0"
BY_NAME = 'mechanism = "kantorovich-exponential"'


def written(folder: Path, metric: str, mechanism: str = BY_NAME) -> Path:
    """Write the example of people with a metric; return the release file's path."""
    write_example("people", folder)
    path = folder / "people.toml"
    text = path.read_text(encoding="utf-8")
    assert text.count(EPSILON) == 1
    path.write_text(text.replace(EPSILON, f"{EPSILON}\n{mechanism}\nmetric = {metric}"), encoding="utf-8")
    return path


@pytest.mark.slow
def test_it_is_compared_released_and_audited(tmp_path):
    path = written(tmp_path, '{ name = "power", parameter = "1/2" }')
    (table,) = json_of("cost", "--all", path)["files"][0]["mechanisms"]
    rows = {row["name"]: row for row in table["rows"]}
    assert rows["kantorovich-exponential"]["expected_error"] == pytest.approx(0.22632, abs=1e-5)
    assert rows["influence"]["status"] == "chosen"
    succeed("release", path)
    certificate = json.loads((tmp_path / "people-published" / "education.certificate.json").read_text())
    assert certificate["mechanisms"]["kantorovich-exponential"].endswith("distances by the metric power 0.5")
    assert len(certificate["answers"][0]["noise"]["masses"]) == 3
    assert "spent epsilon 2 budget epsilon 2" in words_of(succeed("ledger", "show", tmp_path / "people-ledger.db"))
    assert ": kept" in words_of(succeed("audit", path))


def test_another_metric_has_another_error(tmp_path):
    path = written(tmp_path, '{ name = "capped", parameter = 1 }')
    errors = {}
    for metric in ("capped", "logarithm"):
        path.write_text(path.read_text(encoding="utf-8").replace("capped", metric), encoding="utf-8")
        (table,) = json_of("cost", path)["files"][0]["tables"]
        errors[metric] = table["answers"][0]["expected_error"]
    assert errors["capped"] != errors["logarithm"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("metric", "words"), [
    ('{ name = "power", parameter = 2 }', "table[0].metric.parameter: the metric is |z|^2, which is convex"),
    ('{ name = "square", parameter = 2 }', "table[0].metric.name: the metric is 'square', that is z^2"),
    ('{ name = "powr", parameter = 1 }', "table[0].metric.name: the metric is 'powr'"),
    ('{ name = "table", parameter = [[0,1,2],[1,0,1],[3,1,0]] }', "table[0].metric.parameter: the metric is not"),
    ('{ name = "table", parameter = [[0,1,3],[1,0,1],[3,1,0]] }', "breaks the triangle inequality through 1"),
    ('{ name = "table", parameter = [[0,1],[1,0]] }', "has 2 rows, and there are 3 possible answers"),
    ('{ name = "circle", parameter = 2 }', "0 apart under the metric circle 2"),
    ('{ name = "power" }', "table[0].metric.parameter"),
    ('{ name = "power", parameter = 1, unit = 3 }', "table[0].metric.unit"),
    ('"power"', "table[0].metric"),
])  # fmt: skip
def test_what_is_no_metric_is_refused(tmp_path, metric, words):
    path = written(tmp_path, metric)
    assert words in words_of(ended(BAD_INPUT, "cost", path))
    ended(BAD_INPUT, "release", path)
    assert not (tmp_path / "people-published").exists()


@pytest.mark.parametrize("mechanism", ["", 'mechanism = "wasserstein"'])
def test_another_mechanism_has_no_use_for_it(tmp_path, mechanism):
    path = written(tmp_path, '{ name = "power", parameter = "1/2" }', mechanism)
    assert "table[0].metric: is no use to the mechanism" in words_of(ended(BAD_INPUT, "cost", path))
