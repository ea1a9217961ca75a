"""What the advice promises is what the changed file gives; verdicts follow the ratio of noise to what matters."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import takifugu as tf
from takifugu.cli import main
from takifugu.cli.samples import write_demo
from takifugu.releasing.advice.advice import half_as_long
from takifugu.releasing.advice.bands import Band
from takifugu.releasing.advice.remedies import applied
from takifugu.releasing.advice.worth import Expectation, Verdict, Worth
from takifugu.releasing.file.loading import checked
from takifugu.releasing.planning.plan import calibrated

EXAMPLES = Path(__file__).parents[3] / "examples"

UNITS = """
ledger = "ledger.db"
[source]
name = "wards"
file = "rows.csv"
unit = "who"
order = "hour"
value = "state"
step = 1
from = 0
until = 8760
budget = 8
[belief]
kind = "markov-chain"
states = ["off", "on"]
matrix = [[0.95, 0.05], [0.1, 0.9]]
source = "assumed"
units_independent = true
[[release]]
name = "use"
query = "histogram"
epsilon = 0.2
per = "unit"
from = 0
to = 168
"""


def of_units(folder: Path) -> Path:
    rows = [f"{who},{hour},{'on' if (hour // 9 + who) % 3 == 0 else 'off'}" for who in range(5) for hour in range(168)]
    (folder / "rows.csv").write_text("\n".join(["who,hour,state", *rows]) + "\n")
    (folder / "release.toml").write_text(UNITS)
    return folder / "release.toml"


def of_example(name: str, folder: Path) -> Path:
    for file in EXAMPLES.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    return folder / f"{name}.toml"


@pytest.mark.parametrize("width", [0.5, 1.0, 1.01, 5.0, 5.01])
def test_the_verdict_is_that_of_the_ratio(width: float) -> None:
    one = Worth(Band(width, 0.95), None, 1.0, Expectation((5.0,), None, "assumed"))
    assert one.verdict == (Verdict.GOOD if width <= 1 else Verdict.ROUGH if width <= 5 else Verdict.USELESS)
    assert one.sentence("minutes").startswith(str(one.verdict))
    assert "minutes" in one.sentence("minutes")


@pytest.mark.parametrize(
    ("cells", "varies"), [((40.0,), 40.0), ((100.0, 20.0), 80.0), ((100.0, 104.0), 102.0), ((-5.0, -5.0), 5.0)]
)
def test_what_is_expected_to_vary(cells: tuple[float, ...], varies: float) -> None:
    assert Expectation(cells, None, "assumed").what_matters == pytest.approx(varies / 5)
    assert Expectation(cells, 3.0, "declared").what_matters == 3.0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["activity", "survey", "school", "weekly units"])
def test_applying_a_remedy_gives_what_it_promises(name: str, tmp_path: Path) -> None:
    path = of_units(tmp_path) if name == "weekly units" else of_example(name, tmp_path)
    raw, advised = tomllib.loads(path.read_text()), tf.advise(path)
    ratios = [remedy.worth.ratio for remedy in advised.remedies]
    assert ratios == sorted(ratios)
    for remedy in advised.remedies:
        changed = applied(raw, remedy.changes)
        assert {key: changed[key] for key in ("belief",)} == {"belief": raw["belief"]}
        (table, *_) = calibrated(checked(changed, path)).tables
        noise = table.questions[0].calibration.randomiser
        assert float(noise.half_width(0.95, 1)) == pytest.approx(remedy.worth.cell.width, rel=0.05)
        assert remedy.worth.ratio < max(one.worth.ratio for one in advised.tables if one.worth is not None)


def test_pooling_a_larger_epsilon_and_a_longer_window_are_remedies(tmp_path: Path) -> None:
    advised = tf.advise(of_units(tmp_path))
    assert advised.verdict is Verdict.USELESS
    changed = {str(change.where[-1]) for remedy in advised.remedies for change in remedy.changes}
    assert {"per", "epsilon"} <= changed
    assert "what would help" in str(advised).lower()
    assert advised.shorter_stays is not None
    assert advised.shorter_stays.ratio < advised.tables[0].worth.ratio  # type: ignore[union-attr]
    assert "<table" in advised._repr_html_()


def test_an_epsilon_written_as_a_fraction_has_remedies(tmp_path: Path) -> None:
    path = of_units(tmp_path)
    path.write_text(UNITS.replace("epsilon = 0.2", 'epsilon = "1/5"'))
    assert tf.advise(path).remedies


def test_a_good_file_needs_no_remedy(tmp_path: Path) -> None:
    advised = tf.advise(write_demo(tmp_path / "demo"))
    assert (advised.verdict, advised.remedies, advised.shorter_stays) == (Verdict.GOOD, (), None)


def test_nothing_is_paid_or_written(tmp_path: Path) -> None:
    path = of_units(tmp_path)
    before = sorted(file.name for file in tmp_path.iterdir())
    assert tf.advise(path).tables[0].worth is not None
    assert sorted(file.name for file in tmp_path.iterdir()) == before


def test_the_command(tmp_path: Path) -> None:
    path = of_units(tmp_path)
    result = CliRunner().invoke(main, ["advise", str(path)])
    assert result.exit_code == 0, result.output
    assert "useless" in result.output
    assert 'per = "pooled"' in result.output
    (advised,) = json.loads(CliRunner().invoke(main, ["advise", str(path), "--json"]).output)["files"]
    assert advised["verdict"] == "useless"
    assert advised["tables"][0]["expected"].keys() == {"off", "on"}


@pytest.mark.parametrize("matrix", [None, "matrix.csv", [[0.4, 0.6], [0.1, 0.9]], [[1]]])
def test_stays_that_cannot_be_halved(matrix: object) -> None:
    assert half_as_long({"belief": {"kind": "markov-chain", "matrix": matrix}}) is None or matrix == [[1]]


def test_an_infinite_ratio_is_no_number_in_json() -> None:
    nothing = Worth(Band(3.0, 0.95), None, 0.0, Expectation((0.0,), None, "assumed"))
    assert (nothing.verdict, nothing.ratio_or_none) == (Verdict.USELESS, None)
    assert "about 0 is expected" in nothing.sentence()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("step", "declared", "unit"),
    [
        ("step = 1\nfrom = 0\nuntil = 8760", "", "steps"),
        ("", "", "rows"),
        ("", 'measured_in = "hours"', "hours"),
        ("", 'total = 168\n[release.expect]\nmatters = 1\nsource = "a test"', ""),
    ],
)
def test_what_a_count_is_in(tmp_path: Path, step: str, declared: str, unit: str) -> None:
    path = of_units(tmp_path)
    text = path.read_text().replace("step = 1\nfrom = 0\nuntil = 8760", step)
    window = "from = 0\nto = 168\n" if step else ""
    path.write_text(text.replace("from = 0\nto = 168\n", f"{window}{declared}\n"))
    (table,) = tf.advise(path).tables
    assert table.measured_in == unit
    assert unit in table.sentence


def test_findings_of_a_network_are_no_rows(tmp_path: Path) -> None:
    path = of_example("network", tmp_path)
    assert tf.advise(path).tables[0].measured_in == ""


def test_the_terminal_shows_what_python_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = of_units(tmp_path)
    outcome = CliRunner().invoke(main, ["advise", str(path)], catch_exceptions=False)
    assert outcome.stdout == f"{tf.advise(path)}\n"
    assert "▓" in outcome.stdout
    coloured = CliRunner().invoke(main, ["advise", str(path)], catch_exceptions=False, color=True)
    assert "\x1b[" in coloured.stdout
