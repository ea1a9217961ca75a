"""`release` asks whether a source that is read otherwise than before has the same entries; nobody else answers."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.releasing.test_readings import CALENDAR, hour, hours, release_file
from tests.support.commands import ended, invoke, succeed, words_of

from takifugu.accounting.log import Ledger
from takifugu.cli import BAD_INPUT, main, output
from takifugu.core.escaping import visible


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """Return a file whose source was released about before, and is read otherwise now."""
    hours(tmp_path)
    succeed("release", "--anyway", release_file(tmp_path, "h.csv", f'value = "state"\n{CALENDAR}', "", hour(10)))
    file = release_file(tmp_path, "h.csv", f'value = "lag"\n{CALENDAR}', "", hour(11))
    file.write_text(file.read_text().replace('name = "t"', 'name = "later"'))
    return file


def spent(file: Path) -> float:
    return float(Ledger.open(file.parent / "a.db").spent("s").epsilon)


def test_where_nobody_can_answer_it_fails_with_a_line_to_paste(changed: Path) -> None:
    before = (changed.parent / "a.db").read_bytes()
    said = words_of(ended(BAD_INPUT, "release", "--anyway", "--only", "later", changed))
    assert 'before: value: "state" (VARCHAR) now: value: "lag" (VARCHAR) are these the same entries?' in said
    assert said.count("'s' goes from epsilon 1 to epsilon") == 2
    assert f"run `takifugu release {visible(str(changed))} --only later --anyway --same-entries`" in said
    assert "nothing happened" in said
    assert (changed.parent / "a.db").read_bytes() == before
    succeed("release", changed, "--only", "later", "--anyway", "--same-entries")
    assert spent(changed) < 2


def test_another_step_names_the_one_answer_that_it_may_have(changed: Path) -> None:
    changed.write_text(changed.read_text().replace('"lag"', '"state"').replace('step = "1h"', 'step = "30min"'))
    said = words_of(ended(BAD_INPUT, "release", "--anyway", "--only", "later", changed))
    assert f"run `takifugu release {visible(str(changed))} --only later --anyway --other-entries`" in said
    assert "--only later --anyway --same-entries" not in said


def test_other_entries_are_paid_for(changed: Path) -> None:
    succeed("release", changed, "--anyway", "--other-entries")
    assert spent(changed) == 2


@pytest.mark.parametrize(("typed", "releases"), [("same\n", 2), (" Other \n", 2), ("yes\n", 1), ("\n", 1), ("", 1)])
def test_a_terminal_asks(changed: Path, monkeypatch: pytest.MonkeyPatch, typed: str, releases: int) -> None:
    monkeypatch.setattr(output, "can_ask", lambda: True)
    result = CliRunner().invoke(main, ["release", "--anyway", str(changed)], input=typed)
    assert result.exit_code == (0 if releases == 2 else BAD_INPUT)
    assert "same or other entries: " in result.output
    assert len(Ledger.open(changed.parent / "a.db").history("s")) == releases
    assert (spent(changed) == 2) == ("Other" in typed)


@pytest.mark.parametrize("answer", ["--same-entries", "--other-entries"])
def test_a_dry_run_shows_both_prices_and_takes_no_answer(changed: Path, answer: str) -> None:
    said = words_of(ended(BAD_INPUT, "release", "--dry-run", answer, changed))
    assert "--dry-run shows what either answer costs" in said
    said = words_of(invoke("release", "--dry-run", changed))
    assert "the release will ask first" in said
    assert said.count("'s' goes from epsilon 1 to epsilon") >= 2


def test_the_answer_stands_on_the_certificate(changed: Path) -> None:
    succeed("release", changed, "--anyway", "--same-entries")
    said = words_of(succeed("certificate", "show", changed.parent / "f-published" / "later.certificate.json"))
    assert 'declared to be the same entries: before: value: "state" (VARCHAR) now: value: "lag" (VARCHAR)' in said


@pytest.mark.parametrize(("typed", "known"), [("same\n", {"s": True}), ("other\n", {"s": False}), ("\n", None)])
def test_a_terminal_asks_whose_people_a_second_source_is_about(
    changed: Path, monkeypatch: pytest.MonkeyPatch, typed: str, known: dict[str, bool] | None
) -> None:
    monkeypatch.setattr(output, "can_ask", lambda: True)
    changed.write_text(changed.read_text().replace('name = "s"', 'name = "second"'))
    result = CliRunner().invoke(main, ["release", "--anyway", str(changed)], input=typed)
    assert "same or other people: " in result.output
    assert "'second' goes from epsilon 0 to epsilon" in result.output
    assert result.exit_code == (BAD_INPUT if known is None else 0)
    sources = {row.name for row in Ledger.open(changed.parent / "a.db").show()}
    assert ("second" in sources) == (known is not None)


def test_yes_asks_nobody(changed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "can_ask", lambda: True)
    result = CliRunner().invoke(main, ["release", "--anyway", "--yes", str(changed)], input="same\n")
    assert result.exit_code == BAD_INPUT
    assert "same or other entries: " not in result.output
    assert spent(changed) == 1
