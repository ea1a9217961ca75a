"""Everything that releases send of one row, at its exact loss (docs/theory/distributions.md, Theorem 7).

Given the row the releases are independent, so that all outputs together have likelihoods that are products of theirs.
What is proportional tells the same, a tuple as much as its channel, and a release that is repeated has no order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.cache import memoised
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.senders import Sender
from takifugu.model.beliefs.population_region import Regions
from takifugu.numbers.atoms import Floats
from takifugu.numbers.distributions.channel import largest_log_ratio
from takifugu.numbers.distributions.exact_ratio import log_share

#: The likelihoods of the values for each output that tells something else, as whole numbers without a common factor.
Columns = tuple[tuple[int, ...], ...]
Losses = Mapping[tuple[str, str], float]
Table = npt.NDArray[Any]
Masses = Mapping[Hashable, Fraction | int | float]

#: Most numbers (outputs times values) that are listed for known populations, and for a class.
MOST_NUMBERS, MOST_OF_CLASS = 2**23, 2**17


@dataclass(frozen=True)
class RowLosses:
    """Losses for ordered pairs, rounded up, and whether all releases were listed: then they are exact."""

    losses: Losses
    is_exact: bool


def row_losses(senders: Sequence[Sender], populations: Populations) -> RowLosses:
    """Return the losses of a row's releases that can be listed, beside what others tell of its value."""
    by_loss = sorted(senders, key=lambda sender: sender.local_epsilon(), reverse=True)
    for count in range(len(senders), 0, -1):
        losses = losses_together(by_loss[:count], populations)
        if losses is not None and count == len(senders):
            return RowLosses(losses, is_exact=True)
        if losses is not None:
            others = sum(sender.local_epsilon() for sender in by_loss[count:])
            rounded = {pair: (loss + others) * (1 + 2.0**-40) for pair, loss in losses.items()}
            return RowLosses(rounded, is_exact=False)
    return RowLosses({}, is_exact=False)


def losses_together(senders: Sequence[Sender], populations: Populations) -> Losses | None:
    """Return the exact loss of a row for ordered pairs, rounded up; None where outputs are too many to list."""
    most = MOST_NUMBERS if populations.regions is None else MOST_OF_CLASS
    size = len(populations.values)
    columns = [columns_of(sender, most // size) for sender in senders]
    groups = Counter(filter(None, columns))
    outputs = math.prod(math.comb(len(of) + times - 1, times) for of, times in groups.items())
    if None in columns or outputs * size > most:
        return None
    if populations.regions is None:
        return _between_laws(groups, populations)
    return _over_regions(groups, populations.regions)


def _over_regions(groups: Mapping[Columns, int], regions: Regions) -> Losses:
    """Return the losses over a class of populations, in whole numbers."""
    outputs = _all_outputs([np.array(of, dtype=object) for of in groups], list(groups.values()), np.multiply).tolist()
    low: dict[str, Masses] = {}
    high: dict[str, Masses] = {}
    for name, region in regions.by_name.items():
        low[name] = dict(enumerate(region.least(*outputs)))
        high[name] = dict(enumerate(region.largest(*outputs)))
    return {(one, other): largest_log_ratio(high[one], low[other]) for one, other in permutations(low, 2)}


def columns_of(sender: Sender, most: int) -> Columns | None:
    """Return the likelihoods of all outputs, or None for more than `most`."""
    if len(sender.channel.outputs) > most:
        return None
    # Of a tuple they are its channel's: its likelihoods are sums of these, and a ratio of sums is between the ratios.
    return _columns_of(sender)


@memoised
def _columns_of(sender: Sender) -> Columns:
    reduced = set[tuple[int, ...]]()
    for column in filter(any, zip(*sender.channel.masses, strict=True)):
        common = math.gcd(*column)
        reduced.add(tuple(mass // common for mass in column))
    return tuple(sorted(reduced))


def _all_outputs(tables: Sequence[Table], times: Sequence[int], combine: np.ufunc) -> Table:
    """Return what all outputs together have, shape (outputs, values)."""
    groups = []
    for table, repeats in zip(tables, times, strict=True):
        chosen = np.array(list(combinations_with_replacement(range(len(table)), repeats)))
        groups.append(reduce(combine, (table[column] for column in chosen.T)))
    size = tables[0].shape[1]
    whole: Table = reduce(lambda one, other: combine(one[:, None], other[None]).reshape(-1, size), groups)
    return whole


def _between_laws(groups: Mapping[Columns, int], populations: Populations) -> Losses:
    """Return the losses of known populations, of logs of likelihoods."""
    tables, times = [np.array(list(map(_logs, of))) for of in groups], list(groups.values())
    logs = _all_outputs(tables, times, np.add)
    # The logs are off by 2^-50 of themselves, sums and exponentials by 2^-53 for each term (proof on the page).
    laws, sent = [], {}
    for name, law in populations.laws.items():
        laws.append(np.array([_log(*law[value].as_integer_ratio()) for value in populations.values]))
        sent[name] = _log_of_sum(logs + laws[-1])
    sizes = [_size(table) * repeats for table, repeats in zip(tables, times, strict=True)]
    slack = (sum(times) + logs.shape[1] + 16) * (1 + sum(sizes) + _size(np.array(laws))) * 2.0**-50
    losses = {}
    for one, other in permutations(sent, 2):
        possible = np.isfinite(sent[one])
        losses[one, other] = max(0.0, float((sent[one][possible] - sent[other][possible]).max())) + slack
    return losses


def _logs(column: Sequence[int]) -> list[float]:
    most = max(column)
    return [_log(mass, most) for mass in column]


def _log(mass: int, total: int) -> float:
    return log_share(mass, total) if mass else -math.inf


def _size(logs: Floats) -> float:
    """Return the largest finite number's size."""
    return float(np.abs(logs[np.isfinite(logs)]).max(initial=0.0))


def _log_of_sum(logs: Floats) -> Floats:
    """Return the log of the sum of each row's exponentials, in place of the logs."""
    most = logs.max(axis=1)
    level = np.where(np.isfinite(most), most, 0.0)
    logs -= level[:, None]
    with np.errstate(divide="ignore"):
        sums: Floats = np.log(np.exp(logs, out=logs).sum(axis=1)) + level
    return sums
