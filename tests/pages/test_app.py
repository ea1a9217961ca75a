"""The server of the app: who gets an answer, what a release writes, and that it is paid for once."""

import asyncio
import json
import threading
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from dukpy import evaljs
from starlette.requests import Request
from starlette.testclient import TestClient
from tests.releasing.test_proposal import OWNED, PLAIN, table
from tests.support.commands import json_of

import takifugu as tf
from takifugu.cli.starting import written
from takifugu.pages.app import guard as guarding
from takifugu.pages.app.guard import Guard
from takifugu.pages.app.server import Releasing, application
from takifugu.releasing.proposal import Proposal

pytestmark = pytest.mark.filterwarnings("ignore:Using `httpx`")
HOST = "http://127.0.0.1:8123"
SAID = {**PLAIN, **OWNED, "epsilon": "2"}
HEADERS = {"origin": HOST}
JSON = {"content-type": "application/json", **HEADERS}


class App:
    """An app about a small table, and a browser that has its cookie."""

    def __init__(self, folder: Path, output: str = "release.toml") -> None:
        self.folder, self.output, self.guard = folder, folder / output, Guard(8123)
        data = folder / "d.csv"
        self.proposal = Proposal(str(data if data.exists() else table(folder, people=3)), self.output)
        self.served = application(self.proposal, written, self.guard)
        self.browser = self.another()
        assert self.browser.get(f"/enter/{self.guard.token}").status_code == 200

    def another(self) -> TestClient:
        return TestClient(self.served, base_url=HOST, raise_server_exceptions=False)

    def ask(self, what: str, said: dict[str, str] = SAID, **more: object) -> Any:
        answer = self.browser.post(f"/ask/{what}", json={"said": said, "changes": [], **more}, headers=HEADERS)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def release(self, said: dict[str, str] = SAID) -> Any:
        return self.ask("release", said, digest=self.ask("foresee", said)["digest"])

    def spent(self) -> Any:
        (source,) = json_of("ledger", "show", self.folder / "release-ledger.db")["sources"]
        return source["spent"]["epsilon"]

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    app.proposal.close()


def test_the_token_opens_once(app: App) -> None:
    thief = app.another()
    stolen = thief.get(f"/enter/{app.guard.token}")
    assert (stolen.status_code, stolen.text) == (403, guarding.USED)
    assert thief.get("/").status_code == 403
    assert thief.get("/enter/guessed").status_code == 403
    assert app.browser.get("/").status_code == 200


def test_the_cookie_is_for_this_browser_alone(app: App) -> None:
    guard = Guard(8123)
    browser = TestClient(application(app.proposal, written, guard), base_url=HOST, follow_redirects=False)
    cookie = browser.get(f"/enter/{guard.token}").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert guard.token not in cookie


@pytest.mark.parametrize("page", ["/", "/app.js", "/app.css"])
def test_pages_have_a_strict_policy_and_name_nobody_else(app: App, page: str) -> None:
    got = app.browser.get(page)
    assert got.status_code == 200
    policy = got.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "://" not in got.text
    assert app.another().get(page).status_code == 403
    assert app.browser.get("/server.py").status_code == 404


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("headers", "status"), [
    ({"host": "evil.example"}, 403), ({"host": "127.0.0.1:9999"}, 403), ({"host": ""}, 403),
    ({"origin": "http://evil.example"}, 403), ({"origin": "null"}, 403), ({"origin": "http://127.0.0.1:9999"}, 403),
    ({"origin": "https://127.0.0.1:8123"}, 403), ({"sec-fetch-site": "cross-site"}, 403),
    ({"sec-fetch-site": "same-site"}, 403), ({"content-type": "text/plain"}, 415),
    ({"content-type": "application/x-www-form-urlencoded"}, 415), ({}, 200),
])  # fmt: skip
def test_with_a_valid_cookie_host_origin_and_type_must_be_ours(app: App, headers: dict[str, str], status: int) -> None:
    answer = app.browser.post("/ask/state", content='{"said": {}, "changes": []}', headers={**JSON, **headers})
    assert answer.status_code == status
    if status != 200:
        assert "question" not in answer.text


