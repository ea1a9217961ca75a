"""The certificate: what a release guarantees, against whom, on which assumptions; of the data only what is public."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from takifugu.core.assumptions import Assumption, Kind
from takifugu.core.plain import Json, indented, to_plain
from takifugu.core.sections import values_by_field
from takifugu.core.text.parts import html_table
from takifugu.core.text.tables import labelled
from takifugu.releasing.certificates import wording
from takifugu.releasing.certificates.content import Content
from takifugu.releasing.certificates.facts import checksum_of

#: What a file of a certificate is; it has every field.
FORMAT = "takifugu-certificate/10"
WIDTH = 78
#: The width of a label.
_LABEL = 9


@dataclass(frozen=True)
class Certificate(Content):
    """What a release guarantees, in sentences and as plain values, by its content."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings of the certificate."""
        return wording.warnings(self)

    @property
    def assumed(self) -> tuple[Assumption, ...]:
        """Return all assumptions by their kinds: those of the models, of the window and of the definition, too."""
        return wording.assumed(self)

    def of_kind(self, *kinds: Kind) -> tuple[str, ...]:
        """Return the sentences of some kinds, in the order of the certificate."""
        return wording.of_kind(self, *kinds)

    def to_dict(self) -> Json:
        """Return plain values with their checksum, under keys stable within a format."""
        data = {"format": FORMAT, **to_plain(values_by_field(self))}
        return {**data, "checksum": checksum_of(data)}

    def to_json(self) -> str:
        return indented(self.to_dict())

    def text(self, columns: int = WIDTH) -> str:
        """Return the certificate as sentences, at most `columns` wide."""
        heading = textwrap.wrap(_title(self), columns, break_on_hyphens=False)
        lines = [*heading, "=" * max(map(len, heading))]
        for part in wording.sections(self):
            lines += ["", *_lines(part, columns)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = []
        for part in wording.sections(self):
            titles = [part.title, *[""] * (len(part.sentences) - 1)]
            rows += zip(titles, part.sentences, strict=False)
        return html_table(("about", _title(self)), rows)


def _title(c: Certificate) -> str:
    if c.rehearsal is not None:
        return f"Rehearsal, no guarantee: certificate of {c.release!r} with made-up data"
    return f"Privacy certificate: {c.release}"


def _lines(part: wording.Section, columns: int) -> list[str]:
    """Return a section: words beside its label, or below its title with their numbers, or as bullets."""
    if part.first is None:
        labels = [f"{part.title:<{_LABEL}}", *[""] * (len(part.sentences) - 1)]
        return [labelled(zip(labels, part.sentences, strict=True), columns)]
    places = range(part.first, part.first + len(part.sentences))
    labels = [f"{place:>3}" if part.first else "  -" for place in places]
    return [part.title, labelled(zip(labels, part.sentences, strict=True), columns)]
