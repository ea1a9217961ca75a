"""Whether what a certificate and a ledger will hold can be read again: found out before anything is paid for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from takifugu.analysis import randomisers
from takifugu.calibration import Calibration
from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.plain import Json, Plain
from takifugu.core.registry import Registry, place_of
from takifugu.model import beliefs, secrets
from takifugu.model.queries import registry as queries


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


Thing = TypeVar("Thing")


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
