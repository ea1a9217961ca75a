"""Public callables with values of a wrong type for each parameter: none ends in a bare error of Python.

Valid arguments are those of the examples in the docstrings, recorded while these run. The quick tier takes the modules
whose examples take no time.
"""

import contextlib
import doctest
import inspect
import io
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.core.errors import Fault, TakifuguError

WRONG: Mapping[str, Callable[[], object]] = {
    "None": lambda: None, "3": lambda: 3, "-1": lambda: -1, "0": lambda: 0, "'x'": lambda: "x", "''": lambda: "",
    "[]": list, "[1]": lambda: [1], "{}": dict, "object()": object, "nan": lambda: math.nan, "inf": lambda: math.inf,
    "True": lambda: True, "b'x'": lambda: b"x", "10**30": lambda: 10**30, "an array": lambda: np.array([0.5, 0.5]),
    "a generator": lambda: (number for number in (1, 2)),
}  # fmt: skip
#: Types that can be named, and that functions make.
NAMED_ONLY = ("Belief", "Calibration", "Framework", "Guarantee", "Ledger", "Mechanism", "Query", "Release", "Session")
#: Modules with many constructors whose examples are quick.
QUICK = (
    "takifugu.model.queries.tables.rows", "takifugu.model.queries.tables.by", "takifugu.model.beliefs.table",
    "takifugu.model.beliefs.records.records", "takifugu.model.secrets.declared_properties",
    "takifugu.model.beliefs.populations", "takifugu.model.beliefs.chains.chain",
    "takifugu.accounting.composition.composing", "takifugu.numbers.densities.normal",
    "takifugu.numbers.distributions.pmf",
)  # fmt: skip


@dataclass(frozen=True)
class Call:
    """A public callable with valid arguments, in the order of its parameters."""

    function: Callable[..., object]
    arguments: Mapping[str, object]

    def with_one(self, name: str, value: object) -> None:
        positional, named = list[Any](), dict[str, Any]()
        for parameter in inspect.signature(self.function).parameters.values():
            argument = value if parameter.name == name else self.arguments[parameter.name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += [argument] if parameter.name == name else argument  # type: ignore[misc]
            elif parameter.kind is parameter.VAR_KEYWORD:
                named.update(argument)  # type: ignore[call-overload]
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = argument
            else:
                positional.append(argument)
        self.function(*positional, **named)


def public():
    """Yield each function and constructor with the code that its arguments reach."""
    public_names = [(name, getattr(home, name)) for home in (tf, tf.numbers) for name in home.__all__]
    for name, value in public_names:
        if name in NAMED_ONLY:
            continue
        if inspect.isclass(value) and not issubclass(value, BaseException):
            yield name, value, value.__init__.__code__
            for member, raw in vars(value).items():
                is_other = member in ("from_dict", "two_way", "meaning") or member.startswith("_")
                if isinstance(raw, staticmethod | classmethod) and not is_other:
                    yield f"{name}.{member}", getattr(value, member), raw.__func__.__code__
        elif inspect.isfunction(value):
            yield name, value, inspect.unwrap(value).__code__


def examples(modules: Iterable[str]) -> Mapping[str, list[Call]]:
    """Return the calls of public functions in the examples of modules."""
    calls = dict[str, list[Call]]()
    named = {code: (name, function) for name, function, code in public()}

    def note(frame, event: str, _: object) -> None:
        name, function = named.get(frame.f_code, ("", None))
        if event == "call" and function is not None:
            is_of_subclass = inspect.isclass(function) and type(frame.f_locals.get("self")) is not function
            if not is_of_subclass and len(calls.setdefault(name, [])) < 40:
                calls[name].append(Call(function, dict(frame.f_locals)))

    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(verbose=False)
    for module in modules:
        for test in finder.find(import_module(module), module):
            sys.setprofile(note)
            try:
                runner.run(test, out=lambda _: None, clear_globs=False)
            finally:
                sys.setprofile(None)
    return calls


def is_fine(call: Call) -> bool:
    parameters = inspect.signature(call.function).parameters
    if not parameters.keys() <= call.arguments.keys():
        return False
    name = next(iter(parameters))
    with contextlib.suppress(Exception):
        call.with_one(name, call.arguments[name])
        return True
    return False


def fullest(modules: Iterable[str]) -> Mapping[str, Call]:
    """Return for each public callable the example that gives most arguments."""
    chosen = {}
    for name, several in examples(modules).items():
        fine = list(filter(is_fine, several))
        if fine:
            chosen[name] = max(fine, key=lambda call: sum(value is not None for value in call.arguments.values()))
    return chosen


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with contextlib.chdir(tmp_path_factory.mktemp("wrong")), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def arguments(modules: Iterable[str]) -> Iterator[tuple[Call, str, str, str]]:
    for name, call in fullest(modules).items():
        for parameter in inspect.signature(call.function).parameters.values():
            for title in WRONG:
                if parameter.kind is not parameter.VAR_KEYWORD:
                    yield call, name, parameter.name, title


def bare(call: Call, parameter: str, title: str) -> str:
    """Return how an argument ends, or "" where it is taken or refused in words."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            call.with_one(parameter, WRONG[title]())
    except Fault as fault:
        return str(fault)
    except TakifuguError as refusal:
        return "" if refusal.message.strip() else "a refusal without words"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("module", QUICK)
def test_an_argument_of_a_wrong_type_is_taken_or_refused_in_words(module: str) -> None:
    tried, wrong = 0, []
    for call, name, parameter, title in arguments([module]):
        tried += 1
        if ending := bare(call, parameter, title):
            wrong.append(f"{name}({parameter}={title}): {ending}")
    assert tried
    assert wrong == []
