"""What a kind of release file from outside the package builds on: sections that all share, and readers of data."""

from __future__ import annotations

from takifugu.data import tally
from takifugu.releasing.file.keys import Section, Text
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit
from takifugu.releasing.file.kinds import register as register_release_file
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.reading import texts, wrong
from takifugu.releasing.file.records.kind import RecordHideSpec, RecordItemSpec, Records, RecordSourceSpec
from takifugu.releasing.file.records.rows import Columned
from takifugu.releasing.file.sections import FileSpec, SourceKeys
from takifugu.releasing.file.shape import Shape
from takifugu.releasing.file.tables import SharedTable, Table

__all__ = [
    "Columned", "FileSpec", "Kind", "RecordHideSpec", "RecordItemSpec", "RecordSourceSpec", "Records",
    "ReleaseFile", "Section", "Shape", "SharedTable", "SourceKeys", "SourceSpec", "Table", "Text", "Unit", "fault",
    "register_release_file", "tally", "texts", "wrong",
]  # fmt: skip


class SourceSpec(SourceKeys):
    """Where the private data are: the keys of [source] that every kind has; add yours in a class that derives."""

    unit: Text | None = None