def test_a_question_without_an_origin_or_a_cookie_gets_no_answer(app: App) -> None:
    body = {"said": {}, "changes": []}
    assert app.browser.post("/ask/state", json=body).status_code == 403
    assert app.another().post("/ask/state", json=body, headers=HEADERS).status_code == 403
    wrong = app.another()
    wrong.cookies.set("takifugu-8123", app.guard.token)
    assert wrong.post("/ask/state", json=body, headers=HEADERS).status_code == 403
    assert app.browser.get("/ask/state", headers=HEADERS).status_code == 405


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", [
    b"", b"[]", b"{", b"nothing", b"{}", b'{"said": [], "changes": []}', b'{"said": {"a": 1}, "changes": []}',
    b'{"said": {}, "changes": [1]}', b'{"said": {}, "changes": [{"where": ["hide", "kind"], "value": 1}]}',
    b'{"said": {}, "changes": [{"where": ["table", 7, "epsilon"], "value": 1}]}', b"[" * 90_000, b"\xff",
    b'{"said": {"a": "\\ud800"}, "changes": []}', b'{"said": {}, "changes": [{"where": ["source", ""], "value": 1}]}',
    b'{"said": {}, "changes": [{"where": ["source", "name"], "value": [null]}]}',
    b'{"said": {}, "changes": [{"where": [], "value": 1}]}', json.dumps({"said": {}, "changes": [1] * 999}).encode(),
])  # fmt: skip
def test_a_body_that_is_no_question_is_refused(app: App, body: bytes) -> None:
    assert app.browser.post("/ask/state", content=body, headers=JSON).status_code == 400
    assert app.browser.post("/ask/release", content=b'{"said": {}, "changes": []}', headers=JSON).status_code == 400


def test_who_leaves_in_the_middle_of_a_body_or_names_two_origins_gets_no_answer(app: App) -> None:
    """A closed tab once left a traceback on the terminal."""
    async def gone() -> dict[str, str]:
        return {"type": "http.disconnect"}

    cookie = "; ".join(f"{name}={value}" for name, value in app.browser.cookies.items())
    said = {**JSON, "host": "127.0.0.1:8123", "cookie": cookie}
    for more, status in (((), 400), (((b"origin", b"http://evil.example"),), 403)):
        headers = [*((name.encode(), value.encode()) for name, value in said.items()), *more]
        with pytest.raises(guarding.Refused) as caught:
            asyncio.run(app.guard.body(Request({"type": "http", "headers": headers}, gone)))
        assert caught.value.status == status


def test_a_body_has_a_most_size(app: App) -> None:
    body = b'{"said": {"a": "' + b"x" * guarding.LARGEST + b'"}, "changes": []}'
    assert app.browser.post("/ask/state", content=body, headers=JSON).status_code == 413


@pytest.mark.mutants
@pytest.mark.parametrize("name", ["value", "order", "where", "unit", "states", "mean_duration", "table.x"])
def test_a_hostile_answer_is_refused_in_words_without_a_value(app: App, name: str) -> None:
    words = ["error((select who from d))", "read_text('/etc/passwd')", "'; drop table d", "\x00", "x" * 5000]
    for word in (words[len(name) % 5], words[(len(name) + 2) % 5]):  # each word at some names
        state = app.ask("state", {**SAID, name: word})
        assert not state.get("is_ready"), word
        assert "root:" not in json.dumps(state)
        assert "a fault of" not in json.dumps(state), state
    assert app.ask("state", {**SAID, "source.": "x", "": "y"})["is_ready"]
    assert "a draft has no section ''" in json.dumps(app.ask("state", {**SAID, ".": "[1]"}))


@pytest.mark.mutants
def test_nothing_is_written_before_the_release_and_then_what_was_seen(app: App) -> None:
    state = app.ask("state")
    app.ask("rows")
    app.ask("remedies")
    seen = app.ask("foresee")
    assert seen["refused"] == []
    assert app.names() == ["d.csv"]
    done = app.ask("release", digest=seen["digest"])
    assert done["tables"] == ["time-in-states"]
    assert app.output.read_text(encoding="utf-8").partition("\n")[2] == state["file"]
    assert [Path(report).exists() for report in done["reports"]] == [True]
    assert app.spent() == "2"


