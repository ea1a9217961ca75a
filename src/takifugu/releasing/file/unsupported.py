"""Queries that people ask for and that are not published under their own name: what is published in their place.

One value can move a median or an extreme across all that it can be, and then noise hides the answer with the secret.
Each recipe is post-processing of a table that is published instead (docs/tables-by.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Sized
from dataclasses import dataclass

from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean, nearest_words
from takifugu.core.plain import either, toml_of
from takifugu.core.sections import section_in


@dataclass(frozen=True)
class Recipe:
    """A query to publish instead, and `how` to read off its table the wanted one, behind a comma or semicolon."""

    query: str
    how: str
    #: What speaks against the query itself; and whether the file must declare bins.
    why: str = ""
    bins: bool = False


_FAR = "one value can move it across all that it can be, so that noise which hides one hides the answer"
_NO_SUM = "it does not add up over the data"
_SQUARES = ", twice, with codes of the values and of their squares:"
_READ = "; read it off the table: the first bin at which the counts up to it reach"
_ABOVE = "whose interval lies above 0"
_RECIPES = {
    "median": Recipe("histogram", f"{_READ} half of their sum", _FAR, bins=True),
    "quantile": Recipe("histogram", f"{_READ} the share of their sum", _FAR, bins=True),
    "max": Recipe("histogram", f"; the last bin {_ABOVE} holds it", _FAR, bins=True),
    "min": Recipe("histogram", f"; the first bin {_ABOVE} holds it", _FAR, bins=True),
    "range": Recipe("histogram", f"; it goes from the first to the last bin {_ABOVE}", _FAR, bins=True),
    "mode": Recipe("histogram", "; take its largest cell"),
    "top-k": Recipe("histogram", "; take its largest cells"),
    "count_distinct": Recipe("histogram", f"; count the cells {_ABOVE}", _FAR),
    "frequencies": Recipe("histogram", "; divide by the public number, total = 100, for shares"),
    "proportion": Recipe("mean", ", with 1 as the code of what counts and 0 of all else, codes = { yes = 1, no = 0 }"),
    "average": Recipe("mean", "; it is the same"),
    "variance": Recipe("mean", f"{_SQUARES} the second less the first squared", _NO_SUM),
    "std": Recipe("mean", f"{_SQUARES} the root of the second less the first squared", _NO_SUM),
    "total": Recipe("sum", "; it is the same"),
}  # fmt: skip
#: Other spellings of these names, without signs and in small letters.
_ALSO = {
    "quantile": "quantiles percentile percentiles quartile quartiles decile deciles iqr",
    "median": "medians p50",
    "max": "maximum largest highest peak",
    "min": "minimum smallest lowest",
    "range": "minmax",
    "mode": "mostfrequent mostcommon",
    "top-k": "topk topn toplist",
    "count_distinct": "countdistinct distinct distinctcount nunique unique countunique cardinality",
    "frequencies": "frequency valuecounts",
    "proportion": "proportions rate rates ratio share shares percentage percent prevalence",
    "average": "avg averages",
    "variance": "var",
    "std": "stddev stdev standarddeviation sd",
    "total": "totals",
}
_NAMES = dict[str, str]()
for _name, _spellings in _ALSO.items():
    _NAMES |= dict.fromkeys((*_spellings.split(), _name.replace("_", "")), _name)

_SHARES = {"quantile": ", and share = 0.9, or several such as share = [0.25, 0.75]"}
_OF_ONE = "bins = { low = [0, 10], high = [10, 20] } under [source]"
_OF_EACH = "bins = { age = { young = [0, 30], old = [30, 120] } } under [source]"
_CLASSES = "ends = [20, 40] under [belief.classes.age]"
#: How the bins of numbers are declared, by kind of belief; the columns of others hold listed values.
_BINS = {
    "markov-chain": _OF_ONE, "markov-chain-class": _OF_ONE, "users": _OF_ONE, "contacts": _OF_ONE,
    "joint-table": _OF_EACH, "network": _OF_EACH, "independent-records": _CLASSES,
}  # fmt: skip


def instead_of(wanted: object, allowed: Sequence[str], raw: object = None) -> InputError | None:
    """Return the error for an unpublished query with its recipe, if known; `allowed` are those of the kind."""
    if not isinstance(wanted, str) or len(wanted) >= 60:
        return None
    name = _NAMES.get(re.sub("[^a-z0-9]", "", wanted.lower()))
    if name is None:
        return None
    recipe, kind = _RECIPES[name], str(section_in(raw, "belief").get("kind"))
    problem = InputError(f'"{wanted}" is not published', rule=recipe.why)
    if name in allowed or not recipe.why:
        problem.what += " under this name"
    if name in allowed:  # another spelling of what is published
        problem.rule, problem.fix = "", f'write query = "{name}"{_SHARES.get(name, "")}'
    elif recipe.query not in allowed:
        problem.fix = f"this kind of file publishes {either(allowed)}"
    elif kind == "normal" and (recipe.query == "histogram" or "codes" in recipe.how):
        other = 'declare belief.kind = "independent-records" with [belief.classes.age], where this goes by classes'
        problem.fix = f"this kind of file publishes {either(allowed)} of real numbers; {other}"
    else:
        bins = ""
        if recipe.bins and kind in _BINS:
            bins = f" of declared bins ({_BINS[kind]})"
        problem.fix = f'write query = "{recipe.query}"{bins}{recipe.how}'
    return problem


#: How people call the key of a total that is to be published as it is.
_EXACT = frozenset(
    ("invariant", "invariants", "exact", "exacttotal", "exacttotals", "totalexact", "keeptotal", "nonoise")
)


def exact_total(key: str) -> InputError | None:
    """Return the error for a key about an exact total, such as "invariant"."""
    if re.sub("[^a-z]", "", key.lower()) not in _EXACT:
        return None
    return InputError(
        "asks for an exact total, which is not published",
        rule="it has no noise, so its epsilon would be infinite: whoever knows all others subtracts them, and has the "
        "last one; and no promise about the other tables is proved for somebody who knows it",
        fix="leave it out, and publish the total as a count or a sum with an epsilon of its own",
    )


def unknown_query(wanted: object, queries: Sequence[str]) -> InputError:
    """Return the error about a query that this kind of file does not have."""
    near = nearest_words(wanted, queries)
    fix = f"write {either(near)}{others(queries, near)}"
    return InputError(f"is {shortened(wanted)}{did_you_mean(wanted, queries)}", fix=fix)


def others(names: Sized, near: Sized, where: str = "") -> str:
    """Say how many names there are beside the near ones, if any."""
    more = len(names) - len(near)
    return f" or {more} more{where}" if more else ""


def shortened(value: object) -> str:
    """Return a value as a file has it, cut to 60 characters."""
    text = toml_of(value) if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
