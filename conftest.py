"""How the tests are run: Hypothesis profiles, and documents whose every code block is executed."""

import argparse
import gc
import linecache
import os
import shutil
import signal
import sys
import tempfile
import typing
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, Phase, settings
from sybil import Sybil
from tests.support import calibrations, documents, started_once
from tests.support.chance import Chance

from takifugu.cli import progress
from takifugu.data.times import moments
from takifugu.numbers.noise import SystemEntropy

# The same examples everywhere and every time, and none fails for being slow. `make fuzz` looks for new ones.
always: dict[str, Any] = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, **always)
settings.register_profile("explore", derandomize=False, print_blob=True, **always)
settings.register_profile("unshrunk", derandomize=True, phases=(Phase.explicit, Phase.generate), **always)  # mutants
settings.load_profile("same")

# However slow the machine is, no line about progress is among what a test compares.
progress.CLOCK = progress.Clock(wait=lambda ended, _: ended.wait())

# All windows of tests have ended, whatever the machine takes for today.
moments.now = lambda: datetime(2100, 1, 1, tzinfo=UTC)

# Tests run as on the machine of a user; those that a build must not skip or rewrite ask for this name.
if os.environ.pop("CI", "") == "true":
    os.environ["TAKIFUGU_BUILD"] = "true"

# Nobody's own key signs what a test publishes.
os.environ["TAKIFUGU_SIGNING_KEY"] = str(Path(__file__).parent / "no-key-of-tests")

# Noise is the same in every run of a test, but for the tests of its source.
_chance, _bytes_of_the_system = Chance(), SystemEntropy.bytes

# Python 3.11 lists the members of a protocol anew at each question whether something has them; later ones do not.
if sys.version_info < (3, 12):
    typing._get_protocol_attrs = cache(typing._get_protocol_attrs)

_documents = Sybil(documents.parsers(), patterns=["*.md"], setup=documents.enter, teardown=documents.leave)
_document = _documents.pytest()


ROOT = Path(__file__).parent
#: A ledger waits for its disk at every payment; what a test writes need not outlive the machine.
MEMORY_DISK, MEMORY_NEEDED = Path("/dev/shm"), 4 << 30
#: Documents whose blocks calibrate for long: `make test-slow` runs them.
LONG_DOCUMENTS = (
    "docs/advice.md", "docs/asymmetric.md", "docs/attributes.md", "docs/audit.md", "docs/changes-and-stays.md",
    "docs/choosing-beliefs.md", "docs/extending.md", "docs/hidden-states.md", "docs/medians.md", "docs/populations.md",
    "docs/python.md", "docs/series-of-numbers.md", "docs/tables-by.md",
)  # fmt: skip
#: Files that take longest, so that no worker begins one of them when the others have nothing left to do.
DEAREST = (
    "tests/conformance/test_mechanisms.py", "tests/releasing/advice/test_printed_remedies.py",
    "tests/releasing/test_leaks.py", "tests/printed/test_printed.py", "tests/test_repository.py",
    "tests/releasing/publishing/test_table_of_states.py", "tests/releasing/publishing/test_after_payment.py",
    "tests/releasing/publishing/test_folder_accidents.py",
)  # fmt: skip
#: Whether all of a test is slow: it starts a DuckDB and asks about its folders, as a user's command does.
STARTS_ITS_OWN = pytest.StashKey[bool]()
RANKS = {ROOT / name: rank for rank, name in enumerate(DEAREST)}
#: Its two tables share an epsilon: each test of all examples takes three times as long for it as for the others.
LONG_EXAMPLE = "activity-two-tables"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", choices=("each", "first"),
        help="conformance on a shrunk corpus; elsewhere one case of each test, or of the first test of each file",
    )  # fmt: skip
    parser.addoption(
        "--some-examples", action="store_true",
        help="a tenth of the examples of each property test: `make test-slow` takes all of them",
    )  # fmt: skip
    parser.addoption(
        "--slice", type=slice_of, metavar="K/N",
        help="the K-th of N parts of all selected tests: every N-th test, and every N-th document",
    )  # fmt: skip


def slice_of(text: str) -> tuple[int, int]:
    """Return which of how many parts is meant: "1/4" is the first of four."""
    which, _, parts = text.partition("/")
    if not (which.isdigit() and parts.isdigit() and 1 <= int(which) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text} is no part: write for example 1/4")
    return int(which), int(parts)


