"""CSV files in other encodings than UTF-8, or with lines above their rows: a copy, where only this user can read it."""

from __future__ import annotations

import codecs
import io
from dataclasses import replace
from pathlib import Path

from takifugu.data.files.formats import DataFile
from takifugu.data.values.written import not_written_so

#: How many bytes are recoded at a time.
_PIECE = 1 << 22


def copied(file: DataFile, codec: str, folder: Path, above: int = 0) -> DataFile:
    """Return a file's UTF-8 copy in a folder, under the same name.

    The first lines, `above` the rows, are left out. Raises DataError for bytes outside the codec, and for failures to
    read or copy.
    """
    path = folder / "recoded.csv"
    decoder = codecs.getincrementaldecoder(codec)()
    start = True
    with file.opened(codec) as source, open(path, "xb") as copy:
        while True:
            piece = source.read(_PIECE)
            try:
                text = decoder.decode(piece, final=not piece)
                if start:
                    text = "".join([*io.StringIO(text.removeprefix("\ufeff"), newline="")][above:])
                copy.write(text.encode())
            except UnicodeError:
                raise not_written_so(file.name, codec) from None
            start = start and not text
            if not piece:
                return replace(file, path=path, packed=False)
