"""Names of people and sources: two spellings that look alike are one name, so that they share one budget.

The one place that says which spellings are alike. Case is kept: nothing says whether "ana" and "Ana" are one person.
"""

from __future__ import annotations

import re
import unicodedata

from takifugu.core.errors import InputError
from takifugu.core.escaping import is_printable

#: Longer texts are not names; ordering long runs of combining marks takes quadratic time.
LONGEST = 4096

#: What Unicode calls White_Space, line ends and tabs among it.
_SPACES = re.compile("[\t-\r\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
#: What Unicode calls Default_Ignorable_Code_Point (zero width, soft hyphens, fillers, variation selectors), without
#: the controls of the writing direction.
_UNSEEN = re.compile(
    "[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
#: A whole number with a point behind it.
_NUMBER = re.compile(r"[+-]?[0-9]+\.0*")
_DIGITS = re.compile("[0-9]+")
_WHOLE = re.compile(r"[+-]?[0-9]+")


def normalised(text: str, what: str = "the name") -> str:
    """Return the one spelling of a name (NFC, Unicode Standard Annexes 9, 15 and 44), "" of what nobody sees."""
    # InputError for controls, changes of the writing direction and more than LONGEST characters; names may be private,
    # so that no message quotes one: `what` is the message's word for it
    _check_text(text, what)
    if text.isascii() and text.isalnum() and len(text) <= LONGEST:
        return text  # most names are, and there are many
    cleaned = _cleaned(text, what)
    if _NUMBER.fullmatch(cleaned):  # as programs write whole numbers
        return cleaned.partition(".")[0]
    return cleaned


def budget_name(text: str, what: str = "the name") -> str:
    """Return a budget's normalised name, a whole number without leading zeros and plus."""
    # programs that read 007 as a number have 7, who would have another budget; so have telephone numbers
    _check_text(text, what)
    if text.isascii() and text.isidentifier() and len(text) <= LONGEST:
        return text  # most names are, and there are many
    return without_zeros(normalised(text, what))


def _check_text(text: object, what: str) -> None:
    """Refuse a name that is no text, such as a number: which spelling of it is meant nobody knows."""
    if not isinstance(text, str):
        raise InputError(f"{what} is a {type(text).__name__}, and no text", fix="write it as one, such as '7'")


def without_zeros(name: str) -> str:
    """Return a normalised name, of numbers without leading zeros or plus."""
    if not name.isidentifier() and _WHOLE.fullmatch(name):
        return str(int(name))
    return name


def _cleaned(text: str, what: str) -> str:
    """Return a text in its visible form."""
    if text.isascii() and text.isprintable() and "  " not in text and text == text.strip() and len(text) <= LONGEST:
        return text
    if len(text) > LONGEST:
        raise InputError(f"{what} is longer than {LONGEST:,} characters", fix="write a shorter one")
    visible_text = unicodedata.normalize("NFC", _UNSEEN.sub("", text))
    spaced = _SPACES.sub(" ", visible_text).strip(" ")
    if not is_printable(spaced):
        raise InputError(
            f"{what} holds a control character, or one that changes the writing direction",
            fix="remove it, because two names that look alike must be one name",
        )
    return spaced


def natural(text: str) -> str:
    """Return a key to sort normalised names by their numbers: these stand before other signs."""

    def by_size(digits: re.Match[str]) -> str:
        number = digits[0].lstrip("0")
        return f"\x01{chr(len(number))}{number}{digits[0]}\0"  # equal ones sort as they are written

    return _DIGITS.sub(by_size, text)
