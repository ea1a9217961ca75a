"""What the tables of a release file could be: with every mechanism side by side, and at other epsilons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from operator import attrgetter

from takifugu.accounting import definitions
from takifugu.accounting.suspicion import OF_SOME, Suspicion, explain, factor_words, one_sided, percent
from takifugu.calibration import Calibration, Comparisons, compare
from takifugu.calibration.alternatives import CHOSEN
from takifugu.calibration.costs import AtEpsilon, at_epsilon
from takifugu.core.errors import InputError
from takifugu.core.escaping import at_most, command, number
from takifugu.core.people import People
from takifugu.core.plain import Json
from takifugu.core.text.bars import block
from takifugu.core.text.curves import Line, line_chart
from takifugu.core.text.parts import Part, facts, heading, rows, words
from takifugu.core.text.scales import Axis
from takifugu.model.secrets import compares_some
from takifugu.numbers.rationals import as_fraction, to_text
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sharing import epsilon_of, metric_of, sharing
from takifugu.releasing.file.toml_words import in_toml
from takifugu.releasing.planning.asking import Asking
from takifugu.releasing.planning.plan import Aim, Watch, unwatched

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
    if definitions.find(calibration.framework.definition).per_distance:
        said.append("so it is at a distance of 1, and epsilon is multiplied by the distance of two populations")
    of_some = any(compares_some(secret.to_dict()) for secret in calibration.framework.secrets)
    return "; ".join(said) + f". {OF_SOME}" * of_some


@dataclass(frozen=True, eq=False)
class OfTable:
    """What one table could be; `unit` is the person shown (the longest), None for all together."""

    name: str
    scope: str
    unit: str | None
    people: People

    @property
    def whose(self) -> str:
        """Name the people behind its answers, and the one who is shown."""
        example = f"; shown for {self.unit!r}, who has the most rows" if self.unit else ""
        return f"{self.people.whose(self.scope)}{example}"

    def to_dict(self) -> Json:
        return {"name": self.name, "scope": self.scope, "unit": self.unit}


def _shown(asking: Asking, scope: str) -> tuple[Asking, str | None]:
    """Return who asks for the answers that are shown, and of whom: one person stands for a table of each."""
    if scope != "unit":
        return asking, None
    longest = max(asking.units, key=lambda unit: unit.size)
    return replace(asking, units=(longest,)), longest.name


@dataclass(frozen=True, eq=False)
class Prices(OfTable):
    """What one table would cost at several epsilons, of which one is that of the file, or shared there."""

    delta: Fraction
    of_file: Fraction
    rows: tuple[AtEpsilon, ...]

    def meaning(self, price: AtEpsilon) -> Suspicion:
        if price.calibration is None:
            return explain(PRIOR, price.epsilon, self.delta)
        return meaning_of(price.calibration, price.epsilon, self.delta)

    @property
    def parts(self) -> Iterator[Part]:
        lines, reasons = list[list[str]](), list[tuple[str, str]]()
        most = max((price.error or 0.0 for price in self.rows), default=0.0)
        for price in self.rows:
            epsilon = at_most(price.epsilon)
            if price.epsilon == self.of_file:
                epsilon += " *"
            if price.calibration is None:
                lines.append([epsilon, "refused", "-", "-", ""])
                reasons.append((epsilon, in_toml(price.reason.splitlines()[0])))
                continue
            meaning = self.meaning(price)
            becomes = f"{percent(meaning.low, up=False)} to {percent(meaning.high, up=True)}"
            bar = block((price.error or 0.0) / (most or 1.0), _BAR)
            lines.append([epsilon, price.calibration.mechanism, number(price.error), becomes, bar])
        before = percent(explain(PRIOR, 1).prior, up=True)
        yield heading(f"{self.name} at other epsilons, {self.whose}")
        yield rows(["epsilon", "mechanism", "error", f"{before} becomes", "error, as a bar"], lines)
        yield facts(reasons)
        calibrations = [price.calibration for price in self.rows if price.calibration is not None]
        errors = dict.fromkeys(calibration.error_words for calibration in calibrations)
        yield words(f"* in the file; error: {' or '.join(errors) or 'none is known'}")

    def to_dict(self) -> Json:
        priced = list[Json]()
        for price in self.rows:
            mechanism = scale = None
            if price.calibration is not None:
                mechanism, scale = price.calibration.mechanism, price.calibration.exact_scale
            meaning = self.meaning(price)
            priced.append({
                "epsilon": to_text(price.epsilon), "in_file": price.epsilon == self.of_file, "mechanism": mechanism,
                "scale": scale, "expected_error": price.error, "low": meaning.low, "high": meaning.high,
                "reason": price.reason,
            })  # fmt: skip
        return {**super().to_dict(), "rows": priced}


def epsilons_of(text: str) -> tuple[Fraction, ...]:
    """Read epsilons between commas: "0.5, 1,2"."""
    return tuple(as_fraction(part.strip(), "epsilon", "epsilons") for part in text.split(","))


def prices(
    file: ReleaseFile, scopes: Sequence[Aim], epsilons: Sequence[Fraction], watch: Watch = unwatched
) -> Iterator[Prices]:
    """Yield each table's prices at these epsilons and at its own; a table of units is priced for the longest."""
    for place, (all_units, item, name, scope) in enumerate(scopes):
        asking, unit = _shown(all_units, scope)
        of_file = as_fraction(epsilon_of(file, item), "epsilon")
        priced, requested = list[AtEpsilon](), tuple(sorted({*epsilons, of_file}))
        asking = replace(asking, epsilons=requested)
        for epsilon in requested:
            watch(f"pricing {name}", place, len(scopes))
            part, priced_item = asking.priced_at(item, str(epsilon))
            calibrations = map(attrgetter("calibration"), part.questions(priced_item, name, scope))
            priced.append(at_epsilon(epsilon, partial(next, calibrations)))
        yield Prices(name, scope, unit, file.people, as_fraction(item.delta, "delta"), of_file, tuple(priced))


