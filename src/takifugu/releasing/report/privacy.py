"""What a table keeps secret, in four lines that everybody reads: secret, guarantee, not protected, check."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from takifugu.core.assumptions import Kind
from takifugu.core.escaping import promised
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.files import PAGE
from takifugu.releasing.certificates.wording import (
    definition_of,
    longer_stays,
    odds_of,
    promise_text,
    secret_of,
)

#: So many states of a chain are told with their durations.
_MOST_STATES = 3


class Privacy(NamedTuple):
    """Four lines about privacy, without a full stop."""

    secret: str
    guarantee: str
    not_protected: str
    check: str

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Return the lines with their labels."""
        return tuple(zip(("Secret", "Guarantee", "Not", "Check"), self, strict=True))


def privacy_of(c: Certificate) -> Privacy:
    """Return the four lines of a certificate."""
    checks = [words.removesuffix(".") for words in (*c.doubts, *c.of_kind(Kind.CHECK))]
    usual = f"whether the assumptions in {c.release}{PAGE} are true"
    check = "; ".join(checks) or usual
    return Privacy(secret_of(c), _guarantee(c), not_protected(c), f"{check[:1].lower()}{check[1:]}")


def _guarantee(c: Certificate) -> str:
    odds = odds_of(c)
    if not odds:
        return promise_text(c)
    return f"{promised(Fraction(c.epsilon), Fraction(c.delta))}: {odds}, {_for_whom(c)}"


def _for_whom(c: Certificate) -> str:
    """Say what readers must believe for the guarantee."""
    if not c.beliefs:
        return "whatever they believe"
    if len(c.stays) != 1:
        return "if they believe the model" if len(c.beliefs) == 1 else "if they believe one of the models"
    spans = list(c.stays[0].lasting.items())
    if len(spans) > _MOST_STATES:
        return "if they believe the model"
    words = ", ".join(f"{state} {lasts.removeprefix('about ')}" for state, lasts in spans)
    return f"if they believe the model (mean durations: {words})"



def not_protected(c: Certificate) -> str:
    """Name what the guarantee leaves open, in short: changes of a day or a week where they have a price."""
    spans, stays = {} if c.window is None else c.window.spans, longer_stays(c)
    words = definition_of(c).not_in_short
    if spans:
        whose = f"a {c.person}'s whole" if c.scope != "all" else "the whole"
        words = f"{whose} {' or '.join(f'{span} (epsilon {cost})' for span, cost in spans.items())}"
    return f"{stays}; {words}" if stays else words
