"""Accidents with folders: whatever lies where, no input is lost, nothing is under-counted, nothing is drawn twice."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import invoke, words_of
from tests.support.releases import put

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core import files as core
from takifugu.core.errors import Notice, ReleaseError
from takifugu.releasing.publishing import folder as folders

SMALL = files.SPEC.replace('per = "both"\n', "")
HERE = SMALL.replace('output = "out"', 'output = "."')
SELECTED = "sql = \"from read_csv('data.csv', all_varchar = true)\""
CALLED_DATA = SMALL.replace('"time-use"', '"data"')


def content(folder: Path) -> dict[str, bytes]:
    """Return every file but the ledger, which may have been opened."""
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("ledger.db"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def spent(folder: Path) -> int:
    where = folder / "ledger.db"
    return len(Ledger.open(where).payments()) if where.exists() else 0


def table_in(folder: Path) -> Path:
    """Make the folder of the tables, and return where the table will lie."""
    (folder / "out").mkdir()
    return folder / "out" / "time-use.csv"


def nothing(folder: Path) -> None:
    pass


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a file was published once; it is only copied."""
    folder = tmp_path_factory.mktemp("accidents") / "released"
    tf.release_file(files.write(folder, SMALL))
    return folder


@pytest.fixture
def where(released: Path, tmp_path: Path) -> Path:
    """The release file in a copy of that folder, which is `tmp_path`."""
    shutil.copytree(released, tmp_path, dirs_exist_ok=True)
    return tmp_path / "release.toml"


#: How a file is laid out: the release file, in which FOLDER is the folder's name, and what is done after it is written.
DESTROYERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "table_called_data": (HERE.replace('"time-use"', '"data"'), nothing),
    "data_in_the_folder": (SMALL.replace('"data.csv"', '"out/time-use.csv"'),
                           lambda folder: shutil.move(folder / "data.csv", table_in(folder))),
    "data_in_a_select": (HERE.replace('"time-use"', '"data"').replace('file = "data.csv"', SELECTED), nothing),
    "data_by_a_pattern": (HERE.replace('"time-use"', '"data"').replace('"data.csv"', '"d?ta.csv"'), nothing),
    "ledger_called_like_a_table": (SMALL.replace('"ledger.db"', '"out/time-use.csv"'), nothing),
    "ledger_by_a_url": (SMALL.replace('"ledger.db"', '"sqlite:///FOLDER/out/time-use.report.html"'), table_in),
    "side_file_of_a_ledger": (HERE.replace('"ledger.db"', '"time-use.csv"'),
                              lambda folder: Ledger.open(folder / "time-use.csv")),
    "release_file_called_like_a_table": (HERE,
                                         lambda folder: (folder / "release.toml").rename(folder / "time-use.csv")),
    "link_to_the_data": (SMALL, lambda folder: table_in(folder).symlink_to(folder / "data.csv")),
    "second_name_of_the_data": (SMALL, lambda folder: os.link(folder / "data.csv", table_in(folder))),
    "folder_is_a_link": (CALLED_DATA, lambda folder: (folder / "out").symlink_to(folder)),
    "folder_by_another_way": (CALLED_DATA.replace('"out"', '"FOLDER/./x/.."'), lambda folder: (folder / "x").mkdir()),
}  # fmt: skip


@pytest.mark.parametrize("laid_out", DESTROYERS)
def test_no_input_is_ever_written_over(tmp_path: Path, laid_out: str) -> None:
    spec, prepare = DESTROYERS[laid_out]
    where = files.write(tmp_path, spec.replace("FOLDER", str(tmp_path)))
    prepare(tmp_path)
    where = where if where.exists() else tmp_path / "time-use.csv"
    before = content(tmp_path)
    for more in ([], ["--force"], ["--force", "--dry-run"], ["--force", "--new-ledger"]):
        refused = invoke("release", *more, where)
        assert refused.exit_code in (1, 2), refused.output
        assert "would replace" in words_of(refused)
        assert "write --force" not in words_of(refused)
        assert content(tmp_path) == before
    assert spent(tmp_path) == 0


def test_data_that_are_given_are_an_input_too(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL)
    given = shutil.copy(tmp_path / "data.csv", table_in(tmp_path))
    before = content(tmp_path)
    with pytest.raises(ReleaseError, match="would replace"):
        tf.release_file(where, data=given, force=True)
    assert content(tmp_path) == before
    assert spent(tmp_path) == 0


@pytest.mark.mutants
@pytest.mark.usefixtures("where")
def test_other_commands_replace_their_own_files_only(tmp_path: Path) -> None:
    before = content(tmp_path), (tmp_path / "ledger.db").read_bytes()
    said = ["--kind", "users", "--unit", "-", "--value", "spare"]
    for words in (["init", tmp_path / "data.csv", *said, "-o"], ["odds", "--output"]):
        for target in ("data.csv", "ledger.db", "out/time-use.csv", "out/time-use.certificate.json"):
            refused = invoke(*words, tmp_path / target, "--force")
            assert refused.exit_code in (1, 2), refused.output
            assert "is not what this command writes" in words_of(refused)
            assert (content(tmp_path), (tmp_path / "ledger.db").read_bytes()) == before


def test_a_copy_of_a_release_file_under_another_name_pays_nothing_again(tmp_path: Path, where: Path) -> None:
    """The folder that it would write to follows its name; ledger and source are the same."""
    copy = where.with_name("copied.toml")
    copy.write_text(SMALL.replace('output = "out"\n', ""), encoding="utf-8")
    with pytest.raises(ReleaseError, match="one table is paid for once"):
        tf.release_file(copy)
    assert spent(tmp_path) == 1


