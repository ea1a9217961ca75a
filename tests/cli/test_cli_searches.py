"""Long searches at the command line: announced, shown on a terminal, and ended by Ctrl-C; results go to stdout only."""

import json
from pathlib import Path

import pytest
from tests.support.commands import invoke, refused, succeed, words_of
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text

from takifugu import release_file
from takifugu.cli import progress
from takifugu.core import searches

LINKS = [("n0", 0)] + [(f"n{t}", t) for t in range(1, 14)]
BIF = "network links { }\n" + "".join(
    f"variable {name} {{ type discrete [ 2 ] {{ no, yes }}; }}\n" for name, _ in LINKS
) + "probability ( n0 ) { table 0.5, 0.5; }\n" + "".join(
    f"probability ( n{t} | n{t - 1} ) {{ (no) 0.7, 0.3; (yes) 0.3, 0.7; }}\n" for _, t in LINKS[1:]
)  # fmt: skip
SPEC = release_text(
    read_from("links", "data.csv"),
    believe("network", file="links.bif"),
    publish("yes", "count", states=["yes"], epsilon=2, mechanism="quilt-exact"),
    output="out", expect=EXPECT,
)  # fmt: skip


@pytest.fixture
def where(tmp_path: Path) -> Path:
    (tmp_path / "links.bif").write_text(BIF)
    (tmp_path / "data.csv").write_text(
        ",".join(name for name, _ in LINKS) + "\n" + ",".join("yes" for _ in LINKS) + "\n"
    )
    (tmp_path / "release.toml").write_text(SPEC)
    return tmp_path / "release.toml"


def interrupt(monkeypatch: pytest.MonkeyPatch, times: int, after: int = 20) -> None:
    """Press Ctrl-C when so many quilts have been dealt with, in so many searches."""
    tell, left = searches.Search.tell, [times]

    def pressed(self: searches.Search, dealt: int) -> None:
        tell(self, dealt)
        if self.done >= after and left[0]:
            left[0] -= 1
            raise KeyboardInterrupt

    monkeypatch.setattr(searches.Search, "tell", pressed)


@pytest.mark.mutants
def test_a_long_search_is_announced_on_stderr_only(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for more in ((), ("--all",)):
        short = invoke("cost", where, "--json", *more)
        assert (short.exit_code, short.stderr) == (0, "")
        with monkeypatch.context() as changed:
            changed.setattr(progress, "LONG", 0.0)
            long = invoke("cost", where, "--json", *more)
        assert long.stdout == short.stdout
        assert "takifugu: quilt-exact: a search through up to " in long.stderr
        assert " quilts for 14 secrets, about 0 s at most; Ctrl-C ends it" in long.stderr


def test_the_first_interrupt_ends_the_search_with_its_best(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = invoke("cost", where, "--json")
    (full,) = json.loads(whole.stdout)["files"][0]["tables"][0]["answers"]
    interrupt(monkeypatch, times=1)
    ended = succeed("cost", where, "--json")
    (answer,) = json.loads(ended.stdout)["files"][0]["tables"][0]["answers"]
    assert answer["epsilon"] == full["epsilon"] == "2"
    assert answer["expected_error"] > full["expected_error"]
    assert "quilt-exact: the search was ended, and its best so far is used" in ended.stderr
    interrupt(monkeypatch, times=1)
    printed = words_of(invoke("cost", where))
    assert "the search was ended early, after 2" in printed
    assert "the promise holds, and a longer search may find that less noise is enough" in printed


def test_the_second_interrupt_stops_everything(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where.write_text(SPEC + publish("no", "count", states=["no"], epsilon=1, mechanism="quilt-exact"))
    interrupt(monkeypatch, times=2)
    stopped = invoke("cost", where, "--json")
    assert (stopped.exit_code, json.loads(stopped.stdout)["error"]["what"]) == (130, "stopped")
    assert "Ctrl-C again stops everything" in stopped.stderr
    assert "takifugu: stopped" in stopped.stderr


def test_nothing_is_published_after_an_interrupt(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(monkeypatch, times=1)
    refused("release", where, code=130)
    interrupt(monkeypatch, times=1)
    with pytest.raises(KeyboardInterrupt):
        release_file(where)
    assert not (where.parent / "out").exists()
    assert not (where.parent / "ledger.db").exists()
