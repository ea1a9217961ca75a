"""Functions that a name and a version stand for: each stays what it was when it was named.

A function is what is written and what it reads: names of its module, variables around it, and defaults. It is taken
with the values that these have (`as_named`), so that no later change of the module makes another function of it. What
the values hold may still change in place, as an entry of a list does (docs/known-weaknesses.md).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Hashable, Iterator
from dis import get_instructions
from fractions import Fraction
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
    """Return a function as it is now, whatever becomes of its module.

    Raises InputError for another function under a name and version that are taken, and for one that reads a name of its
    module before that is defined.

    >>> as_named(lambda x: x + 1, "the function", "next", 1)(2)
    3
    >>> as_named(lambda y: y + 1, "the function", "next", 1)(2)
    3
    >>> as_named(lambda x: x + 2, "the function", "next", 1)
    Traceback (most recent call last):
    takifugu.core.errors.InputError: the function 'next', version 1, is defined already: give it a new version
    """
    settling = _Settling(function.__globals__ if isinstance(function, FunctionType) else {})
    try:
        settled: Function = settling.of(function)
    except NameError as error:
        fix = "define it before the function is named"
        raise InputError(f"{what} {name!r} reads {error.name!r}, which is not defined", fix=fix).at(*where) from None
    meaning, _ = _NAMED.setdefault((what, name, version), (settling.meaning, settled))
    if meaning != settling.meaning:
        words = f"{what} {name!r}, version {version}, is defined already"
        raise InputError(words, fix="give it a new version").at(*where)
    return settled


class _Settling:
    """The copies of a function and of all functions of its module that it reads, with what they mean in order."""

    def __init__(self, module: dict[str, Any]) -> None:
        self.module = module
        self.names = {name: value for name, value in module.items() if name.startswith("__")}
        self.copies = dict[FunctionType, FunctionType]()
        self.meaning = list[Hashable]()

    def of(self, value: Any) -> Any:
        """Return the copy of a function of the module, any other value as it is."""
        if not isinstance(value, FunctionType) or value.__globals__ is not self.module:
            self.meaning.append(_key_of(value))
            return value
        if value not in self.copies:
            return self._copy(value)
        self.meaning.append(list(self.copies).index(value))
        return self.copies[value]

    def _copy(self, function: FunctionType) -> FunctionType:
        """Return a copy, and note what is written, what is read, and its values."""
        code, around = function.__code__, function.__closure__ or ()
        cells = tuple(CellType() for _ in around)
        copy = FunctionType(code, self.names, function.__name__, closure=cells or None)
        self.copies[function] = copy
        self.meaning.append(_written(code))
        copy.__defaults__ = tuple(map(self.of, function.__defaults__ or ()))
        copy.__kwdefaults__ = self._values(function.__kwdefaults__ or {})
        copy.__dict__.update(self._values(function.__dict__))
        read = dict[str, Any]()
        for name, is_certain in _names(code):
            if name in self.module:
                read[name] = self.module[name]
            elif is_certain and not hasattr(builtins, name):
                raise NameError(name=name)
        self.names |= self._values(read)
        for name, cell, source in zip(code.co_freevars, cells, around, strict=True):
            try:
                cell.cell_contents = self.of(source.cell_contents)
            except ValueError:
                raise NameError(name=name) from None
        return copy

    def _values(self, values: dict[str, Any]) -> dict[str, Any]:
        self.meaning.append(tuple(values))
        return {name: self.of(value) for name, value in values.items()}


def _names(code: CodeType) -> Iterator[tuple[str, bool]]:
    """Yield the names that some code, and the code inside it, may read of its module.

    Each comes with whether it is certain to be read there: in the body of a class it may be the class's own.
    """
    for instruction in get_instructions(code):
        if instruction.opname in _READING:
            yield instruction.argval, instruction.opname == "LOAD_GLOBAL"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _written(code: CodeType) -> Hashable:
    """Return what some code does, wherever it stands."""
    constants = list[Hashable]()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(_written(constant))
        else:
            constants.append((type(constant), repr(constant)))
    return code.co_code, code.co_exceptiontable, code.co_names, code.co_flags, tuple(constants)


def _key_of(value: object) -> Hashable:
    """Return a key of a value: 1 and True have two."""
    if isinstance(value, tuple):
        return tuple(map(_key_of, value))
    if isinstance(value, MethodType | BuiltinMethodType):
        return id(value.__self__), value.__name__
    if type(value) in _CONSTANTS:
        return type(value), repr(value)
    return id(value)
