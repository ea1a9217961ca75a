"""How a framework that is charged reads a query that was calibrated for another one: by names, or at its worst.

A charge's query counts entries as the framework that it was calibrated for lists them. Entries with names are matched
by name; where one side has none, or both sides are users without names, an entry of the one may be any entry of the
other, and each counts with the largest change of all. Steps of sequences are matched by `alignment`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from takifugu.accounting.composition.charges import answer_hash
from takifugu.accounting.composition.several import alike, changed
from takifugu.analysis.guarantee import Charge
from takifugu.analysis.problem import inside
from takifugu.core import entries
from takifugu.core.arrays import IntArray
from takifugu.core.errors import TakifuguError, Unsupported
from takifugu.model import queries, secrets
from takifugu.model.beliefs import Belief, separate
from takifugu.model.beliefs.alike import lengths_of
from takifugu.model.beliefs.domain import Data, Domain
from takifugu.model.beliefs.one_sequence import Recording, is_recording
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Additive
from takifugu.model.queries.answer import whole_change
from takifugu.model.secrets.families import Family


@dataclass(frozen=True, eq=False)
class Read:
    """A charge's query under one belief: each entry's change in grid steps."""

    changes: IntArray
    grid: Fraction
    #: The largest change when all entries change, in answer units: at most the sum of the changes.
    total: Fraction
    #: D(N) of some entries, where that is less than the sum of their changes.
    together: Callable[[Iterable[int]], int] | None = None
    #: What adds up, where it is known value by value.
    answer: Additive | None = None

    @property
    def effect(self) -> Hashable:
        """A key, equal for parts of equal effect on an answer."""
        key = None if self.answer is None else self.answer.key
        return self.grid, self.changes.tobytes(), key

    def reach(self, run: range) -> Fraction:
        """Return the largest change of the answer by a run of entries."""
        return min(int(self.changes[run.start : run.stop].sum()) * self.grid, self.total)

    def of_run(self, run: range) -> Read:
        """Return the read of a run's entries."""
        answer = None
        if self.answer is not None:
            answer = self.answer.restrict(slice(run.start, run.stop))
        return replace(self, changes=self.changes[run.start : run.stop], answer=answer)

    def laid_out(self, changes: IntArray) -> Read:
        """Return the read among more entries."""
        if changes is self.changes:
            return self
        return replace(self, changes=changes, answer=None)


