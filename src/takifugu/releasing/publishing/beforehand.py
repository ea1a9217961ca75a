"""What is found out before anything is paid for: whether it can be read again, and whether a ledger can keep it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from takifugu.analysis import randomisers
from takifugu.core.errors import InputError, LedgerError, TakifuguError
from takifugu.core.plain import Json, Plain, Writing
from takifugu.core.registry import Registry, place_of
from takifugu.model import beliefs, secrets
from takifugu.model.queries import registry as queries
from takifugu.releasing.planning.questions import Ready

#: More bytes than a cell takes in all files together, beside its names, and than a row that is randomised by itself.
CELL, ROW, NAMED = 2_000, 200, 20

Thing = TypeVar("Thing")


def check(questions: Sequence[Ready]) -> None:
    """Raise for answers that could not be read back or kept.

    Raises InputError for the former, once published, and LedgerError for the latter.
    """
    calibrations = [ready.question.calibration for ready in questions]
    for calibration in {id(calibration): calibration for calibration in calibrations}.values():
        framework = calibration.framework
        _check("noise", calibration.randomiser, None, randomisers.KINDS, randomisers.from_dict)
        _check("query", calibration.query, None, queries.KINDS, queries.from_dict)
        content = framework.to_dict()  # once for all its releases: a belief can be large
        for belief, data in zip(framework.beliefs, content["beliefs"], strict=True):
            _check("belief", belief, data, beliefs.KINDS, beliefs.from_dict)
        for secret, data in zip(framework.secrets, content["secrets"], strict=True):
            _check("secret", secret, data, secrets.KINDS, secrets.from_dict)
    from takifugu.accounting.ledger.pending import LARGEST

    size = 0  # from public sizes alone: a refusal says nothing of the data
    for ready in questions:
        unit = len(ready.question.unit or "")
        size += sum(CELL + NAMED * (len(label) + unit) for label in ready.labels)
        if not ready.labels and ready.seen.data is not None:
            size += ROW * len(ready.seen.data)
    if size > LARGEST:
        raise LedgerError(
            f"the files of this release may take {size // 1_000_000:,} MB",
            rule=f"one release takes at most {LARGEST // 1_000_000} MB",
            fix="publish fewer rows or cells at once",
        )


def _check(
    role: str, thing: Writing, data: Json | None, kinds: Registry[Thing], from_dict: Callable[[Plain], Writing]
) -> None:
    """Load the readers of a thing, and compare foreign ones.

    `data` is the thing as written, if it is.
    """
    name, rule = type(thing).__name__, "certificates and ledgers must be able to read it"
    try:
        data = data or thing.to_dict()
        kinds.find(data["kind"])
        if place_of(type(thing)):
            return
        text = json.dumps(data, sort_keys=True)
        text_of_copy = json.dumps(from_dict(json.loads(text)).to_dict(), sort_keys=True)
    except TakifuguError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InputError(
            f"the {role} {name} does not read back from its to_dict ({type(error).__name__})", rule=rule,
            fix="write plain data that from_dict reads",
        ) from error  # fmt: skip
    if text_of_copy != text:
        raise InputError(
            f"the {role} {name} reads back from its to_dict as another one", rule=rule,
            fix="write all of it into to_dict",
        )  # fmt: skip
