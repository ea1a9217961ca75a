"""The report of a release: one HTML file for people.

First the picture, how accurate and how private the table is, and what is not protected; then the numbers, the
assumptions, how sure a reader can become, and how the noise was chosen. All of it is public: the noisy values, and what
was known before they were drawn. It is made from the certificate and the calibrations, neither of which holds data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from takifugu.accounting import definitions, suspicion
from takifugu.analysis.guarantee import Composition, Covers
from takifugu.analysis.robustness import OFF_BY, OFF_HEADER, if_belief_off
from takifugu.calibration.alternatives import CHOSEN, Alternative, drawn_errors
from takifugu.core.assumptions import Kind, sentence
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.escaping import at_most
from takifugu.core.text.curves import Line, line_chart
from takifugu.core.text.scales import Axis
from takifugu.core.text.tables import shortened
from takifugu.model.secrets import OF_FACTS
from takifugu.releasing.advice.advising import worth_of
from takifugu.releasing.certificates.cells import READABLE
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.facts import Caution
from takifugu.releasing.certificates.files import CERTIFICATE, DATA, DRAWING, PACKAGE, PLACES, TABLE
from takifugu.releasing.certificates.wording import (
    about,
    account_text,
    charged,
    compares_some,
    composes,
    groups,
    is_worded,
    meaning_of,
    mechanisms_of,
    noise_text,
    promise_text,
    secrets_of,
    statistic_of,
)
from takifugu.releasing.postprocess.release import Release
from takifugu.releasing.report.beside import beside
from takifugu.releasing.report.outcomes import Outcome, published_of
from takifugu.releasing.report.page import Block, Bullets, Column, Figure, Gallery, Table, Terms, Words, page
from takifugu.releasing.report.privacy import privacy_of
from takifugu.releasing.report.published import Published, accuracy, farthest_end, verdict_of
from takifugu.releasing.report.values import published

_MEANING = (
    "A reader suspects a secret before the release, and then reads the table. This is how sure they can become, "
    "however they analyse it, if they believe one of the stated models."
)
_WHOLE = "The noise covers every change of the whole data set: the guarantee holds whatever anyone believes."
_NOT_SAMPLING = "The error is random noise added for privacy. It says nothing about other {people} or times."
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
    return Table(f"The guarantee of {c.release} for other models", OFF_HEADER, rows, (0,), sentence(OFF_BY))


def suspicions(c: Certificate) -> Iterator[Block]:
    """Yield the growth of a suspicion, if hypotheses are compared both ways."""
    if not is_worded(c) or definitions.find(c.definition).one_way:
        return
    if definitions.find(c.definition).per_distance:
        yield from map(Words, definitions.find(c.definition).in_numbers(Fraction(c.epsilon), Fraction(c.delta)))
        return
    epsilon, delta = Fraction(c.epsilon), Fraction(c.delta)
    if epsilon == 0:
        yield Words("With epsilon 0 nobody becomes any more or less sure of a secret.")
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


#: How cautions look that do not look like the others.
_LOOKS = {Caution.NOT_PRIVATE: "warning danger", Caution.REHEARSAL: "warning danger"}
#: How much is listed; the certificate has everything.
MOST_BELIEFS, MOST_UNITS = 3, 40
#: What is offered below the values, by the ends of the files.
DOWNLOADS = {
    TABLE: "table (CSV)", DATA: "table (JSON)", PLACES: "places (GeoJSON)", DRAWING: "picture (SVG)",
    PACKAGE: "description (Data Package)", CERTIFICATE: "certificate (JSON)",
}  # fmt: skip


def report_html(subject: Release | Published | Outcome) -> str:
    """Write published tables as one self-contained HTML page.

    The page opens offline and fetches nothing. Of the data it holds the noisy values only. The verdict comes from the
    release file, else from the means of the belief.

    Args:
        subject: A release, a published table, or the outcome of a release file.

    Returns:
        The page.

    Raises:
        InputError: For any other object.

    Examples:
        >>> import takifugu as tf
        >>> chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
        >>> calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Histogram(), epsilon=1)
        >>> report = report_html(tf.release(calibration, ["still", "walking", "walking", "still"]))
        >>> report.startswith("<!DOCTYPE html>"), "<script" in report
        (True, False)
    """
    if isinstance(subject, Release):
        subject = _alone(subject)
    tables = subject.tables if isinstance(subject, Outcome) else (subject,)
    if not tables or not all(isinstance(table, Published) for table in tables):
        raise InputError(
            f"a {type(subject).__name__} is not a release", fix="give what release() or publish() returned"
        )
    names = ", ".join(dict.fromkeys(t.certificate.title or t.name for t in tables))
    first = tables[0].certificate
    head = {"title": f"{names}: private release", "date": first.date, "software": first.software}
    return page("report.html", articles=list(map(_article, tables)), **head)


def _alone(release: Release) -> Published:
    """Return a release as a table that is judged by the means of its belief, where these are known."""
    c, calibration, judged = release.certificate, release.calibration, None
    with suppress(InputError, Unsupported):
        judged = None if calibration is None else worth_of(calibration, None)
    unit = c.units[0] if c.scope == "unit" else None
    return replace(published_of(c, [(unit, release)]), worth=judged)


def _article(t: Published) -> dict[str, object]:
    """Return a table's values for the template, by name."""
    c, blocks = t.certificate, list(published(t))
    pictures = [block for block in blocks if isinstance(block, Figure | Gallery)]
    tables = [block for block in blocks if not isinstance(block, Figure | Gallery)]
    warnings = list[Words]()
    for caution, warning in zip(c.cautions, c.warnings, strict=True):
        warnings.append(Words(warning, _LOOKS.get(caution, "warning")))
    files, names = list[tuple[str, str]](), {path.name for path in t.files}
    for end, label in DOWNLOADS.items():
        if f"{t.name}{end}" in names:
            files.append((label, f"{t.name}{end}"))
    before = " ".join([*c.of_kind(Kind.CHECK), _NOT_SAMPLING.format(people=c.people.many)])
    return {
        "name": t.name, "certificate": c, "title": c.title or t.name, "lead": about(c), "made": _made(t),
        "warnings": [*warnings, *(Words(sentence(words), "warning") for words in c.doubts)],
        "pictures": pictures, "columns": _columns(t), "before": before, "files": files,
        "published": [*map(Words, meaning_of(c)), *tables],
        "assumptions": [group for group in groups(c) if group.first], "limits": c.of_kind(Kind.LIMIT),
        "suspicions": [*suspicions(c), *beside(t)],
        "if_belief_off": if_off(c), "with_others": composes(c), "compared": list(_compared(t)),
        "facts": _key_facts(t), "technical": _technical(t),
    }  # fmt: skip


