"""Curves of networks, joint tables and cliques of people: how `networks` bounds them, and how long that takes."""

from __future__ import annotations

from takifugu.influence.curves import Curve
from takifugu.influence.networks.networks import is_least, network_loss, network_work
from takifugu.influence.networks.tables import MOST_ROWS, clique_loss, table_loss
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.table import JointTable

#: Operations for a number that a table's program handles, and for a person in a clique.
PER_NUMBER, PER_PERSON = 100.0, 2e5


NETWORK: Curve[BayesianNetwork] = Curve(network_loss, network_work, is_least)
TABLE: Curve[JointTable] = Curve(
    table_loss,
    lambda belief: PER_NUMBER * belief.size * (len(belief.rows) + min(len(belief.rows), MOST_ROWS) ** 2),
)
CLIQUE = Curve(clique_loss, lambda belief: PER_PERSON * belief.size)
