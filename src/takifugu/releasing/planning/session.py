"""What a session may be asked, and what it has answered: a table of safe places whose rows are chosen one by one.

Its noise is that of the table, for every threshold and every order of the places (`mechanisms.one_sided.sparse`). Each
place is asked about once, so that what was answered is such a table, of fewer places.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from takifugu.calibration import Calibration
from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean, first_of
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.mechanisms.one_sided.sparse import SAFE
from takifugu.model.queries import AtMost, Visitors
from takifugu.model.queries.tables.visits import Placed
from takifugu.numbers.noise import Entropy
from takifugu.numbers.rationals import Number


@dataclass(frozen=True)
class Inquiry:
    """A question: whether at most so many people were at a place."""

    place: str
    at_most: int

    @property
    def text(self) -> str:
        """Return the question as the ledger keeps it."""
        return json.dumps([self.place, self.at_most])


@dataclass(frozen=True)
class Reply:
    """A question with its answer, "safe" or a number that is never below the true one."""

    question: Inquiry
    value: str | int

    @property
    def cell(self) -> str | Fraction:
        """Return the answer as a table has it."""
        return self.value if isinstance(self.value, str) else Fraction(self.value)

    @staticmethod
    def read(question: str, answer: str) -> Reply:
        """Read a reply back from the ledger's texts."""
        return Reply(Inquiry(*json.loads(question)), answer if answer == SAFE else int(answer))


@dataclass(frozen=True, eq=False)
class Terms:
    """The table that a session is about: its calibration, its query and its noise."""

    calibration: Calibration
    query: AtMost
    noise: SafeCells

    @staticmethod
    def of(table: str, calibration: Calibration) -> Terms:
        """Return the terms of a table; InputError for one that does not say which places are safe."""
        query, noise = calibration.query, calibration.randomiser
        if isinstance(query, AtMost) and isinstance(query.query, Visitors) and isinstance(noise, SafeCells):
            return Terms(calibration, query, noise)
        raise InputError(
            f"the table {table!r} does not say which places are safe",
            rule="a session asks about one place after the other", fix='ask about a [[table]] with query = "safe"',
        ).at("only")  # fmt: skip

    @cached_property
    def thresholds(self) -> dict[str, int]:
        """The places that may be asked about, each with the table's own threshold."""
        return dict(zip(self.calibration.problem.labels, self.noise.each, strict=True))

    def questions(self, places: Iterable[str], at_most: Number | None, replies: Sequence[Reply]) -> list[Inquiry]:
        """Return the questions about places after earlier replies; InputError for another place or threshold."""
        levels = self.thresholds
        if at_most is not None:
            level = AtMost(Visitors(), at_most).steps(self.calibration.problem.answers[0])[0]
            levels = dict.fromkeys(levels, level)
        earlier = {reply.question.place: reply.question.at_most for reply in replies}
        questions = []
        for place in dict.fromkeys(places):
            if place not in self.thresholds:
                raise InputError(
                    f"the table has no place {place!r}", fix=f"its places are {first_of(self.thresholds)}"
                    f"{did_you_mean(place, self.thresholds)}",
                ).at("places")  # fmt: skip
            level = levels[place]
            if at_most is None:
                level = earlier.get(place, level)
            if earlier.get(place, level) != level:
                raise InputError(
                    f"{place!r} was asked about before, whether it is at most {earlier[place]}",
                    rule="a session asks about a place once", fix="take that answer, or ask about another place",
                ).at("places")  # fmt: skip
            questions.append(Inquiry(place, level))
        return questions

    def values_left(self, replies: Sequence[Reply]) -> int | None:
        """Return how many more noisy values are answered, if limited."""
        return None if self.query.limit is None else self.query.limit - _values(replies)

    def is_over(self, replies: Sequence[Reply]) -> bool:
        """Return whether no question is left."""
        return self.values_left(replies) == 0 or len(replies) == len(self.thresholds)

    def draw(self, counts: Sequence[int | Fraction], question: Inquiry, replies: Sequence[Reply], bits: Entropy) -> str:
        """Return the noisy answer to the next question, as a text. `counts` are exact, in the order of the places."""
        asking = self.noise.mechanism.session(bits, _values(replies), [reply.question.place for reply in replies])
        count = int(counts[list(self.thresholds).index(question.place)])
        return str(asking.ask(count, question.at_most, question.place))

    def answered(self, replies: Sequence[Reply]) -> Calibration:
        """Return the calibration of the table that the replies are."""
        domain, visitors = self.calibration.framework.domain, self.query.query
        assert isinstance(domain, Placed)
        assert isinstance(visitors, Visitors)
        cells = dict(zip(self.thresholds, visitors.cells(domain.places), strict=True))
        levels = {reply.question.place: reply.question.at_most for reply in replies}
        visitors = Visitors([cells[place] for place in levels])
        noise = replace(self.noise, cells=len(levels), thresholds=tuple(levels.values()))
        threshold: Number | dict[str, int] = levels
        if len({*levels.values()}) == 1:
            threshold = noise.thresholds[0]
        query = AtMost(visitors, threshold, self.query.limit, self.query.alpha)
        return replace(self.calibration, query=query, randomiser=noise)


def _values(replies: Sequence[Reply]) -> int:
    """Return how many replies are noisy values."""
    return sum(reply.value != SAFE for reply in replies)