def _made(t: Published) -> str:
    """Say who published the table, of which source, and when."""
    c = t.certificate
    name = f"{t.name!r} " if c.title else ""
    by = f" by {c.publisher}" if c.publisher else ""
    contact = f" ({c.contact})" if c.contact else ""
    when = f"published{by}{contact} on {c.date}" if c.date else "as a rehearsal"
    return f"Table {name}of the source {c.source!r}, {when}."


def _columns(t: Published) -> list[Column]:
    """Return the three answers that a reader needs first."""
    privacy = privacy_of(t.certificate)
    verdict, words = verdict_of(t)
    accurate = [Words(text, f"verdict {verdict or 'plain'}" if text == words else "") for text in accuracy(t)]
    if t.cells and any(row.get(READABLE) is False for row in t.rows):
        accurate.append(Words("Grey values: the error is too large to read them."))
    private = [Words(f"Secret: {privacy.secret}."), Words(sentence(privacy.odds or privacy.guarantee))]
    limits = [Words(sentence(privacy.not_protected))]
    if t.certificate.beliefs and "believe" not in privacy.not_protected:
        limits.append(Words("Anything against readers who know more than the stated model."))
    named = {"How accurate": accurate, "How private": private, "What is not protected": limits}
    return [Column(heading, blocks) for heading, blocks in named.items()]


