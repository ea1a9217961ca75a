"""Every name says what it holds: none is one of these, which say only that somebody wrote it down."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.sources import parsed

import takifugu

SAY_NOTHING = {"found", "told", "asked", "kept", "beside", "course", "shown", "marked", "own"}
SOURCES = sorted(Path(takifugu.__file__).parent.rglob("*.py"))
ROOT = Path(__file__).parent.parent
AROUND = sorted(p for folder in ("tests", "tools", "experiments", "benchmarks") for p in (ROOT / folder).rglob("*.py"))


def names_of(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.alias(name=name, asname=alias):
                yield from (*name.split("."), alias or "")


def says_nothing(name: str) -> bool:
    return bool(SAY_NOTHING & {*name.lower().split("_")})


def test_no_name_of_the_package_says_nothing() -> None:
    named = [(path.name, name) for path in SOURCES for name in (path.stem, *names_of(parsed(path)))]
    assert [(file, name) for file, name in named if says_nothing(name)] == []


@pytest.mark.slow
def test_no_name_around_the_package_says_nothing() -> None:
    """The name of a test function is a sentence, and may use every word."""
    files = [(path.name, path.stem) for path in AROUND]
    named = [(path.name, name) for path in AROUND for name in names_of(parsed(path)) if not name.startswith("test_")]
    assert [(file, name) for file, name in (*files, *named) if says_nothing(name)] == []


def test_it_would_be_seen() -> None:
    wrong = "def told(own): return [kept for kept in own if kept.shown(beside=1)]"
    assert {*names_of(ast.parse(wrong))} == {"told", "own", "kept", "shown", "beside"}
