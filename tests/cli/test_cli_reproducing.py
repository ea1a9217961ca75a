"""`reproduce` that is stopped: what was made is readable, says what is missing, and is made anew by a second call."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.terminals import PLACE, answering

CALL = ["reproduce", "slow2026", "--output", "reproduced/slow2026"]
#: Draws a picture and makes a table, then waits where the file "wait" is, and else makes the rest.
EXPERIMENT = '''\
"""Takes its time."""
import sys, time
from pathlib import Path
from pages import IMAGES, OUTPUT, PAGES, make, pyplot, save
REPRODUCES = "Slow 2026"
def first():
    save(pyplot().figure(), "slow2026-first", "x")
    return {"one": "| 42 |", "unplanned": "| 43 |"}
def second():
    if Path("wait").exists():
        print("waiting: ", end="", file=sys.stderr, flush=True)
        time.sleep(600)
    save(pyplot().figure(), "slow2026-second", "x")
    return {"two": "| 44 |"}
make(PAGES / "slow2026.md", "takifugu reproduce slow2026", {"a table": first, "another": second})
'''
WORDS = """\
# Slow

![First: E[x]](images/slow2026-first.svg)

<!-- made: one -->
an old one
<!-- end: one -->

![Second: E[y]](images/slow2026-second.svg)

<!-- made: two -->
an old two
<!-- end: two -->

<!-- made: stamp -->
an old stamp
<!-- end: stamp -->
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with a checkout's experiments, of which one waits."""
    package = tmp_path / "package"
    shutil.copytree(Path(__file__).resolve().parents[2] / "experiments", package / "experiments")
    (package / "experiments" / "slow2026.py").write_text(EXPERIMENT, encoding="utf-8")
    (package / "experiments" / "slow2026.md").write_text(WORDS, encoding="utf-8")
    (package / "wait").touch()
    return tmp_path


def before(place: Path) -> str:
    """Return the lines of Python that let the command find the experiments."""
    root = str(place / "package")
    lines = ("from pathlib import Path", "from takifugu.cli.samples import experiments")
    return "\n".join([*lines, f"experiments.ROOT = Path({root!r})", ""])


def page_of(place: Path) -> str:
    return (place / "reproduced" / "slow2026" / "slow2026.md").read_text(encoding="utf-8")


def is_partial(place: Path) -> None:
    page = page_of(place)
    assert page.startswith("# Slow\n\n**Not complete: `takifugu reproduce slow2026` was stopped, or still runs. ")
    for words in ("Missing: another.", "| 42 |", "| 43 |"):
        assert words in page
    assert "an old" not in page
    assert "![First: E[x]](images/slow2026-first.svg)" in page
    assert "*Second: E[y]: Not made yet: this page is not complete.*" in page
    names = {path.name for path in (place / "reproduced").rglob("*.*")}
    assert names == {"slow2026.md", "slow2026-first.svg"}


def is_whole(place: Path) -> None:
    page = page_of(place)
    assert "ot complete" not in page
    assert all(f"| {number} |" in page for number in (42, 43, 44))
    assert "![Second: E[y]](images/slow2026-second.svg)" in page
    assert "Made by `takifugu reproduce slow2026`" in page


def test_ctrl_c_on_a_terminal_and_a_second_call(place: Path) -> None:
    code, _, seen = answering(CALL, ["\x03"], place, before(place))
    assert code == 130
    words = " ".join(seen.split())
    assert "what was made is in reproduced/slow2026, whose page says what is missing" in words
    assert words.endswith("stopped")
    assert "Traceback" not in seen
    is_partial(place)

    (place / "package" / "wait").unlink()
    code, printed, _ = answering(CALL, [], place, before(place))
    assert code == 0
    assert "slow2026.md and its pictures" in printed
    is_whole(place)

    (place / "package" / "wait").touch()  # and a third one, stopped: what the second one drew is not taken for its own
    code, _, _ = answering([*CALL, "--json"], ["\x03"], place, before(place))
    assert code == 130
    assert "*Second: E[y]: Not made yet" in page_of(place)


@pytest.mark.mutants
@pytest.mark.parametrize("number", [
    signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGKILL,
])  # fmt: skip
def test_killed_it_leaves_a_readable_page_and_goes_on_with_nothing(place: Path, number: signal.Signals) -> None:
    words = CALL
    running = subprocess.Popen(
        [sys.executable, "-c", f"{before(place)}from takifugu.cli import main; main()", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=place, env=PLACE, start_new_session=True,
    )  # fmt: skip
    said = b""
    while not said.endswith(b"waiting: "):
        said += running.stderr.read(1)
    if number == signal.SIGKILL:  # of the experiment, by whoever needs its memory
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text(encoding="utf-8")
        subprocess.run(["kill", "-KILL", *children.split()], check=True)
    else:
        running.send_signal(number)
    _, rest = running.communicate(timeout=60)  # both ends are closed: the experiment has ended, too
    expected = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: 3}
    assert running.returncode == expected[number]
    assert b"Traceback" not in rest
    assert (b"was ended by signal 9" in rest) == (number == signal.SIGKILL)
    is_partial(place)


def test_stopped_before_anything_is_made_it_says_only_that(place: Path) -> None:
    slow = place / "package" / "experiments" / "slow2026.py"
    slow.write_text(EXPERIMENT.replace("def first():", "def first():\n    second()"), encoding="utf-8")
    code, _, seen = answering(CALL, ["\x03"], place, before(place))
    assert (code, seen.split()[-1]) == (130, "stopped")
    assert "what was made" not in seen
    assert not (place / "reproduced").exists()
