"""What every member of a registry must do: one function per kind of member, for ours and for anybody else's.

`python -c "from tests.conformance.suite import check_belief; check_belief(MyBelief())"` is all that it takes. Each
check raises AssertionError with words that say which rule was broken, and uses the member's public face only.
"""

import json
import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import chdtrc
from tests.conformance.corpus import DELTAS, EPSILONS, Case, corpus

import takifugu as tf
from takifugu.analysis.bounds import Bound, Cost, Mechanism, Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.joint_states import all_states
from takifugu.analysis.randomisers import answered
from takifugu.analysis.randomisers import from_dict as randomiser_from_dict
from takifugu.core.assumptions import Assumption
from takifugu.core.entries import listed, positions, relisted
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs import from_dict as belief_from_dict
from takifugu.model.beliefs import to_dict as belief_to_dict
from takifugu.model.frameworks import Framework
from takifugu.model.queries import from_dict as query_from_dict
from takifugu.model.secrets.families import ABSENT
from takifugu.model.secrets.hypotheses import Comparison, EntryIs, Hypothesis, RunIs
from takifugu.numbers.noise import InsecureSeededEntropyForTests

#: The audit's own rounding, relative: losses are compared up to it.
SLACK = 1e-9


@dataclass(frozen=True)
class Verdict:
    """What a mechanism promised for a case and what the audit found of it; `used` is the part of the promise used."""

    bound: Bound
    used: float


def bound_of(mechanism: Mechanism, problem: Problem) -> Bound | str:
    """Return the mechanism's bound, or the reason why it has none; check what holds of either."""
    try:
        cost = mechanism.cost(problem)
        assert isinstance(cost, Cost), f"{mechanism.name}: cost() returns {cost!r}, not a Cost"
        assert cost.operations >= 0, f"{mechanism.name}: predicts {cost.operations} operations"
        assert cost.memory >= 0, f"{mechanism.name}: predicts {cost.memory} bytes"
        bound = mechanism.bound(problem)
    except Unsupported as unsupported:
        bound = Refusal(str(unsupported))
    if isinstance(bound, Refusal):
        assert len(bound.reason.split()) >= 3, f"{mechanism.name}: refuses without a reason: {bound.reason!r}"
        return bound.reason
    noise = bound.randomiser
    scale = answered(lambda: noise.scale)
    if scale is None:  # what it publishes are no numbers
        has_one = noise.output.is_number and noise.kind != "channel"  # a table of probabilities is no noise
        assert not has_one, f"{mechanism.name}: noise in numbers has a scale"
    else:
        assert math.isfinite(scale), f"{mechanism.name}: the scale is {scale}"
        assert scale >= 0, f"{mechanism.name}: the scale is {scale}"
    assert noise.cells == problem.cells, f"{mechanism.name}: noise for {noise.cells} of {problem.cells} cells"
    assert bound.epsilon > 0, f"{mechanism.name}: promises epsilon {bound.epsilon}"
    assert 0 <= bound.delta < 1, f"{mechanism.name}: promises delta {bound.delta}"
    why = bound.witness.comparison or bound.witness.detail
    assert why, f"{mechanism.name}: does not say what forced the noise"
    return bound


def check_mechanism(
    mechanism: Mechanism, case: Case, epsilon: Fraction, delta: Fraction = Fraction(0)
) -> Verdict | None:
    """Check one mechanism on one case: its promise is kept, or it refuses with a reason (then None)."""
    bound = bound_of(mechanism, Problem(case.framework, case.query, epsilon, delta))
    if isinstance(bound, str):
        return None
    check_witness(mechanism.name, case.framework, bound)
    return audited(mechanism.name, case, bound)


def check_on_corpus(
    mechanism: Mechanism,
    takes_delta: bool = False,
    epsilons: Sequence[Fraction] = EPSILONS,
    cases: Sequence[Case] = (),
) -> int:
    """Check a mechanism on the whole corpus and on further cases; return on how many problems it makes a promise."""
    applicable = 0
    for case in (*corpus(), *cases):
        for epsilon in epsilons:
            for delta in DELTAS if takes_delta else DELTAS[:1]:
                applicable += check_mechanism(mechanism, case, epsilon, delta) is not None
    assert applicable, f"{mechanism.name} applies to no problem of the corpus"
    return applicable


