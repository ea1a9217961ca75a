"""How large the files of a release would be: what a ledger could not keep is refused while nothing is spent.

The files are made once with noise about no data, every exact answer being 0, and thrown away: their size says nothing
of anybody. Noisy values of the data may have some digits more, so a rehearsal may take less than a ledger keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from takifugu.core.errors import LedgerError, TakifuguError
from takifugu.numbers.noise import SystemEntropy
from takifugu.releasing.planning.questions import Drawn, Ready
from takifugu.releasing.publishing.bundle import Bundle

#: Most bytes that a rehearsed release may take: three quarters of what a ledger keeps (`ledger.pending.LARGEST`).
LARGEST = 150_000_000

#: More bytes than a cell takes in all files together, beside its names, and than a row that is randomised by itself.
CELL, ROW, NAMED = 2_000, 200, 20


def refuse_large(questions: Sequence[Ready], seal: Callable[[Sequence[Drawn]], Bundle], private: bool) -> None:
    """Raise LedgerError for a release whose files would be too large; small ones are not rehearsed.

    `private` says what the certificate will say of the noise.
    """
    if sum(map(_at_most, questions)) <= LARGEST:
        return
    try:
        size = len(seal(tuple(_blank(questions, private))).to_bytes())
    except TakifuguError:
        return  # this noise is drawn about possible answers only
    if size > LARGEST:
        raise LedgerError(
            f"the files of this release would take {size // 1_000_000:,} MB",
            rule=f"one release takes at most {LARGEST // 1_000_000} MB",
            fix="publish fewer rows or cells at once",
        )


def _at_most(one: Ready) -> int:
    unit = len(one.question.unit or "")
    if not one.labels:
        return ROW * len(one.seen.data)
    return sum(CELL + NAMED * (len(label) + unit) for label in one.labels)


def _blank(questions: Sequence[Ready], private: bool) -> Iterator[Drawn]:
    bits = SystemEntropy()
    for one in questions:
        noise = one.question.calibration.randomiser
        if one.labels:
            values = noise.draw((0,) * noise.cells, bits)
        else:
            values = noise.draw_column([0] * len(one.seen.data), bits)
        yield Drawn(one.question, one.labels, values, private, None)
