"""Which searches of quilts chains and their classes have; each is loaded when it is first asked."""

from __future__ import annotations

from takifugu.analysis.questions.influence import Quilts, no_search
from takifugu.core.registry import later

_BY_NAME = no_search(
    'for a class of chains, such as one given by (pi, g), use mechanism="quilt-approx", or one chain'
)
_BY_INFLUENCE = no_search(
    'quilts are printed for one chain, and for the class of reversible chains with constants (pi, g): use '
    'mechanism="influence"'
)
_ONE_MATRIX = no_search('MQMApprox is printed for chains whose steps have one matrix: use mechanism="influence"')
_EXACT = later("influence.quilts.mqm_exact:ExactSearch")
CHAIN = Quilts(exact=_EXACT, bounded=later("influence.quilts.mqm_approx:OneChainSearch"))
PERIODIC = Quilts(exact=_EXACT, bounded=_ONE_MATRIX)
CLASS = Quilts(exact=_BY_NAME, bounded=later("influence.quilts.mqm_approx:ClassSearch"))
REGION = Quilts(exact=_BY_INFLUENCE, bounded=_BY_INFLUENCE)
INTERVAL = Quilts(exact=_BY_NAME, bounded=later("influence.quilts.mqm_exact:IntervalSearch"))
