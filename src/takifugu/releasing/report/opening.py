"""How accurate a table is, in sentences: its verdict, the ± of its values, and which differences count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from takifugu.analysis.randomisers import MARKS, Noise
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.core.assumptions import sentence
from takifugu.core.escaping import as_exact_as, number
from takifugu.core.text.bars import common_error
from takifugu.releasing.advice.advising import verdict_and_words
from takifugu.releasing.advice.bands import cell_band, difference_band
from takifugu.releasing.advice.worth import Verdict, Worth
from takifugu.releasing.postprocess.intervals import measured
from takifugu.releasing.postprocess.readability import exact_word
from takifugu.releasing.postprocess.readable import readable
from takifugu.releasing.report.values import error_words, farthest_end

if TYPE_CHECKING:
    from takifugu.releasing.report.outcomes import Published

#: Why there is none of what was sent row by row; what to do with a table that is not worth comparing.
_NO_VERDICT = (
    "No verdict: each row is randomised by itself, and what a table made of them is worth depends on how many rows it "
    "counts."
)
_DOUBTED = "No verdict, since the model looks wrong."
_OF_NOISE = "over the noise alone, "
_DO_NOT = {True: "do not compare these rows", False: "do not rely on it"}


def accuracy(t: Published, left_out: str | None = None) -> list[str]:
    """Return the verdict, the ± of the values, and which difference of two cells counts, in sentences."""
    words = verdict_of(t, left_out)[1]
    rows = [row for row in t.rows if row["high"] is not None] if t.cells else []
    error, unit = common_error(rows), t.certificate.measured_in or ""
    if error is None:
        return [*filter(None, [words, number_with_error(t)])]
    exact = exact_word(t.certificate.query)
    sentences = [words, error_words(error, t.cells, unit, exact)]
    judged = t.worth
    if judged is not None and judged.difference is not None and judged.difference.width and judged.verdict.is_useful:
        axis = t.certificate.query.get("by")
        cells = f"{axis}s" if isinstance(axis, str) and axis.isalpha() else "cells"
        least, values = measured(judged.difference.width, ""), "adjusted values" if judged.is_adjusted else "values"
        sentences.append(f"Two {cells} picked in advance differ if their {values} differ by more than {least} (95 %).")
    return [*filter(None, sentences)]


def verdict_of(t: Published, left_out: str | None = None) -> tuple[Verdict | None, str]:
    """Return the verdict on a table, if any, and its sentence.

    Without a verdict, the sentence names the least visible difference. What stands in the place of "good" may be said
    in other words than the published ones (`left_out`).
    """
    unit = t.certificate.measured_in or ""
    worth = t.worth
    if worth is not None:
        answer = t.releases[0][1]
        half = farthest_end(answer, t.cells)
        may_change = worth.verdict.is_useful and len(t.releases) == 1 and not t.certificate.adjusting
        if may_change and worth.cells is not None and half is not None:
            cells = worth.cells.published(answer.labels, list(map(float, answer.values)), float(half))
            worth = replace(worth, cells=cells)
        verdict, words = verdict_and_words(worth, unit, t.left_out if left_out is None else left_out)
        if not worth.verdict.is_useful:
            words += f": {_DO_NOT[worth.difference is not None]}"
        elif t.certificate.doubts:  # nothing is good over a belief that the published values contradict
            of_noise = f"{_OF_NOISE}{worth.sentence(unit).removeprefix(f'{worth.verdict}: ')}"
            instead = t.left_out if left_out is None else left_out
            return None, f"{_DOUBTED} {sentence(f'{instead}: of the others, {of_noise}' if instead else of_noise)}"
        came = _what_came(t, worth)
        if verdict is Verdict.GOOD and not came and words == _plainly_good(worth, unit, t.cells):
            words = "useful (good)"  # the error has a sentence of its own
        return verdict, f"{sentence(words)}{came}"
    if not t.cells:
        return None, _NO_VERDICT
    noisy = [answer.randomiser for _, answer in t.releases if isinstance(answer.randomiser, Noise)]
    if not noisy:
        return None, ""
    most = max(noisy, key=lambda noise: cell_band(noise).width)
    if t.cells > 1:
        return None, f"Differences below {measured(difference_band(most).width, unit)} are noise."
    return None, f"The value is off by up to {measured(cell_band(most).width, unit)} with 95 % probability."


def _plainly_good(worth: Worth, unit: str, cells: int) -> str:
    """Return the sentence of a good table that has no more to say than its error."""
    width = (worth.difference or worth.cell).width
    if not width or (worth.difference is None and cells > 1):
        return ""
    if worth.difference is None:
        return f"good: {worth.off} at most {measured(width, unit)} with 95 % probability"
    return f"good: differences above {measured(width, unit)} show"


def _what_came(t: Published, worth: Worth) -> str:
    """Return the shortfall of the published values from their verdict.

    The verdict was known before; only the published values are compared with it.
    """
    if t.certificate.adjusting:
        return ""  # the verdict is about other values than the intervals
    answer = t.releases[0][1]
    values = [value for value in map(readable, answer.values) if isinstance(value, int | float)]
    if answer.randomiser.output is MARKS:
        safe = sum(value == "safe" for value in answer.values)
        return f" That was expected before publishing; what came: {safe:,} called safe, of {len(answer.values):,}."
    if worth.shows_nothing or not worth.verdict.is_useful or len(values) != len(answer.values) or len(t.releases) > 1:
        return ""
    if worth.difference is None and len(values) == 1 and 0 < worth.cell.width >= abs(values[0]):
        return " The published value is no larger than that, so it is not told from 0."
    if worth.difference is not None and max(values) - min(values) <= worth.difference.width:
        return " No two of the published values differ by more, so none shows."
    return ""


def number_with_error(t: Published) -> str:
    """Return the first published number with its interval and unit."""
    if not t.cells:
        belief, sent = t.randomised
        loss = float(f"{sent.expected:.4g}")  # a length, a share of wrong labels, or a loss
        words = f"the expected loss of what is sent of it is {measured(loss, sent.measure)}"
        if sent.sender.only_channel is not None and all(isinstance(value, str) for value in belief.values):
            share = number(100 * loss, digits=4)
            words = f"another value than the true one is sent with probability {share} %"
        elif sent.measure == "m":
            words = f"what is sent of it is off by {measured(loss, sent.measure)} on average"
        return f"How to read a row: by the declared populations, {words}."
    unit, answer = t.releases[0]
    if isinstance(answer.randomiser, PermuteAndFlip):
        return f"How to read it: {answer.randomiser.words(t.cells)}."
    half = farthest_end(answer, t.cells)
    value = readable(answer.values[0])
    if half is None or not isinstance(value, int | float):
        return ""
    digits = number(as_exact_as(value, half))
    size = f"{digits} ± {measured(readable(half), t.certificate.measured_in or '')}"
    if t.cells == 1:
        exact = exact_word(t.certificate.query)
        return error_words(float(half), 1, t.certificate.measured_in or "", exact)
    whose = f"{unit}, {answer.labels[0]}" if t.is_by_unit else answer.labels[0]
    at_once = f"with probability 95 % for all {t.cells:,} values at once"
    return f"How to read a number: {whose} is {size}, {at_once}."
