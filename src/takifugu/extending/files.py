"""What a kind of release file from outside the package builds on: sections that all share, and readers of data."""

from __future__ import annotations

from takifugu.releasing.file.keys import Section, Text
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit
from takifugu.releasing.file.kinds import register as register_release_file
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.reading import wrong
from takifugu.releasing.file.records.kind import RecordHideSpec, RecordItemSpec, Records, RecordSourceSpec
from takifugu.releasing.file.records.rows import Columned
from takifugu.releasing.file.relation_keys import RelationKeys, key
from takifugu.releasing.file.sections import FileSpec, SharedTable, Table
from takifugu.releasing.file.shape import Shape

__all__ = [
    "Columned", "FileSpec", "Kind", "RecordHideSpec", "RecordItemSpec", "RecordSourceSpec", "Records", "RelationKeys",
    "ReleaseFile", "Section", "Shape", "SharedTable", "Table", "Text", "Unit", "fault", "key", "register_release_file",
    "wrong",
]  # fmt: skip
