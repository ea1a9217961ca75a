"""A belief that derives from another one answers the same only where that was looked at."""

from importlib import import_module
from pathlib import Path

from takifugu.core.registry import Question
from takifugu.model.beliefs.records.counted_parameters import CountedParameters
from takifugu.model.beliefs.records.normal_region import NormalRegion

#: Classes of laws that hold one of them, by which data are read.
CLASSES = (CountedParameters, NormalRegion)
SRC = Path(__file__).parents[1] / "src" / "takifugu"
#: What is the same for a class of laws as for the estimate inside: how data are read, and what is expected.
LOOKED_AT = {"how data are read", "the mean of an answer"}


def test_no_class_of_laws_inherits_an_answer_about_one_law() -> None:
    inherited = set()
    for question in _questions():
        for kind in CLASSES:
            if question.inherits(kind):
                inherited.add((kind.__name__, question.name))
    assert inherited == {(kind.__name__, name) for kind in CLASSES for name in LOOKED_AT}


def _questions() -> list[Question[object]]:
    questions = []
    for path in sorted(SRC.rglob("*.py")):
        if ": Question[" in path.read_text(encoding="utf-8"):
            name = ".".join(("takifugu", *path.relative_to(SRC).with_suffix("").parts))
            module = import_module(name)
            questions += [thing for thing in vars(module).values() if isinstance(thing, Question)]
    return list({id(question): question for question in questions}.values())
