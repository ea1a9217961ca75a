"""What the words in the name of a column say: whose rows it names, in some languages, and which way degrees go."""

from __future__ import annotations

import re
import unicodedata

from takifugu.core.people import PEOPLE, People


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Nouns of people, of what several of them may use, and of others that have rows of their own.
INDIVIDUALS = _words(
    "person participant user subject patient individual respondent customer client member student employee worker "
    "child pupil resident citizen driver visitor passenger guest nurse doctor physician teacher tenant athlete player "
    "owner who"
)
THINGS = _words("device phone sensor station machine vehicle car meter")
_OTHERS = _words("household home house animal cow dog bird horse card")
#: What those are called in English whose rows a column of such a name holds.
_IN_ENGLISH = dict[str, str]()
for _noun, _foreign in {
    "person": "personne persona", "participant": "teilnehmer teilnehmerin proband probandin",
    "patient": "patientin paciente", "customer": "kunde kundin cliente", "subject": "sujet sujeto soggetto",
    "user": "nutzer nutzerin benutzer utilisateur usuario utente", "device": "gerat gerate",
    "household": "haushalt menage hogar", "employee": "mitarbeiter mitarbeiterin personalnummer personalnr",
    "meter": "zahler", "machine": "maschine", "pupil": "schuler schulerin", "vehicle": "fahrzeug",
}.items():  # fmt: skip
    _IN_ENGLISH |= dict.fromkeys(_foreign.split(), _noun)
#: Words that say whose row it is in a sentence, too: a column of such a name names those whose data there are.
NOUNS = (INDIVIDUALS - {"who"}) | THINGS | _OTHERS | _words("family couple farm firm company school class village")
#: Words beside them that say only that it is a name.
NAMING = _words("id uid pid name nr no number key code")
#: Words in the names of columns of degrees.
NORTH = _words("lat latitude latitud latitudine breite breitengrad")
EAST = _words("lon lng long longitude longitud longitudine lange langengrad")


def words_in(name: str) -> frozenset[str]:
    """Return the words of a name, in small letters without accents.

    >>> sorted(words_in("GPS_Länge"))
    ['gps', 'lange']
    """
    split_name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKD", name)).lower()
    letters = "".join(sign for sign in split_name if not unicodedata.combining(sign))
    return frozenset(word for word in re.split(r"[\W\d_]+", letters) if word)


def people_of(column: str | None) -> People:
    """Return the noun for a column's people.

    >>> people_of("household_id").many, people_of("userId").one, people_of("who").many, people_of(None).are_named
    ('households', 'user', 'people', False)
    >>> people_of("Geräte-ID").many, people_of("Ménage").many
    ('devices', 'households')
    """
    if column is None:
        return People(are_named=False)
    nouns = {_IN_ENGLISH.get(word, word) for word in words_in(column) - NAMING}
    return People(min(nouns)) if len(nouns) == 1 and nouns <= NOUNS else PEOPLE
