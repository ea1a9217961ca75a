"""`release` asks whether a source that is read otherwise than before has the same entries; nobody else answers."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.releasing.test_readings import CALENDAR, hour, hours, release_file
from tests.support.commands import ended, invoke, succeed, words_of

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.values import declarations
from takifugu.cli import main, output
from takifugu.cli.group import BAD_INPUT
from takifugu.core.escaping import visible


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """Return a file whose source was released about before, and is read otherwise now."""
    hours(tmp_path)
    succeed("release", "--allow-useless", release_file(tmp_path, "h.csv", f'value = "state"\n{CALENDAR}', "", hour(10)))
    file = release_file(tmp_path, "h.csv", f'value = "lag"\n{CALENDAR}', "", hour(11))
    file.write_text(file.read_text().replace('name = "t"', 'name = "later"'))
    return file


def spent(file: Path) -> float:
    return float(Ledger.open(file.parent / "a.db").spent("s").epsilon)


@pytest.mark.mutants
def test_where_nobody_can_answer_it_fails_with_a_line_to_paste(changed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (changed.parent / "a.db").read_bytes()
    said = words_of(ended(BAD_INPUT, "release", "--allow-useless", "--only", "later", changed))
    assert 'before: value: "state" now: value: "lag" are these the same entries?' in said
    assert said.count("'s' goes from epsilon 1 to epsilon") == 2
    line = f"takifugu release --allow-useless --only later {visible(str(changed))}"
    assert f"run `{line} --same-entries WHY`, or the same with --other-entries" in said
    assert "nothing happened" in said
    with monkeypatch.context() as asked:
        asked.setattr(output, "can_ask", lambda: True)
        done = CliRunner().invoke(main, ["release", "--allow-useless", "--yes", str(changed)], input="same\n")
    assert (done.exit_code, "same or other entries: " in done.output) == (BAD_INPUT, False)
    assert (changed.parent / "a.db").read_bytes() == before
    succeed("release", changed, "--only", "later", "--allow-useless", "--same-entries", WHY)
    assert spent(changed) < 2
    said = words_of(succeed("verify", changed.parent / "f-published" / "later.certificate.json"))
    assert f'to be the same entries ({WHY}): before: value: "state" now: value: "lag"' in said


def test_another_step_names_the_one_answer_that_it_may_have(changed: Path) -> None:
    changed.write_text(changed.read_text().replace('"lag"', '"state"').replace('step = "1h"', 'step = "30min"'))
    said = words_of(ended(BAD_INPUT, "release", "--allow-useless", "--only", "later", changed))
    assert f"run `takifugu release --allow-useless --only later {visible(str(changed))} --other-entries`" in said
    assert "--same-entries WHY`" not in said


def test_a_next_file_that_starts_elsewhere_names_the_one_answer_that_it_may_have(tmp_path: Path) -> None:
    for week, day in enumerate((5, 12)):
        lines = [f"{day + hour // 24:02d}T{hour % 24:02d}:00,busy" for hour in range(100)]
        (tmp_path / f"week-{week}.csv").write_text("\n".join(["at,state", *(f"2026-01-{line}" for line in lines)]))
    file = release_file(tmp_path, "week-0.csv", 'value = "state"\norder = "at"\nstep = "1h"', "", 'states = ["busy"]')
    succeed("release", "--allow-useless", file)
    file.write_text(file.read_text().replace("week-0.csv", "week-1.csv").replace('name = "t"', 'name = "later"'))
    said = words_of(ended(BAD_INPUT, "release", "--allow-useless", file))
    assert "--same-entries WHY (same_entries='...' in Python): refused" in said
    assert f"run `takifugu release --allow-useless {visible(str(file))} --other-entries`, or read it as before" in said


WHY = "the export was corrected"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("typed", "releases"), [
    (f"same\n{WHY}\n", 2), (" Other \n", 2), ("same\n\n", 1), ("same\n", 1), ("yes\n", 1), ("\n", 1), ("", 1),
])  # fmt: skip
def test_a_terminal_asks(changed: Path, monkeypatch: pytest.MonkeyPatch, typed: str, releases: int) -> None:
    monkeypatch.setattr(output, "can_ask", lambda: True)
    result = CliRunner().invoke(main, ["release", "--allow-useless", str(changed)], input=typed)
    assert result.exit_code == (0 if releases == 2 else BAD_INPUT)
    assert "same or other entries: " in result.output
    assert ("why are they the same? certificates print it: " in result.output) == typed.startswith("same")
    book = Ledger.open(changed.parent / "a.db")
    assert sum(len(paid.ids) for paid in book.payments("s")) == releases
    assert [event.why for event, _, _ in declarations(book.view(), "s")] == [WHY] * (WHY in typed)
    assert (spent(changed) == 2) == ("Other" in typed)


@pytest.mark.parametrize("answer", [["--same-entries", WHY], ["--other-entries"]])
def test_a_dry_run_shows_both_prices_and_takes_no_answer(changed: Path, answer: list[str]) -> None:
    said = words_of(ended(BAD_INPUT, "release", "--dry-run", *answer, changed))
    assert "--dry-run shows what either answer costs" in said
    said = words_of(invoke("release", "--dry-run", changed))
    assert "the release will ask first" in said
    assert said.count("'s' goes from epsilon 1 to epsilon") >= 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("typed", "is_paid"), [("same\n", True), ("other\n", False), ("\n", False)])
def test_a_terminal_asks_whose_people_a_second_source_is_about(
    changed: Path, monkeypatch: pytest.MonkeyPatch, typed: str, is_paid: bool
) -> None:
    """Other people have a ledger of their own, which the error says."""
    monkeypatch.setattr(output, "can_ask", lambda: True)
    changed.write_text(changed.read_text().replace('name = "s"', 'name = "second"'))
    result = CliRunner().invoke(main, ["release", "--allow-useless", str(changed)], input=typed)
    assert "same or other people: " in result.output
    assert "'second' goes from epsilon 0 to epsilon" in result.output
    assert result.exit_code == (0 if is_paid else BAD_INPUT)
    assert 'ledger = "NAME-ledger.db"' in result.output
    sources = {row.name for row in Ledger.open(changed.parent / "a.db").show()}
    assert ("second" in sources) == is_paid