def _key_facts(t: Published) -> Iterator[tuple[str, str]]:
    c = t.certificate
    widths = list[Fraction]()
    for _, answer in t.releases:
        half = farthest_end(answer, t.cells)
        if half is not None:
            widths.append(half)
    yield "epsilon", charged(c.epsilon)
    if Fraction(c.delta):
        yield "delta", charged(c.delta)
    if widths:
        ends = dict.fromkeys((min(widths), max(widths)))
        yield "interval (95 %)", f"± {' to '.join(map(at_most, ends))}"
    if c.measured_in:
        yield "measured in", c.measured_in
    yield "mechanism", ", ".join(c.mechanisms)
    yield "composes", ", ".join(Composition(kind).answer for kind in c.compositions)


def _technical(t: Published) -> list[tuple[str, Sequence[str | None]]]:
    c = t.certificate
    units = ", ".join(c.units[:MOST_UNITS])
    if len(c.units) > MOST_UNITS:
        units += " ..."
    noise = [sentence(noise_text(c))]
    if any(answer.values for answer in c.answers):
        noise.append(f"Values are multiples of {c.grid}.")
    return [
        ("Publish", [f"{statistic_of(c)}, from the source {c.source!r}"]),
        ("Table", [t.name]),
        (c.people.many.capitalize(), [units]),
        ("Guarantee", [sentence(promise_text(c))]),
        ("Secrets", c.hidden),
        ("Models", shortened(c.beliefs, MOST_BELIEFS, "more of this kind")),
        ("Noise", noise),
        ("Mechanism", ["; ".join(mechanisms_of(c))]),
        ("Composition", composes(c)),
        ("Ledger", [sentence(account_text(c))]),
        ("Publisher", [c.publisher, c.contact]),
    ]  # fmt: skip


def _compared(t: Published) -> Iterator[Block]:
    """Yield every mechanism side by side, and what forced the chosen one."""
    unit, release = t.noisiest
    calibration, computed_by = release.calibration, "; ".join(mechanisms_of(t.certificate))
    if calibration is None:
        yield Words(f"The noise was found by {computed_by}. {sentence(noise_text(t.certificate))}")
        return
    if t.is_by_unit and unit is not None:
        count = t.certificate.people.counted(len(t.releases))
        yield Words(f"Shown for {unit}, whose answer has the most noise of all {count}.")
    rows = calibration.alternatives
    if not rows:
        yield Words(f"Nothing was compared: {calibration.mechanism} was requested by name.")
    else:
        error = "expected error, summed over the cells"
        if calibration.randomiser.output.is_column:
            error = calibration.error_words
        yield from _side_by_side(t.name, rows, error)
    yield Terms([
        ("Chosen", [computed_by]),
        ("Noise", [sentence(noise_text(t.certificate))]),
        ("Forced by", [calibration.witness.comparison]),
        ("Because", [calibration.witness.detail]),
    ])  # fmt: skip


def _side_by_side(name: str, rows: Sequence[Alternative], error: str) -> Iterator[Block]:
    """Yield the mechanisms in the registry's order, then the refused ones' reasons."""
    proven = [row for row in rows if row.composition is not None]
    if sum(row.expected_error is not None for row in proven) > 1:
        yield Figure(lambda width: drawn_errors(proven, error, width))
    best = next((i for i, row in enumerate(proven) if row.status == CHOSEN), -1)
    header = ("mechanism", "scale", "expected error", "composes", "status")
    yield Table(f"Mechanisms for {name}", header, [row.cells for row in proven], (1, 2), chosen=best, spare=(1, 3))
    names_of = dict[str, list[str]]()
    for row in rows:
        if row.reason:
            names_of.setdefault(f"{row.status}: {row.reason}", []).append(row.name)
    yield Terms([(", ".join(names), [reason]) for reason, names in names_of.items()])
