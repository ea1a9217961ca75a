"""Excel workbooks (.xlsx, .xlsm): the cells of one sheet, looked at in their XML before python-calamine reads them."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from functools import partial
from itertools import islice
from pathlib import PurePosixPath

from takifugu.core.errors import DataError
from takifugu.data.files.copied_rows import read_rows, text_of_float, with_names
from takifugu.data.files.first_lines import header_of
from takifugu.data.files.formats import DataFile, Rows, SourceFormat, chosen, largest
from takifugu.data.files.other_kinds import refuse_other_kinds
from takifugu.data.values.written import Written

#: The XML of a workbook is no larger, in bytes, and has no more parts: it is read into memory.
LARGEST, MOST_PARTS = 200_000_000, 10_000
#: A sheet is read as a full grid, which may have so many cells, or so many times those that are there.
GRID, SPARSE = 1_000_000, 4
#: So many first rows tell where the header is.
_COMPARED = 500
_ZIP, _OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_ERROR = re.compile(rb"<(?:\w+:)?c\s[^<>]*?\bt\s*=\s*[\"']e[\"']")
_CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")
_FORMULA = rb"<(?:\w+:)?f(?:\s[^<>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
_EMPTY = rb"<(?:\w+:)?v\s*(?:/>|>\s*</(?:\w+:)?v>)\s*"
_END, _NO_TEXT = rb"</(?:\w+:)?c>", rb"<(?:\w+:)?c(?![^<>]*\st\s*=\s*[\"']str[\"'])(?:\s[^<>]*)?(?<!/)>\s*"
#: A formula that nothing has computed has no value, or an empty one that is no text.
_NOT_COMPUTED = re.compile(_FORMULA + _END + rb"|" + _NO_TEXT + _FORMULA + _EMPTY + _END)
#: A program that computes nothing asks for it so, and may write 0 meanwhile.
_TO_COMPUTE, _ANY_FORMULA = re.compile(rb"fullCalcOnLoad\s*=\s*[\"'](?:1|true)[\"']"), re.compile(rb"<(?:\w+:)?f[\s/>]")
_PLACE = re.compile(rb"\sr\s*=\s*[\"']([A-Za-z]{0,3})([0-9]{1,9})[\"']")


def rows(file: DataFile, written: Written) -> Rows:
    """Return the names and rows of the named or only sheet.

    Names are in its first row, or the declared one. Raises DataError, quoting nothing, for an encrypted, too large or
    damaged workbook, and for errors in cells such as #DIV/0!.
    """
    return with_names(file, written, _rows(file, written.sheet))


def _rows(file: DataFile, sheet: str | None) -> Iterator[list[str | None]]:
    """Return all rows of a sheet, from its first one on."""
    parts = _parts(file)
    sheets = _sheets(file, parts)
    name = chosen(list(sheets), sheet, file, "sheet")
    xml = parts[sheets[name]]
    if _ERROR.search(xml):
        raise DataError(
            f"{file.name} has cells that show an error (such as #DIV/0! or #N/A)",
            rule="what they should hold is not known",
            fix="repair the formulas, or empty these cells where the value is missing",
        )
    is_to_compute = _TO_COMPUTE.search(parts["xl/workbook.xml"]) and _ANY_FORMULA.search(xml)
    if is_to_compute or _NOT_COMPUTED.search(xml):
        raise DataError(
            f"{file.name} has formulas that nothing has computed",
            rule="what they should hold is not known",
            fix="open it in a spreadsheet program and save it",
        )
    height = width = 0
    for place in _PLACE.finditer(xml):
        column = 0
        for letter in place[1].upper():  # A is 1, and AA is 27
            column = 26 * column + letter - 64
        height, width = max(height, int(place[2])), max(width, column)
    cells = _number_of_cells(xml)
    if not cells:  # which python-calamine 0.4 does not survive
        raise DataError(f"{file.name} has an empty sheet", rule="a table has a row of column names")
    if height * width > max(GRID, SPARSE * cells):
        raise DataError(f"{file.name} has cells far from its table", fix="delete what is outside of the table")
    return _cells(file, parts, name)


def _parts(file: DataFile) -> dict[str, bytes]:
    """Return the XML of a workbook, part by part."""
    if file.packed:
        raise DataError(f"{file.name} is a workbook inside gzip", fix="unpack it")
    if file.start.startswith(_OLD):
        raise DataError(
            f"{file.name} is encrypted, or a workbook of an old Excel (.xls)", fix="save it as .xlsx, with no password"
        )
    if not file.start.startswith(_ZIP):
        refuse_other_kinds(file)
        raise _damaged(file)
    parts, size = dict[str, bytes](), 0
    try:
        with zipfile.ZipFile(file.path) as book:
            if len(book.infolist()) > MOST_PARTS:
                raise DataError(f"{file.name} has more than {MOST_PARTS:,} parts", fix="copy the sheet into a new one")
            for part in book.infolist():
                if not part.filename.lower().endswith((".xml", ".rels")):
                    continue
                if part.flag_bits & 1:
                    raise DataError(f"{file.name} is encrypted", fix="save it without a password")
                with book.open(part) as data:  # what a part says of its size is not believed
                    parts[part.filename] = data.read(LARGEST - size + 1)
                size += len(parts[part.filename])
                if size > LARGEST:
                    raise DataError(f"{file.name} is larger than {LARGEST // 10**6} MB unpacked", fix="save it as CSV")
    except DataError:  # which is a ValueError
        raise
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError):
        raise _damaged(file) from None
    return parts


def _sheets(file: DataFile, parts: dict[str, bytes]) -> dict[str, str]:
    """Return the part of each sheet of cells by name."""
    from xml.etree import ElementTree

    try:
        documents = parts["xl/workbook.xml"], parts["xl/_rels/workbook.xml.rels"]
        if b"<!DOCTYPE" in b"".join(documents):
            raise ElementTree.ParseError
        book, links = map(ElementTree.fromstring, documents)
    except (KeyError, ElementTree.ParseError):
        raise _damaged(file) from None
    target = {
        link.get("Id"): str(PurePosixPath("xl", link.get("Target", "")).as_posix()).lstrip("/")
        for link in links if str(link.get("Type")).endswith("/worksheet")
    }  # fmt: skip
    sheets = dict[str, str]()
    for element in book.iter():
        if element.tag.rpartition("}")[2] == "sheet":
            link = next((value for key, value in element.items() if key.rpartition("}")[2] == "id"), None)
            if target.get(link) in parts:
                sheets[element.get("name", "")] = target[link]
    return sheets


def _number_of_cells(xml: bytes) -> int:
    return sum(1 for _ in _CELL.finditer(xml))


def _cells(file: DataFile, parts: dict[str, bytes], name: str) -> Iterator[list[str | None]]:
    try:
        import python_calamine
    except ImportError:
        raise DataError(
            f"{file.name} is an Excel workbook", fix="install python-calamine (pip install 'takifugu[excel]')"
        ) from None
    checked = io.BytesIO()  # only what was looked at, so that no two readers take different parts for one
    with zipfile.ZipFile(checked, "w") as book:
        for part, xml in parts.items():
            book.writestr(part, xml)
    checked.seek(0)
    try:
        sheet = python_calamine.CalamineWorkbook.from_filelike(checked).get_sheet_by_name(name)
        for row in sheet.iter_rows():
            yield list(map(_text, row))
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":  # a panic of Rust is no Exception
            raise _damaged(file) from None
        raise


def _text(value: object) -> str | None:
    """Return a cell's text as in CSV, with times in ISO 8601.

    >>> [_text(value) for value in (3.0, 0.5, True, "", datetime(2026, 1, 31, 10, 30), time(9, 5))]
    ['3', '0.5', 'true', None, '2026-01-31T10:30:00', '09:05:00']
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return text_of_float(value)
    if isinstance(value, timedelta):
        return _text(value / timedelta(seconds=1))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value) or None


def _damaged(file: DataFile) -> DataError:
    return DataError(f"{file.name} cannot be read as an Excel workbook", fix="check the file, or save it as CSV")


def contents(file: DataFile) -> dict[str, int]:
    """Return the number of cells in each sheet."""
    parts = _parts(file)
    return {name: _number_of_cells(parts[part]) for name, part in _sheets(file, parts).items()}


def guess(file: DataFile) -> Written:
    """Return the largest of several sheets, and where its header is."""
    sheet = largest(contents(file))
    try:
        start = [*islice(_rows(file, sheet), _COMPARED)]
    except DataError:
        return Written(sheet=sheet)  # opening it says what is wrong
    return Written(sheet=sheet, lines=header_of(start))


EXCEL = SourceFormat(
    "Excel", partial(read_rows, rows), suffixes=(".xlsx", ".xlsm"), guess=guess, parts=("sheet",), rows=rows,
    contents=contents,
)
