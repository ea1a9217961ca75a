"""Names near one that nobody knows: what a message lists, and which one was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

from takifugu.core.errors import InputError

#: So many names are listed whole where an unknown one is refused.
FEW = 6
#: Letters that are easily taken for each other, and capitals for small ones.
_ALIKE = str.maketrans("ABCDEFGHJKMNPQRSTUVWXYZOIL0l|", "abcdefghjkmnpqrstuvwxyzo11o11")


def first_of(declared: Iterable[object]) -> str:
    """Return declared values for a message, all of them if few."""
    words = list(map(str, declared))
    if len(words) <= FEW:
        return f"{words}"
    return f"{words[:3]} and {len(words) - 3} more"


def did_you_mean(word: object, choices: Iterable[object]) -> str:
    """Return `; did you mean 'x'?` for the nearest word, or ""."""
    meant = likeliest(word, choices)
    return "" if meant is None else f"; did you mean {meant!r}?"


def spelt_alike(word: object, columns: Iterable[object]) -> str:
    """Return `; its column 3 is spelt alike`, or "", for names that may be a row, and are not told."""
    names = list(map(str, columns))
    meant = likeliest(word, names)
    return "" if meant is None else f"; its column {names.index(meant) + 1} is spelt alike"


def likeliest(word: object, choices: Iterable[object]) -> str | None:
    """Return the word that was probably meant, None where none is near."""
    close = _close(word, list(map(str, choices)), 0.6)
    return min(close, key=lambda name: apart(str(word), name), default=None)


def apart(first: str, second: str) -> float:
    """Count the letters wrong, missing, too many or swapped between two words; look-alikes count less."""
    before, row = [0.0], list(map(float, range(len(second) + 1)))
    for i, letter in enumerate(first, start=1):
        last, before, row = before, row, [float(i)]
        for j, other in enumerate(second, start=1):
            row.append(min(before[j - 1] + _difference(letter, other), before[j] + 1, row[j - 1] + 1))
            if i > 1 and j > 1 and (letter, first[i - 2]) == (second[j - 2], other):
                row[j] = min(row[j], last[j - 2] + 1)
    return row[-1]


def _difference(letter: str, other: str) -> float:
    if letter == other:
        return 0
    if letter.translate(_ALIKE) == other.translate(_ALIKE):
        return 0.25
    return 1


def nearest_words(word: object, choices: Iterable[object]) -> list[str]:
    """Return the three nearest words, the nearest first; few in their order."""
    words = list(dict.fromkeys(map(str, choices)))
    if len(words) <= FEW:
        return words
    close = sorted(_close(word, words, 0.6), key=lambda name: apart(str(word), name))
    far = _close(word, words, 0)
    return list(dict.fromkeys([*close, *far, *words]))[:3]


def _close(word: object, words: list[str], cutoff: float) -> list[str]:
    """Return the words that are as near as that, the nearest first."""
    from difflib import get_close_matches  # for mistakes alone

    return get_close_matches(str(word), words, n=len(words) or 1, cutoff=cutoff)


def nearest(word: object, choices: Iterable[object]) -> str:
    """Return a message's choice of three nearest words, or of all few."""
    words = list(dict.fromkeys(map(str, choices)))
    near_words = nearest_words(word, words)
    more = len(words) - len(near_words)
    if more:
        return f"one of {near_words} or {more} more"
    return f"one of {near_words}"


def _typed(value: object) -> str:
    """Return a value with the word for its type."""
    return f"the text {value!r}" if isinstance(value, str) else f"the number {value!r}"


def unknown(what: str, word: object, choices: Iterable[object]) -> InputError:
    """Return the error for a word that is none of the choices; of another type one is written as in Python."""
    words = list(choices)
    alike = [choice for choice in words if str(choice) == str(word) and choice != word]
    if alike:  # a number and the text of it are two values
        rule = f"the value is {_typed(alike[0])}, and not {_typed(word)}"
        return InputError(what, rule=rule, fix=f"write {alike[0]!r}")
    return InputError(what, fix=f"write {nearest(word, words)}{did_you_mean(word, words)}")