_WORD = "(?:row|step|user)"
_ENTRIES = rf"the whole data|the component|{_WORD} (?P<one>\d+)|{_WORD}s (?P<first>\d+) to (?P<last>\d+)"
#: What a mechanism may say in place of a comparison: that it covers all changes of some entries.
_ALL_CHANGES = re.compile(
    rf"any values of ({_ENTRIES}) against any others|any value against any other|"
    r"any one value against another|any two values of (step (?P<of>\d+)|.+)"
)


def check_witness(name: str, framework: Framework, bound: Bound) -> None:
    """Check that what forced the noise is a comparison of the framework, or all changes of entries of which one is."""
    comparison = re.sub(r" \((started in|any|unknown|removed)[^()]*\)", "", bound.witness.comparison)
    if not comparison or comparison.startswith("no comparison"):
        assert answered(lambda: bound.randomiser.scale) == 0, f"{name}: names no comparison, and adds noise"
        return
    if comparison in {words for one in framework.comparisons() for words in _spellings(one)}:
        return
    covered = _ALL_CHANGES.fullmatch(comparison)
    assert covered, f"{name}: the witness {comparison!r} is no comparison of the framework"
    one, of = covered["one"], covered["of"]
    first, last = (one or of,) * 2 if one or of else (covered["first"], covered["last"])
    if first is not None:
        secret = {entry for c in framework.comparisons() for entry in _entries_of(c.left)}
        assert secret & {*range(int(first), int(last) + 1)}, f"{name}: nothing is secret in {comparison!r}"


def _entries_of(hypothesis: Hypothesis) -> range:
    if isinstance(hypothesis, RunIs):
        return range(hypothesis.entry, hypothesis.entry + len(hypothesis.values))
    return range(hypothesis.entry, hypothesis.entry + 1) if isinstance(hypothesis, EntryIs) else range(0)


def _spellings(comparison: Comparison) -> Iterator[str]:
    """Yield a comparison in the words that witnesses have for it."""
    yield comparison.label
    left, right = comparison.left, comparison.right
    if not isinstance(left, EntryIs) or not isinstance(right, EntryIs):
        return
    names = getattr(comparison.belief, "names", None)  # a framework without beliefs compares whatever anybody believes
    named = [] if names is None else [str(names[left.entry]), repr(names[left.entry])]
    for who in (f"row {left.entry}", f"step {left.entry}", f"user {left.entry}", *named):
        sides = [f"{who} absent" if side.value == ABSENT else f"{who} = {side.value!r}" for side in (left, right)]
        yield " against ".join(sides)


def audited(name: str, case: Case, bound: Bound) -> Verdict:
    """Set a bound against the exact audit; AssertionError where more is lost than it promises."""
    question, noise = (case.framework, case.query), bound.randomiser
    used = math.inf
    is_real = not case.framework.domain.alphabet(0)  # its densities are integrated, and have no list of outputs
    if is_real and noise.kind == "none" and not bound.delta:
        used = math.inf if tf.exact_delta(case.framework, bound.epsilon, case.query, noise).lower > 0 else 0.0
    elif noise.kind == "rounded-laplace" or (noise.kind != "rounded-normal" and not is_real):
        used = tf.exact_loss(*question, noise, case.members).lower / float(bound.epsilon)
    if bound.delta > 0 and used > 1:
        alone = [(case.query, noise)] if noise.kind != "rounded-normal" or noise.cells == 1 else cells_of(case, noise)
        deltas = [tf.exact_delta(case.framework, bound.epsilon, *one, case.members).lower for one in alone]
        used = max(deltas, default=0.0) / float(bound.delta)
    elif noise.kind == "rounded-normal" and math.isinf(used):
        raise AssertionError(f"{name} on {case.name}: normal noise under a promise without delta")
    assert used <= 1 + SLACK, (
        f"{name} on {case.name!r} promises epsilon {float(bound.epsilon)}, delta {float(bound.delta)} with "
        f"{noise.kind} of scale {answered(lambda: noise.scale)}, and uses {used:.6g} of it"
    )
    return Verdict(bound, used)


