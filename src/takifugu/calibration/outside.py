"""Nobody's promise but ours is believed: what the library bounds itself of a package's code, and what it only marks.

Additive noise is bounded by the library (`mechanisms.claims`), and a claim beyond that is refused. Of all else nothing
is known here but its author's word: it promises something about one output alone, and the guarantee says whose word
that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from takifugu.accounting import definitions
from takifugu.analysis.bounds import Bound, Refusal
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Randomiser
from takifugu.calibration.registry import Line
from takifugu.core.plain import made_of
from takifugu.core.plugins import package_of, promise_of_package
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.model.queries import Query


def judged(line: Line, problem: Problem, bound: Bound) -> Bound | Refusal:
    """Return what remains of the promise of a mechanism from elsewhere, marked as its package's, or a refusal."""
    from takifugu.mechanisms import claims  # it is for noise of packages alone

    proved = claims.bounded(problem, bound)
    if isinstance(proved, Refusal):
        return Refusal(f"{promise_of_package(line.package)}: {proved.reason}")
    mark = f"{promise_of_package(line.package)}, by its mechanism {line.name!r}: "
    if proved is None:
        covers = bound.covers
        if not package_of(definitions.find(problem.framework.definition)):
            covers = Covers.OUTPUT  # no joint rule of ours may rest on it
        proved = replace(bound, covers=covers)
        mark += "nothing here bounds what such noise loses, so epsilon and delta are its author's word"
    else:
        mark += "the noise is additive, and Takifugu's own bound of what it loses is no larger"
    return replace(proved, conditions=(*proved.conditions, mark))


def marks(problem: Problem, noise: Randomiser) -> Iterator[str]:
    """Yield whose word the promise rests on beside the mechanism's, once each."""
    framework, said = problem.framework, set[str]()
    beliefs = chain.from_iterable(made_of(belief, OneSequence) for belief in framework.beliefs)
    definition = definitions.find(framework.definition)
    parts = (
        *((belief, "belief", "that the data can be distributed so, and what follows from it,")
          for belief in beliefs),
        *((secret, "secret", "which values it compares") for secret in framework.secrets),
        *((query, "query", "what its answer means") for query in made_of(problem.query, Query)),
        (definition, "definition", "what is compared, and how releases add up,"),
        (noise, "randomiser", "what it draws, and what that loses,"),
    )  # fmt: skip
    for thing, role, what in parts:
        package = package_of(thing)
        mark = f"{promise_of_package(package)}, by its {role} {type(thing).__name__!r}: {what} is its author's word"
        if package and mark not in said:
            said.add(mark)
            yield mark
