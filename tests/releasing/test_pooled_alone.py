"""A pooled table that counts on other units' randomness: by name, with what it is worth beside it, and alone."""

import json
import random
from pathlib import Path

import pytest
from tests.support.commands import invoke, succeed
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.releases import put

SPEC = release_text(
    read_from("homes", "homes.csv", unit="home", order="t", value="state", budget={"epsilon": 100.0, "delta": 0.001}),
    believe("markov-chain", matrix=[[0.7, 0.3], [0.6, 0.4]], states=["still", "up"], units_independent=True),
    publish("up", "count", states=["up"], epsilon=1, delta=1e-05, mechanism="gaussian-exact"),
    ledger="l.db", expect=EXPECT,
)  # fmt: skip


def written(folder: Path, spec: str = SPEC) -> Path:
    draw = random.Random(1)
    rows = [f"{home},{t},{draw.choice(['still', 'up'])}" for home in range(8) for t in range(3)]
    return put(folder, {"release.toml": spec, "homes.csv": "home,t,state\n" + "\n".join(rows) + "\n"})


@pytest.mark.slow
def test_the_certificate_and_compare_say_what_is_lost_to_who_knows_others(tmp_path: Path) -> None:
    file = str(written(tmp_path))
    compared = invoke("compare", file, "--all")
    words = " ".join(compared.output.split())
    assert "what the other components add: against someone who does, epsilon is at most" in words
    succeed("release", file)
    certificate = json.loads((tmp_path / "release-published/up.certificate.json").read_text())
    (condition,) = certificate["conditions"]
    assert float(condition.split()[-1]) > 1
    page = " ".join((tmp_path / "release-published/up.certificate.txt").read_text().split())
    assert "And if nobody who sees it knows what the other components add" in page


@pytest.mark.slow
def test_it_blocks_what_is_released_about_any_unit_that_it_reads(tmp_path: Path) -> None:
    succeed("release", written(tmp_path))
    later = SPEC.replace('name = "up"', 'name = "each"\nper = "unit"').replace("delta = 1e-05\n", "")
    file = written(tmp_path, later.replace("gaussian-exact", "quilt-exact"))
    again = invoke("release", file)
    assert again.exit_code != 0
    assert not (tmp_path / "release-published/each.csv").exists()
    assert "alone" in again.output
