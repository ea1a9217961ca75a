"""CSV files in other encodings than UTF-8: a copy in UTF-8, piece by piece, where only this user can read it."""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path
from typing import IO, Any, cast

from takifugu.core.errors import DataError

#: How many bytes are recoded at a time.
_PIECE = 1 << 22


def copied(path: Path, packed: bool, codec: str, folder: Path) -> Path:
    """Write a file's text in UTF-8 into a folder, and return where; DataError for bytes that the codec does not have.

    Raises OSError where the file cannot be read, or the copy cannot be written.
    """
    where = folder / "recoded.csv"
    decoder = codecs.getincrementaldecoder(codec)()
    start = True
    with cast(IO[bytes], cast(Any, gzip.open if packed else open)(path, "rb")) as source, open(where, "xb") as copy:
        while True:
            piece = source.read(_PIECE)
            try:
                text = decoder.decode(piece, final=not piece)
                text = text.removeprefix("\ufeff") if start else text
                copy.write(text.encode())
            except UnicodeError:
                raise not_written_so(path.name, codec) from None
            start = start and not text
            if not piece:
                return where


def not_written_so(name: str, codec: str | None) -> DataError:
    """Return the error about a file that holds bytes which its encoding does not have."""
    if codec is None:
        return DataError(
            f"{name} is not UTF-8 text", fix='save it as UTF-8, or declare its encoding, such as encoding = "cp1252"'
        )
    return DataError(f"{name} is not {codec} text", fix="declare the encoding that it was saved in")
