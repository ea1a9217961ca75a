"""What a report says first: what the table is worth, one of its numbers with its error, and one suspicion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from takifugu.accounting import definitions, suspicion
from takifugu.analysis.randomisers import MARKS, Noise
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.core.entries import entry_word
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.escaping import as_exact_as
from takifugu.core.escaping import number as written
from takifugu.model import frameworks
from takifugu.model.secrets.hypotheses import Comparison, EntryIs, Hypothesis, LawIs
from takifugu.releasing.advice.advising import verdict_and_words
from takifugu.releasing.advice.bands import cell_band, difference_band
from takifugu.releasing.advice.expecting import expectation_of
from takifugu.releasing.advice.worth import Verdict, Worth, worth
from takifugu.releasing.certificates.facts import Window
from takifugu.releasing.certificates.wording import is_worded
from takifugu.releasing.postprocess.readable import measured, number, readable
from takifugu.releasing.report.outcomes import Published
from takifugu.releasing.report.page import Words, sentence
from takifugu.releasing.report.values import farthest_end

#: Why there is none of what was sent row by row; what to do with a table that is not worth comparing.
_NO_VERDICT = (
    "No verdict: each row is randomised by itself, and what a table made of them is worth depends on how many rows it "
    "counts."
)
_DOUBTED = "No verdict, since the model looks wrong."
_OF_NOISE = "over the noise alone, "
_DO_NOT = {True: "do not compare these rows", False: "do not rely on it"}


def opening(t: Published) -> Iterator[Words]:
    """Yield a possible verdict, a number, a suspicion."""
    verdict, words = verdict_of(t)
    if words:
        yield Words(words, f"verdict {verdict or 'plain'}")
    yield from (Words(words) for words in (number_with_error(t), suspicion_of(t)) if words)


def verdict_of(t: Published, left_out: str | None = None) -> tuple[Verdict | None, str]:
    """Return the verdict on a table, if any, and its sentence.

    Without a verdict, the sentence names the least visible difference. What stands in the place of "good" may be said
    in other words than the published ones (`left_out`).
    """
    unit = t.certificate.measured_in or ""
    worth = t.worth or _worth(t)
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
        return verdict, f"{sentence(words)}{_what_came(t, worth)}"
    if not t.cells:
        return None, _NO_VERDICT
    noisy = [answer.randomiser for _, answer in t.releases if isinstance(answer.randomiser, Noise)]
    if not noisy:
        return None, ""
    most = max(noisy, key=lambda noise: cell_band(noise).width)
    if t.cells > 1:
        return None, f"Differences below {measured(difference_band(most).width, unit)} are noise."
    return None, f"The value is off by up to {measured(cell_band(most).width, unit)} with 95 % probability."


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


def _worth(t: Published) -> Worth | None:
    """Return the worst answer's worth by its belief's means, if known."""
    worths = []
    for _, answer in t.releases:
        if answer.calibration is None or not isinstance(answer.randomiser, Noise):
            return None
        try:
            worths.append(worth(answer.randomiser, expectation_of(answer.calibration), None, len(t.releases) > 1))
        except (InputError, Unsupported):
            return None
    return max(worths, key=lambda worth: worth.ratio, default=None)


def number_with_error(t: Published) -> str:
    """Return the first published number with its interval and unit."""
    if not t.cells:
        belief, sent = t.randomised
        loss = float(f"{sent.expected:.4g}")  # a length, a share of wrong labels, or a loss
        words = f"the expected loss of what is sent of it is {measured(loss, sent.measure)}"
        if sent.sender.only_channel is not None and all(isinstance(value, str) for value in belief.values):
            share = written(100 * loss, digits=4)
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
        return f"How to read it: the true value lies within {size}, with probability 95 %."
    whose = f"{unit}, {answer.labels[0]}" if t.is_by_unit else answer.labels[0]
    at_once = f"with probability 95 % for all {t.cells:,} values at once"
    return f"How to read a number: {whose} is {size}, {at_once}.{which_to_quote(t)}"


def which_to_quote(t: Published) -> str:
    """Say when to quote the ± of all values, beside a verdict about differences."""
    judged = t.worth or _worth(t)
    is_of_pairs = any(isinstance(answer.randomiser, Noise) for _, answer in t.releases)
    if judged is not None:
        is_of_pairs = judged.difference is not None
    if t.cells == 1 or not is_of_pairs:
        return ""
    return " Quote it with any value, and the difference above for one pair that was chosen beforehand."


def suspicion_of(t: Published) -> str:
    """Say how far an even suspicion of one hidden fact can grow.

    The odds move by e^epsilon at most. The fact is the framework's first comparison, of declared names and values:
    nothing of the data is in it.
    """
    c = t.certificate
    epsilon, delta = Fraction(c.epsilon), Fraction(c.delta)
    if not is_worded(c) or epsilon == 0:
        return ""
    if definitions.find(c.definition).one_way:
        said = definitions.find(c.definition).in_numbers(epsilon, delta)
        return sentence(f"How well it hides {' and '.join(c.hidden)}: {said[-1]}") if said else ""
    comparison = _compared(t)
    if comparison is None:
        return ""
    compared, word = comparison
    explained = suspicion.explain("50 %", epsilon * Fraction(compared.weight), delta)
    high, but = explained.high, ""
    if explained.beyond:
        high = explained.beyond[0].high
        but = f", but for a probability of at most {suspicion.thrice(explained.delta)}"
    unit = c.units[0] if c.scope == "unit" and c.units else ""
    facts = _rather(compared.left, compared.right, word, unit, c.window)
    return (
        f"How well it hides: somebody who is 50 % sure that {facts} can become {suspicion.percent(high, up=True)} sure "
        f"of it by this table, and no surer{but}."
    )


def _compared(t: Published) -> tuple[Comparison, str] | None:
    """Return the framework's first comparison, and its word for unnamed entries."""
    calibration = t.releases[0][1].calibration
    try:
        if calibration is not None:
            framework = calibration.framework
        else:
            framework = frameworks.from_dict(next(iter(t.certificate.frameworks.values())))
        comparison, word = next(framework.comparisons(), None), entry_word(framework.domain)
    except (InputError, LookupError, TypeError, ValueError, ArithmeticError):  # not as it was written
        return None
    if comparison is None or not 0 < comparison.weight < math.inf:
        return None
    return comparison, word


