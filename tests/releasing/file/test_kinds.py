"""A kind of release file from outside the package works everywhere, and one that is wrong is refused at once."""

import copy
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, make_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import ValidationError
from tests.conformance.release_files import Example, check_release_file
from tests.support.registries import restored
from tests.support.release_files import believe, group, hide, publish, read_from, release_text
from tests.support.releases import put, refusal_of, refused

import takifugu as tf
from takifugu.core.errors import InputError, ReleaseState, TakifuguError
from takifugu.core.sections import Key
from takifugu.extending.files import Columned, Kind, Unit, fault, register_release_file
from takifugu.model.beliefs.records.declared_normal import NormalSection
from takifugu.model.beliefs.records.declared_records import RecordsSection
from takifugu.model.beliefs.sections import TableFit
from takifugu.model.beliefs.user_groups import UsersSection
from takifugu.model.policies.declared import PolicySection
from takifugu.releasing.file.described import model_of
from takifugu.releasing.file.kinds import DRAFTED, KINDS, OF_SHAPE, SHAPES, drafted, model_of_file
from takifugu.releasing.file.loading import json_schema
from takifugu.releasing.file.relation_keys import UNOPENED, read_with
from takifugu.releasing.file.validating import Reading


@dataclass(frozen=True)
class TwinsSection:
    """Two siblings, who are alike with a known probability."""

    kind: Literal["twins"]
    alike: Annotated[float, Key("the probability that they are alike", 0.75)]

    def belief(self, public: Any) -> tf.JointTable:
        same, other = self.alike / 2, (1 - self.alike) / 2
        rows = [["well", "well"], ["ill", "ill"], ["well", "ill"], ["ill", "well"]]
        return tf.JointTable(rows, [same, same, other, other], ["elder", "younger"], "a test")


class Twins(Columned):
    """Records of twins, with a rule of their own."""

    def shape_faults(self, spec: Any) -> Iterator[TakifuguError]:
        if not 0 <= spec.belief.alike <= 1:
            yield fault(("belief", "alike"), f"is {spec.belief.alike}", "write a probability")


HEAD = 'ledger = "ledger.db"\n[source]\nname = "study"\nfile = "data.csv"\n'
EXAMPLE = Example(
    "twins",
    f'{HEAD}unit = "family"\n[belief]\nkind = "twins"\nalike = 0.75\n[expect]\nsource = "a test"\nmatters = 9\n'
    '[[table]]\nname = "ill"\nepsilon = 1.0\nquery = "count"\nstates = ["ill"]\n',
    {"data.csv": "family,elder,younger\na,ill,ill\nb,well,ill\nc,well,well\n"},
    (('name = "study"', "name = 3", "source.name"), ("alike = 0.75", 'alike = "often"', "belief.alike")),
    named=("unit", "matters"),
)


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    with restored():
        yield


@pytest.mark.slow
def test_it_works_everywhere(tmp_path: Path) -> None:
    register_release_file(Twins(TwinsSection))
    check_release_file(EXAMPLE, tmp_path)


def test_its_faults_and_schema_are_its_own(tmp_path: Path) -> None:
    register_release_file(Twins(TwinsSection))
    assert "alike" in json_schema("twins")["$defs"]["TwinsSection"]["properties"]
    wrong = EXAMPLE.text.replace("0.75", "1.5").replace('unit = "family"', 'value = "x"')
    faults = refusal_of(put(tmp_path, {"release.toml": wrong}), by=tf.dry_run).faults
    assert [fault.where for fault in faults] == [("source", "value"), ("belief", "alike")]
    misspelt = put(tmp_path, {"release.toml": EXAMPLE.text.replace('"twins"', '"twns"')})
    assert 'write kind = "twins"' in str(refusal_of(misspelt, by=tf.dry_run))


def named(name: str) -> type:
    members = {"belief": TwinsSection.belief}
    return make_dataclass("Named", [("kind", Literal[name]), ("alike", float)], namespace=members, frozen=True)


@pytest.mark.parametrize(("kind", "words"), [
    (object(), "is no kind of release file"),
    (Twins(), "is no section of a belief"),
    (Twins(str), "is no section of a belief"),
    (Kind(named("unread")), "does not define units, framework_of, facts"),
])  # fmt: skip
def test_a_kind_that_lacks_something_is_refused(kind: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        register_release_file(kind)
    assert "unread" not in KINDS


@pytest.mark.parametrize(("units", "words"), [
    ((), "no person"),
    ((Unit("ann", ["well", "ill"]), Unit("ann", ["ill", "ill"])), "two people of one name"),
    ((Unit(None, ["well", "ill"]), Unit(None, ["ill", "ill"])), "two people of one name"),
    ((Unit("ann", ["well", "ill"]), Unit("bob", ["ill", "ill"])), "read together"),
])  # fmt: skip
def test_units_of_one_debit_are_refused_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, units: tuple[Unit, ...], words: str
) -> None:
    register_release_file(Twins(TwinsSection))
    monkeypatch.setattr(Twins, "units", lambda self, file: units)
    path = replace(EXAMPLE, text=EXAMPLE.text.replace('unit = "family"', "")).write(tmp_path)
    refusal = refused(path, allow_useless=True)
    assert words in str(refusal)
    assert refusal.state is ReleaseState.NOTHING


def test_the_encoding_of_a_public_file_reaches_its_belief() -> None:
    model = model_of(TableFit)
    given = model.model_validate({"file": "public.csv", "columns": ["a"], "encoding": "cp1252"})
    meant: TableFit = given.meant  # type: ignore[attr-defined]
    assert meant.encoding == "cp1252"


