"""The terminal of `release` says how well a table hides, what it does not hide, and what to check."""

import re
from pathlib import Path

import pytest
from tests.releasing.advice.test_advice import of_example

from takifugu.cli import main


def terminal(path: Path, capsys) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["release", str(path), "--new-ledger"])
    assert ended.value.code in (0, None)
    return " ".join(capsys.readouterr().out.split())


def test_hidden_has_a_number_beside_it_and_days_their_epsilon(tmp_path: Path, capsys) -> None:
    words = terminal(of_example("households", tmp_path), capsys)
    assert "someone 50 % sure of a secret becomes at most 88.1 % sure" in words
    assert re.search(r"Not one day in which every step changes \(epsilon 56\.8\)|Not .*day.*epsilon 56\.8", words)
    assert re.search(r"Check .*hour", words)


def test_where_no_hours_are_compared_nothing_is_to_be_checked(tmp_path: Path, capsys) -> None:
    words = terminal(of_example("ward", tmp_path), capsys)
    assert "compares" not in words
    assert "of a secret becomes at most" in words
