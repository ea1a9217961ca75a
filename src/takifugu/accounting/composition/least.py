"""What releases about the same entries cost together: the least of what is proved (docs/theory/composition.md).

Each bound holds at every output, and so does the least of them, whichever it is. A further release never lowers it:
each bound of a set is at least that bound of a subset, and the promise of a single release gives way only to bounds of
more, each at least the least bound of the one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.accounting.composition.losses import Joint, deltas, steady_cost
from takifugu.accounting.composition.processes import stacked_joint
from takifugu.accounting.composition.series import in_a_series, series_joint
from takifugu.accounting.composition.several import STEADY, merged
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import CompositionRefused


def least_of_all(view: View, charges: Sequence[Charge], is_alone: bool) -> Joint:
    """Return the least proven joint promise of releases in their order."""
    stacked = stacked_joint(view, charges)
    if stacked is not None:
        return stacked
    if in_a_series(charges):
        return series_joint(view, charges)
    delta, terms, bounds = deltas(charges), merged(charges), list[Joint]()

    def bound(rule: str, covers: Covers, compute: Callable[[], Fraction]) -> str:
        try:
            bounds.append(Joint(compute(), delta, rule, covers))
        except CompositionRefused as refused:
            return refused.what  # the error itself would keep all frames, and what they have read
        return ""

    if len(terms) == 1:
        (single,) = terms
        # alone: no other release is about the unit, or about any that its answer reads others in
        counts = is_alone or single.covers is not Covers.OUTPUT
        if counts and single.cost.times == 1 and view.is_native(single):
            bounds.append(Joint(single.epsilon, delta, "alone", single.covers))
    if all(term.covers in STEADY for term in terms):
        covers = max((term.covers for term in terms), key=STEADY.index, default=Covers.EVERYTHING)
        bound("sum", covers, lambda: sum((steady_cost(view, term) for term in terms), Fraction(0)))
    refused = bound("joint loss", Covers.ENTRIES, lambda: cost_by_noise(view, terms))
    if bounds:
        return min(bounds, key=lambda joint: joint.epsilon)
    series = ", or begin a series (begins_series)" if view.framework.definition == "pufferfish" else ""
    raise CompositionRefused(
        "a release that promises something about its own output only, or has normal noise, has no joint promise with "
        f"another about the same data: {refused}",
        rule="what is published stays as it is",
        fix="publish this about another source; or, before anything is, use mechanisms that compose for all of it, "
        f"which takifugu cost --all names{series}",
    )
