"""What the advice promises is what the changed file gives; verdicts follow the ratio of noise to what matters."""

import shlex
import shutil
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.mutants import toml
from tests.support.commands import succeed, words_of
from tests.support.release_files import believe, changed, hide, publish, read_from, release_text
from tests.support.releases import judged, put

import takifugu as tf
from takifugu.core.errors import LedgerError
from takifugu.core.lasting import lasting
from takifugu.releasing.advice.advice import Advice
from takifugu.releasing.advice.bands import Band
from takifugu.releasing.advice.changes import applied, half_as_long, ideas, what_if
from takifugu.releasing.advice.expecting import filling
from takifugu.releasing.advice.worth import Expectation, Verdict, Worth
from takifugu.releasing.file.loading import checked, load

EXAMPLES = Path(__file__).parents[3] / "examples"

UNITS = release_text(
    read_from("wards", "rows.csv", unit="who", order="hour", value="state", step=1, from_=0, until=8760, budget=8),
    believe("markov-chain", states=["off", "on"], matrix=[[0.95, 0.05], [0.1, 0.9]], source="assumed",
            units_independent=True),
    publish("use", "histogram", epsilon=0.2, per="unit", from_=0, to=168),
)  # fmt: skip


#: Changes of it: which rows there are is public, no calendar, and another start, of which no mean is known.
GAPS = ("budget = 8", 'budget = 8\ngaps = "public"')
NO_CALENDAR = ("from = 0\nuntil = 8760\n", ""), ("from = 0\nto = 168\n", "")
ANY_START = ('source = "assumed"\n', 'source = "assumed"\ninitial = "any"\n')


def of_units(folder: Path, *changes: tuple[str, str], more: str = "") -> Path:
    """Write UNITS, with more below and then some of its text changed, and the rows of five wards."""
    rows = [f"{who},{hour},{'on' if (hour // 9 + who) % 3 == 0 else 'off'}" for who in range(5) for hour in range(168)]
    text = changed(UNITS + more, *changes)
    return put(folder, {"release.toml": text, "rows.csv": "\n".join(["who,hour,state", *rows]) + "\n"})


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Advice]:
    """Return a release file that no test changes, and what is advised for it."""
    path = of_units(tmp_path_factory.mktemp("units"))
    return path, tf.advise(path)


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
    assert "minute" in one.sentence("minutes")


@pytest.mark.parametrize(("difference", "reach", "sentence"), [
    (Band(41.0, 0.95), 12.0, "rough: differences below 41 rows are noise, and no two can differ by more than 12 rows"),
    (Band(12.0, 0.95), 12.0, "good: differences above 12 rows show"),
    (None, 12.0,
     "rough: the value is off by up to 30 rows with 95 % probability, and the middle of its range is nearer"),
    (None, 59.0,
     "rough: the value is off by up to 30 rows with 95 % probability, and the middle of its range is nearer"),
    (None, 60.0, "good: the value is off by at most 30 rows with 95 % probability"),
])  # fmt: skip
def test_where_all_differences_are_noise_nothing_is_good(difference: Band | None, reach: float, sentence: str) -> None:
    one = Worth(Band(30.0, 0.95), difference, 1e15, Expectation((6.0, 6.0), 1e15, "a hunch", reach))
    assert one.sentence("rows") == sentence


@pytest.mark.slow
def test_how_far_cells_can_differ_is_that_of_the_table(units: tuple[Path, Advice], tmp_path: Path) -> None:
    (table,) = units[1].tables
    assert table.worth.expectation.reach == 168
    mean = ('query = "histogram"', 'query = "mean"\ncodes = { off = -1, on = 3 }')
    (table,) = judged(of_units(tmp_path, GAPS, mean, more='[expect]\nsource = "a hunch"\nmatters = 1\n'))
    assert table.worth.expectation.reach == pytest.approx(4)


