"""Each mechanism is tried once; what it returns is judged by the same rules, and the best is chosen.

Beliefs that were taken from the private data are refused here, too, unless the caller accepts them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from numpy.linalg import LinAlgError

from takifugu.accounting import definitions
from takifugu.accounting.definitions import Definition
from takifugu.accounting.definitions.gate import ACCEPT, raised, too_little_noise
from takifugu.analysis import randomisers
from takifugu.analysis.bounds import MEMORY_LIMIT, Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Noise, Randomiser, answered
from takifugu.calibration.alternatives import (
    CHOSEN,
    EXPECTED_ERROR,
    IF_FOLLOWED,
    IF_ONLY,
    INAPPLICABLE,
    POSSIBLE,
    REFUSED,
    SKIPPED,
    UNPROVED,
    WEAKER,
    Alternative,
)
from takifugu.calibration.outside import judged
from takifugu.calibration.registry import REGISTRY, Line
from takifugu.core import searches
from takifugu.core.errors import CalibrationRefused, InputError, Unsupported
from takifugu.core.escaping import at_least, at_most, number
from takifugu.model.beliefs.estimate import is_private_source
from takifugu.model.frameworks import Framework
from takifugu.numbers.rationals import as_truth, read_fraction, to_text

#: Expected errors that differ by no more than this count as equal: scales are rounded up by as much as 1e-10.
TIE = 1e-9
#: Predicted seconds that a mechanism may take where the least noise of all is wanted.
PATIENCE = 60.0

#: What forces noise where the belief asks for less than the gate, and for how much less that is no scale to tell.
BESIDE_ALL_OTHERS = "one value against another, for somebody who knows all other values"
NEXT_TO_NONE = 1000

OUT_OF_RANGE = (
    "its computation left the range of floats or memory ({}): probabilities are too near to 0 or 1 for it, or the "
    'answer has too many values; others may serve, such as mechanism="quilt-exact" or "group-dp"'
)

#: A certificate holds numbers below 2^1000, and what is published is an answer with its noise, in steps of the grid.
#: Every query resolves to an `Additive` or to candidates made of one (`queries.summing.check_sum`), which refuse more
#: than 2^61 steps (`check_reach`); columns of real numbers and numbers under two laws, which nothing else bounds, are
#: read before payment (`truth._check_written`). Noise is beyond 2^99 times its expected error with a chance below
#: 2^-99, whatever its law (Markov's inequality). So below 2^900 all is written; a choice among values is a label.
MOST_WRITTEN = 2**900
TOO_LARGE = (
    "its answer or noise may be 2^1000 or more, which no certificate holds: publish smaller numbers, such as millions"
)

_BEST_COMPOSING_FIRST = (Covers.EVERYTHING, Covers.COMPONENT, Covers.ENTRIES, Covers.OUTPUT)


@dataclass(frozen=True, eq=False)
class Trial:
    """One mechanism's answer: its status, and a bound if it has one."""

    line: Line
    status: str
    reason: str
    bound: Bound | None = None
    cost: Cost | None = None


def attempt_all(problem: Problem, allow_zero_noise: bool, alone: bool, ours: bool = False) -> list[Trial]:
    """Ask every mechanism, or only `ours`, with a predicted work below the limit."""
    trials = [attempt(line, problem, allow_zero_noise, limited=True) for line in _lines(problem, ours)]
    # For an only release the quickest beyond the limit are asked, up to PATIENCE, until one may be used.
    if not alone:
        return trials
    waiting, possible = list[tuple[float, int]](), set[str]()
    for place, trial in enumerate(trials):
        if trial.status == POSSIBLE:
            possible.add(trial.line.name)
        cost = trial.cost
        if cost is None or trial.line.baseline or cost.seconds > PATIENCE or cost.memory > MEMORY_LIMIT:
            continue
        waiting.append((cost.operations, place))
    for _, place in sorted(waiting):
        if trials[place].line.not_below in possible:
            break
        trials[place] = attempt(trials[place].line, problem, allow_zero_noise, limited=False)
        if trials[place].status == POSSIBLE:
            break
    return trials


def attempt_composing(problem: Problem, allow_zero_noise: bool) -> list[Trial]:
    """Ask those of ours with room for others, else all of ours."""
    lines, trials = _lines(problem, ours=True), dict[str, Trial]()
    for line in lines:
        if line.leaves_room:
            trials[line.key] = attempt(line, problem, allow_zero_noise, limited=True)
    choice = choose([*trials.values()])
    if choice is None or choice.composing is None:
        for line in lines:
            if not line.leaves_room:
                trials[line.key] = attempt(line, problem, allow_zero_noise, limited=True)
    elif choice.composing.line.name == "group-dp":  # printed baselines beyond the limit may need less, by name
        for line in lines:
            if line.baseline and not line.alone and (skipped := _too_long(line, problem)):
                trials[line.key] = skipped
    return [trials[line.key] for line in lines if line.key in trials]