def picture(tables: Sequence[Prices], name: str) -> str:
    """Return a chart of the errors of tables against epsilon, as SVG."""
    lines, of_file = list[Line](), set[float]()
    for table in tables:
        lines.append(Line(table.name, [(float(price.epsilon), price.error) for price in table.rows]))
        of_file.add(float(table.of_file))
    marks = [(epsilon, "") for epsilon in sorted(of_file)]
    marks[0] = marks[0][0], "in the file"
    title, how = f"What a promise costs: {name}", f"{name}: by epsilon"
    error = Axis("error of all cells together", log=True)
    return line_chart(lines, Axis("epsilon", log=True), error, title, how, marks)


@dataclass(frozen=True, eq=False)
class Compared(OfTable):
    """Every mechanism side by side for one table."""

    rows: Comparisons

    @property
    def head(self) -> str:
        return f"{self.name}: {self.whose}"

    def to_dict(self) -> Json:
        return {**super().to_dict(), **self.rows.to_dict()}


def only_one(compared: Sequence[Compared], mechanism: str, file: ReleaseFile) -> tuple[Compared, ...]:
    """Return comparisons with one mechanism's rows alone; InputError for one of other promises than the tables'."""
    tables = list[Compared]()
    for table in compared:
        rows = tuple(row for row in table.rows if row.name == mechanism)
        if not rows:
            raise InputError(
                f"{mechanism!r} is proved for another kind of promise than that of {table.name!r}",
                fix=f"{command('cost', '--all', file.path)} lists those that are",
            ).at("mechanism")
        tables.append(replace(table, rows=replace(table.rows, rows=rows)))
    return tuple(tables)


def compared(file: ReleaseFile, scopes: Sequence[Aim], watch: Watch = unwatched) -> Iterator[Compared]:
    """Yield every mechanism side by side for each table."""
    for place, (all_units, item, name, scope) in enumerate(scopes):
        asking, unit = _shown(all_units, scope)
        watch(f"comparing mechanisms for {name}", place, len(scopes))
        aimed = asking.kind.unit_query(asking.file, item, asking.query(item), asking.units)
        framework, query = asking.about(aimed.units), aimed.query
        promised = (epsilon_of(file, item), item.delta)
        rows = compare(
            framework, query, *promised, file.source.single_release, metric_of(item), item.allow_zero_noise
        )
        remarks = [*rows.remarks]
        if item.shares_epsilon:
            remarks.append(
                f"{', '.join(table.name for table in sharing(file, item))} share this epsilon, so that each gets more "
                "noise than it would alone, which is what is compared here"
            )
        best = [row.name for row in rows.rows if row.status == CHOSEN]
        if best:
            remarks += asking.kind.remarks(asking.file, item, best[0])
        rows_in_toml = tuple(replace(row, reason=in_toml(row.reason)) for row in rows.rows)
        rows = replace(rows, rows=rows_in_toml, remarks=tuple(remarks))
        yield Compared(name, scope, unit, file.people, rows)
