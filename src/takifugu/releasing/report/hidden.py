"""What a report says of the promise: what is hidden and from whom, what that means, and what is not hidden."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from takifugu.accounting import definitions, suspicion
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.robustness import OFF_BY, OFF_HEADER, if_belief_off
from takifugu.core.escaping import number
from takifugu.core.text.curves import Line, line_chart
from takifugu.core.text.scales import Axis
from takifugu.releasing.certificates.certificate import (
    Certificate,
    composes,
    in_short,
    is_worded,
    not_promised,
    stay_words,
)
from takifugu.releasing.report.page import bullets, figure, paragraph, sentence, table

#: How many beliefs are listed; the certificate has them all.
MOST_BELIEFS = 3

_MEANING = (
    "Somebody suspects a hidden fact before anything is published, and then reads this release. However they analyse "
    "it, this is how sure they can become, if what they believe about the data is among the beliefs above."
)
_WHOLE = "The noise covers every change of the whole data set: the promise holds whatever anyone believes."
_PRIORS = ("1 %", "10 %", "50 %", "90 %")


def hidden(c: Certificate) -> Iterator[str]:
    """Yield what is hidden from whom, in words and in numbers."""
    if short := in_short(c):
        yield paragraph(sentence(short[0]))
    yield "<h3>Hidden</h3>"
    yield bullets(c.hidden)
    yield "<h3>From whom</h3>"
    if not c.beliefs:
        yield paragraph("Anyone who sees this release, whatever they believe about the data.")
    else:
        yield paragraph("Anyone who sees this release and believes about the data:")
        more = [f"and {len(c.beliefs) - MOST_BELIEFS} more of this kind"] if len(c.beliefs) > MOST_BELIEFS else []
        yield bullets([*c.beliefs[:MOST_BELIEFS], *more])
    yield from (paragraph(sentence(words)) for words in stay_words(c))
    epsilon, delta = Fraction(c.epsilon), Fraction(c.delta)
    if is_worded(c) and not definitions.find(c.definition).one_way:
        yield "<h3>How sure somebody can become</h3>"
        yield from _suspicions(c.release, epsilon, delta)


def not_hidden(c: Certificate) -> Iterator[str]:
    """Yield what is not hidden: by the definition, by windows, under other beliefs, together with other releases."""
    yield bullets(_unprotected(c))
    if c.window is not None and c.window.not_hidden:
        yield "<h3>What lasts as long as the window</h3>"
        yield paragraph(f"Each step is hidden; {c.window.not_hidden}.")
    yield "<h3>The promise holds only if</h3>"
    yield bullets([*c.assumptions, *([] if c.window is None else [c.window.words]), *c.conditions])
    if c.beliefs:
        yield "<h3>If the belief is inaccurate</h3>"
        if all(answer.covers == Covers.EVERYTHING for answer in c.answers):
            yield paragraph(_WHOLE)
        else:
            rows = [row.cells for row in if_belief_off(Fraction(c.epsilon), Fraction(c.delta))]
            yield table(f"The promise of {c.release} for other beliefs", OFF_HEADER, rows, (0,), sentence(OFF_BY))
    yield "<h3>Together with other releases</h3>"
    yield bullets(composes(c))


def _suspicions(name: str, epsilon: Fraction, delta: Fraction) -> Iterator[str]:
    """Say what a suspicion can become; for definitions that compare hypotheses both ways."""
    if epsilon == 0:
        yield paragraph("With epsilon 0 nobody becomes any more or less sure of a hidden fact.")
        return
    yield paragraph(_MEANING)
    seen = [suspicion.explain(prior, epsilon, delta) for prior in _PRIORS]
    if delta:
        yield bullets(suspicion.sentence(s) for s in seen)
        return
    yield figure(lambda width: _suspicion_picture(float(epsilon), width))
    body = [
        (prior, suspicion.percent(s.low, up=False), suspicion.percent(s.high, up=True))
        for prior, s in zip(_PRIORS, seen, strict=True)
    ]
    header = ("how sure before", "after, at least", "after, at most")
    yield table(f"Suspicions before and after {name}", header, body, (0, 1, 2))


def _suspicion_picture(epsilon: float, width: int) -> str:
    between = [i / 50 for i in range(1, 50)]
    lines = [
        Line(name, [(0, 0), *((100 * p, 100 * suspicion.posterior(p, factor)) for p in between), (100, 100)])
        for name, factor in (("at most", epsilon), ("unchanged", 0.0), ("at least", -epsilon))
    ]
    title = f"From before to after, epsilon {number(epsilon, digits=4)}"
    return line_chart(lines, Axis("how sure before, %"), Axis("how sure after, %"), title, width=width, height=300)


def _unprotected(c: Certificate) -> Iterator[str]:
    yield from not_promised(c)
    if not c.beliefs or not any(answer.values for answer in c.answers):  # a randomised column says it above
        return
    if in_short(c):
        yield "single rows, and everything else about the records that is not listed as hidden"
        return
    yield "patterns over many rows, and what the published numbers say about everybody on average"
    which = f"which {c.people.many} there are, how long their data are, and which of them are missing"
    yield f"{which}: these are taken as public"
