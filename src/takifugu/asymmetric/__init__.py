"""Asymmetric privacy (Takagi21): hide that something is so and not that it is not, with noise that errs one way."""

from takifugu.asymmetric.places import Visits
from takifugu.asymmetric.policy import Policy, along_path, visits
from takifugu.asymmetric.predicates import any_of, checked, none_of
from takifugu.asymmetric.sensitivity import Change, Monotone, Sensitivity, sensitivity

__all__ = [
    "Change",
    "Monotone",
    "Policy",
    "Sensitivity",
    "Visits",
    "along_path",
    "any_of",
    "checked",
    "none_of",
    "sensitivity",
    "visits",
]
