"""A certificate's checksum, and certificates read back: a file that was changed after it was written is noticed.

The checksum is not a signature (signing.py). It detects accidents and manual edits, not a newly written certificate.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from fractions import Fraction
from functools import partial
from itertools import chain
from pathlib import Path

from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import InputError, reason
from takifugu.core.plain import Json, Plain
from takifugu.core.typed import read_as
from takifugu.numbers.rationals import LARGEST_NUMBER, as_delta, as_epsilon, as_fraction
from takifugu.releasing.certificates.certificate import FORMAT, Certificate
from takifugu.releasing.certificates.content import Answer
from takifugu.releasing.certificates.facts import checksum_of
from takifugu.releasing.certificates.files import CERTIFICATE, TABLE, digest_of_file, required_bytes
from takifugu.releasing.certificates.wording import COMPOSES

#: As many lists and objects lie inside each other in no certificate; the page that checks them reads no deeper either.
DEEPEST = 60
SCOPES = ("all", "unit", "pooled")
#: What the table of a certificate is, with what is said of it.
SAME, MISSING, NOT_CERTIFIED = "the same", "missing", "not certified"
TABLES = {
    SAME: "the table beside it is the one that was certified",
    MISSING: "the table that it is about is not beside it",
    NOT_CERTIFIED: "it does not say which file its values were published in",
}


def read_certificate(path: str | Path) -> Certificate:
    """Read a certificate from its JSON file; InputError for one that is changed, unreadable or newer."""
    return from_dict(parsed(Path(path)), Path(path).name)


def from_dict(data: Plain, name: str = "the certificate") -> Certificate:
    """Read a certificate back from its `to_dict` form; InputError, by this name, for none or a changed one."""
    format_name = data.get("format")
    if not isinstance(format_name, str) or not format_name.startswith("takifugu-certificate/"):
        raise InputError(f"{name} is not a Takifugu certificate", fix="give the file <release>.certificate.json")
    if format_name != FORMAT:
        raise InputError(
            f"{name} has the format {format_name[:60]!r}", rule=f"this version reads {FORMAT!r}",
            fix="use the one that wrote it",
        )  # fmt: skip
    if data.get("checksum") != checksum_of(data):
        raise InputError(
            f"{name}: this file was changed after it was written, so what it says is not what Takifugu certified",
            fix="get the original from whoever published the release",
        )
    if {field.name for field in fields(Certificate)} - data.keys():
        software = repr(data.get("software"))[:60]
        raise InputError(f"{name} was written by {software}, which this version cannot read")
    try:
        certificate = read_as(Certificate, {key: data[key] for key in data if key not in ("format", "checksum")})
        check_form(certificate)
    except InputError as error:
        words = f"its {error.place!r} is not what a certificate has there" if error.where else error
        raise InputError(f"{name} is not a certificate that Takifugu wrote ({words})", fix="get the original") from None
    return certificate


def table_state(path: str | Path, certificate: Certificate) -> str:
    """Compare the table beside a certificate's file with it; InputError for another and an unreadable table."""
    name, digest = f"{Path(path).name.removesuffix(CERTIFICATE)}{TABLE}", None
    try:
        with suppress(FileNotFoundError):
            digest = None if certificate.table is None else digest_of_file(Path(path).with_name(name))
    except OSError as error:
        raise InputError(f"{name}, the table beside the certificate, cannot be read ({reason(error)})") from None
    return state_of(certificate, digest, name)


def state_of(certificate: Certificate, digest: str | None, name: str) -> str:
    """Return which of `TABLES` the table of a certificate is, by its digest; InputError for another table."""
    if certificate.table is None:
        return NOT_CERTIFIED
    if digest is None:
        return MISSING
    if digest != certificate.table:
        raise InputError(
            f"{name} is not the table that was certified", rule="it was changed, or belongs to another release",
            fix="get both from whoever published them",
        )  # fmt: skip
    return SAME


def parsed(path: Path) -> Plain:
    """Read the plain values of a certificate's file. Raises InputError for a file that cannot hold a certificate."""
    return fields_of(required_bytes(path, "give the path of a certificate"), path.name)


def fields_of(content: bytes, name: str) -> Plain:
    """Read the plain values of a certificate's bytes; InputError, by this file name, for bytes of something else."""
    try:
        data = json.loads(content.decode("utf-8"), object_pairs_hook=partial(_each_once, name))
        json.dumps(data, ensure_ascii=False).encode("utf-8")  # half of a pair of code units is no text
    except InputError:  # which is a ValueError
        raise
    except (ValueError, RecursionError):
        hint = f"; the certificate beside it is {name.removesuffix('.txt')}.json" if name.endswith(".txt") else ""
        raise InputError(
            f"{name} is not JSON, or was truncated", fix=f"give the file <release>.certificate.json{hint}"
        ) from None
    if not isinstance(data, dict) or _is_deep(data):
        raise InputError(f"{name} is not a Takifugu certificate", fix="give the file <release>.certificate.json")
    return data


