"""What calibration returns: the noise that was found, what it promises, what forced it, and what else was possible."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from takifugu.accounting import definitions
from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Composition, Covers, Guarantee
from takifugu.analysis.problem import Problem, Witness
from takifugu.analysis.randomisers import Randomiser, answered, scale_text
from takifugu.analysis.robustness import OFF_BY, OFF_HEADER, Weakened, if_belief_off
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain
from takifugu.core.sections import values_by_field
from takifugu.core.text.markup import folded, html_table, note
from takifugu.core.text.tables import filled, labelled, number, text_table, width
from takifugu.model import frameworks, queries
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers.rationals import to_text

if TYPE_CHECKING:
    from takifugu.core.text.plot import Plot

CHOSEN = "chosen"
IF_ONLY = "if the only release"  # the least error of all, which leaves no room for later releases
IF_FOLLOWED = "if others follow"  # the least error that leaves room
POSSIBLE = "possible"
WEAKER = "promises less"
REFUSED = "refused by default"
INAPPLICABLE = "does not apply"
SKIPPED = "skipped"
#: The statuses of mechanisms that may be used.
USABLE = (CHOSEN, IF_ONLY, IF_FOLLOWED, POSSIBLE)

#: What a promise about one output's distribution forbids.
ONLY_RELEASE = (
    "this release is alone: beside it any other about its source costs what its noise loses when the whole data "
    "change, and is refused where nothing bounds that"
)
NOTHING_COMPOSES = "no mechanism that composes with later releases may be used here, so the least error of all is taken"
PAIR_COMPOSES = (
    "two distributions of an answer are compared, and noise that composes makes no use of them, so the least error "
    "of all is taken"
)

_ADDS_UP = {
    Composition.COMPOSES: "what it costs together with other releases is computed",
    Composition.ALONE: "others beside it are charged for a change of the whole data",
}
_LISTED: dict[str, Any] = {"initial_indent": "  ", "subsequent_indent": "    ", "break_on_hyphens": False}
_HEADER = ("mechanism", "scale", "error", "composes", "status")


#: So many mechanisms are in a brief comparison.
MOST_BRIEF = 5


@dataclass(frozen=True)
class Alternative:
    """One mechanism in a comparison: what it would add, in answer units, how it composes, and why (not)."""

    name: str
    scale: float | None
    expected_error: float | None
    composition: str | None
    status: str
    reason: str

    @property
    def composes(self) -> str:
        """Whether it composes, in words; a dash where it has no answer."""
        return "-" if self.composition is None else Composition(self.composition).answer

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.name, number(self.scale), number(self.expected_error), self.composes, self.status)

    @property
    def error_or_last(self) -> float:
        return math.inf if self.expected_error is None else self.expected_error

    def to_dict(self) -> Json:
        return asdict(self)


@dataclass(frozen=True)
class Comparisons(Sequence[Alternative]):
    """Every mechanism side by side, in the registry's order.

    The one that "auto" takes is marked as chosen. Where the least error of all is another one's, that one is marked "if
    the only release"; with `only_release` it is chosen, and the least that composes is marked "if others follow".
    `remarks` are sentences about what is no mechanism for this definition; `believed` says whether there is a belief,
    which may be off; `error_words` say what an error is.
    """

    rows: tuple[Alternative, ...]
    epsilon: Fraction
    delta: Fraction
    remarks: tuple[str, ...] = ()
    believed: bool = True
    error_words: str = "expected L1 error over all cells"

    @overload
    def __getitem__(self, index: int) -> Alternative: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Alternative]: ...

    def __getitem__(self, index: int | slice) -> Alternative | Sequence[Alternative]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Alternative]:
        return iter(self.rows)

    def __str__(self) -> str:
        off = [text_table(OFF_HEADER, self._off_cells), filled(OFF_BY)] if self.believed else []
        title = f"{self._title}; error: {self.error_words}"
        return "\n\n".join([filled(title), _text(self.rows), *map(filled, self.remarks), *off])

    @property
    def brief(self) -> str:
        """The mechanism that is chosen and the others with the least errors, in about ten lines."""
        apply = [row for row in self.rows if row.status != INAPPLICABLE]
        nearest = sorted(apply, key=lambda row: (row.status != CHOSEN, row.status not in USABLE, row.error_or_last))
        title = filled(f"{self._title}; error: {self.error_words}")
        table = [text_table(_HEADER, [row.cells for row in nearest[:MOST_BRIEF]])] if apply else []
        table += [labelled([(row.name, row.reason)]) for row in nearest[:1] if row.reason]
        more = len(self.rows) - len(nearest[:MOST_BRIEF])
        others = filled(f"{more} more mechanisms, and why some do not apply: `takifugu compare --all`")
        return "\n\n".join([title, *table, *map(filled, self.remarks), others])

    def _repr_html_(self) -> str:
        remarks = "".join(map(note, self.remarks))
        off = html_table(OFF_HEADER, self._off_cells, OFF_BY) if self.believed else ""
        title = f"{self._title}; error: {self.error_words}"
        return _html(self.rows, title) + remarks + folded("If the belief is inaccurate", off)

    @property
    def if_belief_off(self) -> tuple[Weakened, ...]:
        """Return what the promise becomes for beliefs that are off by 0.01, 0.1 and 0.5; nothing without a belief."""
        return if_belief_off(self.epsilon, self.delta) if self.believed else ()

    @property
    def _off_cells(self) -> list[tuple[str, ...]]:
        return [row.cells for row in self.if_belief_off]

    @property
    def _title(self) -> str:
        return f"epsilon {to_text(self.epsilon)}, delta {to_text(self.delta)}"

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        return {
            "epsilon": to_text(self.epsilon),
            "delta": to_text(self.delta),
            "rows": [row.to_dict() for row in self.rows],
            "if_belief_off": [row.to_dict() for row in self.if_belief_off],
            **({"beside": list(self.remarks)} if self.remarks else {}),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """Enough noise for one query under one framework; it holds no data, and prints what it is and why.

    `epsilon` and `delta` are what is promised (`guarantee`), `requested` what was asked for, None where the caller
    chose the scale. `scale` is Laplace's b or the normal sigma in answer units, the nearest float of the exact
    `randomiser.scale`; Unsupported where the noise has none. `hides_one_entry` says whether the noise alone would hide
    one entry, at the promised epsilon, from someone who knows all others; where it does not, the promise rests on the
    belief.
    """

    framework: Framework
    query: Query
    mechanism: str
    source: str
    randomiser: Randomiser
    guarantee: Guarantee
    witness: Witness
    hides_one_entry: bool
    requested: tuple[Fraction, Fraction] | None = None
    alternatives: tuple[Alternative, ...] = ()

    @cached_property
    def problem(self) -> Problem:
        """Return the problem that was solved, with the query resolved and its components found."""
        return Problem(self.framework, self.query, *(self.requested or (self.epsilon, self.delta)))

    def __getstate__(self) -> dict[str, Any]:
        return values_by_field(self)  # the problem is found again

    @property
    def scale(self) -> float:
        return float(self.randomiser.scale)

    @property
    def scale_or_none(self) -> float | None:
        """Return the scale; None where the noise has none, so that `scale` raises Unsupported."""
        return answered(lambda: self.scale)

    @property
    def exact_scale(self) -> str | None:
        """Return the exact scale as it is written into files; None where there is none."""
        return scale_text(self.randomiser)

    @property
    def error_or_none(self) -> float | None:
        """Return the expected error; None where what is published has no distance from the answer."""
        return answered(lambda: self.expected_error)

    @property
    def epsilon(self) -> Fraction:
        return self.guarantee.epsilon

    @property
    def delta(self) -> Fraction:
        return self.guarantee.delta

    @property
    def is_only_release(self) -> bool:
        """Whether the promise is about this output alone; the ledger then charges others for a change of all data."""
        return self.guarantee.composition is Composition.ALONE

    @property
    def forbids(self) -> str:
        """Return in words what this release rules out for its source, or an empty string."""
        if not self.is_only_release:
            return ""
        usable = [row for row in self.alternatives if row.status in USABLE]
        if usable and all(row.composition == Composition.ALONE for row in usable):
            return f"{NOTHING_COMPOSES}; {ONLY_RELEASE}"
        return f"{PAIR_COMPOSES}; {ONLY_RELEASE}" if usable and self.problem.is_pair else ONLY_RELEASE

    @property
    def expected_error(self) -> float:
        """Return the expected L1 error, summed over cells, in answer units."""
        return self.randomiser.expected_error()

    def __repr__(self) -> str:
        return f"<Calibration {self.mechanism}: scale {number(self.scale_or_none)}, epsilon {to_text(self.epsilon)}>"

    def plot(self, width: int = 640) -> Plot:
        """Return a picture of the expected error of every mechanism that has one.

        Raises InputError where nothing was compared, as with a mechanism that was requested by name.
        """
        from takifugu.core.text.pictures import Axis, Bar, bar_chart
        from takifugu.core.text.plot import Plot

        bars = [Bar(row.name, row.expected_error) for row in self.alternatives if row.expected_error is not None]
        if not bars:
            raise InputError("no mechanisms were compared", fix='calibrate with mechanism = "auto", or use tf.compare')
        title = "Noise that each mechanism would add"
        return Plot(title, bar_chart(bars, Axis(self.error_words), title, width=width))

    def __str__(self) -> str:
        parts = [f"{self.mechanism}: {self._noise}", labelled(self._facts())]
        if self.alternatives:
            some = " that compose" if all(row.composition != Composition.ALONE for row in self.alternatives) else ""
            parts += [f"the other mechanisms{some}", _text(self._others)]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        page = html_table((self.mechanism, self._noise), self._facts())
        return page + (_html(self.alternatives, "all mechanisms") if self.alternatives else "")

    @property
    def _others(self) -> tuple[Alternative, ...]:
        return tuple(row for row in self.alternatives if row.name != self.mechanism)

    @property
    def _noise(self) -> str:
        noise = self.randomiser
        name = randomisers.KINDS.find(noise.kind).name
        if self.scale_or_none is None:
            return name
        return name if noise.kind == "none" else f"{name}, scale {number(self.scale)} on the grid {noise.grid}"

    @property
    def error_words(self) -> str:
        """Say what the expected error is, as the framework's definition has it."""
        usual = self.randomiser.error_words or "expected L1 error of one answer, over all its cells"
        return definitions.find(self.framework.definition).error_words or usual

    def _facts(self) -> list[tuple[str, str]]:
        cells = self.randomiser.cells
        over = "" if cells == 1 else f", summed over {cells} cells"
        if self.randomiser.output.is_column:
            over = ", per row"
        if self.randomiser.error_words:
            over = f": {self.error_words}"
        promise = f"epsilon {to_text(self.epsilon)}, delta {to_text(self.delta)}"
        if self.requested is not None and self.epsilon > self.requested[0]:
            promise += f", NOT the epsilon {to_text(self.requested[0])} that was requested"
        facts = [
            ("publishes", self.query.describe()),
            ("hides", "; ".join(s.describe() for s in self.framework.secrets)),
            ("under", "; ".join(b.describe() for b in self.framework.beliefs)),
            ("promises", promise),
            ("composes", f"{self.guarantee.composition.answer}: {_ADDS_UP[self.guarantee.composition]}"),
            ("forbids", self.forbids),
            ("expected error", "" if self.error_or_none is None else f"{number(self.error_or_none)}{over}"),
            ("forced by", self.witness.comparison),
            ("because", self.witness.detail),
            *(("condition", text) for text in self.guarantee.conditions),
        ]
        if not self.hides_one_entry:
            facts.append(("note", "the noise alone would not hide one value from someone who knows all the others"))
        facts.append(("source", self.source))
        return [(label, text) for label, text in facts if text]

    def to_dict(self) -> Json:
        """Return plain data for JSON that `from_dict` reads back, so that an audit can run it again."""
        requested = (
            None
            if self.requested is None
            else {"epsilon": to_text(self.requested[0]), "delta": to_text(self.requested[1])}
        )
        return {
            "mechanism": self.mechanism,
            "source": self.source,
            "framework": self.framework.to_dict(),
            "query": self.query.to_dict(),
            "randomiser": self.randomiser.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "witness": {**asdict(self.witness), "numbers": [list(pair) for pair in self.witness.numbers]},
            "hides_one_entry": self.hides_one_entry,
            "asked": requested,
            "scale": self.exact_scale,
            "expected_error": self.error_or_none,
            "alternatives": [row.to_dict() for row in self.alternatives],
        }

    @staticmethod
    def from_dict(data: Plain) -> Calibration:
        """Read a calibration back from its `to_dict` form."""
        requested, witness = data["asked"], data["witness"]
        numbers = tuple((str(name), float(value)) for name, value in witness["numbers"])
        return Calibration(
            frameworks.from_dict(data["framework"]),
            queries.from_dict(data["query"]),
            data["mechanism"],
            data["source"],
            randomisers.from_dict(data["randomiser"]),
            _guarantee(data["guarantee"]),
            Witness(witness["comparison"], witness["detail"], numbers),
            bool(data["hides_one_entry"]),
            None if requested is None else (Fraction(requested["epsilon"]), Fraction(requested["delta"])),
            tuple(Alternative(**row) for row in data["alternatives"]),
        )


