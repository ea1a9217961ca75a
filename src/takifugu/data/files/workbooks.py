"""Sheets of Excel workbooks (.xlsx, .xlsm) as Arrow tables of texts; python-calamine reads what was looked at."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from takifugu.core.errors import DataError
from takifugu.data.files.sheets import table_of_texts, text_of_cell
from takifugu.data.sql.faults import wrong_data, wrong_key

EXCEL = (".xlsx", ".xlsm")
#: The XML of a workbook has at most so many bytes and parts: it is read into memory.
LARGEST, MOST_PARTS = 200_000_000, 10_000
_PIECE = 2**20
#: A sheet is read as a full grid, which may have so many cells, or so many times those that are there.
GRID, SPARSE = 1_000_000, 4
_IS_SHEET, _CELL = re.compile(rb"<(?:\w+:)?sheetData[\s/>]"), re.compile(rb"<(?:\w+:)?c[\s/>]")
_PLACE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]{0,3})([0-9]{1,9})[\"']")
#: A formula up to the end of its cell, without a value that says something: it stops at the next formula or cell.
_NOT_COMPUTED = re.compile(
    rb"<(?:\w+:)?f[\s/>](?:(?!</?(?:\w+:)?c[\s/>]|<(?:\w+:)?f[\s/>]|<(?:\w+:)?v(?:\s[^<>]*)?>\s*[^<\s]).)*"
    rb"</(?:\w+:)?c>", re.DOTALL,
)
_ERROR = re.compile(rb"<(?:\w+:)?c\s[^<>]*?\bt\s*=\s*[\"']e[\"']")


def tables_of_excel(path: str) -> dict[str, Callable[[], Any]]:
    """Return each sheet of a workbook by name, as an Arrow table of texts when it is asked for."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise wrong_key("file", "Excel needs python-calamine", "", "pip install 'takifugu[excel,arrow]'") from None
    repacked = _repacked(Path(path))
    book = _unharmed(path, lambda: CalamineWorkbook.from_filelike(repacked))

    def sheet(name: str) -> Any:
        cells = _unharmed(path, lambda: book.get_sheet_by_name(name))
        lines = _unharmed(path, lambda: cells.to_python(skip_empty_area=False))
        if any(last for _, (last, _) in cells.merged_cell_ranges or ()):  # from 0 on: names may stand over columns
            what, rule = f"{name[:80]!r} has merged cells below its first row", "only the first of them has their value"
            raise wrong_data("file", what, rule, "unmerge them, and fill each")
        texts = ([text_of_cell(cell) for cell in line] for line in lines)
        return table_of_texts((line for line in texts if any(cell is not None for cell in line)), name)

    return {name: partial(sheet, name) for name in book.sheet_names}


def _repacked(path: Path) -> io.BytesIO:
    """Return a workbook of its XML alone, of which each part was looked at, one at a time."""
    # so no two readers take different parts for one; and what a part says of its size is not believed
    repacked, names, size = io.BytesIO(), set[str](), 0
    try:
        with (
            zipfile.ZipFile(path) as book,
            zipfile.ZipFile(repacked, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as checked,
        ):
            if len(book.infolist()) > MOST_PARTS:
                raise wrong_data("file", f"{path.name} has more than {MOST_PARTS:,} parts", "", "save it as CSV")
            for part in book.infolist():
                if not part.filename.lower().endswith((".xml", ".rels")):
                    continue
                if part.filename in names:
                    raise _damaged(path.name)
                names.add(part.filename)
                xml = bytearray()
                with book.open(part) as data:
                    while size + len(xml) <= LARGEST and (piece := data.read(_PIECE)):
                        xml += piece
                size += len(xml)
                if size > LARGEST:
                    what = f"{path.name} is larger than {LARGEST // 10**6} MB unpacked"
                    raise wrong_data("file", what, "", "save it as CSV")
                if _IS_SHEET.search(xml):
                    _check(xml, path.name)
                checked.writestr(part.filename, xml)
    except DataError:  # which is a ValueError
        raise
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError):
        raise _damaged(path.name) from None
    repacked.seek(0)
    return repacked


def _check(xml: bytes | bytearray, file: str) -> None:
    """Refuse a sheet with cells that only seem to be missing, or whose grid is much larger than they are."""
    if _NOT_COMPUTED.search(xml) or _ERROR.search(xml):
        what = f"{file} has cells that nothing has computed, or that show an error (#N/A)"
        fix = "open it in a spreadsheet program, repair or empty them, and save it"
        raise wrong_data("file", what, "what they should hold is not known", fix)
    height = width = 0
    for place in _PLACE.finditer(xml):
        column = 0
        for letter in place[1].upper():  # A is 1, and AA is 27
            column = 26 * column + letter - 64
        height, width = max(height, int(place[2])), max(width, column)
    cells = sum(1 for _ in _CELL.finditer(xml))
    if height * width > max(GRID, SPARSE * cells):
        raise wrong_data("file", f"{file} has cells far from its table", "", "delete what is outside of the table")


def _unharmed(path: str, read: Callable[[], Any]) -> Any:
    """Return what python-calamine reads; its errors, and the panics of Rust, become one of ours."""
    try:
        return read()
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":  # which is no Exception
            raise _damaged(Path(path).name) from None
        raise


def _damaged(file: str) -> DataError:
    what = f"{file} is damaged, encrypted or no workbook"
    return wrong_data("file", what, "", "save it as .xlsx, with no password")