def _is_deep(data: Plain) -> bool:
    """Return whether values lie deeper inside each other than in any certificate."""
    level: list[object] = [data]
    for _ in range(DEEPEST):
        inner = list[object]()
        for each in level:
            if isinstance(each, dict | list):
                inner += each.values() if isinstance(each, dict) else each
        level = inner
    return bool(level)


def _each_once(file: str, pairs: list[tuple[str, object]]) -> Json:
    """Return an object of a certificate; InputError for a name that it has twice, of which readers take either."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise InputError(f"{file} has the field {twice!r} twice", fix="give the file as Takifugu wrote it")
    return fields


def check_form(certificate: Certificate) -> None:
    """Raise InputError, with the field, for a certificate that Takifugu cannot have written."""
    # a valid checksum proves nothing here: whoever writes the file writes the checksum
    for name, count in (("unit_count", certificate.unit_count), ("rehearsal", certificate.rehearsal)):
        if count is not None and abs(count) >= LARGEST_NUMBER:
            raise InputError(f"its {name!r} is not what a certificate has there")
    if certificate.scope not in SCOPES or not certificate.answers or not set(certificate.compositions) <= set(COMPOSES):
        raise InputError("its scope, its answers or its compositions are not those of a certificate")
    if not all(map(_is_framework, certificate.frameworks.values())) or not certificate.hidden:
        raise InputError("its frameworks do not say what is hidden, or what is believed")
    if not all(stay.lasting for stay in certificate.stays):
        raise InputError("it says of no state how long it lasts")
    if certificate.ledger is not None and not _is_statement(certificate):
        raise InputError("it does not say what its ledger says of the release")
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
        if answer.expected_error is not None:
            as_fraction(answer.expected_error, "its expected error")
        if (answer.half_width is None) != (answer.coverage is None):
            raise InputError("an answer's half-width and its coverage are not both there")
        for value in filter(None, (answer.half_width, answer.coverage)):
            as_fraction(value, "a half-width or its coverage")
        for value in (answer.adjusted or {}).values():
            as_fraction(value, "an adjusted value")
        if answer.adjusted is not None and list(answer.adjusted) != list(answer.values):
            raise InputError("an answer's adjusted values are of other cells")


def _is_framework(data: object) -> bool:
    if not isinstance(data, Mapping):
        return False
    secrets, beliefs = data.get("secrets"), data.get("beliefs")
    if not isinstance(secrets, list | tuple) or not isinstance(beliefs, list | tuple) or not secrets:
        return False
    return all(isinstance(one, Mapping) and isinstance(one.get("kind"), str) for one in chain(secrets, beliefs))


def _is_choice(answer: Answer) -> bool:
    """Return whether values were chosen. Raises InputError for a value outside the choices."""
    kind = answer.noise["kind"]
    if kind not in randomisers.KINDS or not randomisers.KINDS.find(kind).is_choice:
        return False
    if not set(answer.values.values()) <= set(answer.noise.get("outcomes", ())):
        raise InputError("a published value is none of those that were declared")
    return True


def _without_numbers(answer: Answer) -> randomisers.Randomiser:
    """Return the noise of an answer lacking its scale or expected error; InputError where it has them."""
    try:
        noise = randomisers.from_dict(answer.noise)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("an answer's noise cannot be read") from None
    if answer.scale is None and randomisers.scale_text(noise) is not None:
        raise InputError("an answer's noise has a scale, and its scale is missing")
    if answer.expected_error is None and randomisers.answered(noise.expected_error) is not None:
        raise InputError("an answer's noise has an expected error, and it is missing")
    return noise


def _is_statement(certificate: Certificate) -> bool:
    """Return whether a ledger says of a release what it says of its own."""
    said: Plain = certificate.ledger or {}
    texts = [said.get(name) for name in ("ledger", "head", "source", "reading", "entries")]
    is_of = isinstance(said.get("ids"), Mapping) and isinstance(said["ids"].get(certificate.release), str)
    return is_of and all(isinstance(text, str) for text in texts) and isinstance(said.get("lines"), list)


def _check_numbers(epsilon: str, delta: str, grid: str) -> None:
    if as_fraction(epsilon, "its epsilon") != 0:  # a release that reads nothing promises 0
        as_epsilon(epsilon, "its epsilon")
    as_delta(delta, "its delta")
    if as_fraction(grid, "its grid") <= 0:
        raise InputError("its grid is not above 0")
