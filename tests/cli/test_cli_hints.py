"""Words that lead on: to the option that was meant, to `init` for a table, to what a large epsilon means."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import takifugu as tf
from takifugu.accounting.suspicion import warning
from takifugu.cli import main
from takifugu.core.errors import InputError
from takifugu.releasing.planning.notices import Notice


def invoke(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("release", "--dryrun", "x"), "Did you mean '--dry-run'?"),
        (("explain", "--eps", "3"), "Did you mean '--epsilon'?"),
        (("compare", "--epsilon", "3", "x"), "It is a key of the release file."),
    ],
)
def test_the_option_that_was_meant(words: tuple[str, ...], hint: str) -> None:
    outcome = invoke(*words)
    assert outcome.exit_code == 2
    assert outcome.stderr.rstrip().endswith(hint)
    assert "--json" not in outcome.stderr


@pytest.mark.parametrize("name", ["data.csv", "data.CSV", "data.csv.gz", "data.parquet"])
def test_a_table_is_no_release_file(tmp_path: Path, name: str) -> None:
    table = tmp_path / name
    table.write_bytes(b"hour,state\n1,private-word\n" if "csv" in name.lower() else b"PAR1\xff\xfe")
    outcome = invoke("compare", table)
    assert outcome.exit_code == 2
    assert "`takifugu init" in outcome.stderr
    assert "private-word" not in outcome.stderr


def test_a_large_epsilon_gets_a_word_of_warning(tmp_path: Path) -> None:
    assert warning(9) == ""
    assert "a suspicion of 1 % may become 99.1" in warning(9.3)
    assert "hides next to nothing" not in invoke("explain", "--epsilon", "5").stdout
    assert "An epsilon of 100 hides next to nothing" in " ".join(invoke("explain", "--epsilon", "100").stdout.split())
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
    made = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("walking"), 100, mechanism="group")
    with pytest.warns(Notice, match="hides next to nothing"):
        tf.release(made, ["still"] * 4, ledger=tmp_path / "ledger.db", budget=1000)


@pytest.mark.parametrize("matrix", [[[90, 10], [40, 60]], [[90.0, 9.9], [40, 60]]])
def test_probabilities_in_per_cent(matrix: list[list[float]]) -> None:
    with pytest.raises(InputError, match="these are per cent: divide each by 100"):
        tf.MarkovChain(matrix, length=4)


def test_plan_advises_no_keys_that_a_kind_refuses(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("person,origin,level\nAna,n,1\nBo,s,2\n", encoding="utf-8")
    (tmp_path / "people.toml").write_text(
        'ledger = "ledger.db"\n[source]\nname = "people"\nfile = "people.csv"\nunit = "person"\nbudget = 1\n'
        '[belief]\nkind = "table"\nsource = "a test"\nunits_independent = true\ncolumns = ["origin", "level"]\n'
        'rows = [["n", 1], ["n", 2], ["s", 1], ["s", 2]]\ncounts = [4, 3, 3, 4]\n'
        '[hide]\nattribute = "origin"\n[[release]]\nname = "level"\nquery = "identity"\nattribute = "level"\n'
        "epsilon = 1\n",
        encoding="utf-8",
    )
    outcome = invoke("plan", tmp_path / "people.toml")
    assert outcome.exit_code == 2
    assert "no windows of a calendar" in outcome.stderr
    assert "every =" not in outcome.stderr
    assert "--dry-run" in outcome.stderr
