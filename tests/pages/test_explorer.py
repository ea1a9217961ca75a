"""The explorer's page: its settings and links, its release files against the library, and that it asks nobody."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.support.commands import invoke, json_of, refused, succeed
from tests.support.javascript import Scripts
from tests.support.pages import check_asks_nobody
from tests.support.release_files import believe, hide, publish, read_from, release_text

from takifugu.pages.explorer import SCRIPTS, TITLE, explorer
from takifugu.pages.explorer.link import link_of

EXAMPLES = (
    "A phone: still or walking", "Twelve households: boiler off or on", "Desks: free or taken",
    "One person's morning", "Sleep: awake, light, deep", "Steps that tell nothing of each other",
)  # fmt: skip


@pytest.fixture(scope="module")
def scripts() -> Scripts:
    return Scripts("explorer", SCRIPTS[:-2])


def random_settings(chance: Random) -> dict[str, Any]:
    names = chance.choice([["a b&c", "é"], ["<img src=x>", '"'], ["still", "walking", "100 %"], ["+", "="]])
    step, span = chance.choice([("1min", 180), ("5min", 1440), ("15min", 10080), ("1h", 480)])
    return {
        "states": [[name, round(1.1 + 500 * chance.random(), 2)] for name in names],
        "next": [round(chance.uniform(0.01, 0.99), 2) for _ in range(3)] if len(names) == 3 else [0.5, 0.5, 0.5],
        "step": step, "span": span, "people": chance.randint(1, 100_000), "hide": 1,
        "query": chance.choice(["count", "histogram"]), "epsilon": round(0.1 + 5 * chance.random(), 3),
        "prior": chance.randint(1, 99),
    }  # fmt: skip


def test_a_link_brings_the_settings_back(scripts: Scripts) -> None:
    chance = Random(3)
    for _ in range(500):
        settings = random_settings(chance)
        assert scripts.call("decode(encode(s))", s=settings) == settings


@pytest.mark.parametrize(
    "link",
    [
        "", "s=", "s=a~1~b~2&step=zz", "s=a~NaN~b~3&step=1min&span=1440&q=count&e=1&people=1",
        "s=a~2~a~3&step=1min&span=1440&q=count&e=1&people=1", "s=a~2~b~3&step=1min&span=1440&q=count&e=x&people=1",
        "s=a~2~b~3~c~4~d~5&step=1min&span=1440&q=count&e=1&people=1", "s=%&step=1min",
        "s=a~2~b~3&step=constructor&span=1440&q=count&e=1&people=1", "s=" + "a~2~" * 1000,
        "s=a~2~b~3&step=1min&span=480&q=hour&e=1&people=1", "s=a~2~b~3&step=1h&span=1440&q=count&e=1&people=1&hide=15",
    ],
)  # fmt: skip
def test_a_link_that_is_none_is_left_alone(scripts: Scripts, link: str) -> None:
    assert scripts.call("decode(l)", l=link) is None


def test_a_link_is_kept_within_what_the_page_can_show(scripts: Scripts) -> None:
    settings = scripts.call("decode(l)", l="s=a~1e9~b~0&step=1min&span=1440&q=count&e=1e9&people=1e99&prior=-3")
    assert [stay for _, stay in settings["states"]] == [1100, 1.05]
    assert (settings["epsilon"], settings["people"], settings["prior"]) == (8, 100_000, 1)


def test_no_name_of_a_state_becomes_markup(scripts: Scripts) -> None:
    escaped = scripts.call("escaped(t)", t="<img src=x onerror='a'>&\"")
    assert escaped == "&#60;img src=x onerror=&#39;a&#39;&#62;&#38;&#34;"


@pytest.mark.mutants
@pytest.mark.parametrize("minutes", [1, 15, 60])
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_release_file_of_an_example_has_the_pages_noise_and_verdict(
    scripts: Scripts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str, minutes: int
) -> None:
    monkeypatch.chdir(tmp_path)
    if minutes > 1 and minutes <= scripts.call("MINUTES[exampleSettings(n).step]", n=example):
        minutes = 1  # a step is as long
    scale, half, word, file, table = scripts.call(
        "(() => { const e = exampleSettings(n), s = {...e, people: Math.min(e.people, 20), hide: h}, m = modelOf(s),"
        "v = verdictOf(s, m); return [m.scale, v.half, v.word, releaseFile(s, m), madeUpFile(s, m, 7)]; })()",
        n=example, h=minutes,
    )  # fmt: skip
    assert ('kind = "every-run"' in file) == (minutes > 1)
    Path("explored.toml").write_text(file, encoding="utf-8")
    Path("explored.csv").write_text(table, encoding="utf-8")
    (row,) = json_of("cost", "explored.toml", "--mechanism", "influence")["files"][0]["mechanisms"][0]["rows"]
    assert row["status"] == "chosen"
    assert row["scale"] == pytest.approx(scale, rel=1e-9)
    (advised,) = json_of("advise", "explored.toml")["files"][0]["tables"]
    assert advised["verdict"] == word
    assert abs(float(advised["half_width"]) - half) < 1  # of noise on whole numbers


def test_the_page_is_one_file_that_asks_nobody() -> None:
    page = explorer()
    assert len(page.encode()) < 80_000
    assert TITLE in page
    check_asks_nobody(page)


# Files of one's own.


def chain_file(**changes: Any) -> str:
    belief = {"states": ["off", "on"], "matrix": [[0.9, 0.1], [0.25, 0.75]], "units_independent": True} | changes
    return release_text(
        read_from("boilers", "boilers.csv", rows="samples", unit="home", order="time", value="boiler", step="5min"),
        believe("markov-chain", **belief),
        hide(kind="every-entry"),
        publish("hot", "count", states=["off"], epsilon=0.7),
    )


def test_a_release_file_opens_the_page_at_its_case(scripts: Scripts, tmp_path: Path) -> None:
    file = tmp_path / "boilers.toml"
    file.write_text(chain_file(), encoding="utf-8")
    link = link_of(file)
    settings = scripts.call("decode(l)", l=link.settings)
    assert settings["states"] == [["on", 4], ["off", 10]]  # the page counts the last one
    assert scripts.call("matrixOf(s)", s=settings) == [pytest.approx([0.75, 0.25]), pytest.approx([0.1, 0.9])]
    assert (settings["step"], settings["epsilon"], settings["query"]) == ("5min", 0.7, "count")
    document = json_of("explore", file, "-o", tmp_path / "page.html")
    assert document["address"].endswith("#" + link.settings)
    assert (tmp_path / "page.html").read_text("utf-8") == explorer()


@pytest.mark.parametrize(("length", "minutes"), [("15min", 15), ("1h", 60)])
def test_a_run_of_steps_opens_as_one(scripts: Scripts, tmp_path: Path, length: str, minutes: int) -> None:
    file = tmp_path / "boilers.toml"
    file.write_text(chain_file().replace('"every-entry"', f'"every-run"\nlength = "{length}"'), encoding="utf-8")
    assert scripts.call("decode(l)", l=link_of(file).settings)["hide"] == minutes


def test_a_run_that_the_page_does_not_offer_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "boilers.toml"
    file.write_text(chain_file().replace('"every-entry"', '"every-run"\nlength = "30min"'), encoding="utf-8")
    assert "its runs last 30 minutes there, and the page has 15 minutes and an hour" in refused("explore", file)


def test_three_states_keep_their_matrix(scripts: Scripts, tmp_path: Path) -> None:
    matrix = [[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.02, 0.38, 0.6]]
    file = tmp_path / "boilers.toml"
    file.write_text(chain_file(states=["off", "low", "high"], matrix=matrix), encoding="utf-8")
    settings = scripts.call("decode(l)", l=link_of(file).settings)
    order = [["off", "low", "high"].index(name) for name, _ in settings["states"]]
    assert order[-1] == 0
    ours = scripts.call("matrixOf(s)", s=settings)
    for i, u in enumerate(order):
        assert ours[i] == pytest.approx([matrix[u][v] for v in order], rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"matrix": [[1, 0], [0.5, 0.5]]}, "probability 0"),
        ({"states": ["off", "1", "2", "3"], "matrix": [[0.25] * 4] * 4}, "two or three states"),
        ({"matrix": [[0.99999, 0.00001], [0.5, 0.5]]}, "lasts 1e+05 steps"),
        ({"states": ["off", "a~b"]}, "has a ~"),
    ],
)
def test_a_file_that_the_page_cannot_show_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    file = tmp_path / "boilers.toml"
    file.write_text(chain_file(**changes), encoding="utf-8")
    assert words in refused("explore", file, "-o", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_file_about_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    succeed("example", "people")
    assert "no single Markov chain" in refused("explore", "people.toml")


def test_a_page_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine", encoding="utf-8")
    assert "would be overwritten" in invoke("explore", "-o", page).output
    assert page.read_text("utf-8") == "mine"
    page.unlink()
    json_of("explore", "-o", page)
    json_of("explore", "-o", page, "--force")