def _too_long(line: Line, problem: Problem) -> Trial | None:
    """Return the trial of a mechanism whose predicted work is above the limit."""
    with suppress(Unsupported):
        cost = line.load().cost(problem)
        if cost.operations > problem.work_limit or cost.memory > MEMORY_LIMIT:
            return Trial(line, SKIPPED, f"it would take {cost.describe()}: by name only", cost=cost)
    return None


def _lines(problem: Problem, ours: bool) -> list[Line]:
    """Return the lines of mechanisms to ask without a name, in order; "auto" asks only `ours`."""
    definition, has_columns = problem.framework.definition, bool(problem.framework.columns)
    read_as = {definition}
    if not definitions.find(definition).is_apart:
        read_as.add("pufferfish")
    lines = []
    for line in REGISTRY:
        is_of_columns = has_columns or not line.of_columns
        if not read_as.isdisjoint(line.definitions) and is_of_columns and not (ours and line.package):
            lines.append(line)
    return lines


def attempt(line: Line, problem: Problem, allow_zero_noise: bool, limited: bool) -> Trial:
    """Ask one mechanism, and say whether its answer may be used."""
    definition = problem.framework.definition
    if definition not in line.definitions:
        return Trial(line, INAPPLICABLE, f"it is proved for {' and '.join(line.definitions)}, not for {definition}")
    mechanism = line.load()
    try:
        if line.package:
            problem.check_single()
        if limited and (skipped := _too_long(line, problem)):
            return skipped
        with searches.named(line.name):
            bound = mechanism.bound(problem)
    except Unsupported as error:
        bound = Refusal(str(error))
    except (ArithmeticError, LinAlgError, MemoryError) as error:
        bound = Refusal(OUT_OF_RANGE.format(type(error).__name__))
    if isinstance(bound, Refusal):
        from takifugu.calibration.remedies import applicable  # a refusal alone names other mechanisms

        return Trial(line, INAPPLICABLE, applicable(bound.reason, problem))
    _check(line, problem, bound)
    if line.package:
        judgement = judged(line, problem, bound)
        if isinstance(judgement, Refusal):
            return Trial(line, UNPROVED, judgement.reason, bound)
        bound = judgement
    if not is_writable(problem, bound.randomiser):
        return Trial(line, INAPPLICABLE, TOO_LARGE)
    if bound.epsilon > problem.epsilon or bound.delta > problem.delta:
        return Trial(line, WEAKER, "; ".join((_shortfall(problem, bound), *bound.conditions)), bound)
    if not allow_zero_noise:
        hiding = _hiding_one_entry(line, problem, bound)
        if isinstance(hiding, str):
            return Trial(line, REFUSED, hiding + ACCEPT, bound)
        bound = hiding
    words = [_why(line, bound)] if line.baseline else list(bound.conditions)
    return Trial(line, POSSIBLE, "; ".join(filter(None, [line.also, *words])), bound)


def _hiding_one_entry(line: Line, problem: Problem, bound: Bound) -> Bound | str:
    """Return the bound with at least the noise that the gate lets pass, or the gate's reason against it."""
    reason = too_little_noise(problem, bound.randomiser, problem.epsilon, problem.delta)
    if not reason:
        return bound
    if line.package and problem.candidates is not None:  # of the law of a choice, its mechanism may know more
        return reason
    noise = raised(problem, bound.randomiser, problem.epsilon, problem.delta)
    if noise is None:
        return reason
    return replace(bound, randomiser=noise, witness=raising(bound.randomiser, noise))


def raising(needed: Randomiser, noise: Randomiser) -> Witness:
    """Return what forced more noise than was needed for the belief."""
    words = "next to no noise" if needed.scale else "no noise"
    if needed.scale * NEXT_TO_NONE > noise.scale:
        words = f"a scale of {number(needed.scale)}"
    return Witness(BESIDE_ALL_OTHERS, f"the belief alone asks for {words}")


def _why(line: Line, bound: Bound) -> str:
    """Return why a baseline is not taken, with the quilt and its max-influence, if it has one."""
    influence = dict(bound.witness.numbers).get("influence")
    if influence is None:
        return line.baseline
    return f"{line.baseline}; {bound.witness.detail}, of max-influence {number(influence)}"


def is_writable(problem: Problem, noise: Randomiser) -> bool:
    """Return whether certificate, table and ledger hold every answer with this noise, and its expected error."""
    try:
        largest = max(problem.grid, Fraction(answered(noise.expected_error) or 0), answered(lambda: noise.scale) or 0)
        read_fraction(to_text(problem.grid))  # a step that is too small to be read back
    except (ArithmeticError, ValueError):
        return False
    return largest < MOST_WRITTEN


