"""Curves of networks, joint tables and cliques of people: how `networks` bounds them, and how long that takes."""

from __future__ import annotations

from takifugu.influence.curves import Curve
from takifugu.influence.networks.networks import is_least, network_loss, network_work
from takifugu.influence.networks.tables import clique_loss, table_loss, table_work
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.table import JointTable

#: Operations for a person in a clique.
PER_PERSON = 2e5


NETWORK: Curve[BayesianNetwork] = Curve(network_loss, network_work, is_least)
TABLE: Curve[JointTable] = Curve(table_loss, table_work)
CLIQUE = Curve(clique_loss, lambda belief: PER_PERSON * belief.size)
