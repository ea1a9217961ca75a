"""Tables of one file that share one epsilon: what they cost together, their certificates, and what cannot share."""

from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from tests.releasing import attribute_files, files
from tests.support import release_files
from tests.support.commands import ended, invoke
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text, section
from tests.support.releases import refusal_of

import takifugu as tf
from takifugu.cli.group import BAD_INPUT, DONE
from takifugu.core.assumptions import Kind
from takifugu.core.errors import BudgetExceeded, CalibrationRefused, ReleaseError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.outlook import outlook
from takifugu.releasing.planning.plan import plan

HEAD = files.SPEC.split("[[table]]")[0].replace("budget = 10", "budget = 1")
SHARING = HEAD.replace('output = "out"\n', 'output = "out"\njoint_epsilon = 1\n') + "\n\n".join([
    publish("time-use", "histogram", per="unit"),
    publish("walking", "count", states=["walking"], per="unit") + "\n",
])  # fmt: skip
MORE = "\n" + publish("more", "count", states=["still"], per="unit") + "\n"

changed = partial(release_files.changed, SHARING)


def write(folder: Path, spec: str) -> Path:
    """Write the release file beside two short recordings, which are calibrated in no time."""
    return files.write(folder, spec, files.data({"Ana": (12,), "Ben": (9,)}))


@pytest.mark.slow
@pytest.mark.parametrize("per", ["unit", "pooled"])
def test_they_keep_it_together_and_fit_a_budget_of_it(tmp_path: Path, per: str) -> None:
    where = write(tmp_path, changed(('"unit"', f'"{per}"')))
    foreseen = tf.dry_run(where)
    assert not foreseen.refused
    made = tf.release_file(where)
    spent = made.reservation.spent
    assert foreseen.account is not None
    assert spent == foreseen.account.after
    assert Fraction(999, 1000) < spent.epsilon <= 1
    alone = [table.certificate.epsilon for table in made.tables]
    assert all(Fraction(1, 5) < Fraction(epsilon) < 1 for epsilon in alone)
    assert sum(map(Fraction, alone)) > 1  # which is what adding them up would cost
    for table in made.tables:
        assert "One of 2 queries that share an epsilon of 1." in table.certificate.of_kind(Kind.LIMIT)


@pytest.mark.mutants
def test_what_fits_a_budget_is_offered_as_the_epsilon_that_they_share(tmp_path: Path) -> None:
    """A table that shares has no epsilon of its own, so nothing was offered that can be pasted."""
    where = write(tmp_path, changed(("joint_epsilon = 1", "joint_epsilon = 3")))
    with pytest.raises(BudgetExceeded) as refused:
        tf.release_file(where)
    said = str(refused.value)
    assert "or write at the top of the file" in said
    (line,) = (line for line in said.splitlines() if line.startswith("joint_epsilon = "))
    where.write_text(where.read_text(encoding="utf-8").replace("joint_epsilon = 3", line), encoding="utf-8")
    made = tf.release_file(where)
    assert Fraction(3, 4) < made.reservation.spent.epsilon <= 1


@pytest.mark.slow
def test_it_is_the_split_of_the_library(tmp_path: Path) -> None:
    spec = changed(('"unit"', '"pooled"'))
    of_recordings = ('recording = "run no."', "recordings_independent = true")
    for line in ('unit = "Who is it?"', "units_independent = true", *of_recordings):
        spec = spec.replace(f"{line}\n", "")
    lines = files.data({"Ana": (40,)})
    planned = plan(load(files.write(tmp_path, spec, lines)))
    framework = tf.Pufferfish(
        tf.every_entry(), tf.MarkovChain([[0.8, 0.2], [0.3, 0.7]], 40, states=["still", "walking"])
    )
    each = tf.calibrate_jointly(framework, [tf.Histogram(), tf.Count("walking")], 1)
    assert [table.calibrations[0].scale for table in planned.tables] == [one.scale for one in each]


@pytest.mark.slow
def test_one_that_follows_gets_the_share_that_it_had(tmp_path: Path) -> None:
    where = write(tmp_path, changed(("budget = 1", "budget = 2")))
    planned = plan(load(where))
    first = tf.release_file(where, only="walking")
    assert [table.name for table in first.tables] == ["walking"]
    second = tf.release_file(where)
    scales = {table.name: {a.scale for a in table.certificate.answers} for table in (*first.tables, *second.tables)}
    assert scales == {table.name: {c.exact_scale for c in table.calibrations} for table in planned.tables}
    assert second.reservation.spent.epsilon < Fraction(11, 10)


@pytest.mark.mutants
def test_another_table_that_shares_changes_those_that_are_published(tmp_path: Path) -> None:
    tf.release_file(write(tmp_path, changed(("budget = 1", "budget = 2"))))
    more = SHARING + MORE
    where = write(tmp_path, more.replace("budget = 1", "budget = 2"))
    for name in ("time-use", "walking"):
        with pytest.raises(ReleaseError, match="published from other keys"):
            tf.release_file(where, only=name)


@pytest.mark.slow
def test_every_command_knows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = write(tmp_path, SHARING).relative_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    outcomes = [invoke("cost", where, *more) for more in (("--all",), (), ("--epsilons", "2"))]
    for outcome in outcomes:
        assert outcome.exit_code == DONE, outcome.output
        assert max(map(len, outcome.stdout.splitlines())) <= 80
    assert "share this epsilon" in " ".join(outcomes[0].stdout.split())
    assert all("jointly" in outcome.stdout for outcome in outcomes)
    assert "1 *" in outcomes[2].stdout
    assert "1 for 2 tables" in str(tf.open_study(where))


