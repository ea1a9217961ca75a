"""Change the code in small wrong ways, one at a time, and see whether the package's own tests notice: `make mutants`.

Not mutmut: version 3 leaves module constants, properties and decorated functions alone and knows neither guards nor
rounding directions, which is where a privacy library goes wrong.

tools/mutants.toml names the packages, their tests, and the reviewed mutants that change nothing a test could observe. A
mutant is named by its symbol and its change, not by a line number, so that the list survives edits elsewhere; a symbol
alone names all of its mutants.
`python tools/mutants.py noise ledger` takes these packages only; part of a file's name after one takes that file, in
this order. All of them are 46,000 mutants, and a survivor takes as long as all tests that reach it: `1/40` takes a
fortieth, the same ones every time (`1/40+7` others), which estimates the share that survives.

`--matrix` runs every test on each mutant that it reaches, not only until one fails, and lists the tests that may go,
dearest first: of all that such a test kills something else is the death, too, an oracle, conformance, crash or fuzz
test among it. A sample only proposes: before a test goes, all mutants of what it reaches decide. `--matrix=PATTERN`
asks about the tests of these names alone, and what they leave alive counts as survived: others run only on a mutant
that one of them kills, until one of the others kills it, too.
"""

from __future__ import annotations

import ast
import compileall
import contextlib
import copy
import gc
import importlib
import itertools
import json
import os
import py_compile
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import tomllib
import traceback
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, TextIO

import pytest
from quick import AN_ORACLE

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".toml")
LOADED_ONCE = ("numpy", "scipy.special", "scipy.optimize", "mpmath", "hypothesis", "sqlite3", "sybil")
MEMORY = 8 << 30
MEMORY_DISK = Path("/dev/shm")  # the ledger waits for its disk
FAILED, ANEW, BROKEN = 1, 77, 78
ENDLESS = (signal.SIGPROF, signal.SIGALRM)
KILLED, LATE, SURVIVED, REVIEWED, IMPORT_ANEW = "killed", "too long", "survived", "reviewed", "import anew"

COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip
PAIRS = (
    ("min", "max"), ("any", "all"), ("floor", "ceil"), ("minimum", "maximum"), ("ROUND_FLOOR", "ROUND_CEILING"),
    ("inf", "nan"), ("cummin", "cummax"), ("argmin", "argmax"),
)  # fmt: skip
SWAPPED = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
Key = tuple[str, str, str]
Reviewed = set[tuple[str, str]]
#: Other numbers in one place, reviewed together: "... -> 3 or 1".
NUMBERS = re.compile(r"(.* -> )(-?[\d.e+-]+(?: or -?[\d.e+-]+)+)")
LEAVING = (ast.Raise, ast.Return, ast.Continue, ast.Break)
#: Files of tests that hold for all that is drawn, besides those that compare with an oracle.
STRONG = re.compile(r"conformance|fuzz|hostile|crash|killed|oracle")


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the bytes from `start` to `end` become `text`.

    `function` is the outermost function that it changes the body of, "" where the module must be imported anew.
    """

    file: str
    line: int
    where: str
    change: str
    start: int
    end: int
    text: str
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.where}: {self.change}"

    @property
    def key(self) -> Key:
        return self.file, self.where, self.change

    @property
    def names(self) -> Reviewed:
        """Return what a review may call it: by its symbol alone, or by its change, too."""
        return {(self.file, self.where), (self.file, f"{self.where}: {self.change}")}


def edits(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (part of the node, what replaces it)."""
    match node:
        case ast.If(test=test, body=[*_, last], orelse=[]) if isinstance(last, LEAVING):
            yield test, ast.Constant(False)
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.UnaryOp):
            yield test, ast.UnaryOp(ast.Not(), test)
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                yield node, _with(node, ops=[*ops[:i], COMPARISONS[type(op)](), *ops[i + 1 :]])
        case ast.Constant(value=bool(value)):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield node, ast.Constant(value + 1)
            yield node, ast.Constant(value - 1)
        case ast.BinOp(op=op, left=left) if type(op) in ARITHMETIC:
            yield node, _with(node, op=ARITHMETIC[type(op)]())
            if isinstance(op, ast.FloorDiv):
                yield node, ast.UnaryOp(ast.USub(), _with(node, left=ast.UnaryOp(ast.USub(), left)))
        case ast.UnaryOp(operand=operand) if not isinstance(operand, ast.Constant):
            yield node, operand
        case ast.BoolOp(op=op):
            yield node, _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            yield node, _with(node, op=ARITHMETIC[type(op)]())
        case ast.Name(id=name) if name in SWAPPED:
            yield node, ast.Name(SWAPPED[name])
        case ast.Attribute(attr=name) if name in SWAPPED:
            yield node, _with(node, attr=SWAPPED[name])
        case ast.Call(func=ast.Name("nextafter") | ast.Attribute(attr="nextafter"), args=[value, *_]):
            yield node, value
        case ast.Raise() | ast.Break() | ast.Continue() | ast.Expr(value=ast.Call()):
            yield node, ast.Pass()


