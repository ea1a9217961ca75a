"""What a kind of release file from outside the package builds on: sections that all share, and readers of data."""

from __future__ import annotations

from takifugu.data import tally
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.guessing.rules import register as register_guess
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit
from takifugu.releasing.file.kinds import register as register_release_file
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.reading import texts, wrong
from takifugu.releasing.file.records.columned import Columned
from takifugu.releasing.file.records.kind import Records
from takifugu.releasing.file.records.sections import RecordHideSpec, RecordItemSpec, RecordSourceSpec
from takifugu.releasing.file.sections import (
    AllowZeroNoise,
    Budget,
    FileSpec,
    ItemDelta,
    ItemEpsilon,
    ItemWords,
    Mechanism,
    Missing,
    Name,
    OnlyRelease,
    SamePeople,
    Section,
    SourceFile,
    SourceKeys,
    TableName,
    Text,
)

__all__ = [
    "AllowZeroNoise", "Budget", "Columned", "Facts", "FileSpec", "ItemDelta", "ItemEpsilon", "ItemWords", "Kind",
    "Mechanism", "Missing", "Name", "OnlyRelease", "RecordHideSpec", "RecordItemSpec", "RecordSourceSpec", "Records",
    "ReleaseFile", "SamePeople", "Section", "SourceFile", "SourceSpec", "TableName", "TableSpec", "Text", "Unit",
    "fault", "register_guess", "register_release_file", "tally", "texts", "wrong",
]  # fmt: skip


class SourceSpec(SourceKeys):
    """Where the private data are: the keys of [source] that every kind has; add yours in a class that derives."""

    unit: Text | None = None


class TableSpec(ItemWords):
    """One table to publish: the keys of [[release]] that every kind has, and what `query` may be."""

    name: TableName
    query: Text
    epsilon: ItemEpsilon
    delta: ItemDelta = 0
    mechanism: Mechanism = "auto"
    allow_zero_noise: AllowZeroNoise = False
