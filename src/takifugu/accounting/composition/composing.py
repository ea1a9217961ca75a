"""The joint promise of releases on one source, in one layout or in several, and `compose` for calibrations.

Nobody may know which entry of the one layout is which of another, so what the releases in all others reveal of an entry
counts at every step: by what their dearest step costs (docs/theory/composition.md#another-placement).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain

import numpy as np

from takifugu.accounting.composition.charges import Calibrated, charge_of
from takifugu.accounting.composition.losses import Joint, any_change, cost_of_all
from takifugu.accounting.composition.several import Several
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Charge, Covers, Guarantee
from takifugu.core.cache import cached
from takifugu.core.errors import CompositionRefused, InputError
from takifugu.core.lists import members_of
from takifugu.core.nearest import did_you_mean
from takifugu.core.rules import check_type
from takifugu.model import queries
from takifugu.model.beliefs.one_sequence import is_recording
from takifugu.model.frameworks import DEFINITIONS, Framework
from takifugu.numbers.rationals import as_truth

#: Why releases of one unit in several layouts count at the cost of a change of all that they read.
_LAYOUTS = "these releases read the data in several layouts, so one row of the one may be many of the other"


def joint(
    framework: Framework, charges: Iterable[Charge], as_composing: bool = False, fingerprint: str | None = None
) -> Joint:
    """Return the joint promise under `framework`, in the order of release.

    All releases are on one unit's data. Without a delta the promise is the least of all that is proved. Beside a delta
    promises that are alone and have no place are given up with `as_composing`, and charged by their noise; without a
    delta, those about several people are. Releases in several layouts count at the cost of a change of all that each
    reads, since one entry of one layout may be many of another. `fingerprint` is the framework's where it was read from
    a file. Raises CompositionRefused, with the reason and the cheapest remedy, where nothing is proved. Source:
    docs/decisions.md#composition; quilts after Song17 Theorem 4.3.

    >>> from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry
    >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10))
    >>> charge = charge_of(calibrate(framework, Count(1), epsilon="1/3"))
    >>> round(float(joint(framework, [charge] * 3).epsilon), 3)
    1.119
    """
    question = fingerprint or framework.fingerprint(), tuple(charges), as_composing
    for charge in question[1]:
        if isinstance(charge, Several) and charge.runs:  # such a set is never asked about twice
            return _joint(framework, *question)
    remembered = cached(framework, joint, lambda: lru_cache(maxsize=4096)(partial(_joint, framework)))
    return remembered(*question)


def _joint(framework: Framework, fingerprint: str, charges: tuple[Charge, ...], recharge: bool) -> Joint:
    if framework.definition not in DEFINITIONS:
        raise CompositionRefused(
            f"no joint proof for definition {framework.definition!r}",
            rule="releases under it do not compose",
            fix=f"known: {list(DEFINITIONS.names)}{did_you_mean(framework.definition, DEFINITIONS.names)}",
        )
    if _in_several_layouts(charges):
        return Joint(*cost_of_all(((charge, 1) for charge in charges), _LAYOUTS), "sum over layouts", Covers.EVERYTHING)
    definition, history = DEFINITIONS.find(framework.definition), []
    for charge in charges:
        if charge.definition not in DEFINITIONS:
            raise CompositionRefused(
                f"no joint proof for definition {charge.definition!r} together with {framework.definition!r}",
                fix="publish about this source under one definition",
            )
        if charge.definition not in (framework.definition, *definition.reads_alike):
            charge = replace(definition.converted(charge), framework=fingerprint)
        history.append(charge)
    joint: Joint = definition.joint(View(framework, fingerprint), tuple(history), recharge)
    return joint


def _in_several_layouts(charges: Sequence[Charge]) -> bool:
    """Return whether releases read several layouts; a pooled one is refused there.

    A whole promise that names no entries (of another source, or definition) holds in every layout. The charge of a
    pooled release is one unit's share, and in another layout this unit's data may be anybody's: CompositionRefused.
    """
    layouts = set()
    for charge in charges:
        if charge.entries or charge.covers is not Covers.EVERYTHING:
            layouts.add(charge.layout)
    if len(layouts) > 1 and any(charge.scope == "pooled" for charge in charges):
        raise CompositionRefused(
            _LAYOUTS,
            rule="a pooled release is charged to a person for that person's share alone",
            fix="keep one layout, or let a ledger charge everybody",
        )
    return len(layouts) > 1


def compose(
    calibrations: Iterable[Calibrated], as_composing: bool = False, fixed_in_advance: bool = False
) -> Guarantee:
    """Return the joint promise of calibrations for one source's same entries.

    Calibrations are taken in the order given, each fixed before those after it are released. Every framework among them
    is charged for all of them, and the largest joint epsilon and delta are promised. Where some release has a delta,
    `as_composing` gives up promises that are alone and have no place beside it, and charges their noise.
    `fixed_in_advance` says that all of them are fixed before the first is released: then normal noise adds up by its
    squares, with Laplace noise beside it (docs/theory/influence.md#with-a-delta).

    Raises CompositionRefused, with the reason and the cheapest remedy, where nothing is proved, and InputError for no
    calibrations. Source: docs/decisions.md#composition.

    >>> from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry
    >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10))
    >>> calibrations = [calibrate(framework, Count(1), epsilon="1/3")] * 3
    >>> round(float(compose(calibrations).epsilon), 3)
    1.057
    """
    calibrated = tuple(members_of(calibrations, "the calibrations", "calibrations", "[calibrate(...)]"))
    if not calibrated:
        raise InputError("there is nothing to compose", fix="give at least one calibration").at("calibrations")
    together, as_composing = as_truth(fixed_in_advance, "fixed_in_advance"), as_truth(as_composing, "as_composing")
    charges, frameworks = [], dict[str, Framework]()
    for calibration in calibrated:
        check_type(calibration, Calibrated, "a calibration", "give what calibrate(...) returns", "calibrations")
        charges.append(charge_of(calibration, reading="together", fixed_in_advance=together))
        frameworks[calibration.framework.fingerprint()] = calibration.framework
    definitions = dict.fromkeys(framework.definition for framework in frameworks.values())
    met: Framework | None = None
    if len(frameworks) > 1 and len(definitions) == 1:
        met = DEFINITIONS.find(*definitions).met(tuple(frameworks.values()))
    if met is not None:
        frameworks = {met.fingerprint(): met}
    joints = [joint(framework, charges, as_composing, fingerprint) for fingerprint, framework in frameworks.items()]
    return _together(calibrated, joints, frameworks, met, "+".join(definitions), together)


def _together(
    calibrated: Sequence[Calibrated], joints: Sequence[Joint], frameworks: Mapping[str, Framework],
    met: Framework | None, definition: str, fixed_in_advance: bool,
) -> Guarantee:  # fmt: skip
    """Return the promise of all calibrations at their largest joint cost."""
    worst = max(joints, key=lambda joint: joint.epsilon)
    conditions = [*chain.from_iterable(calibration.guarantee.conditions for calibration in calibrated)]
    if len(calibrated) > 1:
        conditions.append(f"{len(calibrated)} releases together, by the rule '{worst.rule}'")
    if met is not None:
        conditions.append(f"what the releases hide together: {'; '.join(s.describe() for s in met.secrets)}")
    if len(calibrated) > 1 and fixed_in_advance:
        conditions.append("all queries and all noise are fixed before the first release")
    if worst.covers is Covers.ENTRIES:
        conditions.append("each release's query, noise and stopping depend on the data through past outputs only")
    assumptions = chain.from_iterable(calibration.guarantee.assumptions for calibration in calibrated)
    return Guarantee(
        epsilon=worst.epsilon,
        delta=max(joint.delta for joint in joints),
        covers=max((joint.covers for joint in joints), key=list(Covers).index),
        definition=definition,
        framework="+".join(frameworks),
        assumptions=tuple(dict.fromkeys(assumptions)),
        conditions=tuple(dict.fromkeys(conditions)),
        hides_facts=all(framework.hides_facts for framework in frameworks.values()),
    )


#: No recording has so many steps.
_LONGEST = 10**6
#: From which step of a calendar on which steps cost how much more, or less: in the order of the steps.
Steps = list[tuple[int, Fraction]]


def cost_at_other_steps(
    frameworks: Mapping[str, Framework], charges: Sequence[Charge]
) -> tuple[Fraction, Fraction] | None:
    """Return epsilon and delta of one unit's releases over all its layouts.

    The layouts have the same entries. Charges are single ones, under the framework that each names, with the names of
    their layouts. None where nothing is proved of a release or a belief.
    """
    if not all(_is_read_by_entry(frameworks[charge.framework], charge) for charge in charges):
        return None
    layouts: dict[str, list[Charge]] = {}
    for charge in charges:
        layouts.setdefault(charge.layout, []).append(charge)
    dearest_steps = {layout: dearest_step(frameworks, of_layout) for layout, of_layout in layouts.items()}
    worst = Fraction(0)
    for layout, of_layout in layouts.items():
        of_others = [charge for charge in charges if charge.layout != layout]
        dearest = sum(dearest_steps.values(), Fraction(0)) - dearest_steps[layout]
        for fingerprint in dict.fromkeys(charge.framework for charge in of_layout):
            elsewhere = _everywhere(frameworks[fingerprint], dearest, of_others, layout)
            if elsewhere is None:
                return None
            promise = joint(frameworks[fingerprint], [*of_layout, *elsewhere], fingerprint=fingerprint)
            worst = max(worst, promise.epsilon)
    return worst, Fraction(0)


def dearest_step(frameworks: Mapping[str, Framework], charges: Sequence[Charge]) -> Fraction:
    """Return the largest loss of one layout's releases by one entry.

    Releases at places of one calendar are added up step by step; each other one counts by its own dearest step.
    """
    calendars: dict[str, Steps] = {}
    total = Fraction(0)
    for charge in charges:
        steps = [*_steps_of(frameworks[charge.framework], charge)]
        if charge.at is None:
            total += _highest(steps)
        else:
            calendars.setdefault(charge.calendar, []).extend(steps)
    return total + sum(map(_highest, calendars.values()), Fraction(0))


def _highest(steps: Steps) -> Fraction:
    level = highest = Fraction(0)
    at: dict[int, Fraction] = {}
    for step, more in steps:
        at[step] = at.get(step, Fraction(0)) + more
    for step in sorted(at):
        level += at[step]
        highest = max(highest, level)
    return highest


def _steps_of(framework: Framework, charge: Charge) -> Iterator[tuple[int, Fraction]]:
    """Yield each step of a change in the dearest belief's cost."""
    view, start = View(framework, charge.framework), charge.at or 0
    most = np.zeros(charge.entries, dtype=np.int64)
    grids = set()
    for belief in framework.beliefs:
        read = view.read(belief, charge)
        assert read is not None  # `_is_read_by_entry` has asked
        grids.add(read.grid)
        most = np.maximum(most, read.changes)
    rate = Fraction(0)
    if charge.scale:
        rate = max(grids) / charge.scale
    before = 0
    for first in [0, *(np.flatnonzero(np.diff(most)) + 1).tolist()]:
        yield start + first, (int(most[first]) - before) * rate
        before = int(most[first])
    yield start + len(most), -before * rate