@pytest.mark.mutants
def test_a_remedy_is_released_with_the_file(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any key of a draft could once be changed; what is equal to an offer is that offer."""
    changes = [{"where": ["source", "single_release"], "value": True}, {"where": ["source", "budget"], "value": 3.0}]
    body = {"said": SAID, "changes": [{**changes[0], "value": 1}, {**changes[1], "value": 3}]}
    refused = app.browser.post("/ask/state", json=body, headers=HEADERS)
    assert (refused.status_code, refused.text) == (400, guarding.NOT_OFFERED)
    monkeypatch.setattr(Proposal, "remedies", lambda *_: {"remedies": [{"epsilon": None, "changes": changes}]})
    app.ask("remedies")
    taken = app.browser.post("/ask/state", json=body, headers=HEADERS).json()["file"]
    assert tomllib.loads(taken)["source"]["single_release"] is True
    state = app.ask("state", changes=changes)
    assert len(state["changed"]) == 2
    done = app.ask("release", changes=changes, digest=app.ask("foresee", changes=changes)["digest"])
    assert done["tables"] == ["time-in-states"]
    source = tomllib.loads(app.output.read_text(encoding="utf-8"))["source"]
    assert (source["single_release"], source["budget"]) == (True, 3.0)


@pytest.mark.mutants
def test_a_search_for_remedies_does_not_outlast_the_app(app: App) -> None:
    guard = Guard(8123)
    browser = TestClient(application(app.proposal, written, guard, lambda: True), base_url=HOST)
    browser.get(f"/enter/{guard.token}")
    answer = browser.post("/ask/remedies", json={"said": SAID, "changes": []}, headers=HEADERS)
    assert "ended without an answer" in str(answer.json()["error"])
    assert app.ask("remedies")["heading"]


@pytest.mark.mutants
def test_a_double_click_pays_once(app: App) -> None:
    digest, answers = app.ask("foresee")["digest"], list[Any]()
    clicks = [threading.Thread(target=lambda: answers.append(app.ask("release", digest=digest))) for _ in range(3)]
    for click in clicks:
        click.start()
    for click in clicks:
        click.join()
    assert [answer["tables"] for answer in answers] == [["time-in-states"]] * 3
    assert app.spent() == "2"
    assert "was published" in str(app.ask("release", {**SAID, "epsilon": "1"}, digest="0")["error"])
    assert app.spent() == "2"


@pytest.mark.mutants
def test_what_was_not_seen_is_not_released(app: App) -> None:
    digest = app.ask("foresee", {**SAID, "epsilon": "1"})["digest"]
    assert "another one than you have seen" in str(app.ask("release", SAID, digest=digest)["error"])
    assert "questions are open" in str(app.ask("foresee", PLAIN)["error"])
    assert "questions are open" in str(app.ask("release", PLAIN, digest=digest)["error"])
    assert app.names() == ["d.csv"]


@pytest.mark.mutants
def test_a_table_that_changes_meanwhile_is_not_released(app: App) -> None:
    digest = app.ask("foresee")["digest"]
    table(app.folder, people=2)
    assert "changed while it was read" in str(app.ask("release", digest=digest)["error"])
    assert app.names() == ["d.csv"]


@pytest.mark.mutants
def test_two_apps_share_the_ledger_of_one_table(tmp_path: Path) -> None:
    first, second = App(tmp_path), App(tmp_path, "second.toml")
    before = second.ask("foresee")
    assert first.release()["tables"]
    assert "another one than you have seen" in str(second.ask("release", digest=before["digest"])["error"])
    assert "was published in" in str(second.ask("foresee")["error"])  # one table is paid for once
    other = {**SAID, "epsilon": "1", "table.name": "again"}
    now = second.ask("foresee", other)
    assert "budget" in str(now["refused"])
    assert "budget" in str(second.ask("release", other, digest=now["digest"])["error"])
    assert [path.name for path in tmp_path.glob("*.db")] == ["release-ledger.db"]
    assert first.spent() == "2"


@pytest.mark.mutants
def test_two_apps_that_release_at_once_share_the_ledger_too(tmp_path: Path) -> None:
    """Each once began with a ledger of its own, and both published."""
    first, second, late = App(tmp_path), App(tmp_path, "second.toml"), list[Any]()
    digests = [app.ask("foresee")["digest"] for app in (first, second)]
    click = threading.Thread(target=lambda: late.append(second.ask("release", digest=digests[1])))

    def write(*given: Any) -> object:
        click.start()
        click.join(3)
        return written(*given)

    assert Releasing(first.proposal, write).release(SAID, (), digests[0])["tables"]
    click.join()
    assert "another one than you have seen" in str(late[0]["error"])
    assert [path.name for path in tmp_path.glob("*.db")] == ["release-ledger.db"]


@pytest.mark.mutants
def test_a_file_that_came_meanwhile_is_not_overwritten(app: App) -> None:
    digest = app.ask("foresee")["digest"]
    app.output.write_text("mine", encoding="utf-8")
    assert "error" in app.ask("release", digest=digest)
    assert app.output.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(("name", "content", "words"), [
    ("none.csv", None, "is not there"), ("empty.csv", b"", "is empty"), ("bytes.csv", bytes(range(256)) * 9, "no text"),
    ("page.csv", b"<html><body>1,2", "no text of rows"),
])  # fmt: skip
def test_a_table_that_is_none_is_refused_in_words(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    guard = Guard(8123)
    served = application(Proposal(str(tmp_path / name), tmp_path / "r.toml"), written, guard)
    browser = TestClient(served, base_url=HOST)
    browser.get(f"/enter/{guard.token}")
    for what in ("state", "remedies", "foresee"):
        answer = browser.post(f"/ask/{what}", json={"said": {}, "changes": []}, headers=HEADERS)
        assert words in str(answer.json()["error"])


@pytest.mark.mutants
@pytest.mark.parametrize("states", ["a 4, b 4", "a 9, b 2"])
def test_the_engine_of_the_slider_is_near_what_the_library_finds(app: App, states: str) -> None:
    """The page multiplies the library's ± by what its engine says of the scale."""
    answers = {e: app.ask("state", {**SAID, "mean_duration": states, "epsilon": str(e)}) for e in (0.3, 1, 4)}
    engine = files("takifugu.pages").joinpath("explorer", "engine.js").read_text("utf-8")
    chain = answers[1]["chain"]
    scales = [evaljs(f"""{engine};
        const chain = {json.dumps(chain)}, change = changeOf(chain.query, chain.matrix.length, chain.counted);
        leastScale(chain.matrix, chain.length, change, {e});""") for e in answers]  # fmt: skip
    halves = [state["tables"][0]["half"] for state in answers.values()]
    for scale, half in zip(scales, halves, strict=True):
        assert scale / scales[1] * halves[1] == pytest.approx(half, rel=0.05, abs=1)


@pytest.mark.mutants
def test_the_release_is_that_of_the_library(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise tf.TakifuguError("over budget", fix="write budget = 9")

    monkeypatch.setattr("takifugu.pages.app.server.release_file", refuse)
    assert app.release()["error"][0] == "over budget: write budget = 9"
    monkeypatch.undo()
    assert app.release()["tables"] == ["time-in-states"]  # the file that it wrote is its own


@pytest.mark.mutants
def test_a_file_that_was_edited_after_a_release_failed_is_not_replaced(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("takifugu.pages.app.server.release_file", lambda *_, **__: 1 / 0)
    with pytest.raises(AssertionError):
        app.release()
    monkeypatch.undo()
    mine = app.output.read_text(encoding="utf-8") + "# mine\n"
    app.output.write_text(mine, encoding="utf-8")
    error = app.release()["error"][0]
    assert "was changed after the app wrote it" in error
    assert app.output.read_text(encoding="utf-8") == mine
    app.output.unlink()
    assert app.release()["tables"] == ["time-in-states"]
