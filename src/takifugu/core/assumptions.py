"""Assumptions: sentences that must be true for a guarantee to hold, each with its kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from takifugu.core.errors import InputError
from takifugu.core.plain import form
from takifugu.core.typed import Typed

T = TypeVar("T")


class Kind(StrEnum):
    """Kinds of assumptions, in the order of a certificate."""

    WORLD = "world"  # how the data came about
    CHECK = "check"  # an assumption that may fail here: judge it before you rely on the table
    PUBLIC = "public"  # known to everybody, so not protected
    READING = "reading"  # how rows became steps, records and numbers
    LIMIT = "limit"  # what the guarantee does not cover


@dataclass(frozen=True)
class Assumption(Typed):
    """A complete sentence that is true or false, and its kind.

    >>> str(world("The recordings are independent of each other."))
    'The recordings are independent of each other.'
    """

    kind: str = field(metadata=form(read=lambda kind: Kind(kind).value))  # type: ignore[misc]  # it is a field here
    text: str

    def __str__(self) -> str:
        return self.text


def world(text: str) -> Assumption:
    """Assume how the data came about."""
    return Assumption(Kind.WORLD.value, text)


def public(text: str) -> Assumption:
    """Declare what everybody knows."""
    return Assumption(Kind.PUBLIC.value, text)


def reading(text: str) -> Assumption:
    """Say how rows were read."""
    return Assumption(Kind.READING.value, text)


def limit(text: str) -> Assumption:
    """Name what the guarantee does not cover."""
    return Assumption(Kind.LIMIT.value, text)


def check(text: str) -> Assumption:
    """Name what to judge before the table is relied on."""
    return Assumption(Kind.CHECK.value, text)


def sentence(words: str) -> str:
    """Return words with a capital letter and a full stop."""
    return f"{words[:1].upper()}{words[1:].removesuffix('.')}."


def with_kinds(whose: object, given: Iterable[T]) -> tuple[T, ...]:
    """Return what an object assumes; InputError for a text, which has no kind."""
    assumptions = tuple(given)
    for assumption in assumptions:
        if isinstance(assumption, str):
            raise InputError(
                f"assumptions() of a {type(whose).__name__} gives a text",
                rule="an assumption has a kind: world, public, reading, limit or check",
                fix=f"write world({sentence(assumption)!r}), from takifugu.extending",
            )
    return assumptions
