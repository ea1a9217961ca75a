"""Six exports with a known truth, released as they are: published are shares of time, within the stated error."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.exports import EXPORTS, Export

from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import Plan, plan
from takifugu.releasing.planning.truth import answer_of, read
from takifugu.releasing.publishing.run import publish


def written(folder: Path, export: Export) -> Path:
    for name, content in export.files.items():
        (folder / name).write_bytes(content)
    return folder / "f.toml"


def counted(planned: Plan, states: list[str]) -> dict[str, int]:
    """Return how many steps of each state are counted, before noise."""
    (question,) = (question for table in planned.tables for question in table.questions)
    answer = answer_of(question.calibration, read(question.calibration, question.data))
    return dict(zip(states, map(int, answer), strict=True))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", EXPORTS)
def test_what_is_published_are_shares_of_time_within_the_stated_error(name: str, tmp_path: Path) -> None:
    export = EXPORTS[name]()
    planned = plan(load(written(tmp_path, export)))
    states = [*export.steps]
    exact = counted(planned, states)
    # A step has the state at its start, so that each row moves the count by less than a step, up or down.
    rows = sum(export.rows.values()) if export.are_lasting else 0
    assert all(abs(exact[state] - steps) <= 4 * (rows / 12) ** 0.5 for state, steps in export.steps.items())
    publish(planned, entropy=InsecureSeededEntropyForTests(1))
    published = {}
    for line in (tmp_path / "out" / "time.csv").read_text().splitlines()[1:]:
        state, *numbers = line.split(",")
        published[state] = [float(number) for number in numbers[:3]]
    total = sum(export.steps.values())
    for state, steps in export.steps.items():
        value, low, high = published[state]
        assert low <= steps <= high
        assert (high - low) / total < 0.2
        assert abs(value - steps) / total <= (high - low) / 2 / total
    if export.are_lasting or name in ("arrivals", "attendance"):  # counting rows would say something else
        by_rows = {state: total * rows / sum(export.rows.values()) for state, rows in export.rows.items()}
        assert any(not published[state][1] <= by_rows[state] <= published[state][2] for state in states)
