"""Beliefs that somebody published: numbers printed in a paper, or counted in data whose licence allows it.

No number here is from memory. Each entry names its source by section and table, and is a [belief] to paste.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from takifugu.core.nearest import unknown
from takifugu.core.plain import toml_of


@dataclass(frozen=True)
class Published:
    """A belief from the literature: its name, what it is about, the keys of [belief], and what else it needs."""

    name: str
    about: str
    #: The citation that the certificate prints.
    source: str
    keys: Mapping[str, object]
    #: How the numbers came about, or what to add.
    note: str

    @property
    def toml(self) -> str:
        """Return the section [belief], with matrices row by row."""
        lines = ["[belief]"]
        for key, value in {**self.keys, "source": self.source}.items():
            if isinstance(value, list) and value and isinstance(value[0], list):
                lines += [f"{key} = [", *(f"    {toml_of(row)}," for row in value), "]"]
            else:
                lines.append(f"{key} = {toml_of(value)}")
        return "\n".join(lines)


_HOUSEHOLD_STATES = ["below 0.5 kW", "0.5 to 1 kW", "1 to 2 kW", "2 to 3 kW", "3 to 5 kW", "5 kW and more"]
#: How often each level was followed by each in the next minute; row by row.
HOUSEHOLD_COUNTS = (
    (13870, 255, 152, 139, 5, 0),
    (246, 2831, 212, 139, 11, 0),
    (177, 215, 11036, 729, 151, 2),
    (128, 133, 752, 8579, 602, 16),
    (1, 5, 156, 611, 5483, 229),
    (0, 0, 2, 13, 232, 839),
)


def smoothed(counts: tuple[tuple[int, ...], ...]) -> list[list[float]]:
    """Return smoothed frequencies of counts, plus 1 each, to five decimals; the largest takes the rest."""
    rows = []
    for row in counts:
        total = sum(row) + len(row)
        parts = [round(10**5 * (count + 1) / total) for count in row]
        parts[row.index(max(row))] += 10**5 - sum(parts)
        rows.append([part / 10**5 for part in parts])
    return rows


PUBLISHED = (
    # The licence was checked in the documentation of the R package mixvlmc, which redistributes these data under it.
    Published(
        "household-power",
        "the power that a household draws, minute by minute, in six levels",
        "counted in Hebrail and Berard, Individual household electric power consumption, UCI Machine Learning "
        "Repository 2012, doi:10.24432/C58K54, CC BY 4.0 (https://creativecommons.org/licenses/by/4.0): the first "
        "47,951 pairs of minutes of one house in Sceaux, each count plus one",
        {"kind": "markov-chain", "states": _HOUSEHOLD_STATES, "matrix": smoothed(HOUSEHOLD_COUNTS)},
        'Under [source] write step = "1min" and bins = { "below 0.5 kW" = [0, 0.5], "0.5 to 1 kW" = [0.5, 1], '
        '"1 to 2 kW" = [1, 2], "2 to 3 kW" = [2, 3], "3 to 5 kW" = [3, 5], "5 kW and more" = [5, inf] }.',
    ),
    Published(
        "five-states",
        "any chain of five states that forgets fast enough: a class, of simulations",
        "Wang, Song and Chaudhuri, Privacy-Preserving Analysis of Correlated Data, Appendix B.12: k = 5, "
        "pi_gen = 0.05, g_gen = 0.1",
        {"kind": "markov-chain-class", "states": [1, 2, 3, 4, 5], "pi": 0.05, "g": 0.1},
        "Rename the states as yours are called. The class is reversible chains only.",
    ),
    Published(
        "two-populations",
        "two populations of three values, an example",
        "Kawamoto and Murakami, Local Obfuscation Mechanisms for Hiding Probability Distributions, Figure 1",
        {
            "kind": "populations", "values": [1, 2, 3],
            "laws": {"lambda0": ["0.2", "0.5", "0.3"], "lambda1": ["0.3", "0.2", "0.5"]}, "rows_independent": True,
        },
        "That rows are independent is yours to judge.",
    ),
    Published(
        "four-values",
        "two populations of four values, an example",
        "Ding, Kantorovich Mechanism for Pufferfish Privacy, Appendix C, Table 1",
        {
            "kind": "populations", "values": [1, 2, 3, 4],
            "laws": {"s_i": ["1/3", "1/6", "1/3", "1/6"], "s_j": ["1/4", "1/4", "1/6", "1/3"]},
            "rows_independent": True,
        },
        "That rows are independent is yours to judge.",
    ),
)  # fmt: skip


def published(name: str) -> Published:
    """Return the published belief of this name; InputError if unknown."""
    by_name = {belief.name: belief for belief in PUBLISHED}
    if name not in by_name:
        raise unknown(f"no published belief is called {name!r}", name, by_name)
    return by_name[name]
