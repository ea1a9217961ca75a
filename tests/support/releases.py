"""What tests ask of a release file again and again: what it is refused for, what it spent, what it counts."""

import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import takifugu as tf
from takifugu.accounting.ledger import Amount, Ledger
from takifugu.core.errors import SpecError, TakifuguError
from takifugu.releasing.advice.advising import TableAdvice, advice_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import calibrated, plan
from takifugu.releasing.planning.truth import answer_of, read


def put(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files into a folder, and return the path of the first: the release file."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / next(iter(files))


def refusal_of(path: Path, data: object = None, by: Callable[..., object] = load) -> SpecError:
    """Return the error that names the faults of a release file."""
    with pytest.raises(SpecError) as caught:
        by(path, data) if data is not None else by(path)
    return caught.value


def refused(path: Path, data: object = None, kind: type[Exception] = TakifuguError, **options: Any) -> Any:
    """Return the error of a release that is refused; nothing beside its file is written, changed or paid."""
    before = contents(path.parent)
    with pytest.raises(kind) as caught:
        tf.release_file(path, data, **options)
    assert contents(path.parent) == before
    return caught.value


def contents(folder: Path) -> dict[Path, bytes]:
    """Return what each file of a folder holds."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def words_in(path: Path) -> str:
    """Return the text of a file in one line."""
    return " ".join(path.read_text(encoding="utf-8").split())


def assert_says(path: Path, *words: str) -> None:
    """Assert that a page has all these words, wherever its lines end."""
    page = words_in(path)
    assert [some for some in words if some not in page] == [], page


def faults_of(path: Path) -> dict[str, str]:
    """Return what a release file is refused for, by the places of its faults."""
    return dict(line.split(": ", 1) for line in refusal_of(path).problems)


def assert_refused(path: Path, place: str, words: str) -> None:
    """Assert that a release file is refused for a fault at a place, whose line has some words, and nothing is paid."""
    problems = refusal_of(path).problems
    assert any(line.startswith(f"{place}: ") and words in line for line in problems), problems
    assert not (path.parent / "ledger.db").exists()


def spent(folder: Path, source: str) -> Amount:
    """Return what the ledger of a folder has counted for a source."""
    return Ledger.open(folder / "ledger.db", create=False).spent(source)


def paid(path: Path, ledger: str = "a.db", source: str = "s", **options: Any) -> Fraction:
    """Publish whatever a release file says and costs, and return what its source has spent then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tf.release_file(path, allow_useless=True, force=True, **options)
    return Ledger.open(path.parent / ledger).spent(source).epsilon


def judged(path: Path) -> tuple[TableAdvice, ...]:
    """Return what each table of a release file is worth; nothing is looked for that would help."""
    return advice_of(calibrated(load(path)))


def cells(path: Path, data: object = None) -> dict[str, Fraction]:
    """Return the exact answer of the one table of a release file, by the names of its cells."""
    ((question,),) = (table.questions for table in plan(load(path, data)).tables)
    return by_cells(question)


def by_cells(question: Any) -> dict[str, Fraction]:
    """Return the exact answer to a question, by the names of its cells."""
    made = question.calibration
    answer = answer_of(made, read(made, question.data))
    return {label: units * made.problem.grid for label, units in zip(made.problem.labels, answer, strict=True)}
