"""The report of a release: one HTML file for people: what was requested, compared, chosen, published, and its meaning.

Everything in it is public: the noisy values, and what was known before they were drawn. It is made from the certificate
and the calibrations, neither of which holds data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from takifugu import definitions, explaining
from takifugu.calibration.result import CHOSEN, POSSIBLE, Alternative
from takifugu.certificates.certificate import (
    Certificate,
    composes,
    in_short,
    is_worded,
    meaning_of,
    noise_text,
    not_promised,
    pooled_over,
    promise_text,
)
from takifugu.errors import InputError
from takifugu.guarantee import Composition
from takifugu.pictures import Axis, Bar, Line, bar_chart, line_chart
from takifugu.postprocess.release import Release
from takifugu.postprocess.shown import number, shown
from takifugu.randomisers import answered
from takifugu.report.page import bullets, facts, figure, page, paragraph, table, terms, text
from takifugu.report.values import LEVEL, AllTables, OneTable, Reported, published
from takifugu.robustness import OFF_BY, OFF_HEADER, if_belief_off

#: How much is listed; the certificate has everything.
MOST_UNITS, MOST_BELIEFS = 40, 3

_MEANING = (
    "Somebody suspects a hidden fact before anything is published, and then reads this release. However they analyse "
    "it, this is how sure they can become, if what they believe about the data is among the beliefs above."
)
_WHOLE = "The noise covers every change of the whole data set: the promise holds whatever anyone believes."
_PRIORS = ("1 %", "10 %", "50 %", "90 %")


def report_html(subject: Release | OneTable | AllTables) -> str:
    """Return a release, a published table or all tables of a release file as one self-contained HTML page.

    It opens offline and fetches nothing; of the data it holds the noisy values only. Raises InputError for any other
    object.

    >>> import takifugu as tf
    >>> chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
    >>> calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Histogram(), epsilon=1)
    >>> report = report_html(tf.release(calibration, ["still", "walking", "walking", "still"]))
    >>> report.startswith("<!DOCTYPE html>"), "<script" in report
    (True, False)
    """
    tables = _tables(subject)
    articles = ["\n".join(["<article>", *_article(t), "</article>"]) for t in tables]
    names = ", ".join(t.name for t in tables)
    made = tables[0].certificate
    end = f"Made on {made.date} by {made.software}. Every number and belief is in the certificates (JSON)."
    return page(f"{names}: private release", [*articles, f"<footer>{text(end)}</footer>"])


def _tables(subject: Any) -> list[Reported]:
    if isinstance(subject, Release):
        unit = subject.certificate.units[0] if subject.certificate.scope == "unit" else None
        return [Reported(subject.certificate.release, subject.certificate, ((unit, subject),))]
    found = getattr(subject, "tables", (subject,))
    if not found or not all(hasattr(t, "releases") for t in found):
        raise InputError(
            f"a {type(subject).__name__} is not a release", fix="give what release() or publish() returned"
        )
    return [Reported(t.name, t.certificate, tuple(t.releases)) for t in found]


def _article(t: Reported) -> Iterator[str]:
    c = t.certificate
    source = f"Private release about the source {c.source!r}, {c.date}"
    lead = _sentence(f"{c.statistic}{_whose(c)}")
    yield f"<header>{paragraph(source, 'kind')}<h1>{text(t.name)}</h1>{paragraph(lead, 'lead')}</header>"
    for warning in c.warnings:
        yield paragraph(warning, "warning danger" if warning.startswith("NOT PRIVATE") else "warning")
    yield facts(_key_facts(t))
    yield "<h2>What was published</h2>"
    yield from (paragraph(_sentence(words)) for words in meaning_of(c))
    yield from published(t)
    yield "<h2>What was requested</h2>"
    yield _asked(c)
    yield "<h2>What was compared and chosen</h2>"
    yield from _compared(t)
    yield "<h2>What the promise means</h2>"
    yield from _meaning(c)
    yield "<h2>What is protected, and what is not</h2>"
    yield from _protected(c)


def _key_facts(t: Reported) -> Iterator[tuple[str, str]]:
    c = t.certificate
    halves = (answered(partial(answer.randomiser.half_width, LEVEL, t.cells)) for _, answer in t.answers)
    widths = sorted(half for half in halves if half is not None)
    yield "epsilon", _short(c.epsilon)
    if Fraction(c.delta):
        yield "delta", _short(c.delta)
    if widths:
        ends = [number(shown(w)) for w in dict.fromkeys((widths[0], widths[-1]))]
        yield "interval (95 %)", f"± {' to '.join(ends)}"
    yield "found by", ", ".join(c.mechanisms)
    yield "composes as", ", ".join(c.compositions)


def _whose(c: Certificate) -> str:
    return {"all": "", "unit": ", for each unit", "pooled": f", over {pooled_over(c)}"}[c.scope]


def _asked(c: Certificate) -> str:
    more = [f"and {len(c.beliefs) - MOST_BELIEFS} more of this kind"] if len(c.beliefs) > MOST_BELIEFS else []
    return terms([
        ("Publish", [f"{c.statistic}{_whose(c)}, from the source {c.source!r}"]),
        ("Units", [", ".join(c.units[:MOST_UNITS]) + (" ..." if len(c.units) > MOST_UNITS else "")] if c.units else []),
        ("Hide", c.hidden),
        ("From whom", [f"anyone who sees this release{' and believes about the data:' if c.beliefs else ''}"]),
        ("", [*c.beliefs[:MOST_BELIEFS], *more]),
    ])  # fmt: skip


def _compared(t: Reported) -> Iterator[str]:
    unit, release = t.noisiest
    calibration = release.calibration
    if calibration is None:
        yield paragraph(f"The noise was found by {_found_by(t.certificate)}. {_sentence(noise_text(t.certificate))}")
        return
    if t.by_unit and unit is not None:
        yield paragraph(f"Shown for {unit}, whose answer has the most noise of all {len(t.answers)} units.")
    rows = calibration.alternatives
    if not rows:
        yield paragraph(f"Nothing was compared: {calibration.mechanism} was requested by name.")
    else:
        words = calibration.error_words if calibration.randomiser.output.is_column else ""
        yield from _side_by_side(rows, words or "expected error, summed over the cells")
    yield terms([
        ("Chosen", [_found_by(t.certificate)]),
        ("Noise", [_sentence(noise_text(t.certificate))]),
        ("Forced by", [w for w in (calibration.witness.comparison,) if w]),
        ("Because", [w for w in (calibration.witness.detail,) if w]),
    ])  # fmt: skip


def _side_by_side(rows: Sequence[Alternative], error: str) -> Iterator[str]:
    """Yield the mechanisms that have an answer, in the registry's order, and why the others have none."""
    found = [row for row in rows if row.composition is not None]
    bars = [Bar(_marked(row), row.expected_error) for row in found if row.expected_error is not None]
    if len(bars) > 1:
        axis = Axis(error)
        note = "* not used: it promises less than was requested, or is refused by default."
        yield figure(
            lambda width: bar_chart(bars, axis, "Noise that each mechanism would add", width=width),
            note if any(bar.label.endswith("*") for bar in bars) else "",
        )
    chosen = next((i for i, row in enumerate(found) if row.status == CHOSEN), -1)
    header = ("mechanism", "scale", "expected error", "composes", "status")
    yield table(header, [row.cells for row in found], (1, 2), chosen=chosen, spare=(1, 3))
    reasons = dict.fromkeys((row.status, row.reason) for row in rows if row.reason)
    yield terms([
        (", ".join(row.name for row in rows if (row.status, row.reason) == why), [f"{why[0]}: {why[1]}"])
        for why in reasons
    ])  # fmt: skip