GRID = {"x": [0, 4], "y": [0, 2], "columns": 4, "rows": 2}
NUMBERS = {"kind": "normal", "records": 9, "source": "a test", "columns": ["a"], "ranges": {"a": [0, 9]},
           "resolution": 1}  # fmt: skip


@pytest.mark.parametrize(("section", "keys", "name", "value", "alike", "other"), [
    (PolicySection, {"kind": "asymmetric"}, "grid", GRID, {**GRID, "x": ["0.0", "4"]}, {**GRID, "columns": 2}),
    (NormalSection, NUMBERS, "missing", {"a": 4}, {"a": "4.0"}, {"a": 5}),
    (UsersSection, {"kind": "users"}, "missing", {"a": "no"}, {"a": "no"}, {"a": "yes"}),
    (RecordsSection, {"kind": "independent-records", "records": 9, "source": "a test"}, "classes",
     {"a": {"ends": [4]}}, {"a": {"ends": ["4.0"]}}, {"a": {"ends": [5]}}),
])  # fmt: skip
def test_a_key_that_decides_what_a_row_means_is_in_the_reading(
    section: type, keys: Any, name: str, value: Any, alike: Any, other: Any
) -> None:
    """However it is written; without it nothing is."""
    model = model_of(section)

    def reading(**said: Any) -> str:
        return read_with("rows", model.model_validate({**keys, **said}))  # type: ignore[arg-type]

    assert reading() == "rows"
    assert reading(**{name: value}).startswith(f"rows\nbelief.{name}: ")
    assert reading(**{name: value}) == reading(**{name: alike}) != reading(**{name: other})


def test_init_offers_a_belief_of_ours_without_a_line_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drafted() == DRAFTED
    others = {name: words for name, words in DRAFTED.items() if name != "network"}
    monkeypatch.setattr("takifugu.releasing.file.kinds.DRAFTED", others)  # deleting one would put it back at the end
    assert drafted()["network"] == "a Bayesian network; a record has one column for each of its variables"


def test_rows_are_known_before_a_shape_is_loaded() -> None:
    assert [SHAPES.find(shape).facts.rows for shape in SHAPES.names] == [rows for rows, _ in OF_SHAPE.values()]


EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.toml"))


def read(kind: Kind, raw: Any) -> object:
    reading = Reading(kind, raw)
    return None if reading.faults else reading.spec.model_dump(serialize_as_any=True)


def read_whole(kind: Kind, raw: Any) -> object:
    try:
        return model_of_file(kind).model_validate(raw).model_dump()
    except ValidationError:
        return None


def changed(raw: Any) -> Iterator[Any]:
    """Yield the file with each of its keys left out, and with another value."""
    sections = [raw, raw["source"], raw["belief"], *raw["table"]]
    for section in sections:
        for key, value in list(section.items()):
            del section[key]
            yield copy.deepcopy(raw)
            for other in ("?", -1, [], {}, True):
                section[key] = other
                yield copy.deepcopy(raw)
            section[key] = value


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_sections_one_by_one_are_what_the_model_of_all_takes(path: Path) -> None:
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    kind = KINDS.find(raw["belief"]["kind"])
    assert read(kind, raw) == read_whole(kind, raw) is not None
    for other in changed(raw):
        assert read(kind, other) == read_whole(kind, other)


@pytest.mark.parametrize(("raw", "where"), [
    ({}, ("table",)), ({"belief": 3}, ("belief",)), ({"belief": {"kind": []}}, ("belief",)),
    ({"table": 3}, ("table",)),
    ({"table": [3]}, ("table", 0)), ({"table": [{"query": []}]}, ("table", 0, "query")),
    ({"table": [{"query": "count", "share": 1}]}, ("table", 0, "share")), ({"hide": {"kind": 3}}, ("hide",)),
])  # fmt: skip
def test_what_is_no_section_is_refused_in_its_place(raw: Any, where: tuple[str | int, ...]) -> None:
    kind = KINDS.find("markov-chain")
    assert where in [error.where for error in Reading(kind, raw).faults]
    assert read_whole(kind, raw) is None


@pytest.mark.parametrize(("belief", "place"), [
    ("\n\n".join([believe("users"), group("a", 0, [0, 1], [0.5, 0.5])]), "belief.groups[0].size"),
    (believe("asymmetric", grid={"x": [0, 1], "y": [0, 1], "columns": 0, "rows": 3}), "belief.grid.columns"),
    (believe("markov-chain", states=["a", "b", "a"], matrix=[[0.5, 0.5, 0]] * 3), "belief.states"),
], ids=["groups", "grid", "states"])  # fmt: skip
def test_a_fault_is_told_once_and_nothing_that_follows_from_it(tmp_path: Path, belief: str, place: str) -> None:
    keys = {"value": "v"} if "asymmetric" not in belief else {"unit": "p", "value": ["x", "y"]}
    keys |= {"order": "t", "step": 1} if "markov" in belief else {}
    query, hidden = ("visitors", hide(visits="all")) if "asymmetric" in belief else ("histogram", "")
    text = release_text(read_from("s", "d.csv", **keys), belief, hidden, publish("t", query, epsilon=1))
    (tmp_path / "r.toml").write_text(text)
    assert [error.place for error in refusal_of(tmp_path / "r.toml", UNOPENED).faults] == [place]
