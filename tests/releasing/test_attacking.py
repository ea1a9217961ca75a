"""`takifugu attack`: prior and posterior of a made-up recording under three noises, against listing; its refusals."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.commands import ended, json_of, refused, succeed, widest, words_of
from tests.support.posterior_oracles import most_moved, step_posteriors
from tests.support.release_files import believe, changed, hide, publish, read_from, release_text
from tests.support.releases import put

from takifugu.cli.group import BAD_INPUT, REFUSED
from takifugu.releasing import attacking
from takifugu.releasing.attacking import attack
from takifugu.releasing.publishing import rehearsing

MATRIX = [[0.9, 0.1], [0.4, 0.6]]
CHAIN = believe("markov-chain", states=["calm", "busy"], matrix=MATRIX, units_independent=True, source="a test")
BUSY = publish("busy", "count", states=["busy"], epsilon=1)
WARD = release_text(
    read_from("ward", "ward.csv", rows="samples", unit="bed", value="state", order="hour", step=1, budget=10),
    CHAIN,
    BUSY,
    publish("both", "histogram", epsilon=2),
    expect={"source": "last year", "matters": 1000},
)  # fmt: skip


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    """A release file whose data would fail whoever opens them, and whose ledger is no ledger."""
    path = put(tmp_path, {"ward.toml": WARD})
    os.mkfifo(tmp_path / "ward.csv")  # whoever opens it waits for ever
    (tmp_path / "ledger.db").write_bytes(b"no ledger")
    return path


def test_it_is_what_listing_says(ward: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table that is drawn is noted on its way, and the recording, too."""
    tables, published = list[Any](), attacking._published

    def noted(answer: Any, truth: Any, noise: Any, bits: Any) -> Any:
        values = published(answer, truth, noise, bits)
        tables.append((truth, noise, values))
        return values

    monkeypatch.setattr(attacking, "_published", noted)
    found = attack(ward, seed=3, steps=8)
    assert [each.noise for each in found.noises] == ["ordinary", "takifugu", "group"]
    assert [each.scale for each in found.noises[::2]] == [1.0, 8.0]
    for each, (truth, noise, values) in zip(found.noises, tables, strict=True):
        before, after = step_posteriors(
            [MATRIX], 8, (0.8, 0.2), lambda _, value: [value], list(map(float, values)), float(noise.scale)
        )
        moved = [most_moved(before[step : step + 1], after[step : step + 1]) for step in range(8)]
        learnt = each.learnt
        assert learnt.outside == sum(gain > 1 + 1e-9 for gain in moved)
        assert moved[learnt.worst.step] == pytest.approx(max(moved))  # several may be alike
        assert moved[learnt.worst.step] == pytest.approx(log_odds(learnt.worst.after) - log_odds(learnt.worst.before))
        true = after[range(8), truth]
        assert log_odds(learnt.truth) == pytest.approx(np.mean(list(map(log_odds, true))))
        assert learnt.right == sum(true > 0.5)
        assert learnt.right_before == sum(truth == 0)


def log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


def test_neither_data_nor_ledger_is_opened_and_it_is_marked(ward: Path) -> None:
    outcome = succeed("attack", ward, "--steps", 60)
    said = words_of(outcome)
    assert "MADE UP: one recording of 60 steps, from the belief and the seed 1. Nobody's data were read." in said
    assert "may change by a factor of at most e^1 < 2.72. Of 2 tables this is the first: see --only." in said
    assert len(outcome.output.splitlines()) <= 16
    assert widest(outcome.output) <= 80
    assert sorted(path.name for path in ward.parent.iterdir()) == ["ledger.db", "ward.csv", "ward.toml"]
    assert (ward.parent / "ledger.db").read_bytes() == b"no ledger"
    assert succeed("attack", ward, "--steps", 60).output == outcome.output
    assert succeed("attack", ward, "--steps", 60, "--seed", 2).output != outcome.output


def test_ordinary_noise_breaks_its_word_and_takifugu_keeps_it(ward: Path) -> None:
    ward.write_text(changed(WARD, (CHAIN, changed(CHAIN, (str(MATRIX), "[[0.99, 0.01], [0.02, 0.98]]")))), "utf-8")
    document = json_of("attack", ward, "--steps", 200, "--only", "both")
    assert (document["table"], document["seed"], document["steps"], document["epsilon"]) == ("both", 1, 200, "2")
    assert document["made_up"].startswith("MADE UP")
    ordinary, takifugu, group = document["noises"]
    assert ordinary["outside"] > 0 == takifugu["outside"] == group["outside"]
    assert ordinary["scale"] == 1.0 < takifugu["scale"] < group["scale"] == 200.0
    for each in document["noises"]:
        assert sorted(each["worst"]["pair"]) == ["busy", "calm"]
        assert each["steps"] == 200
    gains = [log_odds(each["worst"]["after"]) - log_odds(each["worst"]["before"]) for each in document["noises"]]
    assert gains[0] > 2 > gains[1] > gains[2] > 0


