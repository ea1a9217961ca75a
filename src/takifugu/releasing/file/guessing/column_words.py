"""What the words in the name of a column suggest, in some languages."""

from __future__ import annotations

import re
import unicodedata

from takifugu.core.people import PEOPLE, People


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Nouns of people, of what several of them may use, and of others that have rows of their own.
INDIVIDUALS = words(
    "person participant user subject patient individual respondent customer client member student employee worker "
    "child pupil resident citizen driver visitor passenger guest nurse doctor physician teacher tenant athlete player "
    "owner who"
)
THINGS = words("device phone sensor station machine vehicle car meter")
_OTHERS = words("household home house animal cow dog bird horse card")
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
NOUNS = (INDIVIDUALS - {"who"}) | THINGS | _OTHERS | words("family couple farm firm company school class village")
INDIVIDUALS |= {foreign for foreign, noun in _IN_ENGLISH.items() if noun in INDIVIDUALS}
THINGS |= {foreign for foreign, noun in _IN_ENGLISH.items() if noun in THINGS}
#: Words in a column's name that suggest a role.
WORDS = {
    "unit": INDIVIDUALS | THINGS | _OTHERS | _IN_ENGLISH.keys() | words("id uid pid name wer") | {"unit"},
    "recording": words(
        "piece segment bout session run trip episode block night visit recording part sequence seq track stay"
    ),
    "order": words(
        "order time timestamp ts date datetime minute min hour second sec day week month year step t tick index idx "
        "position pos frame epoch at when nr number zeit uhr stunde tag jahr heure jour annee hora dia ora giorno "
        "shift schicht round"
    ),
    "value": words(
        "value state status activity posture behaviour behavior label class category mode event condition location "
        "place room zone level diagnosis result code action phase stage symptom "
        "zustand betriebsart tatigkeit statut etat estado stato"
    ),
}
#: Words beside them that say only that it is a name.
NAMING = words("id uid pid name nr no number key code")
#: Words of the names of people; beside another word "name" is that of something else.
OF_PEOPLE = words("name full first last given family original display nick")
#: Words in the name of a column that only counts rows.
NUMBERING = words("nr no number nummer num lfd row zeile line index idx record")
#: Words in a column's name that say when something was: such a column is no unit.
WHEN = words(
    "date datum datetime timestamp time day month year week hour minute second stunde tag monat jahr heure jour mois "
    "annee hora dia mes ano ora giorno kw woche semaine semana settimana"
)
#: Words in the names of columns of dates that say how old somebody is.
BIRTH = words("birth born geburt geburtsjahr naissance nacimiento founded gegrundet")
#: Words in the name of a column of times of day.
CLOCK = words("time clock hhmm uhr uhrzeit zeit heure hora ora")
#: Words in the name of a column of hours of the day.
HOURS = words("hour hr h stunde std heure hora ora uhr uhrzeit")
#: Words in the name of a column of durations, and what a 1 of it is worth if the name says that.
LASTING = words("duration dauer duree duracion durata length los lasted elapsed verweildauer")
WORTH = {
    "1s": words("seconds secs sec sekunden secondes segundos secondi"),
    "1min": words("minutes mins min minuten minutos minuti"),
    "1h": words("hours hrs stunden heures horas ore"),
    "1d": words("days tage jours dias giorni nights nachte"),
}
#: Words in the name of a column that says how large or how many, the ends of such words, and those that begin it.
_SIZES = words(
    "size count headcount amount quantity große grosse groesse menge anzahl zahl taille nombre effectif tamano "
    "cantidad numerosita dimensione quantita"
)
_SIZE_ENDS = ("große", "grosse", "groesse", "anzahl", "zahl")
_NUMBER_OF = words("n nb nbr nbre")
_PLURALS = words("children people enfants kinder personen menschen haushalte einwohner beschaftigte")
_PLURALS |= {f"{noun}s" for noun in WORDS["unit"]} | {f"{noun}es" for noun in WORDS["unit"]}
#: Nouns of what several people share.
TOGETHER = words(
    "household home house family haushalt menage hogar familie famille familia foyer couple room zimmer chambre class "
    "klasse classe team equipe"
)
#: Words in the name of a column whose numbers only identify, where each row has another.
IDENTIFIERS = NAMING - {"name"} | words("nif cif siren siret vat iban ssn matricule kennung nummer")
#: Words in the names of columns of degrees.
NORTH = words("lat latitude latitud latitudine breite breitengrad")
EAST = words("lon lng long longitude longitud longitudine lange langengrad")
#: Words in the names of columns that name places, companies, and figures of companies.
PLACE = words("place poi venue location stop spot cell tower ort lieu lugar luogo")
COMPANY = words(
    "company firm business enterprise corporation supplier branch store shop firma unternehmen betrieb entreprise "
    "societe empresa azienda"
)
FIGURES = words(
    "turnover revenue sales profit employees headcount assets equity umsatz gewinn mitarbeiter effectif ventas "
    "ingresos fatturato"
)
#: Words in the names of the two ends of a contact.
ENDS = tuple(
    tuple(pair.split()) for pair in (
        "i j", "source target", "src dst", "from to", "sender receiver", "sender recipient", "caller callee",
        "ego alter", "one other", "who whom", "von an", "von nach", "de a", "da a",
    )
)  # fmt: skip


def words_in(name: str) -> frozenset[str]:
    """Return the words of a name, in small letters without accents.

    >>> sorted(words_in("GPS_Länge"))
    ['gps', 'lange']
    """
    return frozenset(_spelt(name))


def _spelt(name: str) -> list[str]:
    split_name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKD", name)).lower()
    letters = "".join(sign for sign in split_name if not unicodedata.combining(sign))
    return [word for word in re.split(r"[\W\d_]+", letters) if word]


def says_how_many(name: str) -> bool:
    """Return whether a column's name means a size, number or plural.

    >>> [says_how_many(name) for name in ("Größe_Haushalt", "Kinderzahl", "n_person", "number of users", "Employees")]
    [True, True, True, True, True]
    >>> [says_how_many(name) for name in ("household", "patient number", "número de cliente", "users_id", "n° patient")]
    [False, False, False, False, False]
    """
    parts = _spelt(name)
    if not parts or {"id", "uid", "pid", "key", "code", "name"}.intersection(parts):
        return False
    plural = not _PLURALS.isdisjoint(parts)
    of_one = "°" in name and not WORDS["unit"].isdisjoint(parts)  # n° patient: which, not how many
    numbered = len(parts) > 1 and not of_one and (parts[0] in _NUMBER_OF or parts[:2] == ["number", "of"])
    return plural or numbered or any(word in _SIZES or word.endswith(_SIZE_ENDS) for word in parts)


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