@dataclass(frozen=True, eq=False)
class View:
    """A framework for charging, its registered fingerprint, and its reading of queries."""

    framework: Framework
    fingerprint: str
    _reads: dict[tuple[int, Charge], Read | None] = field(default_factory=dict, init=False, repr=False)

    def is_native(self, charge: Charge) -> bool:
        """Return whether the charge's own epsilon is a promise here."""
        return charge.framework == self.fingerprint

    def reads_alike(self, charge: Charge) -> bool:
        """Return whether the query adds up as in its own framework."""
        if self.is_native(charge):
            return True
        for belief in self.framework.beliefs:
            answer = self._answer(belief, charge)
            if answer is None or not self._adds_alike(answer, belief, charge):
                return False
        return True

    def read(self, belief: Belief | Data, charge: Charge) -> Read | None:
        """Return the charge's query under a belief or in a domain, or None without single entries."""
        key = id(belief), changed(alike(charge), at=None, reading="", scale=None)
        if key not in self._reads:  # windows that differ in their place and noise read alike
            self._reads[key] = self._read(belief, charge)
        return self._reads[key]

    def _read(self, belief: Belief | Data, charge: Charge) -> Read | None:
        native, answer = self.is_native(charge), self._answer(belief, charge)
        if answer is None or charge.change is None or charge.entry_change is None:
            return None
        try:
            changes = answer.entry_changes()
        except Unsupported:
            return None
        whole_move = whole_change(answer) * answer.grid
        matched = bool(charge.names) == (belief.names is not None)
        if separate(belief) is not None and not charge.names:
            matched = False  # a user's number is a place in one list of groups
        if native or (matched and self._adds_alike(answer, belief, charge)):
            adding = answer if isinstance(answer, Additive) else None
            is_sum = whole_change(answer) == int(changes.sum())
            together = None if is_sum else answer.change
            return Read(changes, answer.grid, whole_move, together=together, answer=adding)
        # other numbers or entries may be meant: every entry that may be read counts with the largest change
        total = max(whole_move, charge.change)
        largest = max(int(changes.max(initial=0)), math.ceil(charge.entry_change / answer.grid))
        reads_entries = matched and isinstance(answer, Additive)
        if reads_entries:
            moved = (answer.weights != 0).astype(np.int64)
        else:
            moved = np.ones(answer.size, dtype=np.int64)
        return Read(moved * largest, answer.grid, min(total, int(moved.sum()) * largest * answer.grid))

    def _answer(self, belief: Belief | Data, charge: Charge) -> Additive | None:
        """Return the query in the belief's order, or None without matching entries."""
        if self.framework.is_pair or charge.entries == 0:
            return None
        layout: queries.Entries = belief
        if is_recording(belief):
            if belief.size == charge.entries:
                layout = belief
            else:
                layout = Domain.of(charge.entries, belief.alphabet(0))
        elif belief.size != charge.entries:
            return None
        elif charge.names and belief.names is not None and not self.is_native(charge):
            if set(charge.names) != set(belief.names):
                return None
            layout = entries.relisted(belief, charge.names)
        try:
            return queries.resolved(queries.from_dict(charge.query), layout)
        except TakifuguError:
            return None

    def _adds_alike(self, answer: Additive, belief: Belief | Data, charge: Charge) -> bool:
        by_name = charge.names and belief.names is not None
        holder = entries.relisted(belief, charge.names) if by_name else belief
        return answer_hash(answer, holder) in charge.answers

    def runs(self, belief: Recording, charge: Charge) -> tuple[range, ...] | None:
        """Return the charge's sequences as runs of its entries; None where the belief has other ones."""
        lengths = charge.lengths
        if not lengths and self.is_native(charge):
            lengths = tuple(map(len, belief.components()))
        # pieces of one reading are cut by one rule; a belief in one sequence covers its own only
        if sum(lengths) != charge.entries or (len(lengths) > 1 and not belief.in_pieces):
            return None
        ends = np.cumsum(lengths).tolist()
        return tuple(range(end - n, end) for n, end in zip(lengths, ends, strict=True))

    def secret_runs(self, belief: Belief, reads: Sequence[Read | None]) -> Iterator[tuple[int, range, Family]]:
        """Yield the number, entries and secrets of each component with secrets, counted from its start."""
        for secret in self.framework.secrets:
            records_view = secrets.view(secret, belief)
            if records_view is not None:
                if secret.family(records_view).has_pairs(records_view, 0):
                    yield 0, range(belief.size), Family(range(belief.size))  # all records together hold it
                continue
            family = secret.family(belief)
            units = separate(belief)
            if units:
                # of users who are alike in alphabet and in what they move all answers by one is enough
                columns = [read.changes for read in reads if read is not None]
                for user in units.representatives(family.entries, columns):
                    if family.has_pairs(belief, user):
                        yield user, range(user, user + 1), replace(family, entries=range(1))
                continue
            for number, run in enumerate(belief.components()):
                local = replace(family, entries=inside(family.entries, run))
                piece = belief.component(number)
                if local.has_any_pairs(piece):
                    yield number, run, local


def is_about(belief: Belief, charge: Charge) -> bool:
    """Return whether a charge counts the belief's very entries: as many, and pieces as long as its own."""
    if charge.entries != belief.size:
        return False
    is_in_pieces = is_recording(belief) and belief.in_pieces
    return not is_in_pieces or np.array_equal(charge.lengths, lengths_of(belief))
