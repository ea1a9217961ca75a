"""A certificate's checksum, and certificates read back: a file that was changed after it was written is noticed.

The checksum is not a signature. It detects accidents and manual edits, not a newly written certificate.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from takifugu.core.errors import InputError
from takifugu.core.files import read_file
from takifugu.core.plain import Plain
from takifugu.releasing.certificates.bills import Bill, checksum_of
from takifugu.releasing.certificates.certificate import FORMAT, Answer, Certificate
from takifugu.releasing.certificates.facts import Caution, Stays, Window
from takifugu.releasing.certificates.files import CERTIFICATE, TABLE, digest_of_file, reason
from takifugu.releasing.certificates.form import check_form

#: What certificates of earlier formats lack.
_ADDED = {"takifugu-certificate/4": {"bill": None, "digest": None}}


def read_certificate(path: str | Path) -> Certificate:
    """Read a certificate from its JSON file.

    Raises InputError for a file that cannot be read, is not a certificate or is one of a newer version, or was changed
    after it was written.
    """
    return from_dict(parsed(Path(path)), Path(path).name)


def from_dict(data: Plain, name: str = "the certificate") -> Certificate:
    """Read a certificate back from its `to_dict` form.

    `name` is what messages call it. Raises InputError for what is not a certificate, one of a newer version, or one
    that was changed.
    """
    format_name = data.get("format")
    if not isinstance(format_name, str) or not format_name.startswith("takifugu-certificate/"):
        raise InputError(f"{name} is not a Takifugu certificate", fix="give the file <release>.certificate.json")
    if format_name not in (FORMAT, *_ADDED):
        raise InputError(
            f"{name} has the format {format_name[:60]!r}", rule=f"this version reads {FORMAT!r}",
            fix="use the one that wrote it",
        )  # fmt: skip
    if data.get("checksum") != checksum_of(data):
        raise InputError(
            f"{name}: this file was changed after it was written, so what it says is not what Takifugu certified",
            fix="get the original from whoever published the release",
        )
    data = {**_ADDED.get(format_name, {}), **data}
    try:
        content = dict[str, Any]()
        for field in fields(Certificate):
            value = data[field.name]
            content[field.name] = tuple(value) if isinstance(value, list) else value
        content["answers"] = tuple(Answer(**answer) for answer in data["answers"])
        content["cautions"] = tuple(map(Caution, data["cautions"]))
        content["stays"] = tuple(Stays(**stay) for stay in data["stays"])
        content["window"] = None if data["window"] is None else Window(**data["window"])
        if (bill := data["bill"]) is not None:
            content["bill"] = Bill(**{**bill, "places": tuple(bill["places"]), "readers": tuple(bill["readers"])})
        certificate = Certificate(**content)
    except (KeyError, TypeError, ValueError):
        software = repr(data.get("software"))[:60]
        raise InputError(f"{name} was written by {software}, which this version cannot read") from None
    try:
        check_form(certificate)
    except InputError as error:
        raise InputError(f"{name} is not a certificate that Takifugu wrote ({error})", fix="get the original") from None
    return certificate


def table_state(path: str | Path, certificate: Certificate) -> str:
    """Compare the table beside a certificate's file with it.

    Returns "the same", "missing", or "not certified" where there was no table. Raises InputError for another table and
    an unreadable one.
    """
    if certificate.table is None:
        return "not certified"
    name = Path(path).name.removesuffix(CERTIFICATE)
    table = Path(path).with_name(f"{name}{TABLE}")
    try:
        digest = digest_of_file(table)
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        raise InputError(f"{table.name}, the table beside the certificate, cannot be read ({reason(error)})") from None
    if digest != certificate.table:
        raise InputError(
            f"{table.name}, the table beside the certificate, is not the one that was certified",
            rule="it was changed, or one of the two belongs to another release",
            fix="get both from whoever published them",
        )
    return "the same"


def parsed(path: Path) -> Plain:
    """Read the plain values of a certificate's file.

    Raises InputError for a file that cannot hold a certificate.
    """
    try:
        data = json.loads(read_file(path).decode("utf-8"))
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise InputError(
            f"{path.name or path} cannot be read ({reason})", fix="give the path of a certificate"
        ) from None
    except (ValueError, RecursionError):
        hint = f"; the certificate beside it is {path.stem}.json" if path.suffix == ".txt" else ""
        raise InputError(
            f"{path.name} is not JSON, or was truncated", fix=f"give the file <release>.certificate.json{hint}"
        ) from None
    if not isinstance(data, dict):
        raise InputError(f"{path.name} is not a Takifugu certificate", fix="give the file <release>.certificate.json")
    return data