def _with(node: Any, **fields: Any) -> Any:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def code(node: Any, parents: tuple[Any, ...], where: str) -> Iterator[tuple[Any, tuple[Any, ...], str]]:
    """Yield (node, its ancestors, its function) for all but annotations, decorators, f-strings and `strict=`."""
    yield node, parents, where
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                inside = where
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    inside = f"{where}.{child.name}".lstrip(".")
                elif isinstance(node, ast.Module):
                    inside = _assigned(child)
                yield from code(child, (node, *parents), inside)


def _assigned(statement: ast.AST) -> str:
    """Return the names that a statement of a module gives values to."""
    match statement:
        case ast.Assign(targets=[ast.Name() | ast.Tuple() as target]) | ast.AnnAssign(target=ast.Name() as target):
            return ast.unparse(target).strip("()")
    return ""


def mutants_of(path: Path, file: str) -> list[Mutant]:
    """Return every mutant of a file, in order; equal changes of one function are numbered."""
    source = path.read_bytes()
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    seen: Counter[Key] = Counter()
    mutants = []
    for node, parents, where in code(ast.parse(source), (), ""):
        for part, new in edits(node):
            if part is node and isinstance(node, ast.Raise) and _alone_in_a_guard(node, parents):
                continue
            after = ast.unparse(ast.fix_missing_locations(new))
            plain = not isinstance(part, ast.expr) or isinstance(part, ast.Name | ast.Attribute)
            text = after if plain else f"({after})"
            start, end = lines[part.lineno - 1] + part.col_offset, lines[part.end_lineno - 1] + part.end_col_offset
            before = _as_text(part, parents) if part is node else f"if {_line(part)}"
            change = f"{before} -> {_line(new)}"
            function = _function((part, *([] if part is node else [node]), *parents))
            mutant = Mutant(file, part.lineno, where or "module", change, start, end, text, function)
            seen[mutant.key] += 1
            mutants.append(
                mutant if seen[mutant.key] == 1 else replace(mutant, change=f"{change} ({seen[mutant.key]})")
            )
    return mutants


def _alone_in_a_guard(node: Any, parents: tuple[Any, ...]) -> bool:
    above = parents[0]
    return isinstance(above, ast.If) and not above.orelse and above.body == [node]


