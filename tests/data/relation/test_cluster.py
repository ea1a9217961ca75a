"""Partitions of units, each counted where it is, have the integers of the whole table."""

import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.data.relation.test_oracle import read
from tests.support.relation_cases import random_case

from takifugu.core.errors import TakifuguError
from takifugu.data.relation.cluster import collected, part_counter
from takifugu.data.relation.keys import Source
from takifugu.data.relation.roster import read_roster


def test_partitions_have_the_integers_of_the_whole(tmp_path: Path) -> None:
    compared = refused = 0
    for seed in range(70_000, 70_120):
        case = random_case(seed, tmp_path)
        if case.form != "arrow" or "unit" not in case.keys:
            continue
        window, by, states = case.meaning.window, tuple(case.meaning.by), case.meaning.states
        whole = counts = None
        with suppress(TakifuguError):
            whole, _ = read(case, tmp_path)
        frame: pa.Table = case.frame
        rng = random.Random(seed)
        part_of = {name: rng.randrange(3) for name in [*{*frame["who"].to_pylist()}]}
        parts = [frame.filter(pa.array([part_of[name] == n for name in frame["who"].to_pylist()])) for n in range(3)]
        with suppress(TakifuguError):
            roster = read_roster(Source.of(case.keys, states), tmp_path, str(tmp_path))
            count = part_counter(case.keys, states, roster, window, by)
            answers = [batch for part in parts for batch in count(part.to_batches())]
            counts = collected(answers, case.keys, states, frame.slice(0, 0), roster, window, by)
        if whole is None or counts is None:
            assert whole is counts, seed
            refused += 1
            continue
        compared += 1
        assert counts.names[0].tolist() == whole.names[0].tolist()
        for one, other in (
            (counts.lengths, whole.lengths), (counts.complete, whole.complete), (counts.counts, whole.counts),
            (np.stack(counts.runs), np.stack(whole.runs)),
        ):  # fmt: skip
            assert one.tolist() == other.tolist(), seed
        if whole.by_cell is not None:
            assert counts.by_cell is not None
            assert counts.by_cell.tolist() == whole.by_cell.tolist(), seed
    assert compared > 3
    assert refused > 1


def test_a_fault_of_a_partition_is_told_without_its_rows(tmp_path: Path) -> None:
    keys = {"unit": "who", "order": "t", "value": "v", "step": 1}
    frame = pa.table({"who": ["Geheim", "Geheim"], "t": [0, 0], "v": ["x", "x"]})
    answers = list(part_counter(keys, ["x"])(frame.to_batches()))
    with pytest.raises(TakifuguError) as error:
        collected(answers, keys, ["x"], frame.slice(0, 0))
    assert error.value.what == "tie"
    assert "Geheim" not in error.value.line