WEEKS = "joint_epsilon = 1\n" + release_text(
    read_from("study", "data.csv", order="hour", value="state", step="1h", from_="2026-01-05", until="2026-01-19",
              budget=9),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.5, 0.5], [0.4, 0.6]]),
    publish("time-use", "histogram", every="week"),
    section("[table.expect]", **EXPECT, unimportant=["still", "walking"]),
    publish("walking", "count", states=["walking"], every="week"),
    expect=EXPECT,
)  # fmt: skip


@pytest.mark.mutants
def test_tables_of_one_window_share_it(tmp_path: Path) -> None:
    lines = [f"2026-01-{5 + t // 24:02}T{t % 24:02}:00,{('still', 'walking')[t % 3 == 0]}" for t in range(14 * 24)]
    where = files.write(tmp_path, WEEKS, "\n".join(["hour,state", *lines]))
    first = tf.release_file(where, window="2026-W02")
    assert Fraction(99, 100) < first.reservation.spent.epsilon <= 1
    both = tf.release_file(where)
    assert Fraction(99, 100) < both.reservation.spent.epsilon < Fraction(11, 10)
    assert [table.name for table in both.tables[:2]] == ["time-use-2026-W03", "walking-2026-W03"]
    scales = [[table.certificate.answers[0].scale for table in made.tables[:2]] for made in (first, both)]
    assert scales[0] == scales[1]  # the weeks are alike
    assert Fraction(99, 100) < outlook(load(where), 4).rows[0].epsilon <= 1


EPSILON, WALKING = "joint_epsilon = 1\n", 'states = ["walking"]'


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("changes", "where", "words"), [
    ([(EPSILON, "")], "table[0].epsilon", "is missing"),
    ([(EPSILON, "joint_epsilon = 0\n")], "joint_epsilon", "is 0"),
    ([(EPSILON, "joint_epsilon = 20000\n")], "joint_epsilon", "between 1e-9 and 10000"),
    ([(EPSILON, "joint_epsilon = true\n")], "joint_epsilon", "is true"),
    ([(WALKING, f"{WALKING}\nimportance = 5")], "table[1].importance", "epsilon count alike"),
    ([(WALKING, f"{WALKING}\ndelta = 1e-6")], "table[1].delta", "shares the joint epsilon"),
    ([(EPSILON, EPSILON + "joint_delta = 1e-6\n")], "joint_delta", "call tf.calibrate_jointly with a delta in Python"),
    ([(WALKING, f'{WALKING}\nmechanism = "wasserstein"')], "table[1].mechanism", "found together"),
    ([(WALKING, f"{WALKING}\nallow_zero_noise = true")], "table[1].allow_zero_noise", "never zero"),
    ([(f'{WALKING}\nper = "unit"', f'{WALKING}\nper = "pooled"')], "table[1].per", "which shares the epsilon"),
    ([(f'{WALKING}\nper = "unit"', f'{WALKING}\nper = "both"')], "table[1].per", "two tables of one release"),
    ([("budget = 1", "budget = 1\nsingle_release = true")], "source.single_release", "several tables"),
    ([(WALKING, f"{WALKING}\nepsilon = 1"), ('"histogram"', '"histogram"\nepsilon = 1')], "joint_epsilon", "by no"),
])  # fmt: skip
def test_what_cannot_share(tmp_path: Path, changes: list[tuple[str, str]], where: str, words: str) -> None:
    caught = refusal_of(write(tmp_path, changed(*changes)))
    assert any(fault.place == where and words in fault.line for fault in caught.faults)
    ended(BAD_INPUT, "release", tmp_path / "release.toml")


def test_tables_of_other_definitions(tmp_path: Path) -> None:
    """Losses of a property of whole columns are no sums over entries."""
    (tmp_path / "staff.csv").write_text(attribute_files.STAFF, encoding="utf-8")
    spec = attribute_files.RECORDS.replace('output = "out"', 'output = "out"\njoint_epsilon = 1')
    for text, place in ((spec, "joint_epsilon"), (spec.replace("epsilon = 1.0\n", ""), "table[0].epsilon")):
        where = tmp_path / "staff.toml"
        where.write_text(text, encoding="utf-8")
        caught = refusal_of(where)
        assert place in {fault.place for fault in caught.faults}


def test_an_answer_that_no_secret_moves(tmp_path: Path) -> None:
    with pytest.raises(CalibrationRefused, match="no secret moves"):
        plan(load(write(tmp_path, changed(('states = ["walking"]', 'states = ["still", "walking"]')))))


def test_columns_that_no_noise_composes_for_are_told_the_table_that_publishes_both(tmp_path: Path) -> None:
    ranges, each = "ranges = { weight = [20, 200], income = [-50, 200] }\n", 'mechanism = "attribute-gaussian-exact"\n'
    again = publish("mean-income", "mean", attribute="income", epsilon=1.0, delta=1e-05) + "\n"
    two = attribute_files.written(tmp_path, "normal", {ranges: "", each: f"\n{again}"})
    with pytest.raises(CalibrationRefused) as error:
        plan(load(two))
    assert error.value.fix == 'publish it alone, or all columns in one [[table]]: attribute = ["...", "..."]'
