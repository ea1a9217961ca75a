"""What the tables of a release file would cost at other epsilons, a row each, and the picture of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from takifugu.accounting import definitions
from takifugu.accounting.suspicion import OF_SOME, Suspicion, explain, factor_words, one_sided, percent, thrice
from takifugu.calibration import Calibration
from takifugu.core.errors import CalibrationRefused
from takifugu.core.escaping import at_most, number
from takifugu.core.people import People
from takifugu.core.plain import Json
from takifugu.core.text.bars import block
from takifugu.core.text.curves import Line, line_chart
from takifugu.core.text.parts import Part, facts, heading, rows, words
from takifugu.core.text.scales import Axis
from takifugu.model.secrets import compares_some
from takifugu.numbers.rationals import as_fraction, to_text
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sharing import epsilon_of
from takifugu.releasing.file.toml_words import in_toml
from takifugu.releasing.planning.plan import Aim, Watch, longest_of, unwatched, whose_answers

#: How sure a reader is beforehand, where rows say how sure it can become.
PRIOR = "0.1"
_BAR = 26


def meaning_of(calibration: Calibration, epsilon: Fraction, delta: Fraction) -> Suspicion:
    """Return how sure a reader can become of a secret; of a fact whose opposite is not hidden, one side."""
    meaning = explain(PRIOR, epsilon, delta)
    return one_sided(meaning) if definitions.find(calibration.framework.definition).one_way else meaning


def meaning_words(calibration: Calibration) -> str:
    """Say what a calibration's promise means for a suspicion; "" where it is no promise, or one of nothing."""
    if not calibration.epsilon:
        return ""
    meaning = meaning_of(calibration, calibration.epsilon, calibration.delta)
    low, high = percent(meaning.low, up=False), percent(meaning.high, up=True)
    said = [f"{factor_words(meaning)}: {percent(meaning.prior, up=True)} sure becomes {low} to {high}"]
    if calibration.delta:
        said.append(f"with a probability of at most {thrice(meaning.delta)} it is more")
    if definitions.find(calibration.framework.definition).per_distance:
        said.append("so it is at a distance of 1, and epsilon is multiplied by the distance of two populations")
    if any(compares_some(secret.to_dict()) for secret in calibration.framework.secrets):
        said.append(OF_SOME.rstrip("."))
    return "; ".join(said)


@dataclass(frozen=True, eq=False)
class Price:
    """What one table would cost at one epsilon; `calibration` is None where `reason` says why it is refused.

    `is_in_file` says whether this is the epsilon that the table has, or shares, in the file.
    """

    epsilon: Fraction
    delta: Fraction
    is_in_file: bool
    calibration: Calibration | None
    reason: str = ""

    @property
    def error(self) -> float | None:
        return None if self.calibration is None else self.calibration.error_or_none

    @property
    def meaning(self) -> Suspicion:
        if self.calibration is None:
            return explain(PRIOR, self.epsilon, self.delta)
        return meaning_of(self.calibration, self.epsilon, self.delta)

    def to_dict(self) -> Json:
        calibration = self.calibration
        return {
            "epsilon": to_text(self.epsilon), "in_file": self.is_in_file,
            "mechanism": None if calibration is None else calibration.mechanism,
            "scale": None if calibration is None else calibration.exact_scale,
            "expected_error": self.error, "low": self.meaning.low, "high": self.meaning.high, "reason": self.reason,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Prices:
    """The prices of one table; `unit` is the person shown (the longest), None for all together."""

    name: str
    scope: str
    unit: str | None
    people: People
    rows: tuple[Price, ...]

    @property
    def parts(self) -> Iterator[Part]:
        lines, reasons = list[list[str]](), list[tuple[str, str]]()
        most = max((price.error or 0.0 for price in self.rows), default=0.0)
        for price in self.rows:
            epsilon = f"{at_most(price.epsilon)} *" if price.is_in_file else at_most(price.epsilon)
            if price.calibration is None:
                lines.append([epsilon, "refused", "-", "-", ""])
                reasons.append((epsilon, in_toml(price.reason.splitlines()[0])))
                continue
            becomes = f"{percent(price.meaning.low, up=False)} to {percent(price.meaning.high, up=True)}"
            bar = block((price.error or 0.0) / (most or 1.0), _BAR)
            lines.append([epsilon, price.calibration.mechanism, number(price.error), becomes, bar])
        before = percent(explain(PRIOR, 1).prior, up=True)
        yield heading(f"{self.name} at other epsilons, {whose_answers(self.people, self.scope, self.unit)}")
        yield rows(["epsilon", "mechanism", "error", f"{before} becomes", "error, as a bar"], lines)
        yield facts(reasons)
        calibrations = [price.calibration for price in self.rows if price.calibration is not None]
        errors = dict.fromkeys(calibration.error_words for calibration in calibrations)
        yield words(f"* in the file; error: {' or '.join(errors) or 'none is known'}")

    def to_dict(self) -> Json:
        priced = [price.to_dict() for price in self.rows]
        return {"name": self.name, "scope": self.scope, "unit": self.unit, "rows": priced}


def epsilons_of(text: str) -> tuple[Fraction, ...]:
    """Read epsilons between commas.

    >>> epsilons_of("0.5, 1,2")
    (Fraction(1, 2), Fraction(1, 1), Fraction(2, 1))
    """
    return tuple(as_fraction(part.strip(), "epsilon", "epsilons") for part in text.split(","))


def prices(
    file: ReleaseFile, scopes: Sequence[Aim], epsilons: Sequence[Fraction], watch: Watch = unwatched
) -> Iterator[Prices]:
    """Yield each table's prices at these epsilons and at its own.

    Each epsilon replaces the table's own; a table of units is priced for the longest.
    """
    for place, (all_units, item, name, scope) in enumerate(scopes):
        longest = longest_of(all_units.units)
        asking = replace(all_units, units=(longest,)) if scope == "unit" else all_units
        of_file = as_fraction(epsilon_of(file, item), "epsilon")
        priced = list[Price]()
        for epsilon in sorted({*epsilons, of_file}):
            watch(f"pricing {name}", place, len(scopes))
            part, priced_item = asking.priced_at(item, str(epsilon))
            calibration, reason = None, ""
            try:
                calibration = next(part.questions(priced_item, name, scope)).calibration
            except CalibrationRefused as refusal:
                reason = str(refusal)
            delta = as_fraction(item.delta, "delta")
            priced.append(Price(epsilon, delta, epsilon == of_file, calibration, reason))
        unit = longest.name if scope == "unit" else None
        yield Prices(name, scope, unit, file.people, tuple(priced))


def picture(tables: Sequence[Prices], name: str) -> str:
    """Return a chart of the errors of tables against epsilon, as SVG."""
    lines, of_file = list[Line](), set[float]()
    for table in tables:
        lines.append(Line(table.name, [(float(price.epsilon), price.error) for price in table.rows]))
        of_file |= {float(price.epsilon) for price in table.rows if price.is_in_file}
    marks = [(epsilon, "") for epsilon in sorted(of_file)]
    marks[0] = marks[0][0], "in the file"
    title, how = f"What a promise costs: {name}", f"{name}: by epsilon"
    error = Axis("error of all cells together", log=True)
    return line_chart(lines, Axis("epsilon", log=True), error, title, how, marks)