def _is_read_by_entry(framework: Framework, charge: Charge) -> bool:
    """Return whether a release has Laplace noise and may start anywhere."""
    is_plain = (
        charge.delta == 0 and charge.scale is not None and charge.scope == "unit" and not charge.begins_series
        and charge.covers is not Covers.OUTPUT and charge.definition == framework.definition == "pufferfish"
    )  # fmt: skip
    if not is_plain or framework.is_pair or any_change(charge) is None:
        return False
    view = View(framework, charge.framework)
    for belief in framework.beliefs:
        if not is_recording(belief) or belief.has_given_start:
            return False
        read = view.read(belief, charge)
        if read is None or read.is_blind or len(read.changes) != charge.entries:
            return False
        if not charge.scale and read.changes.any():
            return False
    return True


def _everywhere(framework: Framework, dearest: Fraction, charges: Sequence[Charge], layout: str) -> list[Charge] | None:
    """Return a stand-in for releases in other layouts.

    The stand-in is a count of as many steps as the releases may cost anything at. It moves every step by `dearest`, and
    all together by what all releases lose at most, and nobody says where it starts. None for a recording too long for
    any computer.
    """
    if not dearest:
        return []
    most = sum((any_change(charge) or Fraction(0) for charge in charges), Fraction(0))
    steps = max(1, math.ceil(most / dearest))
    if steps > _LONGEST:
        return None
    count = queries.Count(framework.beliefs[0].alphabet(0)[0])
    return [
        Charge(
            framework="", definition=framework.definition, covers=Covers.EVERYTHING, epsilon=steps * dearest,
            delta=Fraction(0), query=count.to_dict(), randomiser={"kind": "none"}, scale=1 / dearest,
            change=Fraction(steps), entry_change=Fraction(1), entries=steps, answers=(), lengths=(steps,),
            layout=layout,
        )
    ]  # fmt: skip
