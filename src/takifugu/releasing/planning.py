"""From a release file to calibrated questions: sequences, beliefs of public lengths, the noise of each answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from takifugu.beliefs.pieces import IndependentPieces
from takifugu.calibration import Calibration, Comparisons, calibrate, compare
from takifugu.calibration.result import POSSIBLE
from takifugu.errors import CalibrationRefused, DataError
from takifugu.frameworks import Framework, Pufferfish
from takifugu.guarantee import Composition
from takifugu.queries import Query
from takifugu.releasing.build import Chain, chain_of, layout_of, query_of, recode_of, secret_of
from takifugu.releasing.publish import Question
from takifugu.releasing.reading import read_columns
from takifugu.releasing.sequences import Unit, sequences
from takifugu.releasing.spec import ChainSpec, ItemSpec, ReleaseFile, ReleaseSpec


@dataclass(frozen=True, eq=False)
class Table:
    """One table to publish: the answers of one release to one scope ("all", "unit" or "pooled")."""

    name: str
    scope: str
    item: ItemSpec
    questions: tuple[Question, ...] = field(repr=False)

    @property
    def calibrations(self) -> tuple[Calibration, ...]:
        return tuple(q.calibration for q in self.questions)


@dataclass(frozen=True, eq=False)
class Plan:
    """What a release file would publish: calibrated, nothing drawn. It holds the private sequences."""

    file: ReleaseFile
    units: tuple[Unit, ...] = field(repr=False)
    tables: tuple[Table, ...]
    assumptions: tuple[str, ...]

    @property
    def spec(self) -> ReleaseSpec:
        return self.file.spec

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(u.name for u in self.units if u.name is not None)


def plan(file: ReleaseFile) -> Plan:
    """Read the data, form sequences and beliefs, and calibrate every answer; nothing is drawn.

    Raises DataError for data that breaks a rule, and CalibrationRefused where no mechanism may be used as asked.
    """
    units, beliefs = _units(file.spec, file.folder), _Beliefs(file)
    tables = tuple(t for item in file.spec.release for t in _tables(item, file.spec, units, beliefs))
    return Plan(file, units, tables, tuple(_assumptions(file.spec)))


def compared(file: ReleaseFile) -> Iterator[tuple[str, str, str | None, Comparisons]]:
    """Yield every mechanism side by side for each table: its name, scope, the unit shown (the longest), the rows."""
    units, beliefs = _units(file.spec, file.folder), _Beliefs(file)
    longest = max(units, key=lambda u: sum(u.lengths))
    for item in file.spec.release:
        query = query_of(item, file.spec.belief.states)
        for name, scope in _scopes(item, file.spec):
            unit = longest if scope == "unit" else None
            framework = beliefs.about([unit] if unit else units)
            yield name, scope, None if unit is None else unit.name, compare(framework, query, item.epsilon, item.delta)


class _Beliefs:
    """Frameworks and calibrations about pieces of given lengths, made once for all units that share them."""

    def __init__(self, file: ReleaseFile) -> None:
        self.spec = file.spec
        self.chain: Chain = chain_of(file.spec.belief, file.spec.source, file.folder)
        self.frameworks: dict[tuple[int, ...], Framework] = {}
        self.calibrations: dict[Any, Calibration] = {}

    def about(self, units: Sequence[Unit]) -> Framework:
        lengths = tuple(n for u in units for n in u.lengths)
        if lengths not in self.frameworks:
            chain = self.chain.with_length(max(lengths))
            belief = chain if len(lengths) == 1 else IndependentPieces(chain, lengths)
            self.frameworks[lengths] = Pufferfish(secret_of(), belief)
        return self.frameworks[lengths]

    def calibrated(self, item: ItemSpec, query: Query, framework: Framework, alone: bool) -> Calibration:
        key = (item.name, id(framework), query, alone)
        if key not in self.calibrations:
            self.calibrations[key] = self._calibrate(item, query, framework, alone)
        return self.calibrations[key]

    def _calibrate(self, item: ItemSpec, query: Query, framework: Framework, alone: bool) -> Calibration:
        fit = self.spec.belief.fit if isinstance(self.spec.belief, ChainSpec) else None
        told = {"allow_zero_noise": item.allow_zero_noise, "allow_private_belief": fit is not None and fit.private}
        found = calibrate(framework, query, item.epsilon, item.delta, item.mechanism, **told)
        if alone or found.guarantee.composition is not Composition.SINGLE or item.mechanism != "auto":
            return found
        errors = {
            row.name: row.expected_error
            for row in found.alternatives
            if row.status == POSSIBLE and row.composition != str(Composition.SINGLE) and row.expected_error is not None
        }
        if not errors:
            raise CalibrationRefused(
                f"the release {item.name!r} is one of several answers about the same data, and no mechanism that may "
                "be used adds up with others: publish it alone"
            )
        best = min(errors, key=lambda name: errors[name])
        return calibrate(framework, query, item.epsilon, item.delta, best, **told)


def _units(spec: ReleaseSpec, folder: Path) -> tuple[Unit, ...]:
    """Return the units with the pieces that the rules on (public) lengths keep."""
    layout, belief = layout_of(spec.source), spec.belief
    found = sequences(read_columns(folder / spec.source.file, layout.columns), layout, recode_of(belief))
    most = belief.max_length
    if most is not None and belief.longer == "refuse" and any(n > most for u in found for n in u.lengths):
        raise DataError(
            f'there is a piece with more than the {most} steps of belief.max_length: raise it, or write longer = "cut"'
        )
    kept = [Unit(u.name, tuple(p[:most] for p in u.pieces if len(p) >= belief.min_length)) for u in found]
    units = tuple(u for u in kept if u.pieces)
    if not units:
        raise DataError(f"no piece has the {belief.min_length} steps of belief.min_length: lower it")
    return units


def _scopes(item: ItemSpec, spec: ReleaseSpec) -> list[tuple[str, str]]:
    """Return the names and scopes of the tables of a release."""
    if spec.source.unit is None:
        return [(item.name, "all")]
    if item.per != "both":
        return [(item.name, item.per)]
    return [(f"{item.name}-units", "unit"), (f"{item.name}-pooled", "pooled")]


def _tables(item: ItemSpec, spec: ReleaseSpec, units: tuple[Unit, ...], beliefs: _Beliefs) -> Iterator[Table]:
    query = query_of(item, spec.belief.states)
    for name, scope in _scopes(item, spec):
        readers = {u.name or "": beliefs.about([u]) for u in units}
        if scope == "unit":
            questions = tuple(
                _ask(name, item, query, [u], {u.name or "": readers[u.name or ""]}, spec, beliefs) for u in units
            )
        else:
            questions = (_ask(name, item, query, units, readers, spec, beliefs),)
        yield Table(name, scope, item, questions)


def _ask(
    name: str,
    item: ItemSpec,
    query: Query,
    units: Sequence[Unit],
    readers: Mapping[str, Framework],
    spec: ReleaseSpec,
    beliefs: _Beliefs,
) -> Question:
    """Return one question; it stands alone if nothing else in the file reads the same data and all entries are seen."""
    gaps = any(state is None for u in units for piece in u.pieces for state in piece)
    if gaps and len(units) == 1:
        seen = (state for piece in units[0].pieces for state in piece)
        query = replace(query, entries=tuple(i for i, state in enumerate(seen) if state is not None))  # type: ignore[type-var]
        gaps = False
    alone = len(spec.release) == 1 and item.per != "both" and not gaps
    framework = beliefs.about(units)
    pieces = [piece for u in units for piece in u.pieces]
    return Question(
        name,
        units[0].name if len(readers) == 1 else None,
        beliefs.calibrated(item, query, framework, alone),
        pieces if len(pieces) > 1 else pieces[0],
        readers,
    )


def _assumptions(spec: ReleaseSpec) -> Iterator[str]:
    if spec.source.unit is not None:
        yield "which units there are, and the lengths of their pieces, are public"
        yield "the units are independent of each other"
    if spec.source.step is not None or spec.source.nulls == "unobserved":
        yield "which entries were observed is public"
    if spec.belief.min_length > 1:
        yield f"pieces of fewer than {spec.belief.min_length} steps are left out, and nothing is promised about them"
    if spec.belief.max_length is not None and spec.belief.longer == "cut":
        yield f"pieces are cut to {spec.belief.max_length} steps; nothing of the rest is published"
