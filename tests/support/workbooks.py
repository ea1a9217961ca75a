"""Excel workbooks written by hand: a sheet for each name, a cell for each value, and XML as it is for odd cells."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar
from xml.sax.saxutils import escape, quoteattr

Place = TypeVar("Place", Path, IO[bytes])
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


class Cell(str):
    """The XML of a cell, with its `{place}`."""


#: What the values of Python have no word for: an error, and by their styles a date, a moment and a time of day.
ERROR = Cell('<c r="{place}" t="e"><v>#DIV/0!</v></c>')
DATE, MOMENT, CLOCK = (Cell(f'<c r="{{place}}" s="{one}"><v>{number}</v></c>')
                       for one, number in ((1, 46053), (2, 46053.4375), (3, 0.43753472222)))  # fmt: skip


def write_workbook(
    path: Place, sheets: Mapping[str, Sequence[Sequence[Any]]], more: Mapping[str, str] | None = None
) -> Place:
    """Write a workbook to a path or an open file; `more` are further parts, or others in place of these."""
    numbers = range(1, len(sheets) + 1)
    names = zip(numbers, sheets, strict=True)
    listed = "".join(f'<sheet name={quoteattr(name)} sheetId="{i}" r:id="r{i}"/>' for i, name in names)
    linked = "".join(_link(f"r{i}", "worksheet", f"worksheets/sheet{i}.xml") for i in numbers)
    styles = "".join(f'<xf numFmtId="{kind}"/>' for kind in (0, 14, 22, 21))
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": _links(_link("r1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _links(linked + _link("s", "styles", "styles.xml")),
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs count="4">{styles}</cellXfs></styleSheet>',
    }
    for number, rows in zip(numbers, sheets.values(), strict=True):
        lines = "".join(f'<row r="{i}">{_cells(i, row)}</row>' for i, row in enumerate(rows, 1))
        cells = f"<sheetData>{lines}</sheetData>"
        parts[f"xl/worksheets/sheet{number}.xml"] = f'<worksheet xmlns="{_MAIN}">{cells}</worksheet>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        for name, xml in {**parts, **(more or {})}.items():
            book.writestr(name, xml)
    return path


def _links(links: str) -> str:
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>'


def _link(name: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{name}" Type="{_LINKS}/{kind}" Target="{target}"/>'


def _cells(row: int, values: Sequence[Any]) -> str:
    return "".join(_cell(f"{chr(65 + column)}{row}", value) for column, value in enumerate(values))


def _cell(place: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Cell):
        return value.format(place=place)
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'
