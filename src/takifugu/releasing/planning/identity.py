"""What makes two calls the same release: the release file, the answers, their noise, and the data that they read.

A release that is paid for and not published is completed by the next call of the same identity. The ledger keeps a
keyed hash of it and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from takifugu.core.plain import Json
from takifugu.core.sections import values_by_field
from takifugu.data import Counts, parse_step
from takifugu.numbers.rationals import Number, as_fraction, to_text
from takifugu.releasing.file.keys import plain
from takifugu.releasing.file.sharing import sharing

if TYPE_CHECKING:
    from pydantic.main import IncEx

    from takifugu.accounting.ledger import Payment
    from takifugu.releasing.file.kind import ReleaseFile
    from takifugu.releasing.file.sections import FileSpec
    from takifugu.releasing.file.sections import Table as Item
    from takifugu.releasing.planning.questions import Question

#: Keys of a release file that say where things are and what may be spent, or words for readers, not what is released.
_ELSEWHERE: Mapping[str, IncEx | bool] = {
    "ledger": True, "output": True, "require_ledger": True, "publisher": True, "contact": True,
    "plugins": True,
    "source": {"engine", "file", "budget", "called"}, "expect": True,
    "table": {"__all__": {"title", "measured_in", "expect"}},
}  # fmt: skip

#: Keys whose numbers may be written in several ways: 1, 1.0 and "1/1".
_BUDGETS = ("epsilon", "delta", "joint_epsilon")

#: Keys of [source] that say how its file is written: a table stays what it was.
_AS_WRITTEN = ("encoding",)

#: Fields of a question that enter by its noise, by what was read, or by their canonical spelling; and what its entries
#: are called, which may be the name of a file that was moved.
_OTHERWISE = ("calibration", "data", "entries", "observed", "readers", "shares")


def identity_of(
    questions: Sequence[Question], spec: FileSpec | None, private: bool, once: str | None = None
) -> bytes:
    """Return the identity of answers released together; `private` says whether their noise is."""
    content: Json = {"file": {} if spec is None else _keys(spec), "private": private}
    if once is not None:
        # the key under which they are paid for
        content["once"] = once
    digest = hashlib.sha256(_plain(content))
    noise_digests: dict[int, bytes] = {}
    for question in questions:
        calibration = question.calibration
        if id(calibration) not in noise_digests:
            promise = calibration.guarantee
            noise_digests[id(calibration)] = _plain({
                "framework": promise.framework, "query": calibration.query.to_dict(),
                "noise": calibration.randomiser.to_dict(), "epsilon": to_text(promise.epsilon),
                "delta": to_text(promise.delta), "covers": str(promise.covers),
            })  # fmt: skip
        parts = values_by_field(question)
        for name in _OTHERWISE:
            del parts[name]
        parts["readers"] = len(question.readers)
        if len(question.readers) != 1 and not isinstance(question.seen.data, Counts):
            parts["readers"] = [*question.readers]  # who is debited, where neither question nor data name them
        for part in (_plain(parts), noise_digests[id(calibration)], question.seen.digest()):
            digest.update(hashlib.sha256(part).digest())
    return digest.digest()


def keys_in(paid: Payment, item: Item) -> str | None:
    """Return the digest of a payment's keys, if a release file paid."""
    keys: str | None = paid.recipe.get("keys", {}).get(item.name)
    return keys


def keys_of(file: ReleaseFile, item: Item) -> str:
    """Return a digest of one [[table]]'s publishing keys. Its data, and how these are written, do not count."""
    defaults = dict[str, object]()
    for key, field in type(file.source).model_fields.items():
        if key in _AS_WRITTEN or (key == "timezone" and file.source.timezone == "UTC"):
            defaults[key] = field.get_default(call_default_factory=True)
    spec = file.spec.model_copy(update={"source": file.source.model_copy(update=defaults)})

    def of(table: Item) -> Json:
        return _keys(spec.model_copy(update={"table": (table,)}))

    content = of(item)
    content["table"][0].pop("begins_series", None)
    declared = ["same_people"]  # what is declared of other sources, or of later releases, changes no table
    if not file.source.names_rows:
        declared.append("entries")
    for key in declared:
        content["source"].pop(key, None)
    if item.shares_epsilon:  # its noise depends on all that share the epsilon, whatever they are called
        content["sharing"] = [of(sharer)["table"][0] for sharer in sharing(file, item)]
        for keys in content["sharing"]:
            del keys["name"]
            keys.pop("begins_series", None)
    else:
        content.pop("joint_epsilon", None)
    fingerprint = file.framework and file.framework.fingerprint()
    return hashlib.sha256(_plain({"file": content, "framework": fingerprint})).hexdigest()


def _keys(spec: FileSpec) -> Json:
    """Return the keys of a release file, each in one spelling."""
    content = plain(spec, exclude=_ELSEWHERE)
    if content["source"].get("rows") in (None, "visits", "answers"):  # which a belief of this kind decides
        content["source"].pop("rows", None)
    if isinstance(content["source"].get("step"), str):  # 60min is 1h
        content["source"]["step"] = str(parse_step(content["source"]["step"]))
    if "gaps" in content["source"]:  # which a calendar decides where nothing is written
        content["source"]["gaps"] = spec.source.hides_gaps
    # a window is the same however it was chosen, and wherever the calendar ends meanwhile
    windows = [item.get("window") for item in content["table"]]
    for item, window in zip(content["table"], windows, strict=True):
        if window is not None:
            item.pop("every", None)
    for section in (content, *content["table"]):
        section |= {key: _one_spelling(section[key]) for key in _BUDGETS if section.get(key) is not None}
    if None not in windows:
        content["source"].pop("until", None)
    return content


def _one_spelling(written: Number) -> Number:
    """Return a number as a whole one, else as a decimal, else as a fraction."""
    number = as_fraction(written, "a budget")
    if number.denominator == 1:
        return int(number)
    decimal = float(number)
    return decimal if as_fraction(decimal, "a budget") == number else to_text(number)


def _plain(values: Mapping[str, object]) -> bytes:
    return json.dumps(values, sort_keys=True, default=str).encode()
