"""Everything public of a release, as bytes: what the ledger keeps from the draw until all of it is published."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain

from takifugu.core.errors import LedgerError
from takifugu.core.plain import Json
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.checksum import from_dict
from takifugu.releasing.certificates.files import CERTIFICATE, files_of

#: What no name of a table holds, so that its files lie in the folder of tables.
_SEPARATORS = re.compile(r"[/\\:\0]|^\.")

_FORMAT = "takifugu-bundle/4"


@dataclass(frozen=True)
class Bundle:
    """The public form of tables: the complete bytes of the files of each, by name, in their order."""

    #: A release of the library has no files but its certificate, which holds the noisy values.
    tables: Mapping[str, Mapping[str, bytes]]

    @property
    def certificates(self) -> tuple[bytes, ...]:
        """Return the bytes of all certificates."""
        return tuple(files[f"{name}{CERTIFICATE}"] for name, files in self.tables.items())

    @property
    def read(self) -> tuple[Certificate, ...]:
        """Return all certificates."""
        return tuple(from_dict(json.loads(certificate)) for certificate in self.certificates)

    @property
    def files(self) -> dict[str, bytes]:
        return dict(chain.from_iterable(files.items() for files in self.tables.values()))

    def to_bytes(self) -> bytes:
        tables = list[Json]()
        for name, files in self.tables.items():
            tables.append({"name": name, "files": {file: content.decode() for file, content in files.items()}})
        return json.dumps({"format": _FORMAT, "tables": tables}).encode()


def sealed(certificate: Certificate) -> Bundle:
    """Return a library release's bundle: its certificate."""
    name = certificate.release
    return Bundle({name: {f"{name}{CERTIFICATE}": certificate.to_json().encode()}})


def bundle_of(content: bytes, releases: Collection[str]) -> Bundle:
    """Read the bundle of these releases back; LedgerError for another version, and for files of something else."""
    try:
        # a ledger may come from anywhere, and its files are written to the disk
        data: Json = json.loads(content)
        if data.get("format") == _FORMAT:
            tables = dict[str, Mapping[str, bytes]]()
            for table in data["tables"]:
                name, files = table["name"], table["files"]
                allowed = {*files_of([name])}
                if name not in releases or _SEPARATORS.search(name) or not set(files) <= allowed:
                    raise ValueError("the files of something else")
                tables[name] = {key: text.encode() for key, text in files.items()}
            if not tables:
                raise ValueError("no files")
            return Bundle(tables)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise LedgerError(
            "what the ledger keeps of this release is not what was drawn for it",
            rule="it was edited or damaged",
            fix="restore a backup; its epsilon counts as spent",
        ) from None
    raise LedgerError(
        "the ledger says that this release was drawn, but keeps no noisy values of it that this version can read",
        fix="complete it with the version of Takifugu that drew it; its epsilon counts as spent",
    )
