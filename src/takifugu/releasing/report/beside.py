"""What a reader who is 50 % sure becomes with a table's noise, beside ordinary noise and group noise of its epsilon."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from takifugu.accounting.suspicion import explain, odds, percent
from takifugu.analysis.randomisers import Randomiser
from takifugu.calibration import Calibration
from takifugu.core.errors import Unsupported
from takifugu.core.escaping import number
from takifugu.model.queries import Additive
from takifugu.releasing.planning.other_noises import GROUP, ORDINARY, TAKIFUGU, attacked, three_noises
from takifugu.releasing.report.page import Block, Table
from takifugu.releasing.report.published import Published

if TYPE_CHECKING:
    from takifugu.audit.partial_sums import Chained

_NAMES = {ORDINARY: "ordinary, for one step alone", TAKIFUGU: "Takifugu's", GROUP: "for a whole recording"}
_NOTE = (
    "Right guesses: how often the better guess at the middle step of the longest recording is right, on average over "
    "all tables. Without a table it is 50 %."
)


def beside(t: Published) -> Iterator[Block]:
    """Yield three noises of one epsilon, where a posterior is computed of the table and both others were compared."""
    calibration = t.noisiest[1].calibration
    if calibration is None or calibration.delta:
        return
    tried = {row.name for row in calibration.alternatives if row.scale is not None}
    try:
        chain, answer = attacked(calibration)
        if not {"record-dp", "group-dp"} <= tried:  # too large, or nobody compared anything
            return
        rows = list(_rows(calibration, chain, answer))
    except Unsupported:
        return
    header: tuple[str, ...] = ("noise of the same epsilon", "scale", "50 % can become", "in odds", "right guesses")
    has_average = any(row[-1] for row in rows)
    if not has_average:
        header, rows = header[:-1], [row[:-1] for row in rows]
    yield Table(f"{t.name}: other noise", header, rows, range(1, len(header)), _NOTE * has_average, chosen=1)


def _rows(calibration: Calibration, chain: Chained, answer: Additive) -> Iterator[tuple[str, ...]]:
    from takifugu.influence.promise import promise_of

    for name, found in three_noises(calibration).items():
        noise, loss = found.randomiser, found.epsilon
        if name == GROUP:  # under the belief it loses less than it promises
            loss = promise_of(calibration.problem, noise.scale).epsilon
        high = explain("50 %", loss).high
        becomes = percent(high, up=True), f"1 to 1 → {odds(high, up=True)}"
        yield _NAMES[name], number(noise.scale), *becomes, _average(chain, answer, noise)


def _average(chain: Chained, answer: Additive, noise: Randomiser) -> str:
    """Say how often the better guess is right, on average over all tables, "" where that is not computed."""
    from takifugu.audit.right_guesses import right_guesses

    longest = max(chain.lengths)
    step = sum(chain.lengths[: chain.lengths.index(longest)]) + longest // 2
    try:
        return percent(right_guesses(chain, answer, step, noise, 0.5), up=True)
    except Unsupported:
        return ""
