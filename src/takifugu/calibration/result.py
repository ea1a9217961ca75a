"""What calibration returns: the noise that was found, what it promises, what forced it, and what else was possible."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Self

from takifugu.accounting import definitions
from takifugu.accounting.definitions.gate import too_little_noise
from takifugu.analysis import randomisers
from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Composition, Guarantee
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Randomiser, answered, scale_text
from takifugu.calibration.alternatives import EXPECTED_ERROR, USABLE, Alternative, as_html, as_text, fallback
from takifugu.core.errors import InputError, within
from takifugu.core.escaping import at_least, at_most, number, promised
from takifugu.core.plain import Json, Plain, form
from takifugu.core.sections import values_by_field
from takifugu.core.text.parts import html_table
from takifugu.core.text.tables import labelled
from takifugu.core.typed import Typed, as_written
from takifugu.model import queries
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query
from takifugu.numbers.rationals import as_fraction, to_text

if TYPE_CHECKING:
    from takifugu.core.text.plot import Plot

#: What a promise about one output's distribution forbids.
ONLY_RELEASE = (
    "this release is alone: beside any other about the same people both count by their noise, and what nothing bounds "
    "is refused"
)
NOTHING_COMPOSES = "no mechanism that composes with later releases may be used here, so the least error of all is taken"
PAIR_COMPOSES = (
    "two distributions of an answer are compared, and noise that composes makes no use of them, so the least error "
    "of all is taken"
)

_ADDS_UP = {
    Composition.COMPOSES: "what it costs together with other releases is computed",
    Composition.ALONE: "beside others its noise counts, and not its promise",
}


def _asked(requested: tuple[Fraction, Fraction]) -> Json:
    return {"epsilon": to_text(requested[0]), "delta": to_text(requested[1])}


def _requested(asked: Plain) -> tuple[Fraction, Fraction]:
    return as_fraction(asked["epsilon"], "epsilon", "epsilon"), as_fraction(asked["delta"], "delta", "delta")


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Typed):
    """Hold enough noise for one query under one framework. It never saw data.

    `epsilon` and `delta` are those of the guarantee. `scale` is Laplace's b or the normal sigma, in answer units: the
    nearest float of the exact `randomiser.scale`.

    Args:
        framework: The framework.
        query: The query.
        mechanism: Name of the mechanism.
        source: Paper and theorem of the mechanism.
        randomiser: The noise.
        guarantee: The guarantee.
        witness: The comparison that needs this noise.
        hides_one_entry: Whether the noise alone hides one entry, at the guaranteed epsilon, from a reader who knows all
            others; if not, the guarantee rests on the belief.
        requested: The epsilon and delta that were asked for; None where the caller chose the scale.
        alternatives: The other mechanisms, with their noise or the reason against them.
        allow_zero_noise: Whether the caller accepts noise that `calibrate` refuses by default.

    Raises:
        Unsupported: From `scale`, where the noise has none.

    Examples:
        >>> from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry
        >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100))
        >>> calibration = calibrate(framework, Count(1), epsilon=1)
        >>> calibration.mechanism, round(calibration.scale, 3)
        ('influence', 3.336)
    """

    framework: Framework
    query: Query = field(metadata=form(read=queries.from_dict))
    mechanism: str
    source: str
    randomiser: Randomiser = field(metadata=form(read=randomisers.from_dict))
    guarantee: Guarantee
    witness: Witness
    hides_one_entry: bool
    requested: tuple[Fraction, Fraction] | None = field(default=None, metadata=form(_asked, _requested, key="asked"))
    alternatives: tuple[Alternative, ...] = ()
    allow_zero_noise: bool = False  # also of one that was saved or pickled before this was asked

    @cached_property
    def problem(self) -> Problem:
        """Return the solved problem, its query resolved and components known."""
        return Problem(self.framework, self.query, *(self.requested or (self.epsilon, self.delta)))

    def __getstate__(self) -> dict[str, object]:
        return values_by_field(self)  # the problem is found again

    @property
    def scale(self) -> float:
        return float(self.randomiser.scale)

    @property
    def scale_or_none(self) -> float | None:
        """Return the scale, if the noise has one."""
        return answered(lambda: self.scale)

    @property
    def exact_scale(self) -> str | None:
        """Return the exact scale as written into files, if any."""
        return scale_text(self.randomiser)

    @property
    def error_or_none(self) -> float | None:
        """Return the expected error, if the answer has a distance."""
        return answered(lambda: self.expected_error)

    @property
    def epsilon(self) -> Fraction:
        return self.guarantee.epsilon

    @property
    def delta(self) -> Fraction:
        return self.guarantee.delta

    @property
    def too_little_noise(self) -> str | None:
        """Return the one gate's reason against this noise, unless the caller accepts it."""
        if self.allow_zero_noise:
            return None
        return too_little_noise(self.problem, self.randomiser, *(self.requested or (self.epsilon, self.delta)))

    @property
    def is_only_release(self) -> bool:
        """Whether the promise is about this output alone."""
        return self.guarantee.composition is Composition.ALONE

    @property
    def forbids(self) -> str:
        """Describe the releases this one rules out, if any."""
        if not self.is_only_release:
            return ""
        usable = [row for row in self.alternatives if row.status in USABLE]
        if usable and all(row.composition == Composition.ALONE for row in usable):
            return f"{NOTHING_COMPOSES}; {ONLY_RELEASE}"
        if usable and self.problem.is_pair:
            return f"{PAIR_COMPOSES}; {ONLY_RELEASE}"
        return ONLY_RELEASE

    @property
    def fallback(self) -> str:
        """Say what was too large to try, if the noise is that of `group-dp`."""
        return fallback(self.alternatives, self.mechanism)

    @property
    def expected_error(self) -> float:
        """Return the expected L1 error, summed over cells, in answer units."""
        return self.randomiser.expected_error()

    def __repr__(self) -> str:
        return f"<Calibration {self.mechanism}: scale {number(self.scale_or_none)}, epsilon {at_most(self.epsilon)}>"

    def plot(self, width: int = 640) -> Plot:
        """Return a picture of the mechanisms' expected errors.

        Args:
            width: Width of the picture, in pixels.

        Returns:
            The picture; a notebook displays it.

        Raises:
            InputError: Where nothing was compared, as with a mechanism requested by name.
        """
        from takifugu.calibration.alternatives import ERRORS, drawn_errors
        from takifugu.core.text.plot import Plot

        if all(row.expected_error is None for row in self.alternatives):
            raise InputError("no mechanisms were compared", fix='calibrate with mechanism = "auto", or use tf.compare')
        return Plot(ERRORS, drawn_errors(self.alternatives, self.error_words, width))

    def __str__(self) -> str:
        parts = [f"{self.mechanism}: {self._noise}", labelled(self._facts())]
        if self.alternatives:
            some = ""
            if all(row.composition != Composition.ALONE for row in self.alternatives):
                some = " that compose"
            others = [row for row in self.alternatives if row.name != self.mechanism]
            parts += [f"the other mechanisms{some}", as_text(others)]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        page = html_table((self.mechanism, self._noise), self._facts())
        if self.alternatives:
            return page + as_html(self.alternatives, "all mechanisms")
        return page

    @property
    def _noise(self) -> str:
        noise = self.randomiser
        name = randomisers.KINDS.find(noise.kind).name
        if self.scale_or_none is None or noise.kind == "none":
            return name
        return f"{name}, scale {number(self.scale)} on the grid {noise.grid}"

    @property
    def error_words(self) -> str:
        """Describe the expected error under the framework's definition."""
        usual = self.randomiser.error_words or EXPECTED_ERROR
        return definitions.find(self.framework.definition).error_words or usual

    def _facts(self) -> list[tuple[str, str]]:
        cells = self.randomiser.cells
        over = "" if cells == 1 else f", summed over {cells} cells"
        if self.randomiser.output.is_column:
            over = ", per row"
        if self.randomiser.error_words:
            over = f": {self.error_words}"
        promise = promised(self.epsilon, self.delta)
        if self.requested is not None and self.epsilon > self.requested[0]:
            promise += f", NOT the epsilon {at_least(self.requested[0])} that was requested"
        error = ""
        if self.error_or_none is not None:
            error = f"{number(self.error_or_none)}{over}"
        facts = [
            ("publishes", self.query.describe()),
            ("hides", "; ".join(s.describe() for s in self.framework.secrets)),
            ("under", "; ".join(b.describe() for b in self.framework.beliefs)),
            ("promises", promise),
            ("composes", f"{self.guarantee.composition.answer}: {_ADDS_UP[self.guarantee.composition]}"),
            ("forbids", self.forbids),
            ("too large", self.fallback),
            ("expected error", error),
            ("forced by", self.witness.comparison),
            ("because", self.witness.detail),
            *(("condition", text) for text in self.guarantee.conditions),
        ]
        if not self.hides_one_entry:
            facts.append(("note", "the noise alone would not hide one value from someone who knows all the others"))
        facts.append(("source", self.source))
        return [(label, text) for label, text in facts if text]

    def to_dict(self) -> Json:
        """Return plain data for `from_dict`, enough for an audit."""
        return {**super().to_dict(), "scale": self.exact_scale, "expected_error": self.error_or_none}

    @classmethod
    def from_dict(cls, data: Plain) -> Self:
        """Read a calibration back from its `to_dict` form.

        Args:
            data: Plain data.

        Returns:
            The calibration.

        Raises:
            InputError: With its place, for what `to_dict` did not write.
        """
        with within("guarantee"), as_written():  # also of one that was saved before it was asked what is hidden
            promise = {"hides_facts": True, **data["guarantee"]}
        read = super().from_dict({**data, "guarantee": promise})
        return replace(read, guarantee=replace(read.guarantee, hides_facts=read.framework.hides_facts))