def _marked(row: Alternative) -> str:
    return row.name if row.status in (CHOSEN, POSSIBLE) else f"{row.name} *"


def _found_by(c: Certificate) -> str:
    return "; ".join(f"{name} ({source})" for name, source in c.mechanisms.items())


def _meaning(c: Certificate) -> Iterator[str]:
    if short := in_short(c):
        yield paragraph(_sentence(short[0]))
    yield paragraph(f"{_sentence(promise_text(c))}")
    epsilon, delta = Fraction(c.epsilon), Fraction(c.delta)
    if is_worded(c) and not definitions.find(c.definition).one_way:
        yield from _suspicions(epsilon, delta)
    if not c.beliefs:
        return
    yield "<h3>If the belief is inaccurate</h3>"
    if c.compositions == (str(Composition.WHOLE),):
        yield paragraph(_WHOLE)
        return
    yield table(OFF_HEADER, [row.cells for row in if_belief_off(epsilon, delta)], (0,), _sentence(OFF_BY))


def _suspicions(epsilon: Fraction, delta: Fraction) -> Iterator[str]:
    """Say what a suspicion can become; for definitions that compare hypotheses both ways."""
    if epsilon == 0:
        yield paragraph("With epsilon 0 nobody becomes any more or less sure of a hidden fact.")
        return
    yield paragraph(_MEANING)
    seen = [explaining.explain(prior, epsilon, delta) for prior in _PRIORS]
    if delta:
        yield bullets(explaining.sentence(s) for s in seen)
        return
    yield figure(lambda width: _suspicion_picture(float(epsilon), width))
    body = [
        (prior, explaining.percent(s.low, up=False), explaining.percent(s.high, up=True))
        for prior, s in zip(_PRIORS, seen, strict=True)
    ]
    yield table(("how sure before", "after, at least", "after, at most"), body, (0, 1, 2))


def _suspicion_picture(epsilon: float, width: int) -> str:
    between = [i / 50 for i in range(1, 50)]
    lines = [
        Line(name, [(0, 0), *((100 * p, 100 * explaining.posterior(p, factor)) for p in between), (100, 100)])
        for name, factor in (("at most", epsilon), ("unchanged", 0.0), ("at least", -epsilon))
    ]
    title = f"From before to after, epsilon {epsilon:.4g}"
    return line_chart(lines, Axis("how sure before, %"), Axis("how sure after, %"), title, width=width, height=300)


def _protected(c: Certificate) -> Iterator[str]:
    yield '<div class="sides"><div><h3>Protected</h3>'
    whom = "against everyone whose belief about the data is listed above"
    yield bullets([*c.hidden, whom if c.beliefs else "against everyone, whatever they believe about the data"])
    yield "<h3>Only if</h3>"
    yield bullets([*c.assumptions, *c.conditions])
    yield "</div><div><h3>Not protected</h3>"
    yield bullets(_unprotected(c))
    yield "<h3>Together with other releases</h3>"
    yield bullets(composes(c))
    yield "</div></div>"
    account = "no ledger" if c.ledger is None else f"ledger source {c.ledger}, release {c.release_id}"
    grid = f" Values are multiples of {c.grid}." if any(answer.values for answer in c.answers) else ""
    yield paragraph(f"Account: {account}.{grid}", "note")


def _unprotected(c: Certificate) -> Iterator[str]:
    yield from not_promised(c)
    if not c.beliefs or not any(answer.values for answer in c.answers):  # a randomised column says it above
        return
    if in_short(c):
        yield "single rows, and everything else about the records that is not listed as hidden"
        return
    yield "patterns over many entries, and what the published numbers say about everybody on average"
    yield "which units there are, how long their data are, and which of them are missing: these are taken as public"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('.') else '.'}"


def _short(value: str) -> str:
    return f"{float(Fraction(value)):.6g}"
