"""Whether what a file says can be a certificate at all: every field of its type, every number a number."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import InputError
from takifugu.numbers.rationals import as_delta, as_epsilon, as_fraction
from takifugu.releasing.certificates.certificate import COMPOSES, Answer, Certificate

SCOPES = ("all", "unit", "pooled")


def check_form(certificate: Certificate) -> None:
    """Raise InputError for a certificate impossible for Takifugu to have written.

    The error names the field. A valid checksum proves nothing here: whoever writes the file writes the checksum.
    """
    if odd := _odd(certificate, Certificate):
        raise InputError(f"its {odd!r} is not what a certificate has there")
    if certificate.scope not in SCOPES or not certificate.answers or not set(certificate.compositions) <= set(COMPOSES):
        raise InputError("its scope, its answers or its compositions are not those of a certificate")
    if not all(map(_is_framework, certificate.frameworks.values())):
        raise InputError("its frameworks do not say what is hidden")
    if not all(stay.lasting for stay in certificate.stays):
        raise InputError("it says of no state how long it lasts")
    if certificate.bill is not None and len(certificate.bill.places) != len(certificate.answers):
        raise InputError("its bill is of other answers")
    _check_numbers(certificate.epsilon, certificate.delta, certificate.grid)
    if certificate.requested is not None:
        as_epsilon(certificate.requested, "the epsilon that was requested")
    for answer in certificate.answers:
        _check_numbers(answer.epsilon, answer.delta, "1")
        if answer.covers not in set(Covers) or answer.composition != Covers(answer.covers).composition:
            raise InputError("an answer does not say how it composes")
        scale = Fraction(0) if answer.scale is None else as_fraction(answer.scale, "its scale")
        if scale < 0 or not isinstance(answer.noise.get("kind"), str):
            raise InputError("an answer's noise is not of a kind that a certificate has")
        if _is_choice(answer):
            continue
        if None in (answer.scale, answer.expected_error) and not _without_numbers(answer).output.is_number:
            continue  # what it publishes are no numbers
        for value in answer.values.values():
            as_fraction(value, "a published value")
        for value in (answer.adjusted or {}).values():
            as_fraction(value, "an adjusted value")
        if answer.adjusted is not None and list(answer.adjusted) != list(answer.values):
            raise InputError("an answer's adjusted values are of other cells")


def _is_framework(data: object) -> bool:
    secrets = data.get("secrets") if isinstance(data, Mapping) else None
    if not isinstance(secrets, list | tuple) or not secrets:
        return False
    return all(isinstance(secret, Mapping) and isinstance(secret.get("kind"), str) for secret in secrets)


def _is_choice(answer: Answer) -> bool:
    """Return whether values were chosen.

    Raises InputError for a value outside the choices.
    """
    kind = answer.noise["kind"]
    if kind not in randomisers.KINDS or not randomisers.KINDS.find(kind).is_choice:
        return False
    if not set(answer.values.values()) <= set(answer.noise.get("outcomes", ())):
        raise InputError("a published value is none of those that were declared")
    return True


def _without_numbers(answer: Answer) -> randomisers.Randomiser:
    """Return the noise of an answer lacking its scale or expected error.

    Raises InputError where that noise has them.
    """
    try:
        noise = randomisers.from_dict(answer.noise)
    except (KeyError, TypeError, ValueError):
        raise InputError("an answer's noise cannot be read") from None
    if answer.scale is None and randomisers.scale_text(noise) is not None:
        raise InputError("an answer's noise has a scale, and its scale is missing")
    if answer.expected_error is None and randomisers.answered(noise.expected_error) is not None:
        raise InputError("an answer's noise has an expected error, and it is missing")
    return noise


def _check_numbers(epsilon: str, delta: str, grid: str) -> None:
    if as_fraction(epsilon, "its epsilon") != 0:  # a release that reads nothing promises 0
        as_epsilon(epsilon, "its epsilon")
    as_delta(delta, "its delta")
    if as_fraction(grid, "its grid") <= 0:
        raise InputError("its grid is not above 0")


def _odd(record: object, kind: type) -> str | None:
    """Return a record's first field of another type than declared, if any."""
    for name, field_kind in _fields(kind).items():
        if not _fits(getattr(record, name), field_kind):
            return name
    return None


_fields = cache(get_type_hints)


def _fits(value: object, kind: Any) -> bool:
    """Return whether a value has an annotated type.

    Types are texts, numbers, lists and mappings of them, and records.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in inner)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(part, inner[0]) for part in value)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items())
    if is_dataclass(kind):
        return isinstance(value, kind) and not _odd(value, kind)  # type: ignore[arg-type]
    if kind in (int, float):
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**1000
    return isinstance(value, kind)
