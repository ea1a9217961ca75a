"""The command line: help that loads nothing, exit codes, one clear line per error, JSON with stable keys."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import ended, invoke, json_of, succeed, words_of
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text

from takifugu.accounting.ledger import Ledger

ROOT = Path(__file__).parents[2]
PLACE = {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def keys(value: Any) -> Any:
    """Return the keys of nested values, lists by their first member: the shape that others may rely on."""
    if isinstance(value, dict):
        return {key: keys(inside) for key, inside in value.items() if isinstance(inside, dict | list)} | {
            key: None for key, inside in value.items() if not isinstance(inside, dict | list)
        }
    return [keys(value[0])] if isinstance(value, list) and value else None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("words", [["--help"], ["release", "--help"], ["ledger", "show", "--help"], ["--version"],
                                   ["odds"]])  # fmt: skip
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    program = (
        "import sys\nfrom takifugu.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'numpy', 'scipy', 'pydantic', 'mpmath', 'pandas', 'polars'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=PLACE)
    assert done.stderr.strip() == "[]"
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_one_mechanism_is_found_by_what_a_paper_calls_it(tmp_path: Path) -> None:
    where = files.write(tmp_path)
    compared = json_of("cost", "--mechanism", "mqmexact", where)["files"][0]["mechanisms"]
    assert [row["name"] for row in compared[0]["rows"]] == ["quilt-exact"]
    for name, words in (("ALap", "another kind of promise"), ("MQMExakt", "did you mean 'MQMExact'")):
        assert words in words_of(ended(2, "cost", "--mechanism", name, where))


def shape(leaves: str, **parts: Any) -> dict[str, Any]:
    """Return the shape of a section with these keys, and with these sections inside."""
    return {**dict.fromkeys(leaves.split()), **parts}


TOP = shape("format command file")
AMOUNT = shape("epsilon delta")
RELEASE = shape("id name state software created", promised=AMOUNT)
SOURCE = shape(
    "name budget_is_implied names_units unpublished declarations", spent=AMOUNT, budget=AMOUNT, releases=[RELEASE]
)
ROW = shape("name scale expected_error composition status reason")
OFF = shape("off_by epsilon delta epsilon_overall delta_overall")
ANSWER = shape("unit mechanism scale expected_error epsilon delta composition forbids forced_by")
FORESEEN = shape("unit answers half_width half_of_noise_exceeds", ranges=[None], share=[None])
CHARGE = shape("units", alone=AMOUNT, charged=AMOUNT)
FORECAST = shape(
    "source notices refused", tables=[shape("name scope hopeless", answers=[FORESEEN])],
    account=shape("budget_is_declared", before=AMOUNT, after=AMOUNT, budget=AMOUNT, charges=[CHARGE]),
)  # fmt: skip
COST = shape("file", tables=[shape("name scope query", answers=[ANSWER])], forecast=FORECAST)
COMPARED = shape("name scope unit epsilon delta", rows=[ROW], if_belief_off=[OFF])
PRICED = shape(
    "name scope unit",
    rows=[shape("epsilon in_file mechanism scale expected_error low high reason")],
)
SHAPES: dict[tuple[str, ...], Any] = {
    (): COST, ("--all",): {**COST, "mechanisms": [COMPARED]}, ("--epsilons", "2"): {**COST, "prices": [PRICED]},
}  # fmt: skip


@pytest.mark.mutants
def test_the_json_keeps_its_shape(tmp_path: Path) -> None:
    where = files.write(tmp_path)
    for more, shape in SHAPES.items():
        assert keys(json_of("cost", where, *more)) == {**TOP, "files": [shape]}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "release.toml"]
    released = json_of("release", where)
    tables = released["tables"]
    assert [t["name"] for t in tables] == ["time-use-units", "time-use-pooled"]
    assert set(tables[0]) == {"name", "scope", "rows", "files", "certificate", "since"}
    cells = {"cell", "value", "low", "high", "possible", "readable", "estimate", "estimate_low", "estimate_high"}
    assert [set(table["rows"][0]) for table in tables] == [{"unit", *cells}, cells]
    del released["tables"]
    more = {"notices": [None], "state": None, "completed": None}  # the new ledger, and what is spent
    assert keys(released) == {**TOP, "source": None, "spent": AMOUNT, "budget": AMOUNT, **more}
    assert keys(json_of("ledger", "show", tmp_path / "ledger.db")) == {**TOP, "id": None, "sources": [SOURCE]}
    schema = json.loads(invoke("keys", "markov-chain", "--json").stdout)
    assert schema["required"] == ["ledger", "source", "belief", "table"]


def test_bad_files_end_with_two_and_all_their_faults(tmp_path: Path) -> None:
    where = files.write(tmp_path, files.SPEC.replace("epsilon = 1.0", "epsilon = 0").replace('name = "study"', ""))
    for command in ("cost", "release"):
        outcome = ended(2, command, where)
        assert outcome.stdout == ""
        stopped = ["takifugu: State of the release: nothing happened. No epsilon was spent, and nothing was published."]
        assert outcome.stderr.splitlines() == [
            'takifugu: source.name: is missing; write name = "activity-study" (who these people are to the ledger)',
            "takifugu: table[0].epsilon: epsilon is 0; it must be above 0; write for example 1.0",
            *(stopped if command == "release" else []),
        ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "release.toml"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("old", "new", "code", "words"), [
    ("budget = 10", "budget = 0.5", 1, "left of a budget of epsilon 0.5"),
    ("epsilon = 1.0", 'epsilon = 1.0\nmechanism = "optimal"', 1, "optimal does not apply"),
    ("matrix = [[0.8, 0.2], [0.3, 0.7]]", 'fit = { file = "data.csv", private = true, smoothing = 0 }', 0, ""),
    ("matrix = [[0.8, 0.2], [0.3, 0.7]]", "matrix = [[1, 0], [0, 1]]\ninitial = [1, 0]", 2,
     "every secret has probability zero"),
    ('order = "t [min]"', 'order = "run no.2"', 2, "its column 2 is spelt alike"),
    ('ledger = "ledger.db"', 'ledger = "data.csv"', 2, "data.csv"),
    ('ledger = "ledger.db"', 'ledger = "mysql://x/y"', 2, "not supported"),
    ('output = "out"', 'output = "data.csv"', 2, "cannot be written to"),
    ('name = "time-use"', 'name = "time use"', 2, "letters, digits"),
    ("epsilon = 1.0", 'epsilon = "1e-400"', 2, "between 1e-9 and 10000"),
])  # fmt: skip
def test_exit_codes(tmp_path: Path, old: str, new: str, code: int, words: str) -> None:
    assert old in files.SPEC
    where = files.write(tmp_path, files.SPEC.replace(old, new))
    table = (tmp_path / "data.csv").read_bytes()
    outcome = ended(code, "release", where)
    assert words in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert (tmp_path / "data.csv").read_bytes() == table
    if code:
        assert outcome.stdout == ""
        assert not (tmp_path / "out").exists()
        assert not (tmp_path / "ledger.db").exists() or Ledger.open(tmp_path / "ledger.db").show() == ()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("example", "words", "low"), [
    ("city", "it may become certain that it is not so", 0.0),
    ("street", "epsilon is multiplied by the distance of two populations", None),
    ("exams", "Nothing is promised for values that are too far apart, or not listed", None),
])  # fmt: skip
def test_cost_says_no_more_than_the_definition_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str, words: str, low: float | None
) -> None:
    monkeypatch.chdir(tmp_path)
    succeed("example", example)
    assert words in words_of(succeed("cost", f"{example}.toml"))
    (printed,) = json_of("cost", f"{example}.toml", "--epsilons", "1,2")["files"]
    rows = [row for table in printed["prices"] for row in table["rows"]]
    assert low is None or {row["low"] for row in rows} == {low}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("budgets", "joint", "has_others"), [
    ((1, 1), "", True), ((None, None), "joint_epsilon = 1\n", False), ((1,), "", False),
])  # fmt: skip
def test_cost_says_no_more_of_a_file_than_holds_of_all_its_tables(
    tmp_path: Path, budgets: tuple[int | None, ...], joint: str, has_others: bool
) -> None:
    """Two counts of one fair bit: beside both, 10 % may become 10e/(10e + 90/e), beyond what is said of one."""
    (tmp_path / "bit.csv").write_text("n,state\n0,busy\n")
    tables = (
        publish(f"count-{number}", "count", states=["busy"], **({} if budget is None else {"epsilon": budget}))
        for number, budget in enumerate(budgets)
    )
    belief = believe("markov-chain", states=["calm", "busy"], matrix=[[0.5, 0.5], [0.5, 0.5]])
    source = read_from("bit", "bit.csv", order="n", step=1, value="state")
    (tmp_path / "bit.toml").write_text(joint + release_text(source, belief, *tables, expect=EXPECT))
    (printed,) = json_of("cost", tmp_path / "bit.toml", "--epsilons", "2")["files"]
    assert ("several can become surer" in words_of(invoke("cost", tmp_path / "bit.toml"))) is has_others
    rows = [row for table in printed["prices"] for row in table["rows"] if row["in_file"]]
    assert all(row["high"] < 0.1 * math.e / (0.1 * math.e + 0.9 / math.e) for row in rows)
