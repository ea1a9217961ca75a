"""Asymmetric privacy (Takagi21): hide that something is so and not that it is not, with noise that errs one way."""

from typing import TYPE_CHECKING

from takifugu.core.moved import no_attribute
from takifugu.mechanisms.one_sided.answers import Sanitiser, sanitiser
from takifugu.mechanisms.one_sided.marks import Mark, marks, sparse_marks
from takifugu.mechanisms.one_sided.questions import Question, at_least, at_most, fewer_than
from takifugu.mechanisms.one_sided.sparse import SparseAnswers
from takifugu.mechanisms.one_sided.tails import CountNoise, Pointing, count_noise, geometric_law
from takifugu.model.policies.framework import Asymmetric
from takifugu.model.policies.places import Visits
from takifugu.model.policies.policy import Policy, visits
from takifugu.model.policies.predicates import any_of, checked, none_of
from takifugu.model.policies.sensitivity import Change, Monotone, Sensitivity, sensitivity

__all__ = [
    "Asymmetric",
    "Change",
    "CountNoise",
    "Mark",
    "Monotone",
    "Pointing",
    "Policy",
    "Question",
    "Sanitiser",
    "Sensitivity",
    "SparseAnswers",
    "Visits",
    "any_of",
    "at_least",
    "at_most",
    "checked",
    "count_noise",
    "fewer_than",
    "geometric_law",
    "marks",
    "none_of",
    "sanitiser",
    "sensitivity",
    "sparse_marks",
    "visits",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise no_attribute("takifugu.asymmetric", name)
