"""The encodings that text files are written in."""

from __future__ import annotations

import codecs
from encodings.aliases import aliases

from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean

#: Codecs of Python's that turn texts into texts, but that no file is written in.
_NO_FILES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7", "mbcs", "oem")


def check_encoding(name: str | None) -> None:
    """Raise InputError for an encoding impossible in text files."""
    if name is None:
        return
    try:
        codec = codecs.lookup(name)
        is_known = codec._is_text_encoding and codec.name.replace("_", "-") not in _NO_FILES
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        is_known = False
    if not is_known:
        raise InputError(
            f"{name[:40]!r} is no encoding of text files{did_you_mean(name, sorted({*aliases, *aliases.values()}))}",
            fix='write for example "latin-1", "cp1252" or "utf-16"',
        ).at("encoding")