@pytest.mark.slow
def test_tables_that_lie_elsewhere_do_not_stop_new_ones(tmp_path: Path, where: Path) -> None:
    shutil.move(tmp_path / "out", tmp_path / "away")
    more = where.read_text(encoding="utf-8") + '\n[[table]]\nname = "more"\nquery = "histogram"\nepsilon = 0.5\n'
    where.write_text(more, encoding="utf-8")
    with pytest.warns(Notice, match="was published in"):
        outcome = tf.release_file(where)
    assert [table.name for table in outcome.new] == ["more"]


def test_a_folder_full_of_strange_certificates(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL)
    odd = {"deep": "[" * 100_000, "empty": "", "null": '{"source": null, "ledger": [], "release_id": {}}'}
    out = put(tmp_path / "out", {f"{name}.certificate.json": text for name, text in odd.items()}).parent
    (out / "latin.certificate.json").write_bytes(b'{"source": "\xff"}')
    (out / "folder.certificate.json").mkdir()
    (out / "loop.certificate.json").symlink_to(out / "loop.certificate.json")
    (out / "nowhere.certificate.json").symlink_to(out / "nothing")
    os.mkfifo(out / "pipe.certificate.json")
    tf.release_file(where)
    assert spent(tmp_path) == 1


def table_is_a_folder(folder: Path) -> None:
    (folder / "out" / "time-use.csv").unlink()
    (folder / "out" / "time-use.csv").mkdir()


def certificate_is_edited(folder: Path) -> None:
    path = folder / "out" / "time-use.certificate.json"
    path.write_text(path.read_text().replace('"epsilon"', '"Epsilon"', 1))


def certificate_is_copied(folder: Path) -> None:
    shutil.copy(folder / "out" / "time-use.certificate.json", folder / "out" / "copy.certificate.json")


def folder_was_copied_back(folder: Path) -> None:
    shutil.copytree(folder / "out", folder / "copy")
    shutil.rmtree(folder / "out")
    shutil.move(folder / "copy", folder / "out")


def away(folder: Path, name: str) -> Path:
    """Move a folder or file away, and return where it was."""
    shutil.move(folder / name, folder / "away.db")
    return folder / name


#: An accident, and whether everything is still there.
AFTERWARDS: dict[str, tuple[Callable[[Path], object], bool]] = {
    "certificate_is_lost": (lambda folder: (folder / "out" / "time-use.certificate.json").unlink(), False),
    "table_is_a_folder": (table_is_a_folder, False),
    "certificate_is_edited": (certificate_is_edited, False),
    "certificate_is_copied": (certificate_is_copied, True),
    "folder_is_a_file": (lambda folder: away(folder, "out").write_text(""), False),
    "folder_leads_nowhere": (lambda folder: away(folder, "out").symlink_to(folder / "nowhere" / "at" / "all"), False),
    "folder_was_copied_back": (folder_was_copied_back, True),
    "ledger_is_empty": (lambda folder: away(folder, "ledger.db").write_bytes(b""), False),
    "ledger_is_a_folder": (lambda folder: away(folder, "ledger.db").mkdir(), False),
}


def drawn(folder: Path) -> dict[str, set[str]]:
    """Return the tables that each release of every certificate names, wherever it lies."""
    tables: dict[str, set[str]] = {}
    for path in folder.rglob("*.certificate.json"):
        certificate = json.loads(path.read_text())
        tables.setdefault(certificate["ledger"]["ids"][certificate["release"]], set()).add(certificate["table"])
    return tables


def paid(folder: Path) -> set[str]:
    """Return the releases that some ledger of the folder has."""
    ids = set()
    for path in folder.glob("*.db"):
        if path.is_file() and path.stat().st_size:
            with closing(sqlite3.connect(path)) as connection:
                events = [json.loads(row[0]) for row in connection.execute("select body from events")]
            ids |= {number for event in events if event["kind"] == "paid" for number in event["ids"].values()}
    return ids


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", AFTERWARDS)
def test_an_accident_after_publishing(tmp_path: Path, where: Path, name: str) -> None:
    """Asked again, without and then with `--force`: nothing is paid for or drawn twice."""
    accident, is_intact = AFTERWARDS[name]
    inputs = [where.read_bytes(), (tmp_path / "data.csv").read_bytes()]
    first = drawn(tmp_path)
    accident(tmp_path)
    left = drawn(tmp_path)
    assert left == first or name == "certificate_is_lost"
    for more in ([], ["--force"]):
        ended = invoke("release", *more, where)
        assert ended.exit_code in ((0,) if is_intact else (1, 2)), ended.output
        assert [where.read_bytes(), (tmp_path / "data.csv").read_bytes()] == inputs
        assert paid(tmp_path) == set(first)
        assert drawn(tmp_path) == left


def test_a_new_folder_is_on_the_disk_before_what_lies_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a power cut the tables were gone with it, and the ledger had dropped their values."""
    synced, sync = list[Path](), folders.sync
    for room in (folders, core):
        monkeypatch.setattr(room, "sync", lambda folder: (synced.append(folder), sync(folder)))
    with folders.alone_in(tmp_path / "new" / "newer"):
        folders.place(tmp_path / "new" / "newer", {"a.csv": b"1"}, {})
    assert synced[:2] == [tmp_path, tmp_path / "new"]
    assert synced[-1] == tmp_path / "new" / "newer"