@pytest.mark.parametrize(
    ("cells", "varies"), [((40.0,), 40.0), ((100.0, 20.0), 80.0), ((100.0, 104.0), 102.0), ((-5.0, -5.0), 5.0)]
)
def test_what_is_expected_to_vary(cells: tuple[float, ...], varies: float) -> None:
    assert Expectation(cells, None, "assumed").what_matters == pytest.approx(varies / 5)
    assert Expectation(cells, 3.0, "declared").what_matters == 3.0


@pytest.mark.mutants
def test_pooling_a_larger_epsilon_and_a_longer_window_are_remedies(units: tuple[Path, Advice]) -> None:
    _, advised = units
    assert advised.verdict is Verdict.USELESS
    changed = {str(change.where[-1]) for remedy in advised.remedies for change in remedy.changes}
    assert {"from", "to", "epsilon"} <= changed
    assert "what would help" in str(advised).lower()
    assert advised.shorter_stays.ratio < advised.tables[0].worth.ratio  # type: ignore[union-attr]
    assert "<table" in advised._repr_html_()
    noise = replace(advised.remedies[0].worth, cell=Band(1e9, 0.95), difference=Band(1e9, 0.95), cells=None)
    remedies = [replace(one, worst={0: replace(one.advised, worth=noise)}) for one in advised.remedies]
    useless = replace(advised, remedies=tuple(remedies))
    for words in (str(useless), useless._repr_html_()):
        assert "what would help" not in words.lower()
        assert "Nothing that was tried makes it worth reading; what comes nearest" in " ".join(words.split())


def test_a_good_file_needs_no_remedy(tmp_path: Path) -> None:
    advised = tf.advise(of_example("people", tmp_path))
    assert (advised.verdict, advised.remedies, advised.shorter_stays) == (Verdict.GOOD, (), None)
    assert all(table.worth is not None and table.worth.verdict.is_useful for table in advised.tables)


def test_an_infinite_ratio_is_no_number_in_json() -> None:
    nothing = Worth(Band(3.0, 0.95), None, 0.0, Expectation((0.0,), None, "assumed"))
    assert (nothing.verdict, nothing.ratio_or_none) == (Verdict.USELESS, None)
    assert "about 0 is expected" in nothing.sentence()


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("step", "declared", "unit"), [
    ("step = 1\nfrom = 0\nuntil = 8760", "", "steps"),
    ("step = 1", "", "rows"),
    ("step = 1", 'measured_in = "hours"', "hours"),
    ("step = 1", 'total = 168\n[table.expect]\nmatters = 1\nsource = "a test"', ""),
])  # fmt: skip
def test_what_a_count_is_in(tmp_path: Path, step: str, declared: str, unit: str) -> None:
    window = "from = 0\nto = 168\n" if "from" in step else ""
    calendar = ("step = 1\nfrom = 0\nuntil = 8760", step), ("from = 0\nto = 168\n", f"{window}{declared}\n")
    (table,) = judged(of_units(tmp_path, *calendar))
    assert table.measured_in == unit
    assert unit in table.sentence


def test_findings_of_a_network_are_no_rows(tmp_path: Path) -> None:
    assert judged(of_example("network", tmp_path))[0].measured_in == ""


@pytest.mark.parametrize(("step", "said", "total", "grid"), [
    ("15min", "Minutes", "", 15), ("1min", "minutes", "", 1), ("1d", "hours", "", 24), ("15min", "naps", "", 1),
    ("15min", "hours", "total = 4", "1/4"), ("5min", "days", "", "1/288"),
])  # fmt: skip
def test_steps_are_converted_to_the_unit_of_time_that_a_table_names(
    tmp_path: Path, step: str, said: str, total: str, grid: str | int
) -> None:
    (tmp_path / "r.toml").write_text(SAMPLE_OF_STEPS.replace("STEP", step).replace("SAID", said) + total)
    moments = [f"2026-01-{1 + n:02}T00:00" for n in range(12)]
    (tmp_path / "s.csv").write_text("\n".join(["t,v", *(f"{moment},a" for moment in moments)]) + "\n")
    file = checked(tomllib.loads((tmp_path / "r.toml").read_text()), tmp_path / "r.toml")
    query = file.kind.query_of(file, file.items[0])
    assert query.resolve(file.belief.from_step(0, 12)).grid == Fraction(grid)


