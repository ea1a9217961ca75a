"""`explain`: what a promise means for a suspicion, what it costs at other epsilons, and the picture of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from takifugu.accounting.suspicion import OF_SOME, Suspicion, odds, one_sided, percent
from takifugu.accounting.suspicion import explain as meaning_of
from takifugu.cli.output import coloured, print_json, write_new
from takifugu.cli.progress import watching
from takifugu.core.errors import ReleaseError
from takifugu.core.escaping import at_most, number, power_at_most, visible
from takifugu.core.plain import Json
from takifugu.core.text.bars import block
from takifugu.core.text.curves import Line, line_chart
from takifugu.core.text.scales import Axis
from takifugu.core.text.tables import labelled, paragraph, text_table
from takifugu.numbers.rationals import as_fraction, to_text

if TYPE_CHECKING:  # a pocket calculator does not wait for what reads release files
    from takifugu.accounting.definitions import Definition
    from takifugu.releasing.planning.plan import Priced

#: The epsilons that a release file is priced at, beside its own.
EPSILONS = tuple(as_fraction(text, "epsilon") for text in ("0.1", "0.2", "0.5", "1", "2", "5", "10"))
_BAR = 26
#: What a suspicion is about where a file has tables that do not share one epsilon.
_OF_ONE = (
    "This is said of the table with the largest epsilon, or of those that share it. The file has others: whoever sees "
    "several can become surer, by what they lose together, as `takifugu release --dry-run` says."
)
#: What a suspicion is about where epsilon is multiplied by a distance.
_AT_DISTANCE = (
    "This is said of two populations at a distance of 1. Epsilon is multiplied by their distance: farther apart, one "
    "can become surer."
)
_PRIORS = [i / 200 for i in range(1, 200)]


def explain(
    file: Path | None, prior: str, epsilon: str | None, delta: str, svg: Path | None, force: bool, as_json: bool
) -> None:
    meaning = meaning_of(prior, epsilon or 1, delta)
    if svg is not None and svg.exists() and not force:
        raise ReleaseError(f"{str(svg)!r} would be overwritten", fix="write --force, or choose another name")
    picture_of: Callable[[], str]
    if file is None:
        explained, picture_of = Explained(meaning), partial(_meaning_picture, meaning)
    else:
        explained, picture_of = _of_file(file, prior, None if epsilon is None else meaning)
    if as_json:
        print_json("explain", file, explained.document(prior))
    else:
        explained.print(prior)
    if svg is not None:
        write_new(svg, picture_of(), force, ".svg", lambda text: "<svg" in text[:1000])
        if not as_json:
            click.echo(f"\nwritten: {visible(str(svg))}")


@dataclass(frozen=True)
class Explained:
    """What a promise means, and the prices of a file's tables.

    `is_of_some` says that some secrets only are hidden, `has_more` that other tables have another epsilon.
    """

    meaning: Suspicion
    tables: Sequence[Sequence[Priced]] = ()
    definition: Definition | None = None
    is_of_some: bool = False
    has_more: bool = False

    @property
    def per_distance(self) -> bool:
        return self.definition is not None and self.definition.per_distance

    def document(self, prior: str) -> Json:
        document = self.meaning.to_dict()
        if self.per_distance:
            document["at_distance"] = 1
        if self.has_more:
            document["of_one_table"] = True
        document["tables"] = tables = list[Json]()
        for rows in self.tables:
            priced_rows = [_row(priced, prior, self.definition) for priced in rows]
            tables.append({"name": rows[0].name, "scope": rows[0].scope, "unit": rows[0].unit, "rows": priced_rows})
        return document

    def print(self, prior: str) -> None:
        _print_meaning(self.meaning)
        exceptions = {_AT_DISTANCE: self.per_distance, OF_SOME: self.is_of_some, _OF_ONE: self.has_more}
        for words, is_so in exceptions.items():
            if is_so:
                click.echo(f"\n{paragraph(words)}")
        for rows in self.tables:
            _print_prices(rows, prior, self.definition)


def _of_file(file: Path, prior: str, meaning: Suspicion | None) -> tuple[Explained, Callable[[], str]]:
    """Return what a release file promises, and how to draw its prices.

    A `meaning` at another epsilon stands for that of the file's largest.
    """
    from takifugu.accounting import definitions
    from takifugu.model.secrets import compares_some
    from takifugu.releasing.file.loading import load
    from takifugu.releasing.file.sharing import epsilon_of
    from takifugu.releasing.planning import plan

    spec = load(file)
    epsilons = {as_fraction(epsilon_of(spec, item), "epsilon"): item for item in reversed(spec.items)}
    strongest = epsilons[max(epsilons)]
    suspicion = meaning or meaning_of(prior, epsilon_of(spec, strongest), strongest.delta)
    rows_by_table: dict[tuple[str, str], list[Priced]] = {}
    with watching() as watch:
        for priced in plan.priced(spec, sorted({*EPSILONS, *epsilons}), watch):
            rows = rows_by_table.setdefault((priced.name, priced.scope), [])
            if priced.requested in EPSILONS or priced.is_in_file:
                rows.append(priced)
    tables, definition, is_of_some = list(rows_by_table.values()), None, False
    for priced in chain.from_iterable(tables):
        if priced.calibration is not None:
            framework = priced.calibration.framework
            definition = definition or definitions.find(framework.definition)
            is_of_some |= any(compares_some(secret.to_dict()) for secret in framework.secrets)
    is_of_table = meaning is None and len(tables) > 1
    has_more = is_of_table and not all(item.shares_epsilon for item in spec.items)
    explained = Explained(_as_defined(suspicion, definition), tables, definition, is_of_some, has_more)
    return explained, partial(_price_picture, tables, epsilons, spec.path.name)


def _as_defined(meaning: Suspicion, definition: Definition | None) -> Suspicion:
    """Return a suspicion of a fact whose opposite may not be hidden."""
    return one_sided(meaning) if definition is not None and definition.one_way else meaning


def _print_meaning(meaning: Suspicion) -> None:
    promise = f"epsilon {at_most(meaning.epsilon)}"
    if meaning.delta:
        promise += f", delta {at_most(meaning.delta)}"
    ways = "up or down." if meaning.low else "up; it may become certain that it is not so."
    power = power_at_most(meaning.epsilon, digits=3)
    click.echo(f"{paragraph(f'A promise of {promise}: odds change by a factor of at most {power}, {ways}')}\n")
    rows = [
        ["before", percent(meaning.prior, up=True), odds(meaning.prior, up=True)],
        ["after, at most", percent(meaning.high, up=True), odds(meaning.high, up=True)],
        ["after, at least", percent(meaning.low, up=False), odds(meaning.low, up=False)],
    ]
    click.echo(f"{text_table(['how sure of something hidden', '', 'odds'], rows)}\n")
    before, after = percent(meaning.right_before, up=True), percent(meaning.right, up=True)
    guess = f"{after} of all cases, with or without what is published"
    if after != before:
        guess = f"at most {after} of all cases, and in {before} without what is published"
    click.echo(paragraph(
        f"In words: whoever is {percent(meaning.prior, up=True)} sure of something hidden, before anything is "
        f"published, is between {percent(meaning.low, up=False)} and {percent(meaning.high, up=True)} sure afterwards, "
        f"whatever comes out. The best guess at the hidden fact is right in {guess}. All this holds for the beliefs "
        "and the hidden facts that a release file names, and for no others."
    ))  # fmt: skip
    if meaning.hides_little:
        click.echo(f"\n{paragraph(f'{meaning.hides_little[:1].upper()}{meaning.hides_little[1:]}.')}")
    if meaning.beyond:
        exception = "Delta is the exception: with a small probability one becomes surer than that."
        click.echo(f"\n{paragraph(exception)}\n")
        lines = list[list[str]]()
        for case in meaning.beyond:
            becomes = "certain" if case.high == 1 else f"surer than {percent(case.high, up=True)}"
            lines.append([becomes, at_most(case.probability, digits=2)])
        click.echo(text_table(["one becomes", "with a probability of at most"], lines))


def _print_prices(rows: Sequence[Priced], prior: str, definition: Definition | None) -> None:
    from takifugu.releasing.file.toml_words import in_toml
    from takifugu.releasing.planning.plan import whose_answers

    first = rows[0]
    whose = whose_answers(first.people, first.scope, first.unit)
    click.echo(f"\n{paragraph(f'{first.name}: what it costs, for {whose}')}\n")
    most = max((_error(p) or 0.0 for p in rows), default=0.0)
    lines, reasons = [], []
    for priced in rows:
        epsilon = at_most(priced.requested)
        if priced.is_in_file:
            epsilon += " *"
        if priced.calibration is None:
            lines.append([epsilon, "refused", "-", "-", ""])
            reasons.append((epsilon, in_toml(priced.reason.splitlines()[0])))
            continue
        calibration = priced.calibration
        meaning = _as_defined(meaning_of(prior, priced.requested, calibration.delta), definition)
        becomes = f"{percent(meaning.low, up=False)} to {percent(meaning.high, up=True)}"
        bar = block((calibration.error_or_none or 0.0) / (most or 1.0), _BAR)
        lines.append([epsilon, calibration.mechanism, number(calibration.error_or_none), becomes, bar])
    before = percent(meaning_of(prior, 1).prior, up=True)
    header = ["epsilon", "mechanism", "error", f"{before} becomes", "error, as a bar"]
    click.echo(coloured(text_table(header, lines), {}))
    if reasons:
        click.echo(f"\n{labelled(reasons)}")
    error_words = dict.fromkeys(priced.calibration.error_words for priced in rows if priced.calibration is not None)
    words = f"* in the file; error: {' or '.join(error_words) or 'none is known'}"
    click.echo(f"\n{paragraph(words)}")


def _meaning_picture(meaning: Suspicion) -> str:
    curves = [meaning_of(p, meaning.epsilon) for p in _PRIORS]
    lines = [
        Line("at most", [(100 * c.prior, 100 * c.high) for c in curves]),
        Line("at least", [(100 * c.prior, 100 * c.low) for c in curves]),
        Line("unchanged", [(0, 0), (100, 100)]),
    ]
    title = f"How sure somebody can become, epsilon {at_most(meaning.epsilon)}"
    marks = [(100 * meaning.prior, percent(meaning.prior, up=True))]
    how = f"takifugu explain --epsilon {meaning.epsilon:g}"
    return line_chart(lines, Axis("sure before, per cent"), Axis("sure after, per cent"), title, how, marks)


def _price_picture(tables: Sequence[Sequence[Priced]], epsilons: Iterable[Fraction], name: str) -> str:
    lines = list[Line]()
    for rows in tables:
        lines.append(Line(rows[0].name, [(float(priced.requested), _error(priced)) for priced in rows]))
    marks = [(epsilon, "") for epsilon in sorted(map(float, epsilons))]
    marks[0] = marks[0][0], "in the file"
    title, how = f"What a promise costs: {name}", f"takifugu explain {name} --svg"
    error = Axis("error of all cells together", log=True)
    return line_chart(lines, Axis("epsilon", log=True), error, title, how, marks)


def _error(priced: Priced) -> float | None:
    return None if priced.calibration is None else priced.calibration.error_or_none


def _row(priced: Priced, prior: str, definition: Definition | None) -> Json:
    calibration = priced.calibration
    delta = priced.item.delta if calibration is None else calibration.delta
    meaning = _as_defined(meaning_of(prior, priced.requested, delta), definition)
    return {
        "epsilon": to_text(Fraction(priced.requested)),
        "in_file": priced.is_in_file,
        "mechanism": None if calibration is None else calibration.mechanism,
        "scale": None if calibration is None else calibration.exact_scale,
        "expected_error": _error(priced),
        "low": meaning.low,
        "high": meaning.high,
        "reason": priced.reason,
    }
