"""From questions to what each unit is debited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from takifugu.composition import charge_of

if TYPE_CHECKING:
    from takifugu.ledger import Debit
    from takifugu.releasing.questions import Question


def debits_of(questions: Sequence[Question]) -> list[Debit]:
    """Return one debit for every unit that a question reads."""
    from takifugu.ledger import Debit

    debits, readers = [], Counter(unit for question in questions for unit in question.readers)
    same = token_hex(8) if max(readers.values()) > 1 else ""  # what one draw says of a unit is about the same entries
    for question in questions:
        scope = "unit" if len(question.readers) == 1 else "pooled"
        frameworks = {id(f): f for f in question.readers.values()}
        told: dict[str, Any] = {"scope": scope, "reading": same, "at": question.at}
        charges = {key: charge_of(question.calibration, f, **told) for key, f in frameworks.items()}
        for unit, framework in question.readers.items():
            raw = question.written.get(unit)
            spelt = (raw, raw.strip()) if raw else ()  # some readers of version 1 stripped what Unicode calls blank
            debits.append(Debit(framework, charges[id(framework)], unit, question.release, spelt))
    return debits
