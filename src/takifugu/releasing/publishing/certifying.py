"""From noisy answers and their calibrations to the certificate of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from takifugu._version import __version__
from takifugu.analysis.randomisers import answered, scale_text
from takifugu.calibration import Calibration
from takifugu.core.arrays import IntArray
from takifugu.core.assumptions import Assumption, check, limit, sentence
from takifugu.core.names import normalised
from takifugu.core.plain import Plain
from takifugu.model import secrets
from takifugu.model.beliefs.one_sequence import Recording, is_recording
from takifugu.model.frameworks import Framework
from takifugu.model.queries.tables.by import GroupBy
from takifugu.numbers.rationals import as_fraction, to_text
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.content import Answer
from takifugu.releasing.certificates.facts import Caution, Fact, Stays, Window
from takifugu.releasing.certificates.wording import once
from takifugu.releasing.planning.expected import half_width
from takifugu.releasing.planning.questions import NoisyAnswer, Question, calibrations_of
from takifugu.releasing.postprocess.intervals import LEVEL
from takifugu.releasing.publishing.doubts import doubts_of, foresee_doubts
from takifugu.releasing.publishing.statements import in_certificate
from takifugu.releasing.publishing.witnesses import witness_of


@dataclass(frozen=True)
class Adjustment:
    """Values that were made of the noisy ones, one mapping of cells for each answer, and what was done to them."""

    values: tuple[Mapping[str, Fraction], ...]
    notes: tuple[str, ...]


def adjusted_values(adjustment: Adjustment | None, answers: int) -> Sequence[Mapping[str, Fraction] | None]:
    """Return what was made of each of so many answers, None where nothing was."""
    return [None] * answers if adjustment is None else adjustment.values


def foresee(questions: Sequence[Question]) -> None:
    """Compute the words of certificates on calibrations and beliefs, before anything is paid."""
    # it must not fail once values are drawn: a release that failed on some of them would be drawn again
    foresee_doubts(questions)
    for calibration in calibrations_of(questions):
        witness_of(calibration)


def certificate_of(
    drawn: Sequence[NoisyAnswer], source: str, scope: str, units: Sequence[str], facts: Sequence[Fact] = (),
    table: str | None = None, adjustment: Adjustment | None = None, rehearsal: int | None = None,
) -> Certificate:  # fmt: skip
    """Return the certificate of one release's answers to one query; `table` is the digest of their file."""
    calibrations = [answer.question.calibration for answer in drawn]
    query, private, account = calibrations[0].query, all(answer.private for answer in drawn), drawn[0].account
    if any(calibration.query != query for calibration in calibrations):  # entries are each unit's own
        query = replace(query, entries=None)  # type: ignore[type-var]
    adjusted, notes = adjusted_values(adjustment, len(drawn)), tuple[str, ...]()
    if adjustment is not None:
        notes = adjustment.notes
    values = sum(len(answer.cells) for answer in drawn)
    # a pooled table says how many there are, and names none of them
    named_units = () if scope == "pooled" else tuple(units)
    hides_presence, statistic = _hides_presence(calibrations), query.describe()
    for fact in facts:
        if isinstance(fact, Window) and fact.clock:
            statistic = f"{statistic}, {fact.clock_words}"
    unit_count = len(units) if units and not hides_presence else None
    promise = _promise_of(calibrations)
    if account is not None:
        account = in_certificate(account, calibrations, promise["frameworks"], hides_presence)
    return Certificate(
        release=drawn[0].question.release,
        source=normalised(source),
        scope=scope,
        units=named_units,
        statistic=statistic,
        query=query.to_dict(),
        grid=to_text(calibrations[0].randomiser.grid),
        answers=tuple(_answer(answer, made, values) for answer, made in zip(drawn, adjusted, strict=True)),
        **promise,
        **_facts_of(calibrations, (*facts, *drawn[0].declared)),
        cautions=tuple(_cautions(calibrations, private, account, rehearsal)),
        private=private,
        ledger=account,
        # a rehearsal has a seed and no date
        date=datetime.now(UTC).date().isoformat() if rehearsal is None else "",
        software=f"takifugu {__version__}",
        table=table,
        unit_count=unit_count,
        adjusting=notes,
        doubts=doubts_of(drawn),
        rehearsal=rehearsal,
    )


def _facts_of(calibrations: Sequence[Calibration], facts: Sequence[Fact]) -> dict[str, Any]:
    """Return the fields of what is assumed and told."""
    assumptions, stays, windows = list[Assumption](), list[Stays](), list[Window]()
    for calibration in calibrations:
        assumptions += calibration.guarantee.assumptions
    for fact in facts:
        if isinstance(fact, Stays):
            stays.append(fact)
        elif isinstance(fact, Window):
            windows.append(fact)
        else:
            assumptions.append(fact)
    for calibration in calibrations:
        assumptions += map(limit, map(sentence, calibration.guarantee.conditions))
    assumptions += map(check, _at_odds(calibrations))
    sentences = tuple(dict.fromkeys(assumptions))
    return {"assumptions": sentences, "stays": tuple(stays), "window": next(iter(windows), None)}


