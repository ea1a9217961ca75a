"""How long the states of a chain last, for the certificate."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from datetime import timedelta
from fractions import Fraction

from takifugu.model.beliefs.chains.declared_chain import ChainSection
from takifugu.model.beliefs.chains.matrices_by import matrices_in
from takifugu.model.beliefs.chains.stays import UNITS
from takifugu.model.beliefs.stochastic import FloatArray
from takifugu.releasing.certificates.facts import Fact, Stays
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sequences.build import step_of
from takifugu.releasing.file.sequences.sections import ReleaseSpec

Step = Fraction | timedelta | None


def lasting(file: ReleaseFile) -> Iterator[Fact]:
    """Yield the mean lengths of states of a single chain."""
    spec = file.sections(ReleaseSpec)
    source, belief = spec.source, spec.belief.meant
    if not isinstance(belief, ChainSection) or (belief.fit and belief.fit.confidence is not None):
        return
    step, calendar = step_of(source), source.calendar
    if belief.matrix_by is None or calendar is None:
        yield stays_of(file.belief.matrix, file.belief.states, step)
        return
    for cells, matrix in matrices_in(belief, file.belief, calendar):
        yield stays_of(matrix, file.belief.states, step, f"{belief.matrix_by} {cells}")


def stays_of(
    matrix: Sequence[Sequence[float]] | FloatArray, states: Sequence[Hashable], step: Step, cells: str = ""
) -> Stays:
    """Return the mean lengths of states, in time or else in steps.

    >>> stays_of([[0.9, 0.1], [0.25, 0.75]], ["still", "walking"], timedelta(minutes=1)).lasting["walking"]
    'about 4 minutes'
    """
    lasting = [_lasts(1 - row[place], step) for place, row in enumerate(matrix)]
    return Stays(dict(zip(map(str, states), lasting, strict=False)), cells)


def _lasts(leaving: float, step: Step) -> str:
    """Say the mean length of a state."""
    if leaving <= 0:
        return "for ever"
    if not isinstance(step, timedelta):
        return f"about {1 / leaving:.3g} steps"
    seconds = step.total_seconds() / leaving
    name, unit = next(((n[1], s) for n, s in reversed(UNITS.items()) if seconds >= 2 * s), ("seconds", 1))
    return f"about {seconds / unit:.3g} {name}"
