"""What is found out before anything is paid for: whether it can be read again, and whether a ledger can keep it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from takifugu.analysis import randomisers
from takifugu.calibration import Calibration
from takifugu.core.errors import InputError, LedgerError, TakifuguError
from takifugu.core.plain import Json, Plain
from takifugu.core.registry import Registry, place_of
from takifugu.model import beliefs, secrets
from takifugu.model.queries import registry as queries
from takifugu.numbers.noise import SystemEntropy
from takifugu.releasing.planning.questions import Drawn, Ready
from takifugu.releasing.publishing.bundle import Bundle

#: Most bytes that a rehearsed release may take: three quarters of what a ledger keeps (`ledger.pending.LARGEST`).
LARGEST = 150_000_000

#: More bytes than a cell takes in all files together, beside its names, and than a row that is randomised by itself.
CELL, ROW, NAMED = 2_000, 200, 20

Thing = TypeVar("Thing")


class Written(Protocol):
    """What is written down as plain data that name its kind."""

    def to_dict(self) -> Json: ...


def check_reads_back(calibrations: Iterable[Calibration]) -> None:
    """Raise InputError for noise, a query, a belief or a secret that could not be read back once it is published."""
    for calibration in {id(one): one for one in calibrations}.values():
        framework = calibration.framework
        _check("noise", calibration.randomiser, None, randomisers.KINDS, randomisers.from_dict)
        _check("query", calibration.query, None, queries.KINDS, queries.from_dict)
        written = framework.to_dict()  # once for all its releases: a belief can be large
        for belief, data in zip(framework.beliefs, written["beliefs"], strict=True):
            _check("belief", belief, data, beliefs.KINDS, beliefs.from_dict)
        for secret, data in zip(framework.secrets, written["secrets"], strict=True):
            _check("secret", secret, data, secrets.KINDS, secrets.from_dict)


def _check(
    what: str, thing: Written, data: Json | None, kinds: Registry[Thing], from_dict: Callable[[Plain], Written]
) -> None:
    """Load what reads a thing back (`data` is the thing as written, if it is); what is not ours is compared."""
    name = type(thing).__name__
    try:
        data = thing.to_dict() if data is None else data
        kinds.find(data["kind"])
        same = True
        if not place_of(type(thing)):
            text = json.dumps(data, sort_keys=True)
            same = json.dumps(from_dict(json.loads(text)).to_dict(), sort_keys=True) == text
    except TakifuguError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InputError(
            f"the {what} {name} does not read back from its to_dict ({type(error).__name__})",
            rule="certificates and ledgers must be able to read it", fix="write plain data that from_dict reads",
        ) from error  # fmt: skip
    if not same:
        raise InputError(
            f"the {what} {name} reads back from its to_dict as another one",
            rule="certificates and ledgers must be able to read it", fix="write all of it into to_dict",
        )  # fmt: skip


def refuse_large(questions: Sequence[Ready], seal: Callable[[Sequence[Drawn]], Bundle], private: bool) -> None:
    """Raise LedgerError for a release whose files would be too large; small ones are not rehearsed.

    The files are made once with noise about no data, every exact answer being 0, and thrown away: their size says
    nothing of anybody. Noisy values of the data may have some digits more, so a rehearsal may take less than a ledger
    keeps. `private` says what the certificate will say of the noise.
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
