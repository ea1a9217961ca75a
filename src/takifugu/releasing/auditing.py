"""An audit of a release file's tables, or of a certificate's: the true loss, and whether draws follow the declared law.

Draws come from the code that a release draws by (`publishing.publish.draw`), on an answer that is made up here: the
private data are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Covers, Guarantee
from takifugu.analysis.questions.coded_rows import CodedRows
from takifugu.analysis.randomisers import from_dict as randomiser_from_dict
from takifugu.audit import Audit, exact_delta, exact_loss
from takifugu.audit.draws import Fit, fit
from takifugu.calibration import Calibration
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.plain import Json
from takifugu.core.sections import values_by_field
from takifugu.mechanisms.local.sent import Sending
from takifugu.model import queries
from takifugu.model.beliefs.density import Density
from takifugu.model.beliefs.records.normal import MultivariateNormal
from takifugu.model.beliefs.records.parameters import Parameters
from takifugu.model.frameworks import Framework
from takifugu.model.policies.places import Visits
from takifugu.numbers.noise import SystemEntropy
from takifugu.numbers.rationals import to_text
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.content import Answer
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.planning import plan
from takifugu.releasing.planning.questions import Question
from takifugu.releasing.planning.truth import Seen, answer_of, read
from takifugu.releasing.publishing.publish import draw

#: A p-value below this is taken for a fault; the audit's own rounding of a loss, relative, and of a delta.
UNLIKELY, SLACK, SLACK_OF_DELTA = 1e-6, 1e-9, 1e-12


@dataclass(frozen=True)
class Audited:
    """The audit of one answer: its true loss (or delta, where one is promised), and its draws."""

    table: str
    unit: str | None
    mechanism: str
    measure: str
    promised: str
    #: "kept", "broken" or "open".
    verdict: str
    #: None where `not_audited` says why; and so is the fit.
    audit: Audit | None
    not_audited: str = ""
    fit: Fit | None = None
    not_drawn: str = ""

    @property
    def is_faulty(self) -> bool:
        return self.verdict == "broken" or (self.fit is not None and self.fit.p < UNLIKELY)

    def to_dict(self) -> Json:
        content = values_by_field(self)
        del content["audit"], content["fit"]
        numbers, audit = None, self.audit
        if audit is not None:  # infinities are no numbers of JSON
            numbers = {
                "loss": str(audit.loss), "lower": str(audit.lower), "upper": str(audit.upper),
                "comparison": audit.comparison, "output": list(map(str, audit.output)), "left_open": audit.left_open,
            }  # fmt: skip
        return {**content, "audit": numbers, "fit": None if self.fit is None else asdict(self.fit)}


def of_file(file: ReleaseFile, draws: int = 0, watch: plan.Watch = plan.unwatched) -> Iterator[Audited]:
    """Yield the audit of a release file's answers, one per calibration."""
    for table in plan.calibrated(file, watch).tables:
        calibrations = {id(question.calibration): question for question in table.questions}
        for question in calibrations.values():
            watch(f"auditing {table.name}", 0, 1)
            yield audited(table.name, question.unit, question.calibration, draws)


def of_certificate(certificate: Certificate, draws: int = 0) -> Iterator[Audited]:
    """Yield the audit of a certificate's answers, each distinct one once."""
    done = set[str]()
    for answer in certificate.answers:
        key = repr((answer.framework, answer.query, answer.noise, answer.epsilon, answer.delta))
        if key in done:
            continue
        done.add(key)
        try:
            calibration = _recorded(certificate, answer)
        except (InputError, Unsupported) as error:
            loss = "loss" if answer.delta == "0" else "delta"
            why = error.message
            yield Audited(
                certificate.release, answer.unit, answer.mechanism, loss, answer.epsilon, "open", None, why, None, why
            )
            continue
        yield audited(certificate.release, answer.unit, calibration, draws)


def _recorded(certificate: Certificate, answer: Answer) -> Calibration:
    """Return an answer's calibration from its certificate."""
    if answer.framework not in certificate.frameworks:
        raise InputError("the certificate lacks the framework of this answer")
    framework = Framework.from_dict(certificate.frameworks[answer.framework])
    epsilon, delta = Fraction(answer.epsilon), Fraction(answer.delta)
    promise = Guarantee(
        epsilon, delta, Covers(answer.covers), certificate.definition, answer.framework,
        certificate.assumptions, hides_facts=framework.hides_facts,
    )  # fmt: skip
    return Calibration(
        framework, queries.from_dict(answer.query), answer.mechanism, certificate.mechanisms.get(answer.mechanism, ""),
        randomiser_from_dict(answer.noise), promise, Witness("", ""), False, (epsilon, delta),
    )  # fmt: skip


def audited(table: str, unit: str | None, calibration: Calibration, draws: int = 0) -> Audited:
    """Audit one calibration by enumeration, if possible, and by draws."""
    is_pure = calibration.delta == 0 and calibration.randomiser.kind != "rounded-normal"
    promised = calibration.epsilon if is_pure else calibration.delta
    slack = SLACK * float(promised) if is_pure else SLACK_OF_DELTA
    audit, why, verdict = None, "", "open"
    try:
        audit = exact_loss(calibration) if is_pure else exact_delta(calibration)
        if audit.lower > float(promised) + slack:
            verdict = "broken"
        elif audit.upper <= float(promised) + slack:
            verdict = "kept"
    except (InputError, Unsupported) as error:
        why = error.message
    fitted, why_not_drawn = None, ""
    if draws:
        try:
            fitted = drawn_fit(calibration, draws)
        except (InputError, Unsupported) as error:
            why_not_drawn = error.message
    measure = "loss" if is_pure else "delta"
    return Audited(
        table, unit, calibration.mechanism, measure, to_text(promised), verdict, audit, why, fitted, why_not_drawn
    )


def drawn_fit(calibration: Calibration, draws: int) -> Fit:
    """Compare `draws` releases of a made-up answer with their declared distribution; Unsupported for some noise."""
    noise: Any = calibration.randomiser
    question, entropy = Question("audit", None, calibration, made_up(calibration), {}), SystemEntropy()
    answer = [*answer_of(calibration, question.seen)]

    def outputs() -> Iterator[tuple[object, ...]]:
        for _ in range(draws):
            (sent,) = draw([question], {}, entropy)
            if isinstance(noise, Sending) and not question.labels:
                yield noise.sender.of_rows(sent.values)
            else:
                yield tuple(sent.values)

    return fit(noise, answer, outputs())


def made_up(calibration: Calibration) -> Seen:
    """Return possible data: everybody's first value, or each row value once."""
    domain, query = calibration.framework.domain, calibration.query.to_dict()
    if calibration.framework.pairs:
        return read(calibration, calibration.framework.pairs[0].left.values.tolist()[0])
    if isinstance(domain, Visits):
        return read(calibration, [[]])
    if isinstance(domain, MultivariateNormal):
        columns = zip(domain.columns, domain.mean, strict=True)
        return read(calibration, {name: [float(mean)] * domain.records for name, mean in columns})
    if isinstance(domain, Density):
        return read(calibration, domain.curves[0].mean)
    if query["kind"] == "each-value" and calibration.randomiser.output.is_column:
        rows = calibration.randomiser.cells
        return Seen(CodedRows(np.arange(rows, dtype=np.int32) % len(domain.alphabet(0))))
    if isinstance(domain, Parameters):  # of which data are whole columns
        return Seen(np.zeros((domain.records, len(list(domain.described))), dtype=np.int64))
    return Seen(np.zeros(domain.size, dtype=np.int64))
