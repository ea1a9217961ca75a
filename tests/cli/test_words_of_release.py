"""The terminal of `release` says how well a table hides, what it does not hide, and what to check."""

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
    assert "50 % sure" in words
    assert "can become 88.1 % sure of it by this table, and no surer." in words
    assert "Not hidden: one day in which every step changes (epsilon 56.8) or one week" in words
    assert "Check: the belief treats every hour alike, but this table compares them." in words


def test_where_no_hours_are_compared_nothing_is_to_be_checked(tmp_path: Path, capsys) -> None:
    words = terminal(of_example("ward", tmp_path), capsys)
    assert "Check:" not in words
    assert "% sure of it by this table" in words
