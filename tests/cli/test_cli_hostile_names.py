"""Whatever names a table, its people or its file have: nothing published, and no terminal, gets a raw control."""

import re
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import invoke

from takifugu.accounting.ledger import Ledger

#: C0, C1, the writing direction, and a separator of lines.
HOSTILE = {"C0": "\x1b]0;pwn\x07", "C1": "\x9b31m", "direction": "\u202e", "line": "\u2028"}
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
#: Where such a name is, in the text of the release file or of its data, and whether it can be released.
PLACES = {
    "a person": ("data", "Bob", "Bo{}b", False), "a state": ("data", "lying", "ly{}ing", False),
    "a column that is read": ("data", "état; raw", "état; {}raw", False),
    "another column": ("data", "spare", "sp{}are", False), "a value that is not read": ("data", ",x,", ",x{},", True),
    "a source": ("file", 'name = "study"', 'name = "st{}udy"', False),
    "a title": ("file", 'source = "a test"', 'source = "a {}test"', False),
    "a table": ("file", 'name = "time-use"', 'name = "time{}-use"', False),
}  # fmt: skip
COMMANDS = (
    ("check", "release.toml"), ("calibrate", "release.toml"), ("advise", "release.toml"),
    ("release", "--dry-run", "release.toml"), ("release", "release.toml"), ("ledger", "show", "ledger.db"),
    ("ledger", "history", "ledger.db"),
)  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("place", PLACES)
def test_no_output_holds_a_raw_control(tmp_path: Path, place: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, hostile, is_released = PLACES[place]
    spec, table = files.SPEC, files.data()
    bad = hostile.format(HOSTILE[kind])
    if where == "data":
        assert name in table
        table = table.replace(name, bad)
    else:
        assert name in spec
        spec = spec.replace(name, bad.encode("unicode_escape").decode().replace("\\x", "\\u00"))
    files.write(tmp_path, spec, table)
    monkeypatch.chdir(tmp_path)
    for words in COMMANDS:
        for options in ((), ("--json",)):
            result = invoke(*words, *options)
            assert "Traceback" not in result.output
            match = OBEYED.search(result.output)
            assert match is None, (words, options, result.output[match.start() - 40 : match.end() + 20])
    published = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and ".lock" not in path.name]
    for path in published:
        assert OBEYED.search(path.read_text(encoding="utf-8")) is None, path
    if (place, kind) == ("a person", "line"):
        is_released = True  # all white space in a person's name is one space
    ledger = tmp_path / "ledger.db"
    spent = ledger.exists() and bool(Ledger.open(ledger).show())
    assert (bool(published), spent) == (is_released, is_released), published


def test_a_raw_control_would_be_found() -> None:
    assert all(OBEYED.search(f"a{bad}b") for bad in HOSTILE.values())
