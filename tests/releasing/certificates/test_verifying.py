"""Certificates with their tables, verified in folders and in archives, which anybody may have made."""

import io
import os
import shutil
import stat
import struct
import time
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releasing import files
from tests.support.commands import json_of, refused, succeed, words_of

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.releasing.certificates import archives
from takifugu.releasing.certificates.archives import members_of, zipped
from takifugu.releasing.certificates.checksum import MISSING, SAME
from takifugu.releasing.certificates.verifying import verified


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("study")
    tf.release_file(files.write(place), allow_useless=True)
    return place / "out"


def contents(folder: Path, name: str = "time-use-units") -> dict[str, bytes]:
    paths = [folder / f"{name}{end}" for end in archives.MEMBERS]
    return {path.name: path.read_bytes() for path in paths if path.exists()}  # nobody signs here


def archive(*members: tuple[zipfile.ZipInfo | str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as written:
        for entry, member in members:
            written.writestr(entry, member)
    return content.getvalue()


@pytest.mark.mutants
def test_a_folder_an_archive_and_a_certificate(folder: Path, tmp_path: Path) -> None:
    units, pooled = sorted(verified(folder), key=lambda one: one.name, reverse=True)
    assert (units.name, units.table, pooled.name) == ("time-use-units", SAME, "time-use-pooled")
    assert units.is_whole
    assert "time-use-units: the certificate is unchanged, and the table beside it is the one that was" in units.words
    assert "nothing vouches for time-use-units.certificate.txt" in units.words
    path = tmp_path / "time-use-units.zip"
    path.write_bytes(zipped(contents(folder)))
    (of_archive,) = verified(path)
    assert (of_archive.certificate, of_archive.table) == (units.certificate, SAME)
    assert of_archive.unverified == ("time-use-units.report.html",)
    (alone,) = verified(folder / "time-use-units.certificate.json")
    assert alone.table == SAME


def test_what_lies_beside_a_table_and_is_not_of_it_is_named(folder: Path, tmp_path: Path) -> None:
    """Nobody takes a stranger's file for one that was verified: neither another table, nor one called after this."""
    place = shutil.copytree(folder, tmp_path / "out")
    table = "time-use-units"
    for name in ("payroll.csv", f"{table}.geojson", f"{table}.old.csv", ".hidden", "a\u202eb.html"):
        (place / name).write_text("person,salary", encoding="utf-8")
    (place / "more").mkdir()
    (units,) = (one for one in verified(place) if one.name == table)
    assert {f"{table}.geojson", f"{table}.old.csv", f"{table}.svg"} <= set(units.unverified)
    assert units.others == ("a\u202eb.html", "more", "payroll.csv")
    said = succeed("verify", place).stdout
    assert "Of no table that has a certificate here, and not looked at: a\\u202eb.html, more, payroll.csv." in " ".join(
        said.split()
    )
    assert json_of("verify", place)["others"] == [*units.others]
    path = tmp_path / "x.zip"
    path.write_bytes(zipped({**contents(folder), "payroll.csv": b"person,salary"}))
    assert verified(path)[0].others == ("payroll.csv",)
    assert verified(folder)[0].others == ()


def test_a_table_under_another_name_is_called_by_its_own(folder: Path, tmp_path: Path) -> None:
    for end in (".certificate.json", ".csv"):
        shutil.copy(folder / f"time-use-units{end}", tmp_path / f"safe-places{end}")
    said = words_of(succeed("verify", tmp_path))
    assert "safe-places: the certificate of 'time-use-units' is unchanged, and the table beside it is the one" in said
    assert "certificate of" not in words_of(succeed("verify", folder))


def test_archives_of_equal_files_are_equal(folder: Path) -> None:
    assert zipped(contents(folder)) == zipped(contents(folder))
    assert members_of(zipped(contents(folder)), "a.zip") == contents(folder)


def test_what_was_changed_is_noticed(folder: Path, tmp_path: Path) -> None:
    whole, path = contents(folder), tmp_path / "a.zip"
    certificate, table = "time-use-units.certificate.json", "time-use-units.csv"
    for name, content, words in (
        (table, whole[table] + b"\n", "is not the table that was certified"),
        (certificate, whole[certificate].replace(b"takifugu 0", b"takifugu 1"), "changed after it was written"),
        (certificate, b"{", "is not JSON"),
    ):
        path.write_bytes(zipped({**whole, name: content}))
        with pytest.raises(InputError, match=words):
            verified(path)
    path.write_bytes(zipped({certificate: whole[certificate]}))
    assert [(one.table, one.is_whole) for one in verified(path)] == [(MISSING, False)]
    path.write_bytes(zipped({table: whole[table]}))
    with pytest.raises(InputError, match="holds no certificate"):
        verified(path)
    for place in (tmp_path / "nowhere", folder / table, tmp_path):
        with pytest.raises(InputError):
            verified(place)


def test_the_table_beside_a_certificate(folder: Path, tmp_path: Path) -> None:
    place = shutil.copytree(folder, tmp_path / "out")
    table, certificate = place / "time-use-units.csv", place / "time-use-units.certificate.json"
    assert "The table beside it is the one that was certified." in words_of(succeed("verify", certificate))
    table.write_bytes(table.read_bytes().replace(b"still", b"Still"))
    assert "time-use-units.csv is not the table that was certified" in refused("verify", certificate)
    table.unlink()
    assert "Note: the table that it is about is not beside it." in words_of(succeed("verify", certificate))
    table.mkdir()
    assert "cannot be read (it is a folder)" in refused("verify", certificate)


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize(("members", "words"), [
    ([("../a.csv", b"")], "has a path"), ([("/etc/passwd", b"")], "has a path"), ([("a/b.csv", b"")], "has a path"),
    ([("a\\b.csv", b"")], "has a path"), ([("C:a.csv", b"")], "has a path"), ([("a/", b"")], "has a path"),
    ([(link("a.csv"), b"/etc/passwd")], "is a link"), ([("..", b"")], "odd name"), ([(".hidden", b"")], "odd name"),
    ([("a\x1b[2J.csv", b"")], "odd name"), ([("a.csv ", b"")], "odd name"),
    ([("a.csv", b"1"), ("A.CSV", b"2")], "two members have one name"),
    ([(f"{n}.csv", b"") for n in range(101)], "more than 100 members"),
])  # fmt: skip
def test_members_that_no_release_writes(members, words) -> None:
    with pytest.raises(InputError, match=words):
        members_of(archive(*members), "a.zip")


def test_bombs_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1_000_000)
    for members in ([("a.csv", bytes(2_000_000))], [(f"{n}.csv", bytes(300_000)) for n in range(4)]):
        with pytest.raises(InputError, match="holds more than 1 MB"):
            members_of(archive(*members), "a.zip")
    lying = bytearray(archive(("a.csv", bytes(2_000_000))))
    size = lying.index(struct.pack("<L", 2_000_000), lying.index(b"PK\x01\x02"))
    lying[size : size + 4] = struct.pack("<L", 5)  # its directory says that it is small
    with pytest.raises(InputError):
        members_of(bytes(lying), "a.zip")


def test_other_methods_and_encrypted_members_are_refused() -> None:
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with pytest.raises(InputError, match="packed in another way"):
            members_of(archive(("a.csv", b"1"), method=method), "a.zip")
    locked = bytearray(archive(("a.csv", b"1")))
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(InputError, match="encrypted"):
        members_of(bytes(locked), "a.zip")


@pytest.mark.mutants
def test_a_folder_of_large_tables_is_read_table_by_table(folder: Path, tmp_path: Path) -> None:
    (certificate,) = folder.glob("*-pooled.certificate.json")
    for number in range(20):
        shutil.copy(certificate, tmp_path / f"{number}.certificate.json")
        shutil.copy(certificate.with_name("time-use-pooled.csv"), tmp_path / f"{number}.csv")
    (tmp_path / "9.csv").write_bytes(bytes(10**7))  # the last by name
    tracemalloc.start()
    with pytest.raises(InputError, match=r"9\.csv is not the table that was certified"):
        verified(tmp_path)
    once = tracemalloc.get_traced_memory()[1]
    for number in range(10, 20):
        (tmp_path / f"{number}.csv").write_bytes(bytes(10**7))
    tracemalloc.reset_peak()
    with pytest.raises(InputError, match=r"\.csv is not the table that was certified"):
        verified(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * once


def test_a_field_that_is_there_twice_is_found_at_once(tmp_path: Path) -> None:
    names = ",".join(f'"{n}":0' for n in range(100_000))
    (tmp_path / "a.certificate.json").write_text(f'{{{names},"99999":1}}')
    begun = time.process_time()
    with pytest.raises(InputError, match="has the field '99999' twice"):
        verified(tmp_path)
    assert time.process_time() - begun < 20


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.zip")
    with pytest.raises(InputError, match="cannot be read"):
        verified(tmp_path / "a.zip")
    os.mkfifo(tmp_path / "a.certificate.json")
    with pytest.raises(InputError, match="cannot be read"):
        verified(tmp_path)


@given(st.data())
def test_no_damaged_archive_is_more_than_an_error(data: st.DataObject) -> None:
    whole = bytearray(zipped({"a.csv": b"cell,value\nx,1\n", "a.certificate.json": b"{}"}))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    content = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    try:
        members = members_of(content, "a.zip")
    except InputError:
        return
    assert all("/" not in name for name in members)


def test_a_table_is_made_one_archive_on_demand(folder: Path, tmp_path: Path) -> None:
    place = shutil.copytree(folder, tmp_path / "out")
    succeed("report", place, "--as", "zip")
    for name in ("time-use-units", "time-use-pooled"):
        path = place / f"{name}.zip"
        assert members_of(path.read_bytes(), path.name) == contents(folder, name)
        said = words_of(succeed("verify", path))
        assert f"{name}: the certificate is unchanged, and the table beside it is the one that was certified" in said
        (place / f"{name}.csv").write_bytes(b"cell,value\n")
    succeed("report", place, "--as", "zip", "--force")
    assert "is not the table that was certified" in refused("verify", place / "time-use-units.zip")
