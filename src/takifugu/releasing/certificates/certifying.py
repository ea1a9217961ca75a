"""From noisy answers and their calibrations to the certificate of a table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np

from takifugu._version import __version__
from takifugu.analysis.randomisers import answered, scale_text
from takifugu.calibration import Calibration
from takifugu.model import secrets
from takifugu.model.beliefs.one_sequence import is_recording
from takifugu.model.queries import By
from takifugu.numbers.rationals import to_text
from takifugu.releasing.certificates.bills import CERTIFICATE, Account, content_of
from takifugu.releasing.certificates.certificate import Answer, Certificate, once
from takifugu.releasing.certificates.facts import Caution, Fact, Stays, Window


@dataclass(frozen=True)
class Wording:
    """What the release file says to readers; public, and no part of the promise."""

    title: str | None = None
    measured_in: str | None = None
    publisher: str | None = None
    contact: str | None = None
    person: str = "person"


#: A release that says nothing more.
PLAIN = Wording()


@dataclass(frozen=True)
class Adjustment:
    """Values that were made of the noisy ones, one mapping of cells for each answer, and what was done to them."""

    values: tuple[Mapping[str, Fraction], ...]
    notes: tuple[str, ...]


def certify(
    drawn: Sequence[tuple[str | None, Calibration, Mapping[str, Hashable]]],
    *,
    release: str,
    source: str,
    scope: str,
    units: Sequence[str],
    private: bool,
    account: Account | None,
    facts: Iterable[Fact] = (),
    table: str | None = None,
    list_units: bool = False,
    wording: Wording = PLAIN,
    adjustment: Adjustment | None = None,
) -> Certificate:
    """Return the certificate of noisy answers to one query.

    `drawn` has a unit, a calibration and values by cell for each answer. A pooled table says how many `units` there
    are, and names them only with `list_units`. The ledger's digest covers all of it.
    """
    calibrations, facts = [calibration for _, calibration, _ in drawn], tuple(facts)
    first = calibrations[0]
    general = first.query
    if any(c.query != general for c in calibrations):  # they differ in the entries that were observed
        general = replace(general, entries=None)  # type: ignore[type-var]
    promises = [c.guarantee for c in calibrations]
    said = [fact for fact in facts if isinstance(fact, str)]
    requested = [c.requested[0] for c in calibrations if c.requested is not None and c.epsilon > c.requested[0]]
    adjusted = [None] * len(drawn) if adjustment is None else adjustment.values
    hides_presence = _hides_presence(calibrations)
    made = Certificate(
        release=release,
        source=source,
        scope=scope,
        units=tuple(units) if list_units or scope != "pooled" else (),
        statistic=general.describe(),
        query=general.to_dict(),
        grid=to_text(first.randomiser.grid),
        answers=tuple(_answer(*one, made) for one, made in zip(drawn, adjusted, strict=True)),
        definition=first.framework.definition,
        hidden=once(s.describe() for c in calibrations for s in c.framework.secrets),
        beliefs=once(b.describe() for c in calibrations for b in c.framework.beliefs),
        frameworks={c.guarantee.framework: c.framework.to_dict() for c in calibrations},
        assumptions=once([*_at_odds(calibrations), *(a for p in promises for a in p.assumptions), *said]),
        stays=tuple(fact for fact in facts if isinstance(fact, Stays)),
        window=next((fact for fact in facts if isinstance(fact, Window)), None),
        epsilon=to_text(max(p.epsilon for p in promises)),
        delta=to_text(max(p.delta for p in promises)),
        mechanisms={c.mechanism: c.source for c in calibrations},
        compositions=once(str(p.composition) for p in promises),
        conditions=once(c for p in promises for c in p.conditions),
        cautions=tuple(_cautions(calibrations, private, account)),
        requested=to_text(min(requested)) if requested else None,
        private=private,
        ledger=None if account is None else account.ledger,
        release_id=None if account is None else account.release_id,
        date=datetime.now(UTC).date().isoformat(),
        software=f"takifugu {__version__}",
        table=table,
        unit_count=len(units) if units and not hides_presence else None,
        **asdict(wording),
        adjusting=() if adjustment is None else adjustment.notes,
        bill=None if account is None else replace(account.bill, readers=() if hides_presence else account.bill.readers),
    )
    if account is None:
        return made
    return replace(made, digest=account.tag(CERTIFICATE, content_of(made.to_dict())))


def _at_odds(calibrations: Sequence[Calibration]) -> Iterator[str]:
    """Warn of tables comparing cells of steps alike in the belief."""
    for calibration in calibrations:
        query = calibration.query
        if not isinstance(query, By):
            continue
        for belief in filter(is_recording, calibration.framework.beliefs):
            starts = np.array([run.start for run in belief.components()])
            steps = [held - starts[np.searchsorted(starts, held, side="right") - 1] for held in query.held(belief)]
            laws = {belief.chain.laws_of(held) for held in steps}
            if len(steps) > 1 and len(laws) == 1 and None not in laws:
                cell = query.by or "cell"
                yield f"the belief says that every {cell} is like any other, while this table asks how they differ"


def _hides_presence(calibrations: Sequence[Calibration]) -> bool:
    frameworks = {id(c.framework): c.framework for c in calibrations}.values()
    pairs = ((secret, f.beliefs[0]) for f in frameworks if f.beliefs for secret in f.secrets)
    return any(secrets.view(secret, b) is None and secret.family(b).presence for secret, b in pairs)


def _answer(
    unit: str | None, calibration: Calibration, values: Mapping[str, Hashable], adjusted: Mapping[str, Fraction] | None
) -> Answer:
    noise, promise = calibration.randomiser, calibration.guarantee
    return Answer(
        unit=unit,
        query=calibration.query.to_dict(),
        values={cell: noise.output.write(v) for cell, v in values.items()},
        mechanism=calibration.mechanism,
        noise=noise.to_dict(),
        scale=scale_text(noise),
        expected_error=answered(noise.expected_error),
        epsilon=to_text(promise.epsilon),
        delta=to_text(promise.delta),
        composition=str(promise.composition),
        covers=str(promise.covers),
        framework=promise.framework,
        adjusted=None if adjusted is None else {cell: to_text(v) for cell, v in adjusted.items()},
    )


def _cautions(calibrations: Sequence[Calibration], private: bool, account: Account | None) -> Iterator[Caution]:
    if not private:
        yield Caution.NOT_PRIVATE
    if any(c.requested is not None and c.epsilon > c.requested[0] for c in calibrations):
        yield Caution.WEAKER
    if any(c.randomiser.kind == "none" for c in calibrations):
        yield Caution.NO_NOISE
    elif not all(c.hides_one_entry for c in calibrations):
        yield Caution.BELIEFS_ONLY
    if account is None:
        yield Caution.NO_LEDGER
