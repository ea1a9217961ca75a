"""The corpus against library and command line: refused in words, within seconds, and nothing is touched."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.hostile.corpus import Case, content, corpus
from tests.support.ledger_edits import pay

from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import TakifuguError
from takifugu.model.beliefs.networks.network_files import read_network
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.publishing.run import release_file

ROOT = Path(__file__).parents[2]
READERS = {"release": release_file, "certificate": read_certificate, "network": read_network}
#: What a terminal, or the direction of writing, would obey; line ends are no such thing.
COMMANDS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SECONDS, MEGABYTES, CHARACTERS = 10, 1000, 20_000

CORPUS = corpus()
#: So many cases lie on the disk at once: some are large.
PART = 50


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a ledger that remembers something."""
    where = tmp_path_factory.mktemp("seed") / "ledger.db"
    pay(Ledger.open(where), source="study", budget=10)
    return where.read_bytes()


def laid_out(case: Case, folder: Path, ledger: bytes) -> Path:
    folder.mkdir()
    (folder / "ledger.db").write_bytes(ledger)
    for name, made in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content(made))
    return folder


def state(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(CORPUS), PART))
def test_all_of_them_at_the_command_line(first: int, tmp_path: Path, remembered: bytes) -> None:
    cases, room = CORPUS[first : first + PART], tmp_path / "room"
    room.mkdir()
    folders = [laid_out(case, room / str(number), remembered) for number, case in enumerate(cases)]
    before = [state(folder) for folder in folders]
    jobs = json.dumps([[str(folder), list(case.command)] for folder, case in zip(folders, cases, strict=True)])
    surroundings = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
    served = subprocess.run(
        [sys.executable, "-m", "tests.hostile.server"], input=jobs, capture_output=True, text=True,
        env=surroundings, cwd=ROOT, check=True,
    )  # fmt: skip
    wrong: list[str] = []
    for case, folder, was, line in zip(cases, folders, before, served.stdout.splitlines(), strict=True):
        wrong += [f"{case.name}: {fault}" for fault in faults(json.loads(line))]
        if state(folder) != was:
            wrong.append(f"{case.name}: files were written or changed")
    shutil.rmtree(room)
    assert wrong == []


def faults(ended: dict[str, object]) -> list[str]:
    """Return what was wrong with the way in which a command ended."""
    said = f"{ended['out']}{ended['err']}"
    wrong = [
        (ended["code"] not in (1, 2), f"exit code {ended['code']}: {said[-200:]!r}"),
        (float(str(ended["seconds"])) > SECONDS, f"took {ended['seconds']} seconds"),
        (float(str(ended["megabytes"])) > MEGABYTES, f"took {ended['megabytes']} MB"),
        ("Traceback" in said, "a traceback"),
        (COMMANDS.search(said) is not None, f"commands the terminal: {said[-200:]!r}"),
        (len(said) > CHARACTERS, f"says {len(said)} characters"),
    ]
    return [words for is_wrong, words in wrong if is_wrong]


def test_there_are_many() -> None:
    assert len(CORPUS) > 400


@pytest.mark.slow
def test_all_of_them_ask_the_library(tmp_path: Path, remembered: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    mistakes = []
    for number, case in enumerate(case for case in CORPUS if case.library[0]):
        kind, file = case.library
        folder = laid_out(case, tmp_path / str(number), remembered)
        monkeypatch.chdir(folder)
        before = state(folder)
        try:
            if kind == "ledger":
                Ledger.open(folder / file, create=False).show()
            else:
                READERS[kind](folder / file)
            mistakes.append(f"{case.name}: was taken")
        except TakifuguError as error:
            if COMMANDS.search(str(error)):
                mistakes.append(f"{case.name}: {str(error)[-200:]!r}")
        except Exception as error:
            mistakes.append(f"{case.name}: {type(error).__name__}")
        if state(folder) != before:
            mistakes.append(f"{case.name}: files were written or changed")
    assert mistakes == []