@pytest.mark.parametrize(("query", "filled"), [
    (tf.Histogram(), ("off",)), (tf.Histogram(["on, off", "off"]), ("off",)), (tf.Histogram(["on, off"]), ()),
    (tf.GroupBy(tf.Histogram(), {"00": range(0, 10, 2), "01": range(1, 10, 2)}), ("00, off", "01, off")),
])  # fmt: skip
def test_which_cells_are_those_of_the_state_that_fills(tmp_path: Path, query: Any, filled: tuple[str, ...]) -> None:
    """A state may be called as a cell of another one ends."""
    rows = 'rows = "samples"', 'rows = "changes"\ndefault_state = "off"\nroster = ["0"]'
    source = checked(tomllib.loads(of_units(tmp_path, rows).read_text()), tmp_path / "release.toml").source
    belief = tf.MarkovChain([[0.9, 0.1], [0.2, 0.8]], length=10, states=["off", "on, off"])
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), query, 1, mechanism="group-dp")
    assert filling(calibration, source) == filled


def test_the_state_that_fills_steps_sets_no_verdict(tmp_path: Path) -> None:
    filled = 'rows = "samples"', 'rows = "changes"\ndefault_state = "off"\nroster = ["0", "1", "2", "3", "4"]'
    (alone,) = judged(of_units(tmp_path, filled, ('query = "histogram"', 'query = "count"\nstates = ["on"]')))
    (table,) = judged(of_units(tmp_path, filled))
    assert table.worth.expectation.counting == alone.worth.expectation.cells
    assert table.worth.matters == pytest.approx(0.2 * alone.cells[0])
    said_otherwise = ("to = 168", 'to = 168\n[table.expect]\nunimportant = ["on"]\nsource = "a test"')
    (said,) = judged(of_units(tmp_path, filled, said_otherwise))
    assert said.worth.expectation.counting == (said.cells[0],)


SAMPLE_OF_STEPS = release_text(
    read_from("s", "s.csv", order="t", value="v", step="STEP"),
    believe("markov-chain", states=["a", "b"], matrix=[[0.5, 0.5], [0.5, 0.5]], source="a test", max_length=100),
    publish("n", "histogram", epsilon=1, measured_in="SAID"),
    ledger="l.db",
)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "budget", "delta"), [
    ("wards", "0.3", ""), ("our wards", "{ epsilon = 0.3, delta = 1e-6 }", " --delta 1e-6"),
])  # fmt: skip
def test_a_larger_budget_is_told_to_a_ledger_that_has_one(tmp_path: Path, name: str, budget: str, delta: str) -> None:
    """The command that the remedy names, then its lines: nothing stands in the way of the release."""
    changes = ("budget = 8", f"budget = {budget}"), ('"wards"', f'"{name}"')
    path = of_units(tmp_path, *changes)
    over = next(one for one in tf.advise(path).remedies if not one.fits)
    assert "ledger" not in over.why  # nobody told the ledger of a budget
    tf.open_study(path).release(allow_useless=True)
    of_units(tmp_path, *changes, ('"use"', '"again"'))
    over = next(one for one in tf.advise(path).remedies if not one.fits)
    needed = over.changes[-1].value
    epsilon = needed["epsilon"] if isinstance(needed, dict) else needed
    ledger = shlex.quote(str(tmp_path / "ledger.db"))
    command = f"takifugu ledger set-budget {ledger} {shlex.quote(name)} {epsilon}{delta}"
    assert over.why.endswith(f"the ledger has another budget, so first `{command}`")
    path.write_text(toml(applied(tomllib.loads(path.read_text()), over.changes)))
    with pytest.raises(LedgerError, match=r"has a budget of epsilon 0\.3"):
        tf.open_study(path).release(allow_useless=True)
    succeed(*shlex.split(command)[1:])
    tf.open_study(path).release(allow_useless=True)