def _text(rows: Sequence[Alternative]) -> str:
    """Return a table of the mechanisms that apply, notes on them, and the others by the reason why they do not."""
    apply = [row for row in rows if row.status != INAPPLICABLE]
    first = {row.reason: row.name for row in reversed(apply)}
    why = [(row.name, _as_before(row, first[row.reason])) for row in apply if row.reason]
    parts = [text_table(_HEADER, [row.cells for row in apply])] if apply else []
    parts += [labelled(why)] if why else []
    others: dict[str, list[str]] = {}
    for row in rows:
        if row.status == INAPPLICABLE:
            others.setdefault(row.reason, []).append(row.name)
    listed = [textwrap.fill(f"{', '.join(names)}: {reason}", width(), **_LISTED) for reason, names in others.items()]
    return "\n\n".join([*parts, "\n".join(["does not apply:", *listed])] if listed else parts)


def _as_before(row: Alternative, first: str) -> str:
    return row.reason if row.name == first else f"as {first}"


def _html(rows: Sequence[Alternative], caption: str) -> str:
    """Return a table of the mechanisms that may be used, the chosen one marked, and the others folded."""
    usable = [row for row in rows if row.status in USABLE]
    others = [(row.name, row.status, row.reason) for row in rows if row.status not in USABLE]
    chosen = next((number for number, row in enumerate(usable) if row.status == CHOSEN), -1)
    has_reasons = any(row.reason for row in usable)
    header = (*_HEADER, "why") if has_reasons else _HEADER
    table = html_table(header, [(*r.cells, r.reason)[: len(header)] for r in usable], caption, chosen) if usable else ""
    refused = html_table(("mechanism", "status", "why"), others) if others else ""
    return table + folded(f"{len(others)} that may not be used here", refused)


def _guarantee(data: Plain) -> Guarantee:
    return Guarantee(
        Fraction(data["epsilon"]),
        Fraction(data["delta"]),
        Covers(data["covers"]),
        data["definition"],
        data["framework"],
        tuple(data["assumptions"]),
        tuple(data["conditions"]),
    )
