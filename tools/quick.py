"""The tests of `make quick`: conformance on a shrunk corpus, and the oracle tests of the rooms that changed.

A room is a folder of src/takifugu; its tests are in the folder of tests/ of the same name. What
changed is what `git diff` shows against main, with files that git does not know yet. Of each test in a file of the
changed rooms that compares with an oracle one case is taken; where no room or many changed, of each file's first test.
`python tools/quick.py` prints what it would run, as arguments of pytest.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Of how many changed rooms every test fits into a minute.
FEW = 2
AN_ORACLE = re.compile(r"^from tests\.support(?:\.\w*oracle|.* import .*oracle)", re.MULTILINE)


def changed() -> list[str]:
    """Return the files that differ from main; none where there is no git, or no main."""
    commands = (["diff", "--name-only", "main"], ["ls-files", "--others", "--exclude-standard"])
    files: list[str] = []
    for command in commands:
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=False)
        files += done.stdout.splitlines() if done.returncode == 0 else []
    return files


def rooms(files: Iterable[str]) -> set[str]:
    """Return the rooms that files of the package or of its tests belong to.

    >>> sorted(rooms(["src/takifugu/numbers/rationals.py", "tests/accounting/ledger/test_files.py", "README.md"]))
    ['accounting', 'numbers']
    """
    inside = (re.match(r"(?:src/takifugu|tests)/(?:test_)?(\w+)[/.]", file) for file in files)
    return {match[1] for match in inside if match} - {"conformance", "support"}


def oracle_tests(names: Iterable[str] | None = None) -> list[Path]:
    """Return the files of tests that compare with an oracle: of these rooms, or of all."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    wanted = None if names is None else set(names)
    return [
        file for file in tests
        if (wanted is None or rooms([file.relative_to(ROOT).as_posix()]) & wanted)
        and AN_ORACLE.search(file.read_text(encoding="utf-8"))
    ]  # fmt: skip


def arguments() -> list[str]:
    """Return what pytest is given: which cases to take, and files."""
    here = rooms(changed())
    some = oracle_tests(here)
    files = [file.relative_to(ROOT).as_posix() for file in some or oracle_tests()]
    return [f"--quick={'each' if some and len(here) <= FEW else 'first'}", "tests/conformance", *files]


if __name__ == "__main__":
    print(*arguments())
