"""Files that would take all memory, or for ever, or run somebody else's code: refused in words, soon, and unchanged."""

import gzip
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from tests.conformance.release_files import Example
from tests.conformance.test_release_files import EXAMPLES
from tests.releasing import files
from tests.support.commands import ended, invoke, succeed, words_of
from tests.support.paying import copies_of_each_state, restored
from tests.support.processes import become_nobody, result_of_a_child
from tests.support.release_files import believe, publish, read_from, release_text

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger import words as book_of
from takifugu.core.errors import LedgerError, TakifuguError
from takifugu.releasing.certificates.facts import checksum_of
from takifugu.releasing.publishing.bundle import bundle_of
from takifugu.releasing.publishing.publish import CELL, NAMED

SMALL = files.SPEC.replace('per = "both"\n', "")
#: Seconds of the processor, and of the clock, which are many because the machine may be busy: what hangs never ends.
PROCESSOR, SECONDS, KILOBYTES = 60, 900.0, 1_000_000


#: Runs a command from a small process: a child's largest memory counts what its parent held when it was made.
SMALL_PARENT = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    json.dump([used.ru_maxrss, used.ru_utime + used.ru_stime], file)
sys.exit(code)
"""


def run(folder: Path, *words: object, codes: tuple[int, ...] = (2,)) -> str:
    """Run a command line in a process of its own, which must end with one of these codes; return what it said."""
    said, used = folder / "said.txt", folder / "used.json"
    with said.open("wb") as file:
        command = [sys.executable, "-c", SMALL_PARENT, used, sys.executable, "-m", "takifugu", *map(str, words)]
        done = subprocess.run(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, timeout=SECONDS)
    text = said.read_text()
    kilobytes, seconds = json.loads(used.read_text())
    used.unlink()
    assert "Traceback" not in text
    assert kilobytes < KILOBYTES
    assert seconds < PROCESSOR
    assert done.returncode in codes, text
    return " ".join(text.split())


def published(folder: Path) -> Path:
    where = files.write(folder, SMALL)
    tf.release_file(where)
    return where


def edited(folder: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(folder / "ledger.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return folder / "ledger.db"


@pytest.mark.slow
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "data.csv")
    assert "a device or a pipe" in run(tmp_path, "init", "data.csv")
    (tmp_path / "study").mkdir()
    published(tmp_path / "study")
    os.mkfifo(tmp_path / "study" / "out" / "pipe.certificate.json")
    files.write(tmp_path / "study", SMALL.replace('"time-use"', '"again"'))
    run(tmp_path / "study", "release", "release.toml", codes=(0,))


@pytest.mark.slow
def test_a_line_as_long_as_a_packed_file(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "data.csv.gz", "wb", compresslevel=1) as file:
        file.write(b"t,state\n1,")
        for _ in range(400):
            file.write(b"a" * 1_000_000)
    assert "ends with a line of more than 2 MB" in run(tmp_path, "init", "data.csv.gz")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("empty", [{}, {"secrets": [], "beliefs": []}, {"secrets": [{}], "beliefs": [{}]}, {"x": 1}])
def test_a_certificate_with_an_empty_framework(tmp_path: Path, empty: dict[str, object]) -> None:
    published(tmp_path)
    path = tmp_path / "out" / "time-use.certificate.json"
    content = json.loads(path.read_text())
    content["frameworks"] = dict.fromkeys(content["frameworks"], empty)
    path.write_text(json.dumps({**content, "checksum": checksum_of(content)}))
    for words in (("verify", path), ("verify", path, "--json")):
        result = invoke(*words)
        assert result.exit_code in (0, 2), result.output
        assert empty.get("secrets") == [] or result.exit_code == 2, result.output


SLOW = (
    "with recursive n(i) as (select 1 union all select i + 1 from n) "
    "select i as number, i as body, i as digest from n"
)


def in_state(folder: Path, state: str) -> Ledger:
    """Publish, forget all files, and return the ledger as it was in this state of the release."""
    with copies_of_each_state(folder / "copies") as copies:
        published(folder)
    restored(folder / "ledger.db", copies[state])
    for unwanted in ("copies", "out"):
        shutil.rmtree(folder / unwanted)
    return Ledger.open(folder / "ledger.db")


@pytest.mark.slow
def test_values_that_inflate_beyond_the_limit(tmp_path: Path) -> None:
    """They have no digest that was noted, and are not even unpacked beyond the limit."""
    in_state(tmp_path, "drawn")
    big = zlib.compress(b"\0" * 500_000_000, 1)
    edited(tmp_path, f"update waiting set body = x'{big.hex()}'")
    del big
    assert "this release was drawn, and" in run(tmp_path, "ledger", "resume", tmp_path / "ledger.db", codes=(2, 4))


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_a_release_that_no_ledger_could_keep_is_not_paid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: Example
) -> None:
    """By its public size alone: whatever is in the private file, the refusal is the same."""
    where = example.write(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(book_of, "LARGEST", 100)
        said = words_of(ended(2, "release", where))
    assert "one release takes at most 0 MB; publish fewer rows or cells at once" in said
    assert "nothing happened. No epsilon was spent" in said
    assert not list(tmp_path.rglob("*.certificate.json"))
    succeed("release", where)


def test_a_release_of_the_library_is_refused_before_it_is_paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5))
    calibration = tf.calibrate(framework, tf.Count(1), 1, mechanism="group-dp")
    monkeypatch.setattr(book_of, "LARGEST", 1000)
    with pytest.raises(LedgerError, match="may take 0 MB"):
        tf.release(calibration, [0] * 5, entries="values", ledger=tmp_path / "a.db", source="s", budget=9)
    assert not Ledger.open(tmp_path / "a.db").show()


BY_CELLS = release_text(
    read_from("study", "data.csv", value="state", order="t", step="1h", from_="2026-01-05", until="2026-01-19",
              budget=999),
    believe("markov-chain", states=["still in the very same place", "walking from one place to another"],
            matrix=[[0.5, 0.5], [0.5, 0.5]], source="a test"),
    publish("use", "histogram", by=["hour", "weekday"], epsilon=500, mechanism="group-dp"),
)  # fmt: skip


@pytest.mark.slow
def test_no_release_takes_more_than_is_predicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside what is written once, of whatever size: belief, certificate and page."""
    (tmp_path / "f.toml").write_text(BY_CELLS)
    days = [f"2026-01-{day:02}T{hour:02}:00" for day in range(5, 19) for hour in range(24)]
    rows = "".join(f"{time},still in the very same place\n" for time in days)
    (tmp_path / "data.csv").write_text(f"t,state\n{rows}")
    taken: list[int] = []
    real = Ledger.keep

    def keep(book: Ledger, group: str, values: bytes) -> bytes:
        taken.append(len(values))
        return real(book, group, values)

    monkeypatch.setattr(Ledger, "keep", keep)
    (table,) = tf.release_file(tmp_path / "f.toml", allow_useless=True).tables
    cells = len(table.rows)
    assert cells == 2 * 7 * 24
    predicted = sum(CELL + NAMED * len(row["cell"]) for row in table.rows)
    assert predicted / 8 < taken[0] < predicted


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "file"), [
    ("../x", "../x.csv"), ("/tmp/x", "/tmp/x.csv"), ("time-use", "../time-use.csv"), ("time-use", "time-use.sh"),
    ("x", "x.csv"), ("..", "...csv"), ("time-use", "other.csv"),
])  # fmt: skip
def test_resume_writes_files_of_its_own_tables_only(tmp_path: Path, name: str, file: str) -> None:
    """Even where whoever wrote the ledger has its key."""
    book = in_state(tmp_path, "paid")
    bundled = {"format": "takifugu-bundle/4", "tables": [{"name": name, "files": {file: "x"}}]}
    book.keep(book.pending()[0].group, json.dumps(bundled).encode())
    before = sorted(tmp_path.rglob("*"))
    result = ended(4, "ledger", "resume", tmp_path / "ledger.db")
    assert "is not what was drawn for it" in result.output
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("stored", [
    b"[", b"[1]", b"{}", b'{"format": "takifugu-bundle/4"}', b'{"format": "takifugu-bundle/3"}', b"\xff",
])  # fmt: skip
def test_a_bundle_that_is_none(stored: bytes) -> None:
    with pytest.raises(LedgerError):
        bundle_of(stored, ["time-use"])


