"""Two files that read the same rows at steps of other lengths: what the ledger charges, against enumeration."""

import math
from itertools import pairwise, product
from pathlib import Path

import pytest
from tests.support.release_files import believe, publish, read_from, release_text

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

MATRIX = [[0.9, 0.1], [0.3, 0.7]]
ROWS = "when,state\n2026-01-05T00:00,busy\n2026-01-05T02:00,calm\n2026-01-05T04:00,busy\n"
#: A file's name, its step, how many steps the rows span, and at which of them they lie.
FILES = (("hours", "1h", 5, (0, 2, 4)), ("pairs", "2h", 3, (0, 1, 2)))


def written(folder: Path, name: str, step: str, length: int) -> Path:
    (folder / "d.csv").write_text(ROWS, encoding="utf-8")
    text = release_text(
        read_from("d", "d.csv", order="when", value="state", step=step, rows="samples", budget=50),
        believe("markov-chain", states=["calm", "busy"], matrix=MATRIX, source="made up", max_length=length),
        publish(name, "count", states=["busy"], epsilon=1.0, mechanism="influence"),
    )
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder / f"{name}.toml"


def joint_loss(length: int, places: tuple[tuple[int, ...], ...], scales: list[float]) -> float:
    """Return the loss of noisy counts of some steps, for the dearest step; its extremes lie at whole numbers."""
    laws: dict[tuple[int, int], dict[tuple[int, ...], float]] = {}
    for states in product((0, 1), repeat=length):
        mass = (0.75, 0.25)[states[0]]
        for before, after in pairwise(states):
            mass *= MATRIX[before][after]
        counts = tuple(sum(states[place] for place in of_file) for of_file in places)
        for step in range(length):
            law = laws.setdefault((step, states[step]), {})
            law[counts] = law.get(counts, 0.0) + mass
    worst = 0.0
    for step in range(length):
        for outputs in product(range(4), repeat=len(scales)):
            likely = []
            for law in (laws[step, 0], laws[step, 1]):
                masses = (mass * kernel(counts, outputs, scales) for counts, mass in law.items())
                likely.append(math.fsum(masses) / math.fsum(law.values()))
            worst = max(worst, abs(math.log(likely[0] / likely[1])))
    return worst


def kernel(counts: tuple[int, ...], outputs: tuple[int, ...], scales: list[float]) -> float:
    return math.exp(-sum(abs(z - n) / b for z, n, b in zip(outputs, counts, scales, strict=True)))


@pytest.mark.slow
def test_rows_that_are_read_at_other_steps_are_charged_for_what_both_files_reveal(tmp_path: Path) -> None:
    """Both read the same three rows; as steps of one layout they would be others, and lose less together."""
    scales = []
    for name, step, length, _ in FILES:
        file = written(tmp_path, name, step, length)
        scales.append(float(plan(load(file)).tables[0].questions[0].calibration.scale))
        tf.release_file(file, anyway=True)
    true = max(joint_loss(length, (places, places), scales) for _, _, length, places in FILES)
    spent = float(Ledger.open(tmp_path / "ledger.db").show()[0].spent.epsilon)
    as_one_layout = joint_loss(5, (FILES[0][-1], FILES[1][-1]), scales)
    assert as_one_layout < true <= spent <= 1.5 * true
    assert true > 1.99
