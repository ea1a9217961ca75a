"""What a suspicious reader of a release file's table learns of one made-up recording, under three noises.

The recording is drawn from the public belief: no data are opened, and no ledger is. Beside Takifugu's noise stand
ordinary noise and group noise of the same epsilon (`three_noises`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from takifugu.analysis.randomisers import Randomiser
from takifugu.audit.alike_days import AlikeDays
from takifugu.audit.compared_pairs import Pairs, is_of_runs, of_entries
from takifugu.audit.step_posteriors import Learnt, Walk, learnt
from takifugu.calibration import Calibration
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.core.plain import Json
from takifugu.model.queries import Additive
from takifugu.model.secrets.of_entries import EveryEntry, longest_run
from takifugu.numbers.noise import Entropy
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.relation_keys import UNOPENED
from takifugu.releasing.planning.other_noises import attacked, attacked_chain, three_noises
from takifugu.releasing.planning.plan import Watch, unwatched
from takifugu.releasing.publishing import rehearsing
from takifugu.releasing.publishing.choosing import Choice

#: What is served, for a refusal.
_SERVED = (
    "an attack serves counts, sums and histograms of one Markov chain of two or three states with a known start, under "
    "Laplace noise"
)


@dataclass(frozen=True)
class Suspected:
    """What a reader learns under one noise."""

    noise: str
    scale: float
    learnt: Learnt


@dataclass(frozen=True, eq=False)
class Attack:
    """A reader on one made-up recording and one table, by noise: ordinary, Takifugu's, group."""

    table: str
    #: The tables of the file that were left alone.
    others: tuple[str, ...]
    seed: int
    steps: int
    epsilon: Fraction
    states: tuple[str, ...]
    #: The length of the runs of steps that are secret.
    run: int
    noises: tuple[Suspected, ...]

    @property
    def words(self) -> str:
        """Say what was made up."""
        return (
            f"MADE UP: one recording of {self.steps:,} steps, from the belief and the seed {self.seed}. Nobody's data "
            "were read."
        )

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        noises = []
        for each in self.noises:
            found = asdict(each.learnt)
            found["worst"]["pair"] = [self.states[place] for place in each.learnt.worst.pair]
            noises.append({"noise": each.noise, "scale": each.scale, **found})
        return {
            "made_up": self.words, "table": self.table, "seed": self.seed, "steps": self.steps,
            "epsilon": str(self.epsilon), "run": self.run, "noises": noises,
        }  # fmt: skip


def attack(
    path: str | Path, seed: int, steps: int | None = None, only: str | None = None, window: str | None = None,
    watch: Watch = unwatched,
) -> Attack:  # fmt: skip
    """Attack a table of a release file, by default its first one, on one recording; Unsupported for some."""
    file = Choice(() if only is None else (only,)).of(load(path, UNOPENED, window=window))
    first, *others = file.items
    with _served(first.name):  # before a calibration, which may take minutes
        if not file.kind.facts.has_lengths:
            raise Unsupported("its belief is no chain")
        attacked_chain(file.belief)
    file = file.only((first,))
    planned, _, bits = rehearsing.about_nobody(file, seed, 1, steps, watch)
    watch(f"attacking {first.name}", 0, 1)
    table = planned.tables[0]
    calibration = table.questions[0].calibration
    with _served(table.name):
        chain, answer = attacked(calibration)
        noises = three_noises(calibration)
    # the reader knows everybody else's data, and takes the belief for true
    reader = AlikeDays.of(chain, answer) or Walk.of(chain, answer)
    (question,) = rehearsing.with_data(planned.only((table.name,)), bits).questions
    recording: Any = question.data
    place_of = {state: place for place, state in enumerate(chain.chain.states)}
    truth = np.array([place_of[state] for state in recording], dtype=np.int64)
    compared = _compared(calibration, chain.laws)
    suspected = list[Suspected]()
    for name, beside in noises.items():
        noise = beside.randomiser
        after = reader.after(noise, _published(answer, truth, noise, bits))
        found = learnt(chain.laws, after, truth, compared, float(calibration.epsilon))
        suspected.append(Suspected(name, float(noise.scale), found))
    states = tuple(map(str, chain.chain.states))
    run = longest_run(secret.to_dict() for secret in calibration.framework.secrets)
    names = tuple(item.name for item in others)
    return Attack(table.name, names, seed, chain.length, calibration.epsilon, states, run, tuple(suspected))


@contextmanager
def _served(table: str) -> Iterator[None]:
    """Say of which table a refusal is, and what is served."""
    try:
        yield
    except Unsupported as error:
        raise Unsupported(f"{table!r} cannot be attacked: {error}; {_SERVED}") from None


def _published(answer: Additive, truth: IntArray, noise: Randomiser, bits: Entropy) -> tuple[Fraction, ...]:
    """Draw the table of a made-up recording."""
    steps = [Fraction(total) * answer.grid / noise.grid for total in answer.evaluate(truth)]
    drawn: Any = noise.draw(steps, bits)
    return tuple(drawn)


def _compared(calibration: Calibration, before: FloatArray) -> dict[int, Pairs]:
    """Return the ordered pairs of values that each secret step is promised about."""
    compared = dict[int, Pairs]()
    for secret in calibration.framework.secrets:
        # who hides runs hides their steps: a step tells a mixture of what the runs around it tell
        of_steps = EveryEntry() if is_of_runs(secret) else secret
        belief = calibration.framework.beliefs[0]
        for step, pairs in of_entries(of_steps, belief, lambda i: np.flatnonzero(before[i] > 0).tolist()):
            if pairs:
                compared[step] = (*compared.get(step, ()), *pairs)
    return compared