def cells_of(case: Case, noise: Any) -> list[tuple[Any, Any]]:
    """Return each cell of a histogram by itself: what it tells is a part of what all tell, which are too many to list.

    Vectors of other queries are audited where they are integrated: tests/mechanisms/test_influence_gaussian.py.
    """
    query = case.query
    if not isinstance(query, tf.Histogram) or query.total is not None:
        return []
    states = query.states or case.framework.domain.alphabet(0)
    return [(tf.Count(state, entries=query.entries), replace(noise, cells=1)) for state in states]


def check_cost(mechanism: Mechanism, problem: Problem, longest: float) -> None:
    """Check that a bound takes no more than a generous multiple of what was predicted, if that is `longest` at most.

    Processor time, so that other processes do not matter; every bound has half a second for what it loads.
    """
    try:
        cost = mechanism.cost(problem)
        if cost.seconds > longest:
            return
        started = time.process_time()
        mechanism.bound(problem)
    except Unsupported:
        return
    taken = time.process_time() - started
    assert taken <= 0.5 + 30 * cost.seconds, f"{mechanism.name} predicts {cost.seconds:.3g} s and takes {taken:.3g} s"


def halved(mechanism: Mechanism, problem: Problem) -> Bound | str:
    """Return a bound that claims the promise with half of the noise: half the scale, or else twice the epsilon."""
    bound = bound_of(mechanism, problem)
    if isinstance(bound, str):
        return bound
    noise = bound.randomiser
    for field in ("units", "sigma", "scale"):
        if field in {f.name for f in fields(noise)}:  # type: ignore[arg-type]
            return replace(bound, randomiser=replace(noise, **{field: getattr(noise, field) / 2}))  # type: ignore[type-var]
    twice = bound_of(mechanism, Problem(problem.framework, problem.query, 2 * problem.epsilon, problem.delta))
    return twice if isinstance(twice, str) else replace(twice, epsilon=bound.epsilon)


def check_belief(belief: Any, members: Sequence[Any] = ()) -> None:
    """Check what holds of every belief: sizes, alphabets, components, what is possible, words, and the way to JSON.

    `members` are some beliefs of a class of beliefs, of which the audit lists the joint states in its place.
    """
    name = type(belief).__name__
    is_real = not belief.alphabet(0)  # real-valued columns: no list of values, and no joint states
    for one in () if is_real else members or (belief,):
        _check_states(name, belief, one)
    assert belief.source.strip(), f"{name}: does not say where it comes from"
    assert belief.describe().strip(), f"{name}: has no words for the certificate"
    assert all(isinstance(a, Assumption) and a.text for a in belief.assumptions()), f"{name}: assumptions are sentences"
    runs = [list(run) for run in belief.components()]
    assert [e for run in runs for e in run] == list(range(belief.size)), f"{name}: its components are not its entries"
    for entry in range(belief.size):
        alphabet, possible = belief.alphabet(entry), belief.possible(entry)
        assert len(alphabet) == len(set(alphabet)) >= 1 or is_real, f"{name}: entry {entry} has the values {alphabet}"
        assert len(possible) == len(alphabet), f"{name}: entry {entry} has {len(possible)} marks for {alphabet}"
        assert any(possible) or is_real, f"{name}: entry {entry} can have no value"
    alphabets = {belief.alphabet(entry) for entry in range(belief.size)}
    assert len(alphabets) == 1 or not belief.one_alphabet, f"{name}: has several alphabets, and says that it has one"
    for number, run in enumerate(runs):
        piece = belief.component(number)
        assert piece.size == len(run), f"{name}: component {number} has {piece.size} entries, not {len(run)}"
        for inside, entry in enumerate(run):
            assert piece.possible(inside) == belief.possible(entry), f"{name}: component {number} forgets what can be"
            assert piece.alphabet(inside) == belief.alphabet(entry), f"{name}: component {number} renames values"
        names_of_run = None if belief.names is None else tuple(belief.names[entry] for entry in run)
        is_named_alike = piece.names in (None, names_of_run)  # people of a clique have numbers there
        assert is_named_alike, f"{name}: component {number} names its entries {piece.names}, not {names_of_run}"
    if belief.names is not None:
        assert len(set(belief.names)) == belief.size, f"{name}: names are not one per entry"
        assert [belief.position(n) for n in belief.names] == list(range(belief.size)), f"{name}: names are misplaced"
        turned = relisted(belief, tuple(reversed(listed(belief) or ())))
        back = belief_from_dict(json.loads(json.dumps(belief_to_dict(turned))))
        assert listed(back) == listed(turned), f"{name}: forgets the order in which its entries were listed"
        assert [positions(turned, [n]) for n in belief.names] == [positions(belief, [n]) for n in belief.names], (
            f"{name}: an entry's place depends on the order in which entries are listed"
        )
    written = json.loads(json.dumps(belief.to_dict(), allow_nan=False))
    again = belief_from_dict(written)
    assert json.loads(json.dumps(again.to_dict())) == written, f"{name}: does not read back from JSON as it is"
    assert again.describe() == belief.describe(), f"{name}: reads back from JSON with other words"