def test_each_step_of_a_hidden_run_is_attacked(tmp_path: Path) -> None:
    runs = changed(WARD, (BUSY, f"{hide(kind='every-run', length=4)}\n\n{BUSY}"))
    path = put(tmp_path, {"runs.toml": runs})
    said = words_of(succeed("attack", path, "--steps", 50))
    assert "Runs of 4 steps are secret, and with them each of their steps." in said
    of_runs, of_steps = attack(path, 1, 50), attack(put(tmp_path, {"ward.toml": WARD}), 1, 50)
    assert (of_runs.run, of_steps.run) == (4, 1)
    scales = [[each.scale for each in found.noises] for found in (of_runs, of_steps)]
    assert scales[0][0] == scales[1][0]
    assert scales[0][1] > scales[1][1]
    assert of_runs.noises[1].learnt.outside == 0


@pytest.mark.mutants
def test_hours_of_a_whole_week_are_attacked_and_no_part_of_a_day(tmp_path: Path) -> None:
    week = release_text(
        read_from("ward", "ward.csv", rows="samples", unit="bed", value="state", order="hour", step="1h", budget=10,
                  from_="2026-01-05", until="2026-01-12"),
        CHAIN,
        publish("busy", "count", states=["busy"], by="hour", epsilon=1),
    )  # fmt: skip
    path = put(tmp_path, {"week.toml": week})
    found = attack(path, 1)
    assert found.steps == 168
    ordinary, takifugu, _ = found.noises
    assert ordinary.learnt.outside > 0 == takifugu.learnt.outside
    shorter = put(tmp_path, {"week.toml": changed(week, ('until = "2026-01-12"', 'until = "2026-01-11T20:00"'))})
    assert "attack a few whole days" in refused("attack", shorter, code=REFUSED)


def test_only_the_secret_step_is_attacked(tmp_path: Path) -> None:
    alone = changed(WARD, ('unit = "bed"\n', ""), ("units_independent = true\n", ""))
    one = changed(alone, (BUSY, f"{hide(kind='one-entry', entry=7, a='calm', b='busy')}\n\n{BUSY}"))
    found = attack(put(tmp_path, {"one.toml": one}), 1, 50)
    assert {(each.learnt.steps, each.learnt.worst.step) for each in found.noises} == {(1, 7)}


FOUR = believe("markov-chain", states=["a", "b", "c", "d"], matrix=[[0.25] * 4] * 4, units_independent=True)
ANY = changed(CHAIN, ("[belief]", '[belief]\ninitial = "any"'))


@pytest.mark.parametrize(("belief", "why"), [
    (FOUR, "its chain has 4 states"), (ANY, "its chain has any start"),
    (believe("markov-chain-class", states=["calm", "busy"], pi=0.2, g=0.3, units_independent=True),
     "its belief is no single chain"),
])  # fmt: skip
def test_other_beliefs_are_refused_before_a_calibration_with_what_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, belief: str, why: str
) -> None:
    monkeypatch.setattr(rehearsing, "about_nobody", None)
    spec = changed(WARD, (CHAIN, belief))
    spec = spec if "busy" in belief else changed(spec, ('states = ["busy"]', 'states = ["b"]'))
    said = refused("attack", put(tmp_path, {"ward.toml": spec}), "--steps", 9, code=REFUSED)
    assert f"'busy' cannot be attacked: {why}; an attack serves counts, sums and histograms" in said
    assert said.count("takifugu: ") == 1


@pytest.mark.mutants
def test_a_recording_of_too_many_sums_is_refused(ward: Path) -> None:
    said = refused("attack", ward, "--only", "busy", "--steps", 20_000, code=REFUSED)
    assert "too many sums are possible for an exact posterior" in said
    assert said.endswith("fewer steps, such as --steps 200")
    assert "MADE UP" in words_of(succeed("attack", ward, "--only", "busy", "--steps", 200))
    for words in (["--steps", 0], ["--seed", -1], ["--only", "nothing"]):
        ended(BAD_INPUT, "attack", ward, *words)
