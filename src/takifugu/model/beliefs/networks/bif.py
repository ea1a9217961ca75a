"""BIF files, read as they are written: rows by their keys, decimals in double precision, state names with signs.

Read here because pyAgrum 3.3 takes BIF probabilities in single precision (0.9 becomes 0.89999998) and refuses state
names such as `Asy/Patch` and `<5`, which the published networks child, insurance and hailfinder hold.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from takifugu.core.errors import InputError
from takifugu.core.files import read_file
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.networks.nodes import Node

# Every pattern stops at the next bracket, so that a search looks at each character once or twice.
_COMMENT = re.compile(r"/\*|//[^\n]*")
_HEAD = re.compile(r"\b(variable|probability)\s*(\([^(){}]*\)|[^\s{}()]+)\s*\{")
_STATES = re.compile(r"type\s+discrete\s*\[\s*(\d{1,9})\s*\]\s*\{([^{}]*)\}\s*;")
_BRACE = re.compile("[{}]")
_ROW = re.compile(r"(\([^()]*\)|table\b|default\b)([^()]*)")

Given = TypeVar("Given", bound=Hashable)

#: All tables of a network together hold at most this many probabilities (128 MB), and a node this many parents.
MOST_NUMBERS, MOST_PARENTS = 2**24, 24


def read_bif(path: str | Path, source: str | None = None) -> BayesianNetwork:
    """Read a Bayesian network from a BIF file (Bayesian Interchange Format)."""
    file = Path(path)
    states: dict[str, tuple[str, ...]] = {}
    bodies: dict[str, tuple[tuple[str, ...], Body]] = {}
    lines = dict[tuple[str, str], int]()
    for kind, head, body in _blocks(_text(path)):
        child, _, above = head.strip("() \t\n").partition("|")
        name = _word(child)
        _once(lines, (kind, name), body.line(0), file.name, f"the block '{kind} {name}'")
        if kind == "variable" and bodies:
            raise InputError(
                f"{file.name} declares the variable {name!r} after probabilities",
                fix="list all variables first, so that a file cut short cannot pass for a smaller network",
            )
        if kind == "variable":
            states[name] = _read_states(file.name, name, body)
        else:
            parents = tuple(_word(p) for p in above.split(",") if p.strip())
            _check_once(file.name, f"{name!r} has the parent", parents, body.line(0))
            bodies[name] = (parents, body)
    if not states or set(states) != set(bodies):
        odd = sorted(set(states) ^ set(bodies))[:3]
        raise InputError(
            f"{file.name} does not give every variable its probabilities (look at {odd or 'the whole file'})",
            rule="the file is damaged, cut short or not BIF",
        )
    sizes = {name: _numbers(states[name], above, states) for name, (above, _) in bodies.items()}
    if sum(sizes.values()) > MOST_NUMBERS or max(len(above) for above, _ in bodies.values()) > MOST_PARENTS:
        largest = max(sizes, key=lambda name: sizes[name])
        raise InputError(
            f"{file.name} needs more than {MOST_NUMBERS:,} probabilities in all, or gives a variable more than "
            f"{MOST_PARENTS} parents (look at {largest!r})",
            rule="such tables do not fit into memory",
        )
    nodes = [_read_node(file.name, name, states, *bodies[name]) for name in states]
    return BayesianNetwork(nodes, source or f"the file {file.name}")


@dataclass(frozen=True)
class Body:
    """What stands between the braces of a block: from where to where in the text of the file."""

    whole: str
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.whole[self.start : self.end]

    def line(self, offset: int) -> int:
        """Return the line of the file at an offset inside."""
        return self.whole.count("\n", 0, self.start + offset) + 1

    def statements(self) -> Iterator[tuple[int, str]]:
        """Yield the line and the text of all that ends with a semicolon."""
        line = self.line(0)
        for part in self.text.split(";")[:-1]:
            blank = len(part) - len(part.lstrip())
            yield line + part.count("\n", 0, blank), part.strip()
            line += part.count("\n")


def _once(lines: dict[Given, int], given: Given, line: int, file: str, what: str) -> None:
    """Note the line of something that a file gives; InputError where it is given a second time."""
    if given in lines:
        raise InputError(
            f"{file}, line {line}: {what} is given twice, first in line {lines[given]}",
            rule="each is given once", fix="delete the line that is wrong",
        )  # fmt: skip
    lines[given] = line


def _check_once(file: str, what: str, names: tuple[str, ...], line: int) -> None:
    counted = Counter(names)
    for name in names:
        if counted[name] > 1:
            raise InputError(
                f"{file}, line {line}: {what} {name!r} twice", rule="each is given once",
                fix="delete it, or write the other name that is meant",
            )  # fmt: skip


def _text(path: str | Path) -> str:
    file = Path(path)
    if not os.path.isfile(file):
        raise InputError(f"the network file {str(path)!r} does not exist or is not a file", fix="give the path of one")
    try:
        text = _without_comments(read_file(file).decode("utf-8"))
    except OSError as error:
        raise InputError(f"{file.name} cannot be read ({(error.strerror or 'it cannot be opened').lower()})") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name} is not a text file in UTF-8", rule="a BIF network is plain text") from error
    if text is None:
        raise InputError(f"{file.name} has a comment without an end", rule="the file is damaged or cut short")
    if text.count("{") != text.count("}"):
        raise InputError(
            f"{file.name} opens and closes a different number of braces", rule="the file is damaged or cut short"
        )
    return text


def _without_comments(text: str) -> str | None:
    """Return a text without its comments, None for one without an end."""
    parts, position = [], 0
    while comment := _COMMENT.search(text, position):
        parts.append(text[position : comment.start()])
        position = text.find("*/", comment.end()) + 2 if comment[0] == "/*" else comment.end()
        if position == 1:
            return None
        parts.append(" " + "\n" * text.count("\n", comment.start(), position))  # lines keep their numbers
    return "".join([*parts, text[position:]])


def _numbers(letters: tuple[str, ...], above: tuple[str, ...], states: dict[str, tuple[str, ...]]) -> int:
    return math.prod(len(states.get(name, ())) for name in above[: MOST_PARENTS + 1]) * len(letters)


def _blocks(text: str) -> Iterator[tuple[str, str, Body]]:
    """Yield (kind, head, body) of every block, up to its closing brace."""
    position = 0
    while head := _HEAD.search(text, position):
        depth, end = 1, len(text)
        for brace in _BRACE.finditer(text, head.end()):
            depth += {"{": 1, "}": -1}[brace[0]]
            if depth == 0:
                end = brace.end()
                break
        yield head.group(1), head.group(2), Body(text, head.end(), end - 1)
        position = end


def _word(text: str) -> str:
    return text.strip().strip('"')


def _read_states(file: str, name: str, body: Body) -> tuple[str, ...]:
    lines, match = dict[str, int](), None
    for match in _STATES.finditer(body.text):
        _once(lines, name, body.line(match.start()), file, f"the type of {name!r}")
    if not match:
        raise InputError(f"{file}: variable {name!r} has no line 'type discrete [ k ] {{ ... }};'")
    names = tuple(map(_word, match.group(2).split(",")))
    if len(names) != int(match.group(1)):
        raise InputError(f"{file}: variable {name!r} declares {match.group(1)} states and lists {len(names)}")
    _check_once(file, f"{name!r} has the state", names, body.line(match.start()))
    return names


def _read_node(file: str, name: str, states: dict[str, tuple[str, ...]], parents: tuple[str, ...], body: Body) -> Node:
    for parent in parents:
        if parent not in states:
            raise InputError(f"{file}: {name!r} has an unknown parent {parent!r}")
    shape = (*(len(states[p]) for p in parents), len(states[name]))
    table, default, lines = np.full(shape, np.nan), None, dict[object, int]()
    numbered = {parent: {state: number for number, state in enumerate(states[parent])} for parent in parents}
    for line, statement in body.statements():
        row_match = _ROW.fullmatch(statement)
        if row_match is None:
            if statement.startswith("property"):
                continue
            raise InputError(
                f"{file}, line {line}: {name!r} has a row that cannot be read", fix="end each row with a semicolon"
            )
        key, numbers = row_match.groups()
        try:
            row = list(map(float, numbers.replace(",", " ").split()))  # pyAgrum writes spaces
        except ValueError as error:
            raise InputError(f"{file}: {name!r} has a row that is not a list of numbers") from error
        if key == "table":
            if len(row) != table.size:
                raise InputError(f"{file}: {name!r} lists {len(row)} probabilities, and its family needs {table.size}")
            _once(lines, "table", line, file, f"the table of {name!r}")
            # `table` lists the node's own states slowest, then the parents, last parent fastest.
            table = np.moveaxis(np.array(row).reshape(shape[-1], *shape[:-1]), 0, -1).copy()
            continue
        words = list(map(_word, key.strip("()").split(","))) if key != "default" else []
        if len(row) != shape[-1] or (words and len(words) != len(parents)):
            raise InputError(f"{file}: {name!r} has a row of the wrong length, {key} {numbers.strip()[:40]}")
        if words:
            place = _place(file, name, numbered, words)
            _once(lines, place, line, file, f"the row of {name!r} for {key}")
            table[place] = row
        else:
            _once(lines, "default", line, file, f"the default of {name!r}")
            default = row
    rest = body.text.rpartition(";")[2]
    if rest.strip():
        raise InputError(
            f"{file}, line {body.line(len(body.text.rstrip()))}: {name!r} has a row without its end",
            fix="end each row with a semicolon",
        )
    if "table" in lines and len(lines) > 1:
        raise InputError(
            f"{file}, line {lines['table']}: {name!r} has a table and rows beside it", rule="each is given once",
            fix="delete the table, or the rows",
        )  # fmt: skip
    if default is not None:
        table[np.isnan(table).all(axis=-1)] = default
    if np.isnan(table).any():
        raise InputError(f"{file}: {name!r} has no probabilities for some of its parents' states")
    return Node(name, states[name], parents, table)


def _place(file: str, name: str, numbered: Mapping[str, Mapping[str, int]], words: list[str]) -> tuple[int, ...]:
    """Return the number of each parent's state in a row; `numbered` has those of each parent, in order."""
    place = []
    for (parent, numbers), word in zip(numbered.items(), words, strict=True):
        if word not in numbers:
            raise InputError(f"{file}: {name!r} has a row for {parent} = {word!r}, which is not a state of it")
        place.append(numbers[word])
    return tuple(place)
