"""What is useless is refused before it is read, drawn or paid, unless somebody insists; what has no verdict is not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.advice.test_advice import ANY_START, of_units
from tests.support.commands import ended, invoke, refused, succeed, words_of
from tests.support.failing import failing, raising
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.releases import put

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.cli.group import BAD_INPUT, DONE, REFUSED
from takifugu.core.errors import CalibrationRefused, ReleaseError, ReleaseState
from takifugu.releasing.advice import advising, refusing
from takifugu.releasing.advice.worth import worth
from takifugu.releasing.file.records.kind import Records
from takifugu.releasing.planning import asking
from takifugu.releasing.publishing import orders

SURVEY = release_text(
    read_from("survey", "answers.csv", value="answer", budget=4),
    believe("users", size=40, values=["no", "yes"], probabilities=[0.75, 0.25], source="assumed"),
)
YES = '[[table]]\nname = "{}"\nquery = "count"\nstates = ["yes"]\nepsilon = {}\n'


def survey(folder: Path, tables: str) -> Path:
    answers = ["yes" if n % 4 == 0 else "no" for n in range(40)]
    return put(folder, {"survey.toml": SURVEY + tables, "answers.csv": "\n".join(["answer", *answers]) + "\n"})


@pytest.mark.slow
def test_it_is_refused_with_what_would_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusing, "SECONDS", 100.0)
    path = of_units(tmp_path)
    before = sorted(tmp_path.iterdir())
    said = refused("release", path, code=REFUSED)
    assert [words for words in (
        "use would be useless: differences below", 'with no from and no to in [[table]] "use" (', "it is good",
        "or write --allow-useless",
    ) if words not in said] == []  # fmt: skip
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.mutants
def test_whoever_insists_gets_it_and_the_next_call_leaves_it_alone(tmp_path: Path) -> None:
    path = of_units(tmp_path)
    succeed("release", "--allow-useless", path)
    before = Ledger.open(tmp_path / "ledger.db").show()
    again = invoke("release", path)
    assert (again.exit_code, "already published" in again.stdout) == (DONE, True)
    assert Ledger.open(tmp_path / "ledger.db").show() == before


@pytest.mark.slow
def test_the_dry_run_and_cost_say_it(tmp_path: Path) -> None:
    path = of_units(tmp_path)
    assert "use would be useless" in ended(REFUSED, "release", "--dry-run", path).stderr
    assert "refused: use would be useless" in words_of(succeed("cost", path))
    succeed("release", "--dry-run", "--allow-useless", path)
    assert tf.dry_run(path).refused


@pytest.mark.slow
def test_a_study_refuses_and_insists(tmp_path: Path) -> None:
    study = tf.open_study(of_units(tmp_path))
    assert study.dry_run().refused
    with pytest.raises(CalibrationRefused, match=r"useless.*allow_useless=True") as caught:
        study.release()
    assert caught.value.state is ReleaseState.NOTHING
    assert not (tmp_path / "ledger.db").exists()
    assert study.release(allow_useless=True).new


def test_a_ledger_that_knows_other_tables_stays_as_it_is(tmp_path: Path) -> None:
    succeed("release", survey(tmp_path, YES.format("good", 1.5)))
    before = Ledger.open(tmp_path / "ledger.db").show()
    said = refused("release", survey(tmp_path, YES.format("good", 1.5) + YES.format("poor", 0.2)), code=REFUSED)
    assert "poor would be useless" in said
    assert "good would" not in said
    assert Ledger.open(tmp_path / "ledger.db").show() == before


@pytest.mark.slow
def test_only_what_is_wanted_is_judged(tmp_path: Path) -> None:
    path = survey(tmp_path, YES.format("good", 1.5) + YES.format("poor", 0.2))
    ended(REFUSED, "release", path)
    assert not (tmp_path / "ledger.db").exists()
    succeed("release", "--only", "good", path)
    ended(REFUSED, "release", "--only", "poor", path)
    succeed("release", "--only", "poor", "--allow-useless", path)


@pytest.mark.slow
def test_tables_that_share_an_epsilon(tmp_path: Path) -> None:
    tables = "".join(YES.format(name, 0).replace("epsilon = 0\n", "") for name in ("first", "second"))
    path = survey(tmp_path, tables)
    for joint, code in ((0.3, REFUSED), (3, DONE)):
        path.write_text(f"joint_epsilon = {joint}\n{SURVEY}{tables}")
        ended(code, "release", path)
    path = survey(tmp_path, tables.replace('"first"', '"third"').replace('"second"', '"fourth"'))
    path.write_text(f"joint_epsilon = 0.3\n{path.read_text()}")
    ended(REFUSED, "release", path)
    succeed("release", "--allow-useless", path)


@pytest.mark.slow
def test_a_table_without_a_verdict_is_published(tmp_path: Path) -> None:
    path = of_units(tmp_path, ANY_START)
    assert tf.advise(path).verdict is None
    succeed("release", path)


@pytest.mark.slow
def test_nothing_is_read_where_the_data_decide_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = survey(tmp_path, YES.format("poor", 0.2))
    monkeypatch.setattr(Records, "units", raising(AssertionError("the data were read")))
    ended(REFUSED, "release", path)
    with pytest.raises(CalibrationRefused, match="useless"):
        tf.release_file(path)


def test_a_useful_file_is_calibrated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, calls = survey(tmp_path, YES.format("good", 1.5)), list[Any]()
    calibrated = vars(asking)["of_problem"]

    def counting(*arguments: Any) -> Any:
        calls.append(arguments)
        return calibrated(*arguments)

    monkeypatch.setattr(asking, "of_problem", counting)
    assert tf.release_file(path).new
    assert len(calls) == 1


def test_what_is_paid_for_is_completed_whatever_it_is_worth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = of_units(tmp_path)
    with failing(monkeypatch, orders, "place", OSError("no space left")), pytest.raises(ReleaseError):
        tf.release_file(path, allow_useless=True)
    assert tf.release_file(path).completed is not None


def test_an_expectation_that_contradicts_the_table_is_refused_before_anything_is_paid(tmp_path: Path) -> None:
    path = survey(tmp_path, YES.format("good", 1.5))
    path.write_text(f'{SURVEY}[expect]\nsource = "a test"\nvalues = {{ no = 3 }}\n{YES.format("good", 1.5)}')
    for options in ((), ("--allow-useless",), ("--dry-run",)):
        assert "expect.values" in ended(BAD_INPUT, "release", *options, path).stderr
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("of", [of_units, lambda folder: survey(folder, YES.format("a", 2) + YES.format("b", 1))])
def test_a_release_computes_the_verdict_on_a_table_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: Callable[[Path], Path]
) -> None:
    judged: list[Any] = []

    def judge(*given: Any) -> Any:
        judged.append(given)
        return worth(*given)

    monkeypatch.setattr(advising, "worth", judge)
    outcome = tf.release_file(of(tmp_path), allow_useless=True)
    assert len(judged) == len(outcome.tables)


MEAN = release_text(
    read_from("ages", "ages.csv", value="age", budget=4),
    believe("users", size=4, values=[20, 60], probabilities=[0.5, 0.5], source="assumed"),
)


@pytest.mark.parametrize(("epsilon", "code"), [(0.6, REFUSED), (0.9, DONE)])
def test_a_mean_that_can_be_anything_is_refused(tmp_path: Path, epsilon: float, code: int) -> None:
    (tmp_path / "ages.csv").write_text("age\n20\n60\n60\n20\n")
    path = tmp_path / "ages.toml"
    path.write_text(MEAN + publish("mean", "mean", epsilon=epsilon))
    outcome = ended(code, "release", path)
    assert tf.advise(path).tables[0].worth is None
    words = " ".join(outcome.stderr.split())
    assert ("from its least to its largest possible one it is 40" in words) == (code == REFUSED)
    assert (tmp_path / "ledger.db").exists() == (code == DONE)