@pytest.mark.slow
def test_twenty_thousand_tables(tmp_path: Path) -> None:
    head, table = SMALL.split("[[table]]")
    many = "".join(f"[[table]]{table.replace('time-use', f't{number}')}" for number in range(20_000))
    files.write(tmp_path, f"{head}{many}")
    said = run(tmp_path, "release", "release.toml")
    assert "there are 20,000 tables; write at most 1,000 in a file" in said
    assert not (tmp_path / "ledger.db").exists()


def _show_a_copy(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(path, folder))
        invoke("ledger", "show", copy)
        Ledger.open(copy).budget("study", 99)


def _as_nobody(path: Path) -> str:
    become_nobody(lambda: _show_a_copy(path))
    outcome = invoke("ledger", "show", path)
    try:
        Ledger.open(path).budget("study", 99)
    except TakifuguError as error:
        return f"{outcome.exit_code} {' '.join(outcome.output.split())} | {error}"
    return "it was written"


def test_a_ledger_that_may_only_be_read_is_shown(tmp_path: Path) -> None:
    published(tmp_path)
    for folder in (tmp_path, *tmp_path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(0o755)
    (tmp_path / "ledger.db").chmod(0o444)
    tmp_path.chmod(0o555)
    printed = result_of_a_child(_as_nobody, tmp_path / "ledger.db")
    tmp_path.chmod(0o755)
    assert printed.startswith("0 source 'study'"), printed
    assert "is read-only" in printed


def test_a_connection_that_cannot_be_closed_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(sqlite3.Connection):
        def close(self) -> None:
            super().close()
            raise sqlite3.OperationalError("disk I/O error")

    published(tmp_path)
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **{**k, "factory": Broken}))
    with closing(Ledger.open(tmp_path / "ledger.db")) as book:
        assert book.payments("study")
