"""What an object of ours may have is declared, never asked for by a text, and inherited where that was looked at."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from tests.support.sources import parsed

from takifugu.core.registry import Question, answers_of, loaded
from takifugu.model.beliefs.records.counted_parameters import CountedParameters
from takifugu.model.beliefs.records.normal_region import NormalRegion

SRC = Path(__file__).parents[1] / "src" / "takifugu"

#: Where a name in a text is asked for, how often, and of what: a list that only ever shrinks.
LEFT = {
    "analysis/questions/evaluating.py": (3, "rows of any library"),
    "analysis/questions/real_columns.py": (1, "frames of any library"),
    "core/cache.py": (1, "whether an object has room for what is kept with it"),
    "core/errors.py": (1, "errors of other libraries"),
    "core/files.py": (3, "flags that not every system has, and Windows"),
    "core/lasting.py": (1, "a hook of forks that not every system has"),
    "core/columns.py": (3, "lists, arrays and frames of any library"),
    "core/sections.py": (1, "what `typing` keeps of an annotation"),
    "data/cluster/spark.py": (1, "errors of Spark"),
    "data/files/sheets.py": (1, "frames of any library"),
    "model/beliefs/networks/network_files.py": (2, "models of pyAgrum and pgmpy"),
    "model/beliefs/records/possible_sums.py": (1, "numbers of any library"),
    "model/beliefs/user_laws.py": (1, "a law that is a mapping of any library"),
    "model/queries/registry.py": (2, "what somebody registers as a section, or gives as a query"),
    "numbers/densities/__init__.py": (1, "what somebody gives as a density"),
    "numbers/rationals.py": (1, "numbers of any library"),
    "cli/believing.py": (2, "the matrices of any chain"),
    "cli/failures.py": (1, "a note on errors of any library"),
    "cli/ledgers.py": (1, "an outcome that may be an error"),
    "releasing/file/kinds.py": (2, "what somebody registers as a kind of file"),
    "releasing/file/public.py": (2, "what a section declares of its file, as its author wrote it"),
    "releasing/planning/truth.py": (1, "arrays of any library"),
}


def questions_by_name(tree: ast.AST) -> Iterator[str]:
    """Yield every `hasattr` and every `getattr` of a name that is written there as a text."""
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1
        if is_call and node.func.id in ("getattr", "hasattr") and isinstance(node.args[1], ast.Constant):
            yield ast.unparse(node)


def test_nothing_of_ours_is_asked_for_a_name() -> None:
    asking = [path for path in SRC.rglob("*.py") if re.search(r"\b(get|has)attr\(", path.read_text(encoding="utf-8"))]
    by_file = Counter({path.relative_to(SRC).as_posix(): len([*questions_by_name(parsed(path))]) for path in asking})
    allowed = Counter({name: count for name, (count, _) in LEFT.items()})
    assert not by_file - allowed, f"{by_file - allowed}: declare the member, or a protocol that isinstance asks"
    assert not allowed - by_file, f"shorten the list: {allowed - by_file}"


@pytest.mark.parametrize(("line", "count"), [
    ('hasattr(belief, "pairs")', 1), ('getattr(query, "grid", None)', 1), ("getattr(value, name)", 0),
    ("belief.pairs", 0), ("isinstance(belief, View)", 0),
])  # fmt: skip
def test_an_asked_name_is_found(line: str, count: int) -> None:
    assert len([*questions_by_name(ast.parse(line))]) == count


#: Classes of laws that hold one of them, by which data are read.
CLASSES = (CountedParameters, NormalRegion)

#: What is the same for a class of laws as for the estimate inside: how data are read, and what is expected.
LOOKED_AT = {"how data are read", "the mean of an answer"}


def test_no_class_of_laws_inherits_an_answer_about_one_law() -> None:
    inherited = set()
    for question in _questions():
        for kind in CLASSES:
            if question.inherits(kind):
                inherited.add((kind.__name__, question.name))
    exceptions = {("CountedParameters", "the mean of an answer")}  # which has all means of the class
    assert inherited == {(kind.__name__, name) for kind in CLASSES for name in LOOKED_AT} - exceptions


def test_what_a_type_says_that_it_answers_is_asked() -> None:
    """A name that no question has would leave the type with its parent's answer, or none."""
    asked, answering = {question.name for question in _questions()}, 0
    for path in sorted((SRC / "model").rglob("*.py")):
        name = ".".join(("takifugu", *path.relative_to(SRC).with_suffix("").parts))
        for kind in [thing for thing in vars(import_module(name)).values() if isinstance(thing, type)]:
            answering += kind.__module__ == name and bool(answers_of(kind))
            for question, place in answers_of(kind).items():
                assert question in asked, f"{kind.__name__} answers {question!r}, which nobody asks"
                loaded(place)
    assert answering > 20


def _questions() -> list[Question[object]]:
    questions = []
    for path in sorted(SRC.rglob("*.py")):
        if ": Question[" in path.read_text(encoding="utf-8"):
            name = ".".join(("takifugu", *path.relative_to(SRC).with_suffix("").parts))
            module = import_module(name)
            questions += [thing for thing in vars(module).values() if isinstance(thing, Question)]
    return list({id(question): question for question in questions}.values())