def test_the_lines_of_remedies_are_toml(units: tuple[Path, Advice]) -> None:
    for remedy in units[1].remedies:
        assert all(line.startswith("#") or tomllib.loads(line) for line in remedy.lines)
        assert remedy.lines[0] == '# in [[table]] "use"'
    assert '# in [[table]] "use"\n    # take out the line from = ...\n' in str(units[1])
    assert repr(units[1]).startswith("<Advice: use: useless: ")
    assert units[1].to_dict()["tables"][0]["expected"].keys() == {"off", "on"}


@pytest.mark.slow
def test_two_useless_tables_are_changed_together(tmp_path: Path) -> None:
    second = UNITS[UNITS.index("[[table]]") :].replace("use", "two").replace("0.2", "0.1")
    path = of_units(tmp_path, more=second)
    useful = [one for one in tf.advise(path).remedies if one.worth.verdict.is_useful]
    assert useful
    assert {change.table for change in useful[0].changes} == {"use", "two"}
    assert useful[0].sentence.startswith(useful[0].table)


@pytest.mark.slow
def test_a_table_without_a_verdict_takes_no_remedies_from_others(tmp_path: Path) -> None:
    window, codes = {"from_": 0, "to": 168}, {"off": 0, "on": 100}
    mean = publish("load", "mean", epsilon=1, per="pooled", grid="1/10", **window, codes=codes)
    advised = tf.advise(of_units(tmp_path, GAPS, more=mean))
    assert {change.table for remedy in advised.remedies for change in remedy.changes} == {"use"}


@pytest.mark.slow
def test_one_number_without_a_verdict_has_remedies_where_it_is_hopeless(tmp_path: Path) -> None:
    path = tmp_path / "release.toml"
    path.write_text(NORMAL)
    (tmp_path / "rows.csv").write_text("glucose,insulin\n" + "100,15\n" * 500)
    advised = tf.advise(path)
    assert advised.verdict is None
    assert "nothing but noise" in str(advised)
    assert "single_release = true" in advised.remedies[0].lines
    assert "nothing else may ever be released" in advised.remedies[0].why
    (refused,) = tf.dry_run(path).refusals
    assert "single_release = true in [source]" in refused
    assert "fewer cells" not in refused


NORMAL = release_text(
    read_from("lab", "rows.csv", budget={"epsilon": 1.0, "delta": 1e-06}),
    believe("normal", records=500, source="assumed", columns=["glucose", "insulin"],
            ranges={"glucose": [0, 300], "insulin": [0, 100]}, resolution="0.1", mean=[100, 15],
            covariance=[[100, 10], [10, 9]]),
    hide(property={"attribute": "glucose", "function": "mean", "max_difference": 5}),
    publish("insulin", "mean", attribute="insulin", delta=1e-06, epsilon=1.0),
)  # fmt: skip


@pytest.mark.parametrize(("key", "stay", "half"), [
    ("mean_duration", {"off": 20, "on": 10}, {"off": 10, "on": 5}),
    ("mean_duration", {"off": "6 h", "on": "50 min"}, {"off": "3 h", "on": "25 min"}),
    ("mean_durations", {"00-11": {"off": 20, "on": "6 h"}, "12-23": {"off": 1, "on": 2}},
     {"00-11": {"off": 10, "on": "3 h"}, "12-23": {"off": 0.5, "on": 1}}),
    ("mean_durations", {"00-11": {"off": 20}, "12-23": {"off": [1]}}, None),
    ("mean_duration", {"off": [1]}, None), ("matrix", None, None), ("matrix", "matrix.csv", None),
    ("matrix", [[0.4, 0.6], [0.1, 0.9]], None),
])  # fmt: skip
def test_stays_are_halved(key: str, stay: object, half: object) -> None:
    change = half_as_long({"belief": {"kind": "markov-chain", key: stay}})
    assert (change and (change.where, change.value)) == (half and (("belief", key), half))


