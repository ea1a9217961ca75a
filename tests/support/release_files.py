"""Release files of tests: sections with their keys, one text that works, and small changes of it."""

import json
import re
from datetime import date
from typing import Any

#: Parts of a release file, and what stands in place of each.
Changes = tuple[tuple[str, str], ...]
#: What a release is compared with, where the comparison is beside the point.
EXPECT: dict[str, Any] = {"source": "a test", "matters": 1000}


def release_text(
    *sections: str, ledger: str = "ledger.db", output: str = "", expect: dict[str, Any] | None = None
) -> str:
    """Write a release file of some sections, after its ledger, its folder and what is expected.

    >>> print(release_text(read_from("ward", "ward.csv", from_=1), publish("busy", "count", epsilon=0.5)))
    ledger = "ledger.db"
    <BLANKLINE>
    [source]
    name = "ward"
    file = "ward.csv"
    from = 1
    <BLANKLINE>
    [[table]]
    name = "busy"
    query = "count"
    epsilon = 0.5
    <BLANKLINE>
    """
    places = {"ledger": ledger, "output": output} if output else {"ledger": ledger}
    before = [_lines(places)] + ([] if expect is None else ["[expect]\n" + _lines(expect)])
    return "\n\n".join([*before, *sections]) + "\n"


def read_from(name: str, file: str, **keys: Any) -> str:
    """Write the section of a source; a key that is a word of Python ends in an underscore.

    Rows in steps are samples, if nothing else is written.
    """
    rows = {"rows": "samples"} if {"order", "step"} <= keys.keys() else {}
    return section("[source]", name=name, file=file, **(rows | keys))


def believe(kind: str, **keys: Any) -> str:
    """Write the section of a belief; users are independent where nothing else is said."""
    independent = {"units_independent": True} if kind == "users" else {}
    return section("[belief]", kind=kind, **(independent | keys))


def group(name: str, size: int, values: list[Any], probabilities: list[Any], **keys: Any) -> str:
    """Write the section of one group of users, after that of the belief."""
    return section("[[belief.groups]]", name=name, size=size, values=values, probabilities=probabilities, **keys)


def hide(**keys: Any) -> str:
    """Write the section of what is hidden."""
    return section("[hide]", **keys)


def publish(name: str, query: str, **keys: Any) -> str:
    """Write the section of one table."""
    return section("[[table]]", name=name, query=query, **keys)


def section(header: str, /, **keys: Any) -> str:
    """Write the section under any header."""
    return f"{header}\n{_lines(keys)}"


def _lines(keys: dict[str, Any]) -> str:
    return "\n".join(f"{key.rstrip('_')} = {_value(value)}" for key, value in keys.items())


def _key(key: Any) -> str:
    return str(key) if re.fullmatch(r"[A-Za-z0-9_-]+", str(key)) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return str(value) if isinstance(value, date) else json.dumps(value, ensure_ascii=False)


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with parts of it replaced; each part must be there."""
    for before, after in changes:
        assert before in text, f"{before!r} is not in the file"
        text = text.replace(before, after)
    return text


def filled(draft: str, source: str = "", belief: str = "", hide: str = "", table: str = "") -> str:
    """Return a draft with lines below the headers of its sections, in place of its own lines with these keys."""
    for header, lines in {"[source]": source, "[belief]": belief, "[hide]": hide, "[[table]]": table}.items():
        if not lines:
            continue
        if header not in draft:
            draft += f"\n{header}\n"
        before, _, after = draft.partition(header)
        within, start, rest = after.partition("\n\n[")
        for key in re.findall(r"^(\w+) = ", lines, re.MULTILINE):
            within = re.sub(rf"\n{key} = .*", "", within)
        draft = f"{before}{header}\n{lines}{within}{start}{rest}"
    return draft
