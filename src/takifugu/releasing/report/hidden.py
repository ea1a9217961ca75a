"""What a report says of the promise: what is hidden and from whom, what that means, and what is not hidden."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from takifugu.accounting import definitions, suspicion
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.robustness import OFF_BY, OFF_HEADER, if_belief_off
from takifugu.core.escaping import at_most
from takifugu.core.text.curves import Line, line_chart
from takifugu.core.text.scales import Axis
from takifugu.model.secrets import OF_FACTS
from takifugu.releasing.certificates.certificate import (
    Certificate,
    compares_some,
    in_short,
    is_worded,
    not_promised,
    secrets_of,
)
from takifugu.releasing.report.page import Block, Bullets, Figure, Table, Words, sentence

_MEANING = (
    "Somebody suspects a hidden fact before anything is published, and then reads this release. However they analyse "
    "it, this is how sure they can become, if what they believe about the data is among the beliefs above."
)
_WHOLE = "The noise covers every change of the whole data set: the promise holds whatever anyone believes."
_PER_DISTANCE = (
    "Where a belief differs from the listed ones by a factor of at most e^Delta given each hypothesis, two populations "
    "at distance d keep epsilon d + 2 Delta."
)
_PRIORS = ("1 %", "10 %", "50 %", "90 %")


def if_off(c: Certificate) -> Block:
    """Return the promise under an inaccurate belief."""
    if all(answer.covers == Covers.EVERYTHING for answer in c.answers):
        return Words(_WHOLE)
    if definitions.find(c.definition).per_distance:
        return Words(_PER_DISTANCE)
    kinds = {secret["kind"] for secret in secrets_of(c)}
    off = if_belief_off(Fraction(c.epsilon), Fraction(c.delta), OF_FACTS.issuperset(kinds))
    rows = [row.cells for row in off]
    return Table(f"The promise of {c.release} for other beliefs", OFF_HEADER, rows, (0,), sentence(OFF_BY))


def suspicions(c: Certificate) -> Iterator[Block]:
    """Yield the growth of a suspicion, if hypotheses are compared both ways."""
    if not is_worded(c) or definitions.find(c.definition).one_way:
        return
    if definitions.find(c.definition).per_distance:
        yield from map(Words, definitions.find(c.definition).in_numbers(Fraction(c.epsilon), Fraction(c.delta)))
        return
    epsilon, delta = Fraction(c.epsilon), Fraction(c.delta)
    if epsilon == 0:
        yield Words("With epsilon 0 nobody becomes any more or less sure of a hidden fact.")
        return
    meaning = _MEANING
    if compares_some(c):
        meaning = f"{_MEANING} {suspicion.OF_SOME}"
    yield Words(meaning)
    explained = [suspicion.explain(prior, epsilon, delta) for prior in _PRIORS]
    if delta:
        yield Bullets(list(map(suspicion.sentence, explained)))
        return
    yield Figure(lambda width: _suspicion_picture(float(epsilon), width))
    body = list[tuple[str, str, str]]()
    for prior, s in zip(_PRIORS, explained, strict=True):
        body.append((prior, suspicion.percent(s.low, up=False), suspicion.percent(s.high, up=True)))
    header = ("how sure before", "after, at least", "after, at most")
    yield Table(f"Suspicions before and after {c.release}", header, body, (0, 1, 2))


def _suspicion_picture(epsilon: float, width: int) -> str:
    lines = list[Line]()
    for name, factor in (("at most", epsilon), ("unchanged", 0.0), ("at least", -epsilon)):
        between = [(100 * p, 100 * suspicion.posterior(p, factor)) for p in (i / 50 for i in range(1, 50))]
        lines.append(Line(name, [(0, 0), *between, (100, 100)]))
    title = f"From before to after, epsilon {at_most(epsilon, digits=4)}"
    return line_chart(lines, Axis("how sure before, %"), Axis("how sure after, %"), title, width=width, height=300)


def not_hidden(c: Certificate) -> Iterator[str]:
    """Yield the facts left open by definition, beliefs or publicity."""
    yield from not_promised(c)
    if not c.beliefs or not any(answer.values for answer in c.answers):  # a randomised column says it above
        return
    if in_short(c):
        yield "single rows, and everything else about the records that is not listed as hidden"
        return
    yield "patterns over many rows, and what the published numbers say about everybody on average"
    units = f"which {c.people.many} there are, how long their data are, and which of them are missing"
    yield f"{units}: these are taken as public"