def _function(path: tuple[Any, ...]) -> str:
    """Return the outermost function whose body holds path[0], inside path[1:]; "" for defaults and classes."""
    functions = [i for i, node in enumerate(path) if isinstance(node, ast.FunctionDef)]
    if not functions or isinstance(path[functions[-1] - 1], ast.arguments):
        return ""
    named = (node for node in reversed(path[functions[-1] :]) if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return ".".join(node.name for node in named)


def _as_text(part: Any, parents: tuple[Any, ...]) -> str:
    """Write a part; where it is too small to be distinguished from others, inside what it belongs to."""
    if not isinstance(part, ast.Constant | ast.Name | ast.Attribute | ast.Break | ast.Continue):
        return _line(part)
    around = next(p for p in parents if not isinstance(p, ast.keyword | ast.UnaryOp | ast.Tuple | ast.Slice))
    return f"{ast.unparse(part)} in {_line(around)}"


def _line(node: Any) -> str:
    first = ast.unparse(node).splitlines()[0]
    return first if len(first) <= 110 else f"{first[:107]}..."


@dataclass(frozen=True)
class Package:
    """Files of src/takifugu, and the folders and files of the tests that must notice."""

    files: list[str]
    tests: list[str]


@dataclass(frozen=True)
class Question:
    """A mutant of a file of the copy, and the file as it was."""

    mutant: Mutant
    path: Path
    source: bytes

    @property
    def changed(self) -> bytes:
        return self.source[: self.mutant.start] + self.mutant.text.encode() + self.source[self.mutant.end :]

    @contextlib.contextmanager
    def on_disk(self) -> Iterator[None]:
        self.path.write_bytes(self.changed)
        try:
            yield
        finally:
            self.path.write_bytes(self.source)

    def report(self, answer: str, screen: TextIO) -> None:
        if answer in (SURVIVED, LATE):
            print(f"  {self.mutant}{' (too long)' if answer == LATE else ''}", file=screen, flush=True)


def patched(question: Question) -> bool:
    """Give the mutated function its new code where it lives; False where the module must be imported anew.

    Whoever imported the function sees the change: the function stays the same object. A module that is not loaded yet
    is read with the change in it.
    """
    mutant = question.mutant
    module = "takifugu." + mutant.file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    if module not in sys.modules:
        return True
    function: Any = sys.modules[module]
    for name in mutant.function.split("."):
        function = vars(function).get(name) if isinstance(function, ModuleType | type) else None
    for wrapped in ("fget", "func", "__wrapped__", "__func__"):
        function = getattr(function, wrapped, function)
    if not isinstance(function, FunctionType):
        return False
    old = function.__code__
    for new in _all_code(compile(question.changed, str(question.path), "exec")):
        if (new.co_qualname, new.co_firstlineno, new.co_freevars) == (
            old.co_qualname, old.co_firstlineno, old.co_freevars
        ):  # fmt: skip
            function.__code__ = new
            return True
    return False


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)


@dataclass
class Learned:
    """What a run on unchanged code shows: how long each test takes, and which functions each test reaches."""

    seconds: dict[str, float]
    reached: dict[str, list[str]]


