"""Faulty release files at the command line: a message that names the key, exit code 2, and nothing is touched."""

import shutil
from pathlib import Path

import pytest
from tests.releasing import mutants
from tests.support.commands import invoke
from tests.support.ledger_edits import pay

from takifugu.accounting.ledger import Ledger

MUTANTS = mutants.mutants()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The data, and a ledger that remembers something."""
    mutants.write_data(tmp_path)
    pay(Ledger.open(tmp_path / "ledger.db"), source="study", budget=10)
    return tmp_path


def faults(folder: Path, chosen: list[mutants.Mutant]) -> list[str]:
    """Return what went wrong with each faulty file: what was told, written, or changed."""
    before = files_in(folder)
    where, complaints = folder / "release.toml", []
    for mutant in chosen:
        where.write_text(mutants.toml(mutant.raw), encoding="utf-8")
        outcome = invoke("release", where)
        message = outcome.stderr
        if outcome.exit_code != 2 or outcome.stdout or "Traceback" in message or not message.startswith("takifugu: "):
            complaints.append(f"{mutant.what}: exit code {outcome.exit_code}: {outcome.output}{message}")
        elif mutant.key not in message.replace(mutant.what, ""):
            complaints.append(f"{mutant.what}: the message does not name {mutant.key!r}: {message}")
        if "Input should" in message or "NoneType" in message:
            complaints.append(f"{mutant.what}: words of another library: {message}")
        where.unlink()
        if files_in(folder) != before:
            complaints.append(f"{mutant.what}: files were changed")
            shutil.rmtree(folder / "out", ignore_errors=True)
            for name, content in before.items():
                (folder / name).write_bytes(content)
            before = files_in(folder)
    return complaints


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.slow
def test_the_files_that_are_mutated_are_good(folder: Path) -> None:
    for number, base in enumerate((mutants.UNITS, mutants.ONE, mutants.CLASS)):
        where = folder / "release.toml"
        where.write_text(mutants.toml({**base, "ledger": f"{number}.db"}), encoding="utf-8")
        outcome = invoke("release", "--output", str(folder / f"out{number}"), where)
        assert outcome.exit_code == 0, outcome.output + outcome.stderr


def test_there_are_many_and_no_two_are_alike() -> None:
    assert len({mutants.toml(m.raw) for m in MUTANTS}) > 500
    assert {m.key for m in MUTANTS} > {"epsilon", "matrix", "weights", "entry", "pi", "unit", "states", "ledgerx"}


@pytest.mark.mutants
@pytest.mark.parametrize(
    "every", [108, pytest.param(36, marks=pytest.mark.mutants), pytest.param(1, marks=pytest.mark.slow)]
)
def test_faulty_files(folder: Path, every: int) -> None:
    assert faults(folder, MUTANTS[::every]) == []