def of_places(columns: int, rows: int) -> dict[str, Any]:
    belief = {"kind": "asymmetric", "grid": {"x": [0, 1], "y": [0, 1], "columns": columns, "rows": rows}}
    return {"source": {}, "belief": belief, "table": [{"name": "safe", "query": "safe", "epsilon": 1.0}]}


@pytest.mark.parametrize(("columns", "rows", "fewer"), [
    (70, 70, [(35, 35)]), (8, 10, [(4, 5)]), (7, 6, [(3, 3)]), (4, 10, [(4, 5)]), (10, 10, [(5, 5)]), (5, 4, []),
    (1, 2, []), (3, 3, []),
])  # fmt: skip
def test_a_coarser_grid_still_tells_where_places_are(columns: int, rows: int, fewer: list[tuple[int, int]]) -> None:
    raw = of_places(columns, rows)
    grids: list[Any] = [changes[0].value for changes, why in ideas(raw, {0: 9.0}) if why == "coarser places"]
    assert grids == [{**raw["belief"]["grid"], "columns": width, "rows": height} for width, height in fewer]


def test_fewer_places_are_supposed_for_a_safe_list() -> None:
    supposed = what_if(of_places(10, 10))
    assert (supposed[0].where, supposed[0].value) == (("belief", "most"), 10)


@pytest.mark.mutants
def test_a_spent_budget_is_said_in_the_words_of_a_dry_run(tmp_path: Path) -> None:
    path = of_example("households", tmp_path)
    assert tf.advise(path).notices == ()
    tf.release_file(path)
    both = path.read_text(encoding="utf-8")
    for read in (both, both.replace("[source]\n", '[source]\nentries = "steps"\n', 1)):  # nothing is left to ask about
        path.write_text(read, encoding="utf-8")
        assert tf.advise(path).notices == ()
    text = both.replace("hot-water", "heating")
    both += text[text.index("[[table]]"):].replace("epsilon = 2.0", "epsilon = 2.5")  # the first is there, and free
    path.write_text(both, encoding="utf-8")
    (refusal,) = tf.dry_run(path).refusals
    (notice,) = tf.advise(path).notices
    assert notice == f"the ledger would refuse what is not published yet: {refusal}"
    assert "epsilon 2 left of a budget of epsilon 4" in refusal
    assert " ".join(notice.split()) in words_of(succeed("advise", path))
    path.write_text(text.replace("budget = 4.0", "budget = 2.0"), encoding="utf-8")
    (notice,) = tf.advise(path).notices
    assert notice.startswith("the source 'boilers' has a budget of epsilon 4, and now epsilon 2 is declared")


def test_a_source_of_other_keys_is_opened_anew(tmp_path: Path) -> None:
    path = of_example("activity", tmp_path)
    with lasting():
        before = load(path)
        some = "where = \"participant <> 'Ana'\"\nstep = 1 "
        path.write_text(path.read_text(encoding="utf-8").replace("step = 1 ", some))
        after = load(path)
        assert after.opened is not before.opened
        assert load(path).opened is after.opened
    assert load(path).opened is not after.opened


@pytest.mark.mutants
def test_no_remedy_needs_a_budget_that_hides_next_to_nothing(tmp_path: Path) -> None:
    path = of_example("households", tmp_path)
    tf.release_file(path)
    text = path.read_text(encoding="utf-8").replace('step = "5min"', 'step = "10min"')
    path.write_text(text.replace("epsilon = 2.0", "epsilon = 1.0"), encoding="utf-8")
    advice = tf.advise(path)
    assert (advice.verdict, advice.remedies) == (Verdict.ROUGH, ())
    question, over = advice.notices
    assert question.startswith("the release will ask first: the source 'boilers' is read otherwise than before:")
    assert "no budget is worth that" in over
