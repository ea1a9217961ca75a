"""Asymmetric privacy (Takagi21): hide that something is so and not that it is not, with noise that errs one way."""

from takifugu.asymmetric.answers import (
    Mark,
    Question,
    Sanitiser,
    at_least,
    at_most,
    fewer_than,
    marks,
    sanitiser,
    sparse_marks,
)
from takifugu.asymmetric.framework import Asymmetric
from takifugu.asymmetric.geometric import geometric_law
from takifugu.asymmetric.mangat import Mangat
from takifugu.asymmetric.noisy_max import NoisyMax
from takifugu.asymmetric.optimal import best_channel, best_count
from takifugu.asymmetric.ordinary_sparse import OrdinarySparse
from takifugu.asymmetric.places import Visits
from takifugu.asymmetric.policy import Policy, along_path, visits
from takifugu.asymmetric.predicates import any_of, checked, none_of
from takifugu.asymmetric.sensitivity import Change, Monotone, Sensitivity, sensitivity
from takifugu.asymmetric.sparse import SparseAnswers
from takifugu.asymmetric.tails import CountNoise, Pointing, count_noise
from takifugu.asymmetric.virtual import ceiling, one_way_ceiling, virtual_beta

__all__ = [
    "Asymmetric",
    "Change",
    "CountNoise",
    "Mangat",
    "Mark",
    "Monotone",
    "NoisyMax",
    "OrdinarySparse",
    "Pointing",
    "Policy",
    "Question",
    "Sanitiser",
    "Sensitivity",
    "SparseAnswers",
    "Visits",
    "along_path",
    "any_of",
    "at_least",
    "at_most",
    "best_channel",
    "best_count",
    "ceiling",
    "checked",
    "count_noise",
    "fewer_than",
    "geometric_law",
    "marks",
    "none_of",
    "one_way_ceiling",
    "sanitiser",
    "sensitivity",
    "sparse_marks",
    "virtual_beta",
    "visits",
]
