"""Networks that are wrong, through `takifugu compare` and `takifugu release`: clear words, and nothing is touched."""

import csv
import io
from pathlib import Path

import pytest
from tests.support.commands import invoke
from tests.support.release_files import EXPECT, believe, hide, publish, read_from, release_text

from takifugu.accounting.ledger import Ledger

BIF = """\
network clinic { }
variable smoke { type discrete [ 2 ] { yes, no }; }
variable cough { type discrete [ 2 ] { wet, dry }; }
variable breath { type discrete [ 2 ] { short, good }; }
probability ( smoke ) { table 0.3, 0.7; }
probability ( cough | smoke ) { (yes) 0.3, 0.7; (no) 0.6, 0.4; }
probability ( breath | cough, smoke ) { default 0.4, 0.6; (dry, no) 0.3, 0.7; }
"""

SPEC = release_text(
    read_from("clinic", "data.csv"),
    believe("network", file="clinic.bif"),
    hide(variable="smoke"),
    publish("found", "count", states=["wet", "short"], variables=["cough", "breath"], epsilon=1,
            mechanism="wasserstein"),
    output="out", expect=EXPECT,
)  # fmt: skip

DATA = "breath,spare,cough,smoke\nshort,x,wet,yes\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good release file with its network and data, and a ledger that remembers something."""
    for name, text in (("clinic.bif", BIF), ("release.toml", SPEC), ("data.csv", DATA)):
        (tmp_path / name).write_text(text)
    Ledger.open(tmp_path / "ledger.db").source("clinic", 10)
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
HALF = BIF.index("(yes) 0.3")


@pytest.mark.parametrize("command", ["compare", "release"])
@pytest.mark.parametrize(("file", "old", "new", "words"), [
    ("clinic.bif", *CYCLE, "belief.file: the network has a cycle through"),
    ("clinic.bif", "0.3, 0.7; }\nprobability ( cough", "0.3, 0.700002; }\nprobability ( cough", "sum to 1.000002"),
    ("clinic.bif", "(no) 0.6, 0.4;", "(no) 0.6, 0.5;", "sum to 1.1"),
    ("clinic.bif", "(no) 0.6, 0.4;", "(no) 1.6, -0.6;", "a probability is negative"),
    ("clinic.bif", "variable breath", "variable cough", "two blocks 'variable cough'"),
    ("clinic.bif", BIF[HALF:], "", "belief.file: clinic.bif opens and closes a different number of braces"),
    ("clinic.bif", BIF, "", "belief.file: clinic.bif does not give every variable its probabilities"),
    ("data.csv", "smoke", "smoking", "source.file: the data has no column 'smoke'"),
    ("data.csv", "smoke", "spare", "source.file: "),
    ("data.csv", "cough", "cogh", "source.file: the data has no column 'cough'; did you mean 'cogh'?"),
])  # fmt: skip
def test_a_wrong_file_is_refused(folder: Path, command: str, file: str, old: str, new: str, words: str) -> None:
    change(folder, file, old, new)
    status, message = run(folder, command)
    assert status == 2
    assert words in message


@pytest.mark.parametrize("command", ["compare", "release"])
def test_rows_within_a_millionth_are_taken(folder: Path, command: str) -> None:
    change(folder, "clinic.bif", "0.3, 0.7; }\nprobability ( cough", "0.3, 0.7000009; }\nprobability ( cough")
    assert run(folder, command)[0] == 0


def test_a_network_cut_short_is_refused_wherever_it_is_cut(folder: Path) -> None:
    whole = BIF.encode()
    for length in range(0, len(whole) - 1, 23):
        (folder / "clinic.bif").write_bytes(whole[:length])
        status, message = run(folder, "release")
        assert status == 2, length
        assert "belief.file: " in message


@pytest.mark.parametrize("value", ["bloody", "", "Wet"])
def test_a_state_that_the_belief_does_not_know(folder: Path, value: str) -> None:
    rows = list(csv.reader(io.StringIO(DATA)))
    rows[1][2] = value
    (folder / "data.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    assert run(folder, "compare")[0] == 0  # it does not read the records
    status, message = run(folder, "release")
    assert status != 0
    assert "column 'cough'" in message
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
    (0.0, "compare", "needs 134,217,728 numbers; at most 50,000,000 are computed"),
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
