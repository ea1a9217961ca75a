"""Marks of a map: safe and dangerous where a sanitiser says so, obscure where none does."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.core.rules import check_type
from takifugu.mechanisms.one_sided.answers import Sanitiser
from takifugu.mechanisms.one_sided.sparse import Answers, Marks


class Mark(StrEnum):
    """Mark what a map shows at a place: safe, dangerous or obscure.

    Examples:
        >>> str(Mark.SAFE)
        'safe'
    """

    SAFE = "safe"
    DANGEROUS = "dangerous"
    OBSCURE = "obscure"


def marks(noisy: npt.ArrayLike, safe: Sanitiser, dangerous: Sanitiser | None = None) -> npt.NDArray[np.str_]:
    """Mark every noisy count safe, dangerous, or else obscure.

    Args:
        noisy: The noisy counts, of any shape.
        safe: Decides what is safe.
        dangerous: Decides what is dangerous; None marks nothing so.

    Returns:
        The marks, of the same shape.

    Raises:
        InputError: If a value would be both, which takes two-sided noise and a large alpha.

    Examples:
        >>> from takifugu.mechanisms.one_sided import at_least, at_most, count_noise, sanitiser
        >>> safe, dangerous = sanitiser(at_most(5), count_noise(1)), sanitiser(at_least(6), count_noise(1), "0.001")
        >>> marks([2, 7, 30], safe, dangerous).tolist()
        ['safe', 'obscure', 'dangerous']
    """
    _check_sanitiser(safe, "safe")
    good = safe.says_yes(noisy)
    bad = np.zeros(good.shape, dtype=bool)
    if dangerous is not None:
        _check_sanitiser(dangerous, "dangerous")
        bad = dangerous.says_yes(noisy)
    if (good & bad).any():
        raise InputError("some places would be safe and dangerous at once", fix="choose a smaller alpha").at("alpha")
    return np.where(good, Mark.SAFE.value, np.where(bad, Mark.DANGEROUS.value, Mark.OBSCURE.value))


def sparse_marks(answers: Answers, dangerous: Sanitiser | None = None) -> npt.NDArray[np.str_]:
    """Mark every place of a sparse vector safe, dangerous, or else obscure; unanswered places are obscure.

    Args:
        answers: The answers of `SparseAnswers`.
        dangerous: Decides what is dangerous; None marks nothing so.

    Returns:
        The marks, one for each place.

    Examples:
        >>> from takifugu.mechanisms.one_sided import SparseAnswers
        >>> from takifugu.numbers.noise import SystemEntropy
        >>> sparse_marks(SparseAnswers(1000, limit=1).answer([2, 7, 0], 5, SystemEntropy())).tolist()
        ['safe', 'obscure', 'obscure']
    """
    check_type(answers, Answers, "the answers of a sparse vector", "write SparseAnswers(...).answer(...)", "answers")
    bad = np.zeros(answers.marks.shape, dtype=bool)
    has_value = answers.marks == Marks.VALUE
    if dangerous is not None:
        _check_sanitiser(dangerous, "dangerous")
        bad[has_value] = dangerous.says_yes(answers.values[has_value])
    return np.where(answers.safe, Mark.SAFE.value, np.where(bad, Mark.DANGEROUS.value, Mark.OBSCURE.value))


def _check_sanitiser(value: object, key: str) -> None:
    check_type(value, Sanitiser, "a sanitiser", "write sanitiser(question, noise)", key)