def _check(line: Line, problem: Problem, bound: object) -> None:
    """Refuse unsound results of mechanisms written elsewhere."""
    if not isinstance(bound, Bound):
        fault = f"{type(bound).__name__}, which is no Bound and no Refusal"
    elif not 0 <= (answered(lambda: bound.randomiser.scale) or 0) < math.inf:
        fault = f"noise of scale {bound.randomiser.scale}, which is no finite number from 0"
    elif bound.randomiser.cells != problem.cells or bound.randomiser.grid != problem.grid:
        fault = "noise for another number of cells or another grid than the answer's"
    elif problem.candidates is not None and bound.randomiser.kind != "permute-and-flip":
        fault = "noise for numbers, and a choice among values is published"
    elif not problem.on_grid and isinstance(bound.randomiser, Noise) and bound.randomiser.on_grid:
        fault = "noise for answers that are multiples of the grid, and this answer may lie between them"
    elif not bound.is_exact or bound.epsilon < 0 or not 0 <= bound.delta < 1:
        fault = f"a promise of epsilon {bound.epsilon}, delta {bound.delta}"
    elif not bound.witness.comparison and bound.randomiser.kind != "none":
        fault = "a promise without the comparison that forced it"
    elif not isinstance(line.place, str) and not _reads_back(bound.randomiser):
        fault = "noise that does not read back from its to_dict(), as ledgers and certificates require"
    else:
        return
    raise InputError(f"the mechanism {line.name!r} returned {fault}", fix="this is a fault of the mechanism: mend it")


def _reads_back(noise: Randomiser) -> bool:
    try:
        return bool(randomisers.from_dict(json.loads(json.dumps(noise.to_dict()))) == noise)
    except (AttributeError, KeyError, TypeError, ValueError):  # InputError is one
        return False


@dataclass(frozen=True, eq=False)
class Choice:
    """The trials of least error: of all, and of composing ones, equal errors being one where possible."""

    least: Trial
    #: None where nothing composes.
    composing: Trial | None

    def taken(self, single_release: bool) -> Trial:
        """Return the choice of "auto": the least composing, or the least."""
        if single_release or self.composing is None:
            return self.least
        return self.composing

    def marks(self, single_release: bool) -> dict[int, str]:
        """Return the status of both winners, by the id of their trials."""
        return {id(self.least): IF_ONLY, id(self.composing): IF_FOLLOWED, id(self.taken(single_release)): CHOSEN}


def choose(trials: Sequence[Trial]) -> Choice | None:
    """Return the possible trials of least expected error, baselines passed over."""
    # Equal errors prefer the kind that composes better.
    possible, composing = list[tuple[Trial, Bound]](), list[tuple[Trial, Bound]]()
    for trial in trials:
        if trial.status != POSSIBLE or trial.bound is None or trial.line.baseline:
            continue
        possible.append((trial, trial.bound))
        if trial.bound.covers is not Covers.OUTPUT:
            composing.append((trial, trial.bound))
    if not possible:
        return None
    return Choice(_least(possible), _least(composing) if composing else None)


def _least(possible: Sequence[tuple[Trial, Bound]]) -> Trial:
    errors = []
    for _, bound in possible:
        error = answered(bound.randomiser.expected_error)
        errors.append(math.inf if error is None else error)
    most = min(errors) * (1 + TIE)
    tied = [pair for pair, error in zip(possible, errors, strict=True) if error <= most]
    return min(tied, key=lambda pair: _BEST_COMPOSING_FIRST.index(pair[1].covers))[0]


def rows(trials: Sequence[Trial], choice: Choice | None, single_release: bool) -> tuple[Alternative, ...]:
    """Describe each mechanism's outcome; both winners are marked."""
    marks = {} if choice is None else choice.marks(single_release)
    return tuple(_row(trial, marks.get(id(trial), trial.status)) for trial in trials)


def _row(trial: Trial, status: str) -> Alternative:
    name, bound = trial.line.name, trial.bound
    if bound is None:
        return Alternative(name, None, None, None, status, trial.reason)
    noise = bound.randomiser
    scale, error = answered(lambda: float(noise.scale)), answered(noise.expected_error)
    return Alternative(name, scale, error, str(bound.covers.composition), status, trial.reason)


def _shortfall(problem: Problem, bound: Bound) -> str:
    if bound.epsilon > problem.epsilon:
        return f"it promises epsilon {at_most(bound.epsilon)}, not {at_least(problem.epsilon)}"
    return f"it requires delta {at_most(bound.delta)}, and {at_least(problem.delta)} was requested"


def definition_of(problem: Problem) -> Definition:
    """Return the definition behind a problem's promise."""
    return definitions.find(problem.framework.definition)


def error_words(problem: Problem) -> str:
    """Describe the expected error: a definition's, a choice's, or the usual one."""
    usual = EXPECTED_ERROR
    if problem.candidates is not None:
        from takifugu.analysis.randomisers.selection import PermuteAndFlip

        usual = PermuteAndFlip.error_words
    return definition_of(problem).error_words or usual


def check_beliefs(framework: Framework, allow_private_belief: bool) -> tuple[str, ...]:
    """Return the conditions of beliefs from private data, refused by default."""
    is_allowed = as_truth(allow_private_belief, "allow_private_belief")
    conditions = []
    for belief in framework.beliefs:
        if not is_private_source(belief.source):
            continue
        if not is_allowed:
            raise CalibrationRefused(
                f"the belief {belief.describe()} was estimated from the private data, so the amount of noise would "
                "itself tell something about them",
                fix="estimate it from other data, or write allow_private_belief=True",
            ).at("beliefs")
        conditions.append(f"{belief.describe()}: estimated from the private data; the promise does not cover that")
    return tuple(conditions)
