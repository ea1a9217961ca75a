"""The terminal of `release` says how well a table hides, what it does not hide, and what to check."""

import re
from pathlib import Path

import pytest
from tests.support.commands import succeed
from tests.support.release_files import changed

from takifugu.cli.releasing import SMALL, _legend
from takifugu.cli.samples.examples import write_example
from takifugu.core.text.bars import bars
from takifugu.releasing.report.values import noisy_cell


@pytest.mark.mutants
def test_hidden_has_a_number_beside_it_and_days_their_epsilon(tmp_path: Path) -> None:
    """The word of the bars is that of the sentence above them: a time is no count."""
    file = write_example("households", tmp_path)[0]
    hours = ("epsilon = 2.0", 'epsilon = 2.0\nmeasured_in = "hours"')
    file.write_text(changed(file.read_text(encoding="utf-8"), hours), encoding="utf-8")
    words = " ".join(succeed("release", file, "--new-ledger").stdout.split())
    assert "someone 50 % sure of a secret becomes at most 88.1 % sure" in words
    assert re.search(r"Not a household's whole day \(epsilon 40\.6\)", words)
    assert "hours of the exact time (95 %, all 24 at once)" in words
    assert "▓░ where the exact time lies" in words
    assert "exact count" not in words
    words = " ".join(succeed("release", write_example("calls", tmp_path)[0], "--new-ledger").stdout.split())
    assert "the model treats all hours alike, but this table compares them" in words
    words = " ".join(succeed("release", write_example("ward", tmp_path)[0], "--new-ledger").stdout.split())
    assert "compares" not in words  # no hours are compared, and nothing is to be checked
    assert "of a secret becomes at most" in words


def test_a_small_value_has_its_error_in_percent() -> None:
    rows = [
        {"cell": name, "value": value, "low": value - 31, "high": value + 31, "readable": value > 31}
        for name, value in (("night", 24), ("morning", 33), ("noon", 124), ("evening", 123))
    ]
    night, morning, noon, evening = bars(rows, error=31)
    assert night.endswith("24  ~0")
    assert morning.endswith("33  ±94 %")
    assert noon.endswith("124")
    assert evening.endswith("123  ±26 %")
    assert [noisy_cell(row, None).words for row in rows] == ["24", "33 ±94 %", "124", "123 ±26 %"]
    assert SMALL in [*_legend(rows, "count", has_one_error=True)]
    assert SMALL not in [*_legend(rows[2:3], "count", has_one_error=True), *_legend(rows, "value", has_one_error=False)]
    assert "±" in bars(rows)[1]
    assert "%" not in "".join(bars(rows))
