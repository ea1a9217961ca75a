"""What a report says of how the noise was found: every mechanism side by side, and what forced the chosen one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from takifugu.calibration.alternatives import CHOSEN, Alternative, drawn_errors
from takifugu.releasing.certificates.certificate import Certificate, noise_text
from takifugu.releasing.report.page import Block, Figure, Table, Terms, Words, sentence
from takifugu.releasing.report.reported import Reported


def compared(t: Reported) -> Iterator[Block]:
    unit, release = t.noisiest
    calibration = release.calibration
    if calibration is None:
        yield Words(f"The noise was found by {computed_by(t.certificate)}. {sentence(noise_text(t.certificate))}")
        return
    if t.by_unit and unit is not None:
        count = t.certificate.people.counted(len(t.answers))
        yield Words(f"Shown for {unit}, whose answer has the most noise of all {count}.")
    rows = calibration.alternatives
    if not rows:
        yield Words(f"Nothing was compared: {calibration.mechanism} was requested by name.")
    else:
        words = calibration.error_words if calibration.randomiser.output.is_column else ""
        yield from _side_by_side(t.name, rows, words or "expected error, summed over the cells")
    yield Terms([
        ("Chosen", [computed_by(t.certificate)]),
        ("Noise", [sentence(noise_text(t.certificate))]),
        ("Forced by", [w for w in (calibration.witness.comparison,) if w]),
        ("Because", [w for w in (calibration.witness.detail,) if w]),
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


def computed_by(c: Certificate) -> str:
    return "; ".join(f"{name} ({source})" for name, source in c.mechanisms.items())
