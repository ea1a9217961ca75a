"""`takifugu beliefs`: what was published has the numbers of its source; what a release file believes is shown."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import ended, invoke, json_of, refused
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.research import research_file

from takifugu.cli.samples.published import HOUSEHOLD_COUNTS, PUBLISHED, published
from takifugu.releasing.file.loading import load

#: What the papers print, as their text has it, and in which of them.
PRINTED = {
    "five-states": ("004", ["with $k = 5$ and generating", "0.05, g_{\\text{gen}} = 0.1"]),
    "two-populations": (
        "003", ["Figure 1: Coupling", "0.20.20.21110.50.50.52220.30.30.3333", "0.30.30.31110.20.20.22220.50.50.5333"],
    ),
    "four-values": ("000", ["Table 1: 1st example", " 1/3 1/6 1/3 1/6\n", " 1/4 1/4 1/6 1/3\n"]),
}  # fmt: skip
SEEDS = Path(__file__).parents[3] / "shared" / "seeds"
STEPS = {"order": "t", "step": 1}
SOURCE = {"markov-chain": STEPS, "markov-chain-class": STEPS, "populations": {"rows_per_person": 1}}
QUERY = {"markov-chain": "histogram", "markov-chain-class": "histogram", "populations": "each-value"}


@pytest.mark.parametrize("name", [one.name for one in PUBLISHED])
def test_a_published_belief_is_valid_where_it_is_pasted(tmp_path: Path, name: str) -> None:
    section = invoke("beliefs", name).stdout.partition("\n\n")[0]
    kind = published(name).keys["kind"]
    (tmp_path / "d.csv").write_text("t,v\n1,1\n", encoding="utf-8")
    source = read_from("d", "d.csv", value="v", **SOURCE[kind])
    (tmp_path / "r.toml").write_text(release_text(source, section, publish("t", QUERY[kind], epsilon=1)))
    assert load(tmp_path / "r.toml").belief is not None
    assert tomllib.loads(section)["belief"]["source"] == published(name).source
    assert name in invoke("beliefs").stdout


@pytest.mark.parametrize("name", PRINTED)
def test_a_published_belief_has_the_numbers_of_the_paper(name: str) -> None:
    """The paper's text holds the numbers, in this order; the entry names the same place of it."""
    paper, passages = PRINTED[name]
    texts = list(SEEDS.glob(f"{paper}_*.txt"))
    if not texts:
        pytest.skip("the texts of the papers are not here")
    text = texts[0].read_text(encoding="utf-8")
    for passage in passages:
        assert passage in text, passage
    keys = published(name).keys
    if "laws" in keys:
        for law, passage in zip(keys["laws"].values(), passages[1:], strict=True):
            digits = re.sub(r"\D", "", passage)
            places = [digits.find(re.sub(r"\D", "", share)) for share in law]
            assert min(places) >= 0, (law, passage)
    else:
        assert f"k = {len(keys['states'])}" in passages[0].replace("$", "")
        assert passages[1].startswith(str(keys["pi"]))
        assert passages[1].endswith(str(keys["g"]))


def test_what_was_counted_in_data_names_where_they_are_and_their_licence() -> None:
    counted = [one for one in PUBLISHED if one.source.startswith("counted in ")]
    assert [one.name for one in counted] == ["household-power"]
    for one in counted:
        assert re.search(r", doi:10\.\S+, CC BY 4\.0 \(https://creativecommons\.org/licenses/by/4\.0\): ", one.source)


def test_the_household_matrix_is_counted_in_the_public_file() -> None:
    pandas = pytest.importorskip("pandas")
    path = research_file("electricity/uci_household_minute_2006-12_2007-01.csv.gz")
    power = pandas.read_csv(path, na_values="?", usecols=["Global_active_power"])["Global_active_power"]
    level = np.searchsorted([500, 1000, 2000, 3000, 5000], (power * 1000).round().fillna(-1), side="right")
    both = ~(power.isna().to_numpy()[:-1] | power.isna().to_numpy()[1:])
    counts = np.zeros((6, 6), dtype=int)
    np.add.at(counts, (level[:-1][both], level[1:][both]), 1)
    assert counts.tolist() == [list(row) for row in HOUSEHOLD_COUNTS]
    assert counts.sum() == 47_951
    frequencies = (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)
    assert np.allclose(published("household-power").keys["matrix"], frequencies, atol=2e-5)


FILE = release_text(
    read_from("d", "d.csv", value="state", order="t", step=1),
    believe("markov-chain", states=["still", "walking"]) + '\nfit = {{ file = "{file}", smoothing = 1{more} }}',
    publish("t", "histogram", epsilon=1),
    ledger="l.db",
)


def write(folder: Path, file: str = "public.csv", more: str = "") -> Path:
    for name, states in {"d.csv": "swws", "public.csv": "sssws"}.items():
        words = {"s": "still", "w": "walking"}
        text = "".join(f"{number},{words[state]}\n" for number, state in enumerate(states))
        (folder / name).write_text(f"t,state\n{text}", encoding="utf-8")
    (folder / "r.toml").write_text(FILE.format(file=file, more=more), encoding="utf-8")
    return folder / "r.toml"


def test_a_matrix_that_was_fitted_to_a_public_file_is_shown(tmp_path: Path) -> None:
    content = json_of("beliefs", write(tmp_path))
    assert content["states"] == ["still", "walking"]
    assert np.allclose(content["matrix"], [[3 / 5, 2 / 5], [2 / 3, 1 / 3]])
    assert re.search(r"still +0\.6000 +0\.4000", invoke("beliefs", tmp_path / "r.toml").stdout)
    both = json_of("beliefs", write(tmp_path, more=", confidence = 0.9"))
    assert np.all(np.array(both["at least"]) <= np.array(both["at most"]))


def test_a_matrix_from_the_private_data_is_not_shown(tmp_path: Path) -> None:
    said = refused("beliefs", write(tmp_path, "d.csv", ", private = true"))
    assert "nothing computed from them is shown" in said


def test_an_unknown_name_is_told_the_known_ones() -> None:
    assert "household-power" in ended(2, "beliefs", "household").stderr