def pytest_configure(config: pytest.Config) -> None:
    gc.set_threshold(100_000)  # what is collected and imported stays
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it, and so would its commands
    if MEMORY_DISK.is_dir() and shutil.disk_usage(MEMORY_DISK).free > MEMORY_NEEDED:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY_DISK))
        tempfile.tempdir = os.environ.setdefault("TMPDIR", str(MEMORY_DISK))
    if config.getoption("slice"):
        config.pluginmanager.register(Slice(*config.getoption("slice")), "one-slice")
    if config.getoption("quick"):
        os.environ["TAKIFUGU_QUICK"] = "1"  # tests/conformance/corpus.py


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    places = {path: os.path.relpath(path, config.rootpath).replace(os.sep, "/") for path in {i.path for i in items}}
    for item in items:
        if places[item.path].startswith(LONG_DOCUMENTS) or f"[{LONG_EXAMPLE}" in item.name:
            item.add_marker(pytest.mark.slow)
    _leave_samples(items)
    items.sort(key=lambda item: RANKS.get(item.path, len(RANKS)))
    if config.getoption("some_examples"):
        for test in {item.obj for item in items if getattr(getattr(item, "obj", None), "is_hypothesis_test", False)}:
            _take_some_examples(test)
    if config.getoption("quick"):
        items[:] = _quick(items, config.getoption("quick") == "first")


class Slice:
    """Leaves out the other parts of the tests, once marks and names have selected some."""

    def __init__(self, which: int, parts: int) -> None:
        self.which, self.parts = which, parts

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept = set(map(id, sliced(items, self.which, self.parts)))
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = [item for item in items if id(item) in kept]


def sliced(items: Sequence[Any], which: int, parts: int) -> list[Any]:
    """Return one part of the tests; the blocks of a document stay together, as they run in order."""
    seen, place, chosen = list[Path](), 0, list[Any]()
    for item in items:
        if item.path.suffix == ".md":
            if item.path not in seen:
                seen.append(item.path)
            number = seen.index(item.path)
        else:
            number, place = place, place + 1
        if number % parts == which - 1:
            chosen.append(item)
    return chosen


def _leave_samples(items: Sequence[pytest.Item]) -> None:
    """Mark the cases of a test that is sampled for `make mutants`, but every n-th; what is for it is slow."""
    cases = Counter[Any]()
    for item in items:
        of_case = getattr(getattr(item, "callspec", None), "marks", ())
        is_slow_case = any(mark.name == "slow" for mark in of_case)
        item.stash[STARTS_ITS_OWN] = item.get_closest_marker("slow") is not None and not is_slow_case
        sampled = item.get_closest_marker("sampled")
        if sampled is not None:
            test = item.path, getattr(item, "originalname", item.name)
            if cases[test] % sampled.args[0]:
                item.add_marker(pytest.mark.mutants)
            cases[test] += 1
        if item.get_closest_marker("mutants") is not None:
            item.add_marker(pytest.mark.slow)


def _take_some_examples(test: Any) -> None:
    whole: settings = test._hypothesis_internal_use_settings
    test._hypothesis_internal_use_settings = settings(whole, max_examples=min(whole.max_examples, _some(whole)))


def _some(whole: settings) -> int:
    return max(3, whole.max_examples // 10)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _chance.begin(item.nodeid)
    is_of_its_source = item.path.name == "test_entropy.py"
    SystemEntropy.bytes = _bytes_of_the_system if is_of_its_source else lambda _, n: _chance.bytes(n)  # type: ignore[method-assign]


def pytest_collection(session: pytest.Session) -> None:
    """Search for nothing that is no longer used while a million objects are collected that all stay."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Take what was collected out of that search for good."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, list[Any], list[Any]]:
    """Add documents, and leave out the search for doctests in modules that hold none."""
    collectors = yield
    if file_path.suffix == ".py" and ">>>" not in file_path.read_text(encoding="utf-8"):
        return [collector for collector in collectors if not isinstance(collector, DoctestModule)]
    document = _document(file_path, parent)
    return collectors if document is None else [*collectors, document]


def _quick(items: Sequence[pytest.Item], is_first_only: bool) -> Iterator[pytest.Item]:
    """Yield all of the conformance tests, and of other files one case of each test or of the first."""
    seen = set[tuple[Any, str]]()
    for item in items:
        place = (item.path, "" if is_first_only else getattr(item, "originalname", item.name))
        if "conformance" in item.path.parts or (place not in seen and not item.get_closest_marker("slow")):
            seen.add(place)
            yield item


@pytest.fixture(autouse=True)
def _doctests_write_nowhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
        monkeypatch.setattr(linecache, "checkcache", lambda *_: None)  # the debugger looks at every file that was read


@pytest.fixture(autouse=True)
def _equal_problems_are_calibrated_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if calibrations.are_remembered(request.path):
        calibrations.remember(monkeypatch)
    if not request.node.stash[STARTS_ITS_OWN]:
        started_once.start_once(request.path, monkeypatch)