class Tests:
    """A pytest plugin that runs a package's tests, the quickest first, and stops at the first that fails.

    With nothing learned it runs them all, to learn. With questions, it collects the tests once, and answers each
    question in a fork that changes one function and runs the tests that reach it. Where tests are asked about, all of
    them run, and then others until one fails, those of strong files first.
    """

    def __init__(
        self, learned: Learned, questions: Sequence[Question] = (), asked: re.Pattern[str] | None = None
    ) -> None:
        self.learned = learned
        self.questions = questions
        self.asked = asked
        self.screen = os.fdopen(os.dup(1), "w")
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.reached: dict[str, list[str]] = {}
        self.failed: dict[str, None] = {}
        self.answers: list[tuple[str, list[str]]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed[report.nodeid] = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = list(session.items)
        if session.testsfailed:
            self.failed["the collection"] = None
        elif not self.learned.seconds:
            self._run(items)
        elif not self.questions:
            self._notice(sorted(items, key=lambda item: self.learned.seconds[item.nodeid]))
        else:
            gc.freeze()
            items.sort(key=lambda item: self.learned.seconds[item.nodeid])
            for question in self.questions:
                items = self._ask(question, items)
        return True

    def _ask(self, question: Question, items: list[pytest.Item]) -> list[pytest.Item]:
        """Answer a question; return the items with the test that noticed in front, for the next mutant."""
        killer = question.path.with_suffix(".killer")
        reached = self.learned.reached
        name = f"{question.mutant.file} {question.mutant.function}"
        chosen = [item for item in items if item.nodeid not in reached or name in reached[item.nodeid]]
        chosen.sort(key=lambda item: item.path.stem != f"test_{question.path.stem}")  # those made for it come first

        def work() -> int:
            if not patched(question):
                return ANEW
            try:
                self._notice(chosen)
            except BaseException as error:  # the change made pytest itself give up
                self.failed[repr(error)] = None
            killer.write_text(json.dumps([*self.failed]))
            return FAILED if self.failed else 0

        with question.on_disk():
            answer = in_a_fork(work)
        question.report(answer, self.screen)
        killers = json.loads(killer.read_text()) if killer.exists() else []
        self.answers.append((answer, killers))
        killer.unlink(missing_ok=True)
        return sorted(items, key=lambda item: item.nodeid != killers[0]) if killers else items

    def _notice(self, items: Sequence[pytest.Item]) -> None:
        if self.asked is None:
            self._run(items)
            return
        mine = [item for item in items if self.asked.search(item.nodeid)]
        self._run(mine, goes_on=True)
        if killers := self.failed:
            self.failed = {}
            self._run(sorted((item for item in items if item not in mine), key=lambda item: not is_strong(item.path)))
            self.failed |= killers

    def _run(self, items: Sequence[pytest.Item], goes_on: bool = False) -> None:
        learning = not self.learned.seconds
        for item, following in itertools.zip_longest(items, items[1:]):
            _limit(600 if learning else 8 + 10 * self.learned.seconds[item.nodeid])
            with functions_reached() if learning else contextlib.nullcontext(set[str]()) as reached:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if not re.search("multiprocessing|subprocess|fork", item.path.read_text()):
                self.reached[item.nodeid] = sorted(reached)  # elsewhere other processes may reach more
            if self.failed and not goes_on:
                return


def _limit(seconds: float) -> None:
    """End this process after so many seconds of the processor, and after 20 times as many of the clock.

    On a busy machine a test takes long without being endless; one that waits for ever uses no processor.
    """
    for late in ENDLESS:
        signal.signal(late, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 20 * seconds)


@contextlib.contextmanager
def functions_reached() -> Iterator[set[str]]:
    """Collect "file function" for every function of the package that is called."""
    codes: dict[int, CodeType] = {}
    reached: set[str] = set()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        codes[id(frame.f_code)] = frame.f_code

    threading.settrace(watch)
    sys.settrace(watch)
    try:
        yield reached
    finally:
        sys.settrace(None)
        threading.settrace(None)
        for code in codes.values():
            _, ours, file = code.co_filename.rpartition("/src/takifugu/")
            if ours:
                reached.add(f"{file} {code.co_qualname.split('.<locals>')[0]}")


def in_a_fork(work: Callable[[], int]) -> str:
    """Run work in a process of its own, with a limit on memory; return what its exit status means."""
    child = os.fork()
    if child == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        status = BROKEN
        try:
            status = work()
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(status)
    try:
        _, status = os.waitpid(child, 0)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what the tests have started, too
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == BROKEN:
        raise RuntimeError("the mutation itself failed, see above")
    if os.WIFSIGNALED(status):
        return LATE if os.WTERMSIG(status) in ENDLESS else KILLED
    return {0: SURVIVED, ANEW: IMPORT_ANEW}.get(os.waitstatus_to_exitcode(status), KILLED)


def with_pytest(copied: Path, tests: Sequence[str], plugin: Tests) -> str:
    """Run pytest on a package's tests in a fresh process; what the plugin learned comes back in it."""
    exchange = copied / "exchange.json"

    def work() -> int:
        os.chdir(copied)
        sys.path[:0] = [str(copied / "src"), str(copied)]
        with (copied / "log").open("w") as log:
            os.dup2(log.fileno(), 1)
        sys.dont_write_bytecode = bool(plugin.learned.seconds)  # the first run leaves the tests' bytecode behind
        options = ["-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist"]
        options += ["-m", "(not slow or mutants) and not spark"]
        options += ["--hypothesis-profile=unshrunk", "--basetemp", str(copied / "tmp")]
        status = pytest.main([*options, *tests], plugins=[plugin])
        exchange.write_text(json.dumps([plugin.seconds, plugin.reached, plugin.failed, plugin.answers]))
        return FAILED if plugin.failed or status not in (0, 5) else 0

    outcome = in_a_fork(work)
    if outcome in (SURVIVED, KILLED) and exchange.exists():
        plugin.seconds, plugin.reached, plugin.failed, plugin.answers = json.loads(exchange.read_text())
        exchange.unlink()
    return outcome


def copy_of_the_project(folder: Path) -> Path:
    """Copy what the tests need; bytecode is checked against the source's hash, never against times."""
    for name in ("src", "tests", "examples", "experiments", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    compileall.compile_dir(folder / "src", quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    return folder


def ask(
    copied: Path, package: Package, mutants: Sequence[Mutant], learned: Learned, asked: re.Pattern[str] | None
) -> list[tuple[str, list[str]]]:
    """Return what becomes of each mutant, and the tests that fail: the first one, or all."""
    sources = {m.file: (copied / "src/takifugu" / m.file).read_bytes() for m in mutants}
    questions = [Question(m, copied / "src/takifugu" / m.file, sources[m.file]) for m in mutants]
    collected = Tests(learned, questions, asked)
    with_pytest(copied, package.tests, collected)
    answers = []
    for question, (answer, killers) in zip(questions, collected.answers, strict=True):
        if answer == IMPORT_ANEW:
            anew = Tests(learned, asked=asked)
            with question.on_disk():
                answer = with_pytest(copied, package.tests, anew)
            question.report(answer, sys.stdout)
            killers = [*anew.failed]
        answers.append((answer, killers))
    return answers


@dataclass(frozen=True)
class Sample:
    """One in `of` mutants, chosen by a checksum of its name, so that edits elsewhere choose no others."""

    of: int = 1
    offset: int = 0

    def takes(self, mutant: Mutant) -> bool:
        return zlib.crc32(" ".join(mutant.key).encode()) % self.of == self.offset % self.of


def sample_of(words: Sequence[str]) -> Sample:
    written = (re.fullmatch(r"1/(\d+)(?:\+(\d+))?", word) for word in words)
    return next((Sample(int(one[1]), int(one[2] or 0)) for one in written if one), Sample())


def check(
    copied: Path, package: Package, reviewed: Reviewed, only: Sequence[str], sample: Sample,
    asked: re.Pattern[str] | None,
) -> list[tuple[Mutant, str]]:  # fmt: skip
    """Return every mutant of a package that is in the sample, with what became of it; tell which tests may go."""
    began, named = time.monotonic(), " ".join(package.tests)
    unchanged = Tests(Learned({}, {}))
    if with_pytest(copied, package.tests, unchanged) != SURVIVED:
        sys.exit(f"{(copied / 'log').read_text()}\n{named} fails on the unchanged code")
    print(f"{named} takes {time.monotonic() - began:.0f} s on the unchanged code; survived so far:", flush=True)
    folder = copied / "src/takifugu"
    files = sorted(str(path.relative_to(folder)) for pattern in package.files for path in folder.glob(pattern))
    chosen = dict.fromkeys(f for word in only or [""] for f in files if word in f)
    mutants = [m for f in chosen for m in mutants_of(folder / f, f) if sample.takes(m)]
    if asked is not None:
        mutants = [mutant for mutant in mutants if is_reached(mutant, unchanged, asked)]
    new = [mutant for mutant in mutants if not reviewed & mutant.names]
    answered = ask(copied, package, new, Learned(unchanged.seconds, unchanged.reached), asked)
    if asked is not None:
        seconds = {case: spent for case, spent in unchanged.seconds.items() if asked.search(case)}
        print(*may_go(seconds, [killers for _, killers in answered if killers]), sep="\n", flush=True)
    answers = {mutant.key: answer for mutant, (answer, _) in zip(new, answered, strict=True)}
    return [(mutant, answers.get(mutant.key, REVIEWED)) for mutant in mutants]


def is_reached(mutant: Mutant, learned: Tests, asked: re.Pattern[str]) -> bool:
    """Return whether a test that is asked about may reach a mutant."""
    name = f"{mutant.file} {mutant.function}"
    return any(name in learned.reached.get(case, [name]) for case in learned.seconds if asked.search(case))


def is_strong(file: Path) -> bool:
    """Return whether the tests of a file hold for all that is drawn, or compare with an oracle."""
    return bool(STRONG.search(file.as_posix().rpartition("/tests/")[2]) or AN_ORACLE.search(file.read_text()))


def may_go(seconds: dict[str, float], killed: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a line for each test that may go, where `killed` has the tests that kill each mutant."""
    took, killers = defaultdict[str, float](float), [{case.partition("[")[0] for case in cases} for cases in killed]
    for case, spent in seconds.items():
        took[case.partition("[")[0]] += spent
    files = {test.partition("::")[0] for tests in killers for test in tests}
    strong = {file for file in files if (ROOT / file).is_file() and is_strong(ROOT / file)}
    for test in sorted(took, key=lambda name: -took[name]):
        deaths = [tests for tests in killers if test in tests]
        others = [{other.partition("::")[0] for other in tests - {test}} for tests in deaths]
        if deaths and all(files & strong for files in others):
            for tests in deaths:
                tests.remove(test)
            yield f"  may go: {took[test]:6.2f} s, kills {len(deaths):4}  {test}"


def reviewed_in(listed: dict[str, Any]) -> Reviewed:
    """Return the names of the mutants that a person found to change nothing: of one, or of all in a symbol."""
    reviewed = Reviewed()
    for file, reasons in listed["reviewed"].items():
        for name in itertools.chain.from_iterable(reasons.values()):
            if numbers := NUMBERS.fullmatch(name):
                reviewed.update((file, f"{numbers[1]}{number}") for number in numbers[2].split(" or "))
            else:
                reviewed.add((file, name))
    return reviewed


def reviewed_of_no_code() -> list[str]:
    """List the reviewed mutants that the code no longer has."""
    reviewed, names = reviewed_in(tomllib.loads(LIST.read_text())), Reviewed()
    for file in {file for file, _ in reviewed}:
        path = ROOT / "src" / "takifugu" / file
        if path.exists():
            names.update(*(mutant.names for mutant in mutants_of(path, file)))
    return sorted(" ".join(name) for name in reviewed - names)


def main(wanted: Sequence[str]) -> int:
    matrix = [word.partition("=")[2] for word in wanted if re.match("--matrix(=|$)", word)]
    asked = re.compile(matrix[-1]) if matrix else None
    wanted = [word for word in wanted if not re.match("--matrix(=|$)", word)]
    if any(word.startswith("-") for word in wanted):
        print(__doc__)
        return 0 if {*wanted} & {"-h", "--help"} else 2
    listed = tomllib.loads(LIST.read_text())
    packages = {name: Package(**package) for name, package in listed["packages"].items()}
    sample = sample_of(wanted)
    wanted = [word for word in wanted if not word.startswith("1/")]
    only = [word for word in wanted if word not in packages]
    reviewed = reviewed_in(listed)
    os.environ.update(PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    os.environ.setdefault("TAKIFUGU_DATA", str(ROOT.parent / "shared" / "data"))
    for module in LOADED_ONCE:
        importlib.import_module(module)
    assert "takifugu" not in sys.modules, "every process imports its own"
    began = time.monotonic()
    results: list[tuple[Mutant, str]] = []
    with tempfile.TemporaryDirectory(dir=MEMORY_DISK if MEMORY_DISK.is_dir() else None) as made:
        Path(made).chmod(0o755)  # a test drops its privileges and must still load the code
        copied = copy_of_the_project(Path(made))
        # a mutant may write a key where the user's is
        os.environ.update(PYTHONPATH=os.pathsep.join([str(copied / "src"), str(copied)]), HOME=made)
        for name, package in packages.items():
            if not set(wanted) & set(packages) or name in wanted:
                results += check(copied, package, reviewed, only, sample, asked)
    by_file: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for mutant, answer in results:
        by_file[mutant.file][answer] += 1
    print(f"\n{'file':<24}{'mutants':>10}" + "".join(f"{kind:>10}" for kind in (KILLED, LATE, REVIEWED, SURVIVED)))
    for file, counts in by_file.items():
        row = (counts.total(), *(counts[kind] for kind in (KILLED, LATE, REVIEWED, SURVIVED)))
        print(f"{file:<24}" + "".join(f"{number:>10}" for number in row))
    print(f"\n{len(results)} mutants in {(time.monotonic() - began) / 60:.0f} minutes")
    survivors, late = ([str(mutant) for mutant, answer in results if answer == kind] for kind in (SURVIVED, LATE))
    for title, lines in (("Survived:", survivors), ("Too long:", late)):
        if lines:
            print(title, *lines, sep="\n  ")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
