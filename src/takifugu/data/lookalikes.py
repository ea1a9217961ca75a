"""Texts of the data that were perhaps meant to be a declared value: refused, because each would count as another one.

One rule for every engine, applied to the different texts of a column: a text that is not declared is refused where it
equals a declared one up to case, accents and white space, or, with five letters or more and no digit, up to one typing
error (a letter too many, too few, another or two swapped: Damerau-Levenshtein distance 1).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from takifugu.core.errors import DataError

#: A text with fewer letters is as likely another word as a mistyped one.
LETTERS = 5


class Lookalikes:
    """The declared texts, by what they look like."""

    def __init__(self, declared: Iterable[str]) -> None:
        self.declared = frozenset(declared)
        self.folded: dict[str, str] = {}
        self.shorter: dict[str, set[str]] = {}
        for text in sorted(self.declared):
            plain = folded(text)
            self.folded.setdefault(plain, text)
            for near in _without_one(plain):
                self.shorter.setdefault(near, set()).add(plain)

    def __call__(self, text: str) -> str | None:
        """Return the declared text resembling an undeclared one, if any."""
        if text in self.declared:
            return None
        plain = folded(text)
        if not plain or plain in self.folded:
            return self.folded.get(plain)
        if sum(map(str.isalpha, plain)) < LETTERS or any(map(str.isdigit, plain)):
            return None
        near = set(self.shorter.get(plain, ()))
        for cut in _without_one(plain):
            near |= self.shorter.get(cut, set()) | {cut} & self.folded.keys()
        return min((self.folded[other] for other in near if one_error_apart(plain, other)), default=None)


@lru_cache(maxsize=2**16)
def folded(text: str) -> str:
    """Return a text without case, accents and white space."""
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(x for x in letters if not unicodedata.combining(x) and not x.isspace() and x.isprintable())


def one_error_apart(one: str, other: str) -> bool:
    """Return whether two texts differ by one letter more, fewer or other, or by two neighbours swapped."""
    if len(one) > len(other):
        one, other = other, one
    start = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), len(one))
    if len(one) < len(other):
        return len(other) - len(one) == 1 and one[start:] == other[start + 1 :]
    tail, other_tail = one[start:], other[start:]
    if not tail:
        return False
    return tail[1:] == other_tail[1:] or (tail[:2] == other_tail[1::-1] and tail[2:] == other_tail[2:])


def _without_one(text: str) -> Iterator[str]:
    return (text[:i] + text[i + 1 :] for i in range(len(text)))


def refuse_lookalikes(found: Iterable[tuple[str | None, int]], declared: Iterable[str], column: str, key: str) -> None:
    """Raise DataError for an undeclared text that resembles a declared one; `found` has the row of each text."""
    like = Lookalikes(declared)
    for text, row in found:
        if text and like(text) is not None:
            # the text would be the row's private value, and errors end in logs and mails
            raise DataError(
                f"row {row}: a value in {column} that is a declared one up to case, accents, blanks or one typing "
                "error",
                rule="it would count as another value",
                fix="write it as it is declared, such as by lower(trim(...)); or declare it, too",
            ).at(key)
