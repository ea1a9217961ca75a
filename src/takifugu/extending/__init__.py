"""What a file outside the package builds on, and where it registers what it brings (docs/extending.md).

The modules behind these names may move; the names stay. `extending.files` has what a kind of release file builds on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from takifugu.accounting.definitions import Definition
from takifugu.accounting.definitions import register as register_definition
from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.answer_law import ANSWER_LAW, AnswerLaw, answer_law
from takifugu.analysis.questions.evaluating import VALUES
from takifugu.analysis.questions.influence import QUILTS, Quilts, Search, Worst
from takifugu.analysis.questions.joint_states import JOINT_STATES, JointStates, States
from takifugu.analysis.questions.marginal import MARGINAL, Marginal
from takifugu.analysis.randomisers import LABEL, ONE_SIDED, PARTS, Direction, laplace_or_exact
from takifugu.analysis.randomisers import Base as Randomiser
from takifugu.analysis.randomisers import Kind as RandomiserKind
from takifugu.analysis.randomisers import register as register_randomiser
from takifugu.calibration.registry import register as register_mechanism
from takifugu.core.assumptions import Assumption, check, limit, public, reading, world
from takifugu.core.errors import DataError, InputError, Unsupported
from takifugu.core.registry import Question
from takifugu.core.sections import FilePath, Key
from takifugu.influence.curves import CURVES
from takifugu.mechanisms.common.answer_noise import laplace_noise
from takifugu.model import beliefs
from takifugu.model.beliefs.derived.own import OwnBelief, OwnSequence
from takifugu.model.beliefs.one_sequence import AnySequence
from takifugu.model.beliefs.sections import section_of
from takifugu.model.queries import Additive, Query
from takifugu.model.queries import register as register_query
from takifugu.model.secrets import register as register_secret
from takifugu.model.secrets.families import VIEWS, View
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import round_up

if TYPE_CHECKING:
    from takifugu.core.arrays import IntArray
    from takifugu.influence.profiles.profile import Curve
    from takifugu.model.beliefs import Belief
    from takifugu.model.secrets.families import Family

__all__ = [
    "LABEL", "ONE_SIDED", "PARTS", "Additive", "AnswerLaw", "AnySequence", "Assumption", "Bound", "Cost", "Covers",
    "DataError", "Definition", "Direction", "FilePath", "InputError", "JointStates", "Key", "ListedFamily",
    "Marginal", "OwnBelief", "OwnSequence", "Pmf", "Problem", "Query", "Quilts", "Randomiser", "RandomiserKind",
    "Refusal", "Search", "States", "Unsupported", "View", "Witness", "Worst", "answer_law", "check", "laplace_noise",
    "laplace_or_exact", "limit", "public", "reading", "register_belief", "register_definition", "register_mechanism",
    "register_query", "register_randomiser", "register_secret", "round_up", "world",
]  # fmt: skip


def register_belief(
    kind: str,
    belief: type,
    *,
    answer_law: Callable[[Any, Additive, Family], AnswerLaw[Belief]] | None = None,
    joint_states: type[JointStates[Belief]] | None = None,
    values: Callable[[Any, Any], IntArray] | None = None,
    quilts: Quilts | None = None,
    curve: Curve[Any] | None = None,
    marginal: type[Marginal[Belief]] | None = None,
    view: Callable[[Any, Any], View | None] | None = None,
    section: type | None = None,
    rows: str | None = None,
) -> None:
    """Register a type of belief and its answers to questions.

    Then it is read back from ledgers and certificates. A type that derives from OwnBelief or OwnSequence says its
    distribution, which answers all questions: only for distributions that are neither a table nor a chain nor a network
    there are the answers below.

    `answer_law` (an AnswerLaw) is for mechanisms that look at the distribution of the answer, `joint_states` (a
    JointStates) for the audit, `values` (belief, data -> value indices) for releases, `quilts` (Quilts) for mechanisms
    of Markov quilts and for what releases cost together, `curve` (a Curve) for the loss of a profile, which `influence`
    and what releases cost together use, `marginal` (a Marginal) for what components add beside each other, `view`
    (belief, secret -> a View, or None) for secrets about columns. Without an answer, the question is refused with a
    reason, or answered at its worst, also where the type derives from one that has an answer: that is proved for
    another distribution.

    With `rows` release files declare the belief. They say what the data are: "people", each row an entry of the belief,
    "records", each row a unit with a column for each entry, or "sequences", rows in order that are the steps of units;
    such a belief derives from AnySequence, has the key `states`, and is made as a sequence of one step. Its fields with
    a `Key` are the keys. Where it is made of other keys, or of public files, `section` is the frozen dataclass of them,
    `kind: Literal[...]` among them, whose `belief(public)` makes the belief. Raises InputError for a kind or a type
    that is registered already, and for a field without a key and without a default.
    """
    beliefs.register(kind, belief)
    if section is not None and rows is None:
        problem = f"nothing says what the data of {section.__name__} are"
        raise InputError(problem, fix='write register_belief(..., rows="people"), "records" or "sequences"').at("rows")
    if rows is not None:
        from takifugu.releasing.file.kinds import register_section  # which loads pydantic

        register_section(section_of(belief, kind) if section is None else section, rows)
    proved: tuple[tuple[Question[Any], Any], ...] = (
        (ANSWER_LAW, answer_law), (JOINT_STATES, joint_states), (QUILTS, quilts), (CURVES, curve),
        (MARGINAL, marginal),
    )  # fmt: skip
    for question, answer in proved:
        if answer is not None or question.inherits(belief):
            question.register(belief, question.default if answer is None else answer)
    if values is not None:
        VALUES.register(belief, values)
    if view is not None:
        VIEWS.register(belief, view)
