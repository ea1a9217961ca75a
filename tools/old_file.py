"""Rewrite a release file of before into the keys of now, its comments and order kept: python tools/old_file.py FILE.

With --only-names keys get their names of now. Without it, keys that cleaned rows become expressions over their columns,
too, and what has no such expression is told with what to do. The file is printed; --write replaces it.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takifugu.core.plain import toml_of
from takifugu.releasing.file.before.old_cleaning import CLEANING, by_hand, expressions, line_of
from takifugu.releasing.file.before.old_keys import KINDS, NOW

_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.-]+)\s*(\]\]?)")
_KEY = re.compile(r"(\s*)([\w-]+(?:\.[\w-]+)*)(\s*=)")
#: An inline table of these keys has keys of before, too.
_INLINE = {"fit": "belief.fit", "reference": "belief.reference"}

@dataclass(frozen=True)
class Part:
    """A part of a file: a key with its value, a header, or lines without either; `section` is where it stands."""

    text: str
    section: str
    key: str = ""

    @property
    def value(self) -> Any:
        value = tomllib.loads(self.text)
        for step in self.key.split("."):
            value = value[step]
        return value


def parts_of(text: str) -> Iterator[Part]:
    """Yield the parts of a file in their order."""
    section, lines = "", text.splitlines(keepends=True)
    while lines:
        line = lines.pop(0)
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None:
            section = header[2]
            yield Part(line, section)
        elif key is None:
            yield Part(line, section)
        else:
            while not _is_whole(line) and lines:
                line += lines.pop(0)
            yield Part(line, section, key[2])


def _is_whole(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def renamed(text: str) -> str:
    """Return a file with the names of now.

    >>> print(renamed('[source]\\npiece = "bout"  # a run\\n'))
    [source]
    recording = "bout" # a run
    <BLANKLINE>
    """
    parts = list(parts_of(text))
    second = {part.section: part for part in parts if part.key == "y" and part.section == "source"}
    lines = list[str]()
    for part in parts:
        if part.section == "source" and part.key == "x" and part.section in second:
            both = toml_of([part.value, second[part.section].value])
            lines.append(_with(part, "value", both))
        elif not (part.section == "source" and part.key == "y"):
            lines.append(_named(part))
    return "".join(lines)


def _named(part: Part) -> str:
    if not part.key:
        return _HEADER.sub(_header, part.text, count=1)
    names = NOW.get(part.section, {})
    first, *rest = part.key.split(".")
    old_kind = part.section == "belief" and part.key == "kind" and part.value in KINDS
    if old_kind:
        return _with(part, "kind", toml_of(KINDS[part.value]))
    if part.section == "belief" and first in _INLINE:
        inner = NOW[_INLINE[first]]
        if rest:
            return _with(part, ".".join([first, *(inner.get(step, step) for step in rest)]))
        words = "|".join(inner)
        return re.sub(rf"([{{,]\s*)({words})(\s*=)", lambda key: f"{key[1]}{inner[key[2]]}{key[3]}", part.text)
    if first in names:
        return _with(part, ".".join([names[first], *rest]))
    return part.text


def _header(match: re.Match[str]) -> str:
    name = match[2]
    section, _, key = name.partition(".")
    if not section or name in NOW[""]:
        return NOW[""].get(name, name)
    return match[0].replace(name, f"{section}.{NOW.get(section, {}).get(key, key)}") if key else match[0]


def _with(part: Part, key: str, value: str | None = None) -> str:
    """Return a part under another key, with its comment where it was if there is room."""
    match = _KEY.match(part.text)
    assert match is not None
    rest = part.text[match.end() :]
    if value is not None:
        comment = re.search(r"\s*(#.*)?\n?$", rest)
        assert comment is not None
        rest = f" {value}{comment[0]}"
    line = f"{match[1]}{key}{match[3]}{rest}"
    longer, tail = len(line) - len(part.text), re.search(r"( +)(#[^\"']*\n?)$", line)
    if tail is not None:
        line = f"{line[: tail.start()]}{' ' * max(1, len(tail[1]) - longer)}{tail[2]}"
    return line


def cleaned(text_of_file: str) -> tuple[str, list[str]]:
    """Return a file whose cleaning keys are expressions, and what is left to do by hand."""
    parts = list(parts_of(text_of_file))
    raw = tomllib.loads(text_of_file)
    source, belief = raw.get("source", {}), raw.get("belief", {})
    roles, todo = expressions(source, belief.get("map", {})), by_hand(source, belief)
    gone = {key for key in CLEANING if key in source} if roles else set[str]()
    lines, last, is_map = list[str](), 0, False
    for part in parts:
        if not part.key and part.text.lstrip().startswith("["):
            is_map = part.section == "belief.map"
        if is_map or (part.section == "belief" and part.key.split(".")[0] == "map"):
            continue
        if part.section == "source" and part.key in gone - {*roles}:
            continue
        if part.section == "source" and part.key in roles:
            lines.append(_with(part, part.key, line_of("", roles.pop(part.key)).removeprefix(" = ")))
        else:
            lines.append(part.text)
        if part.section == "source" and part.text.strip():
            last = len(lines)
    lines[last:last] = [f"{line_of(key, sql)}\n" for key, sql in roles.items()]
    return "".join(lines), [f"{key}: {line}" for key, line in todo.items()]


def main(words: Sequence[str] | None = None) -> int:
    """Rewrite the files that are named; return 1 where something is left to do by hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--only-names", action="store_true", help="give keys their names of now, and nothing else")
    parser.add_argument("--write", action="store_true", help="replace each file")
    said, left = parser.parse_args(words), 0
    for file in said.files:
        now, todo = renamed(file.read_text(encoding="utf-8")), list[str]()
        if not said.only_names:
            now, todo = cleaned(now)
        for line in todo:
            print(f"{file}: {line}", file=sys.stderr)
        left += len(todo)
        if said.write:
            file.write_text(now, encoding="utf-8")
        else:
            print(now, end="")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
