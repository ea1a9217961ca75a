"""What the words in the name of a column say: whose rows it names, and which way degrees go."""

from __future__ import annotations

import re
import unicodedata

from takifugu.core.people import PEOPLE, People


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words that say whose row it is in a sentence, too: a column of such a name names those whose data there are.
NOUNS = _words(
    "person participant user subject patient individual respondent customer client member student employee worker "
    "child pupil resident citizen driver visitor passenger guest nurse doctor physician teacher tenant athlete player "
    "owner device phone sensor station machine vehicle car meter household home house animal cow dog bird horse card "
    "family couple farm firm company school class village room flat bay ride clinic hospital shop van bus bike agent"
)
#: Words beside them that say only that it is a name.
NAMING = _words("id uid pid name nr no number key code")
_PEOPLE = _words("who whose person people")
#: Words in the names of columns of degrees.
NORTH = _words("lat latitude latitud latitudine breite breitengrad")
EAST = _words("lon lng long longitude longitud longitudine lange langengrad")
#: The largest longitude, which some count from 0 to 360, and the largest latitude.
MOST_DEGREES = (360, 90)


def words_in(name: str) -> frozenset[str]:
    """Return the words of a name, in small letters without accents."""
    split_name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKD", name)).lower()
    letters = "".join(sign for sign in split_name if not unicodedata.combining(sign))
    return frozenset(word for word in re.split(r"[\W\d_]+", letters) if word)


def is_told(column: str) -> bool:
    """Return whether the name of a column says whose rows it names: by a noun, or as that of people."""
    return words_in(column) <= NAMING | _PEOPLE or people_of(column) is not PEOPLE


def people_of(column: str | None, called: str | None = None) -> People:
    """Return the noun for a column's people: the declared one, or else that of its name."""
    if called is not None:
        return People(called, are_named=column is not None)
    if column is None:
        return People(are_named=False)
    nouns = words_in(column) - NAMING
    return People(min(nouns)) if len(nouns) == 1 and nouns <= NOUNS else PEOPLE
