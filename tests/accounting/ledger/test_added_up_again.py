"""An auditor's own lines (docs/theory/ledger.md) add up what a ledger says, from its file alone."""

import random
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.accounting.ledger.trials import new_entries

PAGE = Path(__file__).parents[3] / "docs" / "theory" / "ledger.md"
CLOSE = 1e-9


def added_up(ledger: Path) -> dict[str, float]:
    (lines,) = re.findall(r"```python\n(# added_up\.py\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert "takifugu" not in lines
    assert sum(bool(line.strip()) for line in lines.splitlines()) <= 40
    names: dict[str, Any] = {}
    exec(lines, names)
    totals: dict[str, float] = names["added_up"](ledger)
    return totals


def written(path: Path, seed: int) -> Ledger:
    """Windows that overlap or leave gaps, people who join and leave, other entries, two sources of the same people."""
    r = random.Random(seed)
    stays = r.uniform(0.5, 0.95), r.uniform(0.5, 0.95)
    chain = tf.MarkovChain([[stays[0], 1 - stays[0]], [1 - stays[1], stays[1]]], length=r.choice([5, 24]))
    hidden = tf.Pufferfish(tf.every_entry(), chain)
    charges = [charge_of(tf.calibrate(hidden, query, 0.3)) for query in (tf.Count(1), tf.Histogram(), tf.Count(0))]
    ledger, people = Ledger.open(path), [f"person {number}" for number in range(12)]
    for number in range(9):
        charge, names = r.choice(charges), r.sample(people, r.choice([1, 5, 11, 12]))
        is_placed = r.random() < 0.8
        if is_placed:
            charge = replace(charge, at=r.randrange(60))
        source, entries = r.choice(["one", "other"][: 1 + seed % 2]), "steps" if is_placed else f"table {number}"
        options: dict[str, Any] = {"same_people": True}
        if new_entries(ledger.view(), source, "", entries) is not None:
            options["same_entries"] = False
        ledger.reserve(source, [Debit(hidden, charge, names)], 10**6, entries=entries, **options)
    return ledger


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
def test_a_ledger_is_added_up_by_lines_of_ones_own(tmp_path: Path, seed: int) -> None:
    ledger = written(tmp_path / "ledger.db", seed)
    totals = added_up(tmp_path / "ledger.db")
    spent = {source.name: float(source.spent.epsilon) for source in ledger.show()}
    assert totals == pytest.approx(spent, rel=CLOSE)
    assert ledger.check() == ()


def test_an_edit_is_noticed_by_them(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    written(path, 0).close()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("""update events set body = replace(body, '"count":12', '"count":11')""")
    with pytest.raises(AssertionError, match="edited"):
        added_up(path)
