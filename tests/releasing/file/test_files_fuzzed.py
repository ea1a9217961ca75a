"""Files, data and networks with something wrong in them, many at random: refused in words, nothing is touched."""

import csv
import hashlib
import io
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.commands import invoke
from tests.support.release_files import EXPECT, believe, hide, publish, read_from, release_text

from takifugu.accounting.ledger import Ledger

SPEC = release_text(
    read_from("ward", "data.csv", rows="samples", unit="who", encoding="latin-1", where="who IS NOT NULL",
              order="time_bucket(INTERVAL '1 hour', strptime(\"at\", '%d/%m/%Y %H:%M') AT TIME ZONE 'Europe/Berlin')",
              value="replace(pulse, ',', '.')", timezone="Europe/Berlin", step="1h", nulls="refuse",
              bins={"calm": [0, 60.5], "fast": [60.5, 250]}, budget=10),
    believe("markov-chain", states=["calm", "fast"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True),
    hide(kind="every-entry"),
    publish("time-use", "histogram", epsilon=1.0, mechanism="group-dp"),
    output="out", expect=EXPECT,
)  # fmt: skip
PRIVATE = ("Zyxomma", "Wärter")
ROWS = [
    f"{who};{day:02}/10/2025 {hour}:{minute:02};{pulse}"
    for who, minute in zip(PRIVATE, (1, 0), strict=True)
    for day in (25, 26)
    for hour, pulse in ((7, "59,5"), (8, "60,5"))
]
DATA = "\r\n".join(["who;at;pulse", *ROWS, ";;", ""]).encode("latin-1")
VALUES = [
    "", '""', '"x"', "true", "false", "-1", "0", "1e400", "inf", "nan", "[]", "[[]]", "{}", '"\\n"', "0x", "=",
    "12345678901234567890", '"1min"', '"1h"', '";"', '","', '"."', '"latin-1"', '"utf-16"', '"%Y"', '"%d.%m.%Y"',
    '"UTC"', '"Mars/Base"', "[1, 2]", "{ calm = [0, 1] }", "{ calm = [0, 1], fast = [2, 3] }", "{ calm = [1, 0] }",
    "2026-01-01", "'C:\\x'", '"C:\\x"', '"\\u0000"', "[0.5, 0.5]", '"who"', '"at"', '"refuse"', '"last"', '["calm"]',
    '"' + "x" * 20_000 + '"',
]  # fmt: skip

SWAPS = [
    (b";", b","), (b"2025", b"2O25"), (b"/10/", b"/13/"), (b",5", b".5"), (b"\r\n", b"\r"), (b"59,5", b"-1"),
    (b"8:", b"25:"),
]  # fmt: skip
ODD = [b'"', b"\x00", b"\xff\xfe", b"PK\x03\x04", b"\n\n", b";"]


def mutated(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        at, kind = chance.randrange(len(lines)), chance.randrange(8)
        line = lines[at]
        if kind <= 2 and "=" in line:
            lines[at] = f"{line.split('=')[0]}= {chance.choice(VALUES)}"
        elif kind == 3:
            del lines[at]
        elif kind == 4:
            lines.insert(at, chance.choice(lines))
        elif kind == 5 and line:
            place = chance.randrange(len(line))
            sign = chance.choice(["", "\x00", "\\", '"', "[", "é", "\u202e", "#", "\t"])
            lines[at] = line[:place] + sign + line[place + 1 :]
        elif kind == 6:
            lines[at] = f"{chance.choice(['kez', 'file', 'bins.calm', 'a.b.c', 'timezone'])} = {chance.choice(VALUES)}"
        else:
            other = chance.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        lines = lines or [""]
    text = "\n".join(lines)
    return text[: chance.randrange(len(text))] if text and chance.random() < 0.03 else text


def damaged(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice([1, 1, 2, 5])):
        at, kind = chance.randrange(len(content) + 1), chance.randrange(7)
        if kind == 0:
            content = content[:at]
        elif kind == 1:
            content = content[:at] + bytes([chance.randrange(256)]) + content[at:]
        elif kind == 2:
            content = content[:at] + content[at + chance.randrange(1, 9) :]
        elif kind == 3:
            content = content.replace(*chance.choice(SWAPS))
        elif kind == 4:
            lines = content.split(b"\r\n")
            lines.insert(chance.randrange(len(lines)), chance.choice(lines) + chance.choice([b"", b";", b"1", b'"']))
            content = b"\r\n".join(lines)
        elif kind == 5:
            content = content[:at] + chance.choice(ODD) + content[at:]
        else:
            lines = content.split(b"\r\n")
            chance.shuffle(lines)
            content = b"\r\n".join(lines)
    return content


def faults(folder: Path, spec: str, data: bytes, number: int) -> Iterator[str]:
    """Publish from these files; yield what is wrong with how that ended, and "published" where it was."""
    room = folder / str(number)
    room.mkdir()
    shutil.copy(folder / "ledger.db", room / "ledger.db")
    (room / "release.toml").write_bytes(spec.encode("utf-8", "surrogatepass"))
    (room / "data.csv").write_bytes(data)
    before = state(room)
    ended = invoke("release", room / "release.toml", "--allow-useless")
    said = ended.output
    if ended.exit_code == 0:
        yield "published"
    elif ended.exit_code not in (1, 2) or "Traceback" in said or not isinstance(ended.exception, SystemExit):
        yield f"case {number}: exit code {ended.exit_code}, {ended.exception!r}: {said[-300:]}"
    elif state(room) != before:
        yield f"case {number}: files were written or changed: {said[-300:]}"
    elif any(name in said for name in (*PRIVATE, "59,5", "25/10")):
        yield f"case {number}: tells the data: {said[-300:]}"
    shutil.rmtree(room)


def state(room: Path) -> dict[str, str]:
    files = (path for path in room.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm")))
    return {str(path.relative_to(room)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def outcomes(folder: Path, seed: int, specs: int, datas: int) -> Counter[str]:
    Ledger.open(folder / "ledger.db")
    chance, counts = random.Random(seed), Counter[str]()
    for number in range(specs):
        counts.update(faults(folder, mutated(SPEC, chance), DATA, number))
    for number in range(specs, specs + datas):
        counts.update(faults(folder, SPEC, damaged(DATA, chance), number))
    return counts


@pytest.mark.slow
def test_the_files_are_right_as_they_stand(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "ledger.db")
    assert list(faults(tmp_path, SPEC, DATA, 0)) == ["published"]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "specs", "datas", "most"), [(1, 8, 4, 11), (2, 1000, 300, 649)])
def test_files_with_something_wrong(tmp_path: Path, seed: int, specs: int, datas: int, most: int) -> None:
    counts = outcomes(tmp_path, seed, specs, datas)
    assert set(counts) <= {"published"}
    assert counts["published"] <= most


BIF = """\
network clinic { }
variable smoke { type discrete [ 2 ] { yes, no }; }
variable cough { type discrete [ 2 ] { wet, dry }; }
variable breath { type discrete [ 2 ] { short, good }; }
probability ( smoke ) { table 0.3, 0.7; }
probability ( cough | smoke ) { (yes) 0.3, 0.7; (no) 0.6, 0.4; }
probability ( breath | cough, smoke ) { default 0.4, 0.6; (dry, no) 0.3, 0.7; }
"""

CLINIC = release_text(
    read_from("clinic", "data.csv"),
    believe("network", file="clinic.bif"),
    hide(variable="smoke"),
    publish("found", "count", states=["wet", "short"], variables=["cough", "breath"], epsilon=1,
            mechanism="wasserstein"),
    output="out", expect=EXPECT,
)  # fmt: skip

PATIENT = "breath,spare,cough,smoke\nshort,x,wet,yes\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good release file with its network and data, and a ledger that remembers something."""
    for name, text in (("clinic.bif", BIF), ("release.toml", CLINIC), ("data.csv", PATIENT)):
        (tmp_path / name).write_text(text)
    Ledger.open(tmp_path / "ledger.db")
    return tmp_path


def change(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


def run(folder: Path, command: str) -> tuple[int, str]:
    """Run a command; whatever it says, an error it does not own, a changed ledger or a new file is a failure."""
    before = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    outcome = invoke(command, folder / "release.toml")
    message = " ".join((outcome.stdout + outcome.stderr).split())
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit), outcome.exception
    assert "Traceback" not in message
    if outcome.exit_code:
        assert {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    return outcome.exit_code, message


CYCLE = ("probability ( smoke ) { table 0.3, 0.7; }", "probability ( smoke | breath ) { default 0.3, 0.7; }")


@pytest.mark.parametrize("command", ["cost", "release"])
@pytest.mark.parametrize(("file", "old", "new", "words"), [
    ("clinic.bif", *CYCLE, "belief.file: the network has a cycle through"),
    ("clinic.bif", BIF, "", "belief.file: clinic.bif does not give every variable its probabilities"),
    ("data.csv", "smoke", "smoking", "data.csv has no 'smoke'; its column 4 is spelt alike"),
    ("data.csv", "smoke", "spare", "source.file: "),
    ("data.csv", "cough", "cogh", "data.csv has no 'cough'; its column 3 is spelt alike"),
])  # fmt: skip
def test_a_wrong_file_is_refused(folder: Path, command: str, file: str, old: str, new: str, words: str) -> None:
    change(folder, file, old, new)
    status, message = run(folder, command)
    assert status == 2
    assert words in message


def test_a_network_cut_short_is_refused_wherever_it_is_cut(folder: Path) -> None:
    whole = BIF.encode()
    for length in range(0, len(whole) - 1, 23):
        (folder / "clinic.bif").write_bytes(whole[:length])
        status, message = run(folder, "release")
        assert status == 2, length
        assert "belief.file: " in message


@pytest.mark.parametrize("value", ["bloody", "", "Wet"])
def test_a_state_that_the_belief_does_not_know(folder: Path, value: str) -> None:
    rows = list(csv.reader(io.StringIO(PATIENT)))
    rows[1][2] = value
    (folder / "data.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    assert run(folder, "cost")[0] == 0  # it does not read the records
    status, message = run(folder, "release")
    assert status != 0
    assert 'source.file: row 1: ' in message
    assert ' in "cough" ' in message.replace(":", " ")
    assert "bloody" not in message


def grid(width: int, least: float) -> tuple[str, list[str]]:
    """Return a BIF file of width x width variables, each under its upper and left neighbours, and their names."""
    names = {(i, j): f"x{i}_{j}" for i in range(width) for j in range(width)}
    rows = {1: "(no) 0.6, 0.4; (yes) 0.4, 0.6;", 2: f"default 0.5, 0.5; (no, no) {1 - least}, {least};"}
    lines = ["network grid { }"]
    lines += [f"variable {name} {{ type discrete [ 2 ] {{ no, yes }}; }}" for name in names.values()]
    for (i, j), name in names.items():
        above = [names[at] for at in ((i - 1, j), (i, j - 1)) if at in names]
        head = f"{name} | {', '.join(above)}" if above else name
        lines.append(f"probability ( {head} ) {{ {rows[len(above)] if above else 'table 0.5, 0.5;'} }}")
    return "\n".join(lines) + "\n", list(names.values())


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("least", "command", "words"), [
    (0.3, "release", "the distributions of the answer need"),
    (0.0, "release", "needs 134,217,728 numbers; at most 50,000,000 are computed"),
    (0.0, "cost", "needs 134,217,728 numbers; at most 50,000,000 are computed"),
])  # fmt: skip
def test_inference_that_would_not_fit(folder: Path, least: float, command: str, words: str) -> None:
    text, names = grid(14, least)
    (folder / "clinic.bif").write_text(text)
    (folder / "data.csv").write_text(",".join(names) + "\n" + ",".join("no" for _ in names) + "\n")
    change(folder, "release.toml", '["wet", "short"]', '["yes"]')
    change(folder, "release.toml", 'variables = ["cough", "breath"]\n', "")
    change(folder, "release.toml", '"smoke"', '"x13_13"')
    status, message = run(folder, command)
    assert status != 0
    assert words in message
