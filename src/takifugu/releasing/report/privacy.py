"""What a table keeps secret, in four lines that everybody reads: secret, guarantee, not protected, check."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from takifugu.core.assumptions import Kind
from takifugu.core.escaping import promised
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.facts import Caution
from takifugu.releasing.certificates.files import PAGE
from takifugu.releasing.certificates.wording import (
    definition_of,
    longer_stays,
    odds_of,
    promise_text,
    secret_of,
)

#: Cautions that are told before the lines, of all tables.
_TOLD_ABOVE = (Caution.REHEARSAL, Caution.NOT_PRIVATE, Caution.NO_LEDGER)
#: So many states of a chain are told with their durations, by so many matrices.
_MOST_STATES, _MOST_MATRICES = 3, 4


class Privacy(NamedTuple):
    """Four lines about privacy, without a full stop; `odds` are those of the guarantee, "" where nothing is known."""

    secret: str
    guarantee: str
    not_protected: str
    check: str
    odds: str

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Return the lines with their labels."""
        return tuple(zip(("Secret", "Guarantee", "Not", "Check"), self[:-1], strict=True))


def privacy_of(c: Certificate) -> Privacy:
    """Return the four lines of a certificate."""
    cautions = [words for caution, words in zip(c.cautions, c.warnings, strict=True) if caution not in _TOLD_ABOVE]
    checks = []
    for words in (*c.doubts, *cautions, *c.of_kind(Kind.CHECK)):
        checks.append(words[:1].lower() + words[1:].removesuffix("."))
    usual = f"whether the assumptions in {c.release}{PAGE} are true"
    check, odds = "; ".join(checks) or usual, odds_of(c)
    if odds:
        odds = f"{odds}, {_for_whom(c)}"
    guarantee = f"{promised(Fraction(c.epsilon), Fraction(c.delta))}: {odds}" if odds else promise_text(c)
    return Privacy(secret_of(c), guarantee, not_protected(c), check, odds)


def _for_whom(c: Certificate) -> str:
    """Say what readers must believe for the guarantee."""
    if not c.beliefs:
        return "whatever they believe"
    is_one = c.stays or len(c.beliefs) == 1  # a chain of recordings of several lengths is one model
    model = "if they believe the model" if is_one else "if they believe one of the models"
    if not 0 < len(c.stays) <= _MOST_MATRICES or len(c.stays[0].lasting) > _MOST_STATES:
        return model
    spans = []
    for state in c.stays[0].lasting:
        each = list(dict.fromkeys(stay.lasting[state].removeprefix("about ") for stay in c.stays))
        spans.append(f"{state} {' or '.join(filter(None, (', '.join(each[:-1]), each[-1])))}")
    by = c.stays[0].cells.partition(" ")[0]
    return f"{model} (mean durations{f' by {by}' if by else ''}: {', '.join(spans)})"


def not_protected(c: Certificate) -> str:
    """Name the changes that the guarantee leaves open, of a day or a week where they have a price."""
    stays, spans = longer_stays(c), {} if c.window is None else c.window.spans
    words = definition_of(c).not_in_short(c.many)
    if spans:
        whose = f"{c.people.a_one}'s whole" if c.scope != "all" else "the whole"
        # one below the promise has none here: it is that of a reader who knows all other steps
        prices = {span: f" (epsilon {cost})" * (Fraction(cost) > Fraction(c.epsilon)) for span, cost in spans.items()}
        words = f"{whose} {' or '.join(f'{span}{price}' for span, price in prices.items())}"
    return f"{stays}; {words}" if stays else words
