"""Independent pieces: several sequences, each a copy of one chain (or class) with its own public length."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, ClassVar

import numpy as np

from takifugu.core.arrays import IntArray, read_only
from takifugu.core.assumptions import Assumption, world
from takifugu.core.entries import Components, Nameless
from takifugu.core.errors import InputError
from takifugu.core.plain import Plain, PlainForm, form, set_fields
from takifugu.core.rules import list_of
from takifugu.model.beliefs import Belief, check_registered, from_dict
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.model.beliefs.states import State

#: A certificate with more recordings would want the memory of who reads it.
MOST_PIECES = 10**7


def _read_chain(data: Plain) -> OneSequence:
    chain = from_dict(data)
    if not isinstance(chain, OneSequence):
        raise InputError("independent pieces need a belief about one sequence").at("chain")
    return chain


def _written_lengths(lengths: Sequence[int]) -> list[list[int]]:
    """Return equal lengths in a row once, with how many recordings have them."""
    return [[length, len(list(alike))] for length, alike in groupby(lengths)]


def _too_many() -> InputError:
    fix = "publish tables about parts of them"
    return InputError(f"there are more than {MOST_PIECES:,} recordings", fix=fix).at("lengths")


def _read_lengths(pairs: Any) -> list[int]:
    """Return each recording's length. Raises InputError for what is no list of pairs, and for too many recordings."""
    lengths = list[int]()
    for pair in pairs if isinstance(pairs, list | tuple) else (None,):
        is_pair = isinstance(pair, list | tuple) and [*map(type, pair)] == [int, int] and pair[1] > 0
        if not is_pair:
            raise InputError(
                "the lengths of recordings are not written as pairs",
                rule="a pair is a number of steps, and how many recordings in a row have so many",
                fix="lengths = [[60, 1], [45, 3]]",
            ).at("lengths")  # fmt: skip
        if len(lengths) + pair[1] > MOST_PIECES:
            raise _too_many()
        lengths += [pair[0]] * pair[1]
    return lengths


@dataclass(frozen=True, eq=False)
class IndependentPieces(PlainForm, Nameless, kind="independent-pieces"):
    """Model several sequences, independent of each other, that follow one chain.

    Entries are counted through all sequences in order. Independence is an assumption of yours; the certificate prints
    it.

    Args:
        chain: The chain, which is cut to each length.
        lengths: The number of steps of each sequence.

    Raises:
        InputError: For no sequence, for a length below 1, and for more than ten million recordings.

    Examples:
        >>> from takifugu.model.beliefs.chains.chain import MarkovChain
        >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=5)
        >>> IndependentPieces(chain, [3, 5]).size
        8
    """

    chain: OneSequence = field(metadata=form(read=_read_chain))
    lengths: tuple[int, ...] = field(metadata=form(write=_written_lengths, read=_read_lengths))
    in_pieces: ClassVar = True

    answers: ClassVar = {
        "how data are read": "analysis.questions.evaluating:of_pieces",
        "the mean of an answer": "analysis.expectations.means:OfPieces",
        "the list of joint states": "audit.states:PieceStates",
        "the moments of a count": "analysis.expectations.moments_of_chains:of_pieces",
        "data drawn from a belief": "analysis.questions.made_up_data:of_pieces",
    }

    def __init__(self, chain: OneSequence, lengths: Iterable[int]) -> None:
        check_registered(chain)
        list_of_lengths = list_of(lengths, "the lengths", "lengths", "[60, 45]")
        if len(list_of_lengths) > MOST_PIECES:
            raise _too_many()
        set_fields(self, chain=chain, lengths=tuple(map(int, list_of_lengths)))
        if not self.lengths or min(self.lengths) < 1:
            raise InputError("independent pieces need at least one piece, each with at least one step").at("lengths")

    @property
    def source(self) -> str:
        return self.chain.source

    @property
    def has_given_start(self) -> bool:
        return self.chain.has_given_start

    @cached_property
    def lengths_of_pieces(self) -> IntArray:
        """The length of each piece; pieces of one length have one law."""
        return read_only(np.array(self.lengths, dtype=np.int64))

    @cached_property
    def ends(self) -> IntArray:
        """The first entry behind each piece."""
        return read_only(np.cumsum(self.lengths_of_pieces))

    @property
    def size(self) -> int:
        return int(self.ends[-1])

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return self.chain.states

    def position(self, name: Hashable) -> int:
        return self.chain.position(name)

    def possible(self, entry: int) -> tuple[bool, ...]:
        piece = int(np.searchsorted(self.ends, entry, side="right"))
        return self.component(piece).possible(entry - self.components()[piece].start)

    def components(self) -> Sequence[range]:
        return Components(self.ends.data)

    def component(self, number: int) -> Belief:
        length = self.lengths[number]
        if length not in self._cut:
            self._cut[length] = self.chain.with_length(length).component(0)
        return self._cut[length]

    @cached_property
    def _cut(self) -> dict[int, Belief]:
        return {}

    def assumptions(self) -> tuple[Assumption, ...]:
        return (*self.chain.assumptions(), world("The recordings are independent of each other."))

    def describe(self) -> str:
        least, most = min(self.lengths), max(self.lengths)
        lengths = f"{most}" if least == most else f"{least} to {most}"
        return f"{len(self.lengths)} independent recordings of {lengths} steps, each {self.chain.describe_piece()}"
