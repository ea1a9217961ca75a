"""A query written outside the package, in one file, works from `takifugu init` to what the ledger says is spent."""

from pathlib import Path

import pytest
from tests.support.commands import ended, succeed, words_of
from tests.support.one_file import load
from tests.support.release_files import filled
from tests.support.starting import begin, published

from takifugu.core.errors import InputError
from takifugu.releasing.file.loading import json_schema

TREND = '''
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from takifugu import extending


@dataclass(frozen=True)
class Trend(extending.Query, kind="trend"):
    """How often a state occurs in the second half of the entries, minus how often it does in the first half."""

    state: object

    def resolve(self, entries):
        if self.state not in entries.alphabet(0):
            raise extending.InputError(f"no entry is ever {self.state!r}", fix="write another state").at("state")
        half = entries.size // 2
        weights = np.array([-1 if i < half else int(i >= entries.size - half) for i in range(entries.size)])
        table = np.array([[int(value == self.state)] for value in entries.alphabet(0)])
        return extending.Additive(Fraction(1), ("trend",), (table,), weights)

    def describe(self):
        return f"how much more often state {self.state!r} occurs in the second half than in the first"


@dataclass(frozen=True)
class TrendSection:
    """How much more often a state occurs late than early."""

    query: Literal["trend"]
    state: Annotated[str, extending.Key("the state whose trend is published", "walking")]

    def query_about(self, belief, folder):
        return Trend(self.state)


extending.register_query("trend", Trend, section=TrendSection)
'''
FILLED = {
    "source": "budget = 3.0", "belief": 'states = ["still", "walking"]\nmatrix = [[0.9, 0.1], [0.4, 0.6]]',
    "table": 'query = "trend"\nstate = "walking"',
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a release file that `init` drafted and a person filled in."""
    load(TREND, "trend", tmp_path)
    rows = "".join(f"2026-01-05T{hour:02}:00,{'walking' if 8 <= hour < 18 else 'still'}\n" for hour in range(24))
    (tmp_path / "day.csv").write_text("time,state\n" + rows, encoding="utf-8")
    path = tmp_path / "release.toml"
    begin(tmp_path / "day.csv", "-o", path, "--unit", "-", "--order", "time", "--step", "1h")
    path.write_text(filled(path.read_text(encoding="utf-8"), **FILLED), encoding="utf-8")
    return path


@pytest.mark.slow
def test_it_works_from_init_to_the_ledger(file: Path) -> None:
    source = published(file)
    assert (source["spent"]["epsilon"], source["budget"]["epsilon"]) == ("1", "3")
    out, words = file.parent / "release-published", "in the second half than in the first"
    assert words in words_of(succeed("verify", out / "time-in-states.certificate.json"))
    assert words in (out / "time-in-states.report.html").read_text(encoding="utf-8")


@pytest.mark.mutants
@pytest.mark.parametrize(("old", "new", "line"), [
    ('state = "walking"', "", 'table[0].state: is missing; write state = "walking" (the state whose trend is'),
    ('state = "walking"', 'state = "dancing"', "table[0].state: no entry is ever 'dancing'; write another state"),
    ('state = "walking"', "state = 3", 'table[0].state: is 3, not a text; write state = "walking"'),
    ('state = "walking"', 'state = "walking"\ncodes = { still = 1 }',
     "table[0].codes: does not belong to a trend; leave it out, or publish a sum or mean or linear or"),
    ('query = "trend"', 'query = "mean"', "table[0].state: does not belong to a mean; leave it out, or publish a tr"),
    ('query = "trend"', 'query = "trnd"', "table[0].query: is 'trnd'; did you mean 'trend'?; write"),
])  # fmt: skip
def test_its_faults_are_told_as_those_of_ours(file: Path, old: str, new: str, line: str) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert line in ended(2, "release", file).stderr


@pytest.mark.slow
def test_the_schema_knows_its_keys_where_it_belongs(file: Path) -> None:
    assert "state" in json_schema("users")["$defs"]["TrendSection"]["properties"]
    assert "TrendSection" not in json_schema("normal")["$defs"]


@pytest.mark.parametrize(("section", "words"), [
    ("int", "is no section of a table"),
    ("type('S', (), {})", "is no section of a table"),
    ("__import__('pkgutil').resolve_name('takifugu.model.queries.additive.counts:CountSection')", "registered already"),
])  # fmt: skip
def test_a_section_that_no_file_could_use_is_refused(tmp_path: Path, section: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load(TREND.replace("section=TrendSection", f"section={section}"), "trend", tmp_path)