def _rather(left: Hypothesis, right: Hypothesis, word: str, unit: str, window: Window | None) -> str:
    """Say one hypothesis rather than the other, in everyday words."""
    if isinstance(left, EntryIs) and isinstance(right, EntryIs):
        entry = _entry(left, word, unit, window)
        return f"{entry} is {_said(left.value)} rather than {_said(right.value)}{left.note}"
    if isinstance(left, LawIs) and isinstance(right, LawIs):
        return f"the {left.name} distribution holds rather than the {right.name} one"
    words, other_words = left.describe(), right.describe()
    same, is_said, value = other_words.rpartition(" is ")
    if is_said and words.startswith(f"{same} is "):
        other_words = value
    return f"{words} rather than {other_words}"


def _entry(hypothesis: EntryIs, word: str, unit: str, window: Window | None) -> str:
    """Name an entry by its name, its time or `word`.

    Only the first entry of a calendar's window is named by its time. Numbers of unnamed entries are internal, so such
    an entry is one of those called `word`.
    """
    if window is not None and hypothesis.entry == 0:
        return f"{unit or 'the state'} at {window.start}"
    name = hypothesis.name
    if name in ("", f"{word} {hypothesis.entry}"):
        name = f"one {word}"
    if unit:
        name += f" of {unit}"
    return name


def _said(value: object) -> str:
    return repr(value) if isinstance(value, str) else str(value)