def _check_states(name: str, belief: Any, member: Any) -> None:
    """Set a belief against the list of its joint states: what is possible, and that components are independent."""
    states = all_states(member)
    for entry in range(belief.size):
        values = {int(v) for weights in states.weights for v in states.values[weights > 0, entry]}
        possible = {value for value, can in enumerate(belief.possible(entry)) if can}
        unknown = {states.nothing[entry]} if states.nothing else set[int]()
        assert values <= possible, f"{name}: entry {entry} takes values that are not possible"
        assert values == possible - unknown or member is not belief, f"{name}: entry {entry} never takes some values"
    if len(states.weights) > 1 or member is not belief:
        return  # one distribution at a time
    runs = [list(run) for run in belief.components()]
    parts = [_masses(all_states(belief.component(number)), range(len(run))) for number, run in enumerate(runs)]
    for values, mass in _masses(states, range(belief.size)).items():
        inside = [part[tuple(values[entry] for entry in run)] for run, part in zip(runs, parts, strict=True)]
        assert abs(float(mass / math.prod(inside)) - 1) < 1e-12, f"{name}: its components are not independent"


def _masses(states: Any, entries: range) -> dict[tuple[int, ...], Fraction]:
    (weights,) = states.weights
    rows = zip(states.values[:, entries].tolist(), weights.tolist(), strict=True)
    return {tuple(row): Fraction(weight, int(weights.sum())) for row, weight in rows if weight}


def check_randomiser(noise: Any, answers: Sequence[int | Fraction], outputs: Sequence[int]) -> None:
    """Check a randomiser of one cell: its law sums to one, draws follow it, errors and quantiles are the law's, JSON.

    `answers` are in units of the grid; `outputs` hold all but a millionth of what comes out of any of them. Errors are
    means over the answers; those of a choice, which has a `prior` of them, the largest.
    """
    name, grid = noise.kind, noise.grid
    errors, squares, distances = [], [], []
    for answer in answers:
        masses = np.array([math.exp(noise.log_density([answer], [y * grid])) for y in outputs])
        assert abs(masses.sum() - 1) < 1e-6, f"{name}: its masses sum to {masses.sum()}"
        errors.append(float(abs(np.array(outputs) - float(answer)) @ masses) * float(grid))
        _check_draws(noise, answer, dict(zip(outputs, masses, strict=True)))
        squares.append(float((np.array(outputs) - float(answer)) ** 2 @ masses) * float(grid) ** 2)
        distances.append((abs(np.array(outputs) - float(answer)), masses))
    of_all = max if hasattr(noise, "prior") else np.mean
    error, square = float(of_all(errors)), float(of_all(squares))
    assert abs(noise.expected_error() - error) < 1e-5 * (1 + error), f"{name}: its expected error is not its law's"
    assert abs(noise.variance() - square) < 1e-4 * (1 + square), f"{name}: its variance is not its law's"
    for level, cells in ((0.5, 1), (0.9, 1), (0.999, 1), (0.9, 3)):
        steps = noise.half_width(level, cells) / grid
        assert steps.denominator == 1, f"{name}: its quantile at {level} is no multiple of the grid"
        each = level ** (1 / cells)  # the least of all answers is what a half-width promises
        inside, less = (min(float(m[d <= k].sum()) for d, m in distances) for k in (int(steps), int(steps) - 1))
        assert less - 1e-6 < each < inside + 1e-6, f"{name}: its quantile at {level} in {cells} cells is not its law's"
    again = randomiser_from_dict(json.loads(json.dumps(noise.to_dict(), allow_nan=False)))
    assert again == noise, f"{name}: does not read back from JSON as it is"


