"""Functions that a name and a version stand for: each stays what it was when it was named.

A function is what is written and what it reads: names of its module, variables around it, and defaults. It is taken
with the values that these have (`as_named`), so that no later change of the module makes another function of it. So is
what is made of functions: a method, a partial function, one that was decorated, a tuple of them. What other values hold
may still change in place, as an entry of a list does (docs/concepts/limits.md).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Hashable, Iterator
from dis import get_instructions
from fractions import Fraction
from functools import partial
from types import BuiltinMethodType, CellType, CodeType, FunctionType, MethodType
from typing import Any

from takifugu.core.errors import InputError, Step

Function = Callable[..., Any]

#: Types of values that never change, which are compared by what they are. All others are compared by identity.
_CONSTANTS = (bool, int, float, str, bytes, Fraction, type(None))

#: Instructions that read a name of the module, the second and third in the body of a class.
_READING = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")

#: What each name and version stands for, and its function, which keeps alive what is compared by identity.
_NAMED: dict[tuple[str, str, Hashable], tuple[list[Hashable], Function]] = {}


def as_named(function: Function, what: str, name: str, version: Hashable, *where: Step) -> Function:
    """Return a function as it is now, whatever becomes of its module."""
    # InputError: another function under a taken name and version, or a name that is read before it is defined
    settling = _Settling()
    try:
        settled: Function = settling.of(_called(function))
    except NameError as error:
        fix = "define it before the function is named"
        raise InputError(f"{what} {name!r} reads {error.name!r}, which is not defined", fix=fix).at(*where) from None
    meaning, _ = _NAMED.setdefault((what, name, version), (settling.meaning, settled))
    if meaning != settling.meaning:
        words = f"{what} {name!r}, version {version}, is defined already"
        raise InputError(words, fix="give it a new version").at(*where)
    return settled


class _Settling:
    """The copies of a function and of all functions that it reads, with what they mean in order."""

    # A function around it is copied, as one that a decorator was given; one that it reads by its name is copied if it
    # is of the same module, or has something around it, too.
    def __init__(self) -> None:
        self.names = dict[int, dict[str, Any]]()  # what the copies read, by the module of the functions
        self.copies = dict[FunctionType, FunctionType]()
        self.meaning = list[Hashable]()

    def of(self, value: Any, module: dict[str, Any] | None = None) -> Any:
        """Return a function of what is copied, any other value as it is; `module` is where a name was read."""
        if type(value) is partial:
            self.meaning.append((partial, len(value.args)))
            arguments = list(map(self.of, value.args))
            return partial(self.of(_called(value.func), module), *arguments, **self._values(value.keywords))
        if type(value) is tuple:
            self.meaning.append((tuple, len(value)))
            return tuple([self.of(part, module) for part in value])
        if isinstance(value, MethodType):
            self.meaning.append((MethodType, id(value.__self__)))
            return MethodType(self.of(value.__func__, module), value.__self__)
        is_function = isinstance(value, FunctionType)
        if not is_function or (module is not None and value.__globals__ is not module and not value.__closure__):
            self.meaning.append(_key_of(value))
            return value
        if value not in self.copies:
            return self._copy(value)
        self.meaning.append(list(self.copies).index(value))
        return self.copies[value]

    def _copy(self, function: FunctionType) -> FunctionType:
        """Return a copy, and note what is written, what is read, and its values."""
        code, around, module = function.__code__, function.__closure__ or (), function.__globals__
        cells = tuple(CellType() for _ in around)
        if id(module) not in self.names:
            self.names[id(module)] = {name: value for name, value in module.items() if name.startswith("__")}
        names = self.names[id(module)]
        copy = FunctionType(code, names, function.__name__, closure=cells or None)
        self.copies[function] = copy
        if self.meaning:  # only the first is never called with names of its parameters
            self.meaning.append(_parameters(code))
        self.meaning.append(_written(code))
        copy.__defaults__ = tuple(map(self.of, function.__defaults__ or ()))
        copy.__kwdefaults__ = self._values(function.__kwdefaults__ or {})
        copy.__dict__.update(self._values(function.__dict__))
        read = dict[str, Any]()
        for name, is_certain in _names(code):
            if name in module:
                read[name] = module[name]
            elif is_certain and not hasattr(builtins, name):
                raise NameError(name=name)
        names |= self._values(read, module)
        for name, cell, source in zip(code.co_freevars, cells, around, strict=True):
            try:
                cell.cell_contents = self.of(source.cell_contents)
            except ValueError:
                raise NameError(name=name) from None
        return copy

    def _values(self, values: dict[str, Any], module: dict[str, Any] | None = None) -> dict[str, Any]:
        self.meaning.append(tuple(values))
        return {name: self.of(value, module) for name, value in values.items()}


def _called(function: Any) -> Any:
    """Return the method that calls an object, or a function as it is."""
    called = function.__call__
    return called if isinstance(called, MethodType) else function


def _names(code: CodeType) -> Iterator[tuple[str, bool]]:
    """Yield the names that some code, and the code inside it, may read of its module, and whether it surely does."""
    for instruction in get_instructions(code):
        if instruction.opname in _READING:
            # in the body of a class it may be the class's own
            yield instruction.argval, instruction.opname == "LOAD_GLOBAL"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _written(code: CodeType) -> Hashable:
    """Return what some code does, wherever it stands."""
    constants = list[Hashable]()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append((_parameters(constant), _written(constant)))
        else:
            constants.append((type(constant), repr(constant)))
    return code.co_code, code.co_exceptiontable, code.co_names, code.co_flags, tuple(constants)


def _parameters(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _key_of(value: object) -> Hashable:
    """Return a key of a value: 1 and True have two."""
    if isinstance(value, tuple):
        return tuple(map(_key_of, value))
    if isinstance(value, BuiltinMethodType):
        return id(value.__self__), value.__name__
    if type(value) in _CONSTANTS:
        return type(value), repr(value)
    return id(value)