def _promise_of(calibrations: Sequence[Calibration]) -> dict[str, Any]:
    """Return the fields of the promise of all answers."""
    exceeded, requested = _exceeded(calibrations), None
    if exceeded:
        requested = to_text(min(exceeded))
    hidden, beliefs, compositions = list[str](), list[str](), list[str]()
    frameworks, mechanisms = dict[str, Framework](), dict[str, str]()
    for calibration in calibrations:
        promise = calibration.guarantee
        frameworks[promise.framework] = calibration.framework
        mechanisms[calibration.mechanism] = calibration.source
        compositions.append(str(promise.composition))
    for framework in frameworks.values():
        hidden += [secret.describe() for secret in framework.secrets]
        beliefs += [belief.describe() for belief in framework.beliefs]
    return {
        "definition": calibrations[0].framework.definition,
        "hidden": once(hidden), "beliefs": once(beliefs),
        "frameworks": {fingerprint: framework.to_dict() for fingerprint, framework in frameworks.items()},
        "epsilon": to_text(max(calibration.epsilon for calibration in calibrations)),
        "delta": to_text(max(calibration.delta for calibration in calibrations)),
        "mechanisms": mechanisms, "compositions": once(compositions),
        "requested": requested,
    }  # fmt: skip


def _exceeded(calibrations: Sequence[Calibration]) -> list[Fraction]:
    """Return the requested epsilons of weaker promises."""
    exceeded = list[Fraction]()
    for calibration in calibrations:
        if calibration.requested is not None and calibration.epsilon > calibration.requested[0]:
            exceeded.append(calibration.requested[0])
    return exceeded


def _at_odds(calibrations: Sequence[Calibration]) -> Iterator[str]:
    """Warn of tables comparing cells of steps alike in the belief."""
    for calibration in calibrations:
        query = calibration.query
        if not isinstance(query, GroupBy):
            continue
        for belief in filter(is_recording, calibration.framework.beliefs):
            steps = _steps_of_cells(query, belief)
            laws = set(map(belief.chain.laws_of, steps))
            if len(steps) > 1 and len(laws) == 1 and None not in laws:
                cell = query.by or "cell"
                yield f"The model treats all {cell}s alike, but this table compares them."


def _steps_of_cells(query: GroupBy, belief: Recording) -> list[IntArray]:
    """Return the steps of each cell, counted from the start of a recording."""
    runs = belief.components()
    starts = np.array([run.start for run in runs])
    if query.every is not None and query.entries is None and not (starts % query.every).any():
        longest = max(range(len(runs)), key=lambda number: len(runs[number]))
        return query.held(belief.component(longest))  # the others have no other steps
    return [entries - starts[np.searchsorted(starts, entries, side="right") - 1] for entries in query.held(belief)]


def _hides_presence(calibrations: Sequence[Calibration]) -> bool:
    for framework in {id(c.framework): c.framework for c in calibrations}.values():
        for belief, secret in product(framework.beliefs[:1], framework.secrets):
            if secrets.view(secret, belief) is None and secret.family(belief).presence:
                return True
    return False


def _answer(drawn: NoisyAnswer, adjusted: Mapping[str, Fraction] | None, values: int) -> Answer:
    calibration = drawn.question.calibration
    noise, promise, adjusted_texts = calibration.randomiser, calibration.guarantee, None
    if adjusted is not None:
        adjusted_texts = {cell: to_text(value) for cell, value in adjusted.items()}
    error, width = answered(noise.expected_error), half_width(noise, values) if values else None
    return Answer(
        unit=drawn.question.unit,
        query=calibration.query.to_dict(),
        values={cell: noise.output.write(v) for cell, v in drawn.cells.items()},
        mechanism=calibration.mechanism,
        noise=noise.to_dict(),
        scale=scale_text(noise),
        expected_error=None if error is None else to_text(as_fraction(error, "the expected error")),
        epsilon=to_text(promise.epsilon),
        delta=to_text(promise.delta),
        composition=str(promise.composition),
        covers=str(promise.covers),
        framework=promise.framework,
        adjusted=adjusted_texts,
        complete=drawn.question.complete,
        half_width=None if width is None else to_text(width),
        coverage=None if width is None else str(LEVEL),
        witness=witness_of(calibration),
    )


def _cautions(
    calibrations: Sequence[Calibration], private: bool, account: Plain | None, rehearsal: int | None
) -> Iterator[Caution]:
    if rehearsal is not None:
        yield Caution.REHEARSAL
    elif not private:
        yield Caution.NOT_PRIVATE
    if _exceeded(calibrations):
        yield Caution.WEAKER
    if any(c.randomiser.kind == "none" for c in calibrations):
        yield Caution.NO_NOISE
    elif not all(c.hides_one_entry for c in calibrations):
        yield Caution.BELIEFS_ONLY
    if account is None and rehearsal is None:
        yield Caution.NO_LEDGER
