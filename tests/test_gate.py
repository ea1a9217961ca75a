"""What `.ci/run` runs on which day, and the slices of the slow tests: in turn everything runs, each part once."""

import os
import re
import subprocess
import sys
from argparse import ArgumentTypeError
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import slice_of, sliced
from tests.support.processes import become_nobody, result_of_a_child

ROOT = Path(__file__).resolve().parents[1]
RUN = ROOT / ".ci" / "run"
EPOCH = date(1970, 1, 1)
#: As many days as there are slices.
DAYS = 16


def listed(day: int) -> tuple[list[str], dict[str, date]]:
    """Return the parts that run on a day, and the last day of each one that is left out."""
    command = [RUN, "--list"]
    done = subprocess.run(
        command, env={**os.environ, "TAKIFUGU_DAY": str(day)}, capture_output=True, text=True, check=True
    )
    left_out = re.findall(r"^left out today: (.*); last day: (.*)$", done.stdout, re.MULTILINE)
    return re.findall("^runs: (.*)$", done.stdout, re.MULTILINE), {
        part: date.fromisoformat(last) for part, last in left_out
    }


def test_in_sixteen_days_everything_runs_and_what_is_left_out_is_said_with_its_last_day() -> None:
    first = (datetime.now(UTC).date() - EPOCH).days
    days = {day: listed(day) for day in range(first, first + DAYS)}
    daily = set.intersection(*(set(parts) for parts, _ in days.values()))
    assert {"style and imports", "types", "tests", "demo and examples from the wheel", "documents"} <= daily
    slices = [part for parts, _ in days.values() for part in parts if part not in daily]
    assert len(slices) == len(set(slices)) == DAYS
    others = {"other Python versions, slice 1 of 2", "other Python versions, slice 2 of 2"}
    assert {"lowest versions and source distribution", *others, "pages in a browser"} < set(slices)
    for day, (parts, left_out) in days.items():
        assert left_out.keys() == set(slices) - set(parts)
        for part, last in left_out.items():
            number = (last - EPOCH).days
            assert day - DAYS < number < day
            assert part in days[number if number >= first else number + DAYS][0]


def test_nightly_runs_all_of_it_once() -> None:
    text = RUN.read_text(encoding="utf-8")
    daily, slices = (re.search(rf"^{name}=\((.*)\)$", text, re.MULTILINE)[1].split() for name in ("DAILY", "SLICES"))  # type: ignore[index]
    night = re.search(r'^NIGHTLY=\("\${DAILY\[@]}" (.*)\)$', text, re.MULTILINE)[1].split()  # type: ignore[index]
    assert {*night} == {name.partition("-")[0] for name in slices} | {"fuzz"}
    assert len(night) == len({*night, *daily}) - len(daily)
    assert len({*daily, *slices}) == len(daily) + len(slices)
    assert len([name for name in slices if name.startswith("slow-")]) == int(re.search(r"^SLOW=(\d+)", text, re.M)[1])  # type: ignore[index]
    for part in (*daily, *night, "spark"):
        assert re.search(rf"^{part}\(\) ", text, re.MULTILINE), f"{part} has no function"
    assert "nightly:" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_an_unknown_word_is_told_what_to_write() -> None:
    done = subprocess.run([RUN, "everything"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "Write .ci/run, .ci/run nightly or .ci/run --list.\n")


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_slices_are_all_tests_once_and_documents_stay_whole(parts: int) -> None:
    names = ["a.md", "a.md", "b.py", "b.py", "c.md", "b.py", "a.md", "d.py", "e.md"]
    items = [SimpleNamespace(path=Path(name), number=number) for number, name in enumerate(names)]
    slices = [sliced(items, which, parts) for which in range(1, parts + 1)]
    assert sorted(item.number for item in chain.from_iterable(slices)) == [*range(len(items))]
    for document in ("a.md", "c.md", "e.md"):
        assert sum(document in {item.path.name for item in part} for part in slices) == 1


@pytest.mark.parametrize("wrong", ["0/4", "5/4", "1", "x/y", "1/0"])
def test_a_slice_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is no part: write for example 1/4"):
        slice_of(wrong)


def test_a_refused_slice_ends_pytest() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "--slice=0/4"]
    done = subprocess.run([*command, __file__], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "is no part: write for example 1/4" in done.stderr


def _load_late() -> str:
    become_nobody(lambda: None)
    try:
        import this  # noqa: F401
    except Exception as error:
        return type(error).__name__
    return "it was loaded"


def test_who_gave_up_privileges_loads_nothing() -> None:
    """In a checkout of mode 700 it could not, and elsewhere the test that relies on it would not notice."""
    assert result_of_a_child(_load_late) == "NotLoaded"