def check_sending(noise: Any) -> None:
    """Check a randomiser of rows, each of which is sent by itself: masses, draws, losses, words, the way to JSON."""
    name, entropy, draws = noise.kind, InsecureSeededEntropyForTests(8), 3000
    masses = [[noise.mass(x, y) for y in noise.outputs] for x in range(len(noise.sender.values))]
    losses = noise.sender.pointwise()
    for x, row in enumerate(masses):
        assert sum(row) == 1, f"{name}: the masses of what is sent for value {x} sum to {float(sum(row))}"
        seen = dict.fromkeys(noise.outputs, 0)
        for start in range(0, draws, noise.cells):
            for sent in noise.draw([x] * noise.cells, entropy)[: draws - start]:
                seen[sent] += 1
        often = [y for y, mass in enumerate(row) if mass * draws >= 5]
        gaps = ((seen[noise.outputs[y]] - float(row[y]) * draws) ** 2 / (float(row[y]) * draws) for y in often)
        chance = float(chdtrc(max(len(often) - 1, 1), sum(gaps)))
        assert chance > 1e-6, f"{name}: draws do not follow its law (p = {chance:g})"
        for other, against in enumerate(masses):
            worst = max(math.log(a) - math.log(b) if b else math.inf for a, b in zip(row, against, strict=True) if a)
            assert worst <= losses[x, other] < worst + 1e-9 or losses[other, x] > losses[x, other] - 1e-9 > worst, (
                f"{name}: values {x} and {other} lose {worst}, not {losses[x, other]}"
            )
            assert losses[x, other] >= worst, f"{name}: values {x} and {other} lose more than it says"
    assert noise.loss(Fraction(1)) >= noise.rows * losses.max() * (1 - 1e-12), f"{name}: all rows lose more"
    assert noise.expected_error() <= noise.worst, f"{name}: the mean loss is above the largest"
    assert noise.words().strip(), f"{name}: has no words for the certificate"
    again = randomiser_from_dict(json.loads(json.dumps(noise.to_dict(), allow_nan=False)))
    assert again == noise, f"{name}: does not read back from JSON as it is"
    write, read = noise.output.write, noise.output.read
    assert all(read(write(y)) == y for y in noise.outputs), f"{name}: what is sent does not read back from text"


def _check_draws(noise: Any, answer: int | Fraction, masses: dict[int, float], draws: int = 2000) -> None:
    entropy = InsecureSeededEntropyForTests(6)
    drawn = Counter(noise.draw([answer], entropy)[0] for _ in range(draws))
    for value in drawn:
        assert noise.log_density([answer], [value]) > -math.inf, f"{noise.kind}: draws {value}, which its law excludes"
    seen = {y: drawn[y * noise.grid] for y in masses}
    often = [y for y, mass in masses.items() if mass * draws >= 5]
    statistic = sum((seen[y] - masses[y] * draws) ** 2 / (masses[y] * draws) for y in often)
    chance = float(chdtrc(max(len(often) - 1, 1), statistic))
    assert chance > 1e-6, f"{noise.kind}: draws do not follow its law (p = {chance:g})"


def check_query(query: Any, belief: Any, data: Sequence[Any], expected: Sequence[Any]) -> None:
    """Check a query on one belief: the answer to `data` is `expected` (answer units), D is the largest change."""
    answer = query.resolve(belief)
    places = np.array([belief.alphabet(i).index(v) for i, v in enumerate(data)])
    computed = [Fraction(cell) * answer.grid for cell in answer.evaluate(places)]
    assert computed == [Fraction(x) for x in expected], (
        f"{query.describe()}: {computed} for {data}, not {list(expected)}"
    )
    changes = answer.entry_changes()
    for entry in range(belief.size):
        largest = 0
        for value in range(len(belief.alphabet(entry))):
            other = places.copy()
            other[entry] = value
            moved = zip(answer.evaluate(other), answer.evaluate(places), strict=True)
            largest = max(largest, sum(abs(a - b) for a, b in moved))
        assert largest <= changes[entry], f"{query.describe()}: entry {entry} moves it by {largest} > {changes[entry]}"
    again = query_from_dict(json.loads(json.dumps(query.to_dict(), allow_nan=False)))
    assert again.to_dict() == query.to_dict(), f"{query.describe()}: does not read back from JSON as it is"
    assert query.describe().strip(), "a query has words for the certificate"
