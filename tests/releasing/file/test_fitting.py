"""The transitions of a fit: a public file read by the roles of [source] and its own, and never the private data."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from takifugu.core.errors import SpecError
from takifugu.data.relation.source import opened_table
from takifugu.model.beliefs.chains.declared_chain import ChainFit
from takifugu.releasing.file.calendars import CalendarKeys
from takifugu.releasing.file.relation_keys import key
from takifugu.releasing.file.sequences.fitting import PublicSequences

MONDAY = datetime(2026, 1, 5)
STATES = ("calm", "busy")
KEYS: dict[str, Any] = {"name": "ward", "file": "ward.csv", "unit": "who", "order": "t", "step": 1, "value": "state"}
PRIVATE = {"who": ["Geheim"] * 4 + ["Ben"] * 2, "t": [0, 1, 2, 4, 0, 1],
           "state": ["calm", "busy", "busy", "calm", "busy", "calm"]}  # fmt: skip
OTHERS = {"who": ["Una"] * 3 + ["Vic"] * 3, "t": [5, 6, 7, 1, 2, 4],
          "state": ["calm", "calm", "busy", "busy", "busy", "calm"]}  # fmt: skip


class Keys(CalendarKeys):
    """The keys of [source] of sequences, as far as a fit reads them."""

    value: Annotated[str, key("value")]
    recording: Annotated[str | None, key("recording")] = None
    bins: Annotated[dict[str, tuple[float, float]] | None, key("bins")] = None


def fitted(
    folder: Path, by: str | None = None, data: Any = None, fit: Any = None, gaps: str = "public", **keys: Any
) -> Any:
    """Return the counts of a fit, beside private data that are opened as a release opens them."""
    source = Keys.model_validate({**KEYS, **keys})
    belief = SimpleNamespace(states=STATES, matrix_by=by)
    named = {} if data is None else {"file": None}
    private = opened_table(source.read() | {"gaps": gaps} | named, STATES, folder, data)
    public = PublicSequences(folder, source, belief, private, data)
    return public.transitions(ChainFit(**{"file": "public.csv", **(fit or {})}))


def written(folder: Path, public: dict[str, list[Any]], private: dict[str, list[Any]] = PRIVATE) -> None:
    pandas.DataFrame(private).to_csv(folder / "ward.csv", index=False)
    pandas.DataFrame(public).to_csv(folder / "public.csv", index=False)


@pytest.mark.mutants
def test_counts_are_those_of_its_rows_a_step_apart(tmp_path: Path) -> None:
    written(tmp_path, OTHERS)
    assert fitted(tmp_path).tolist() == [[1, 1], [0, 1]]
    assert fitted(tmp_path, fit={"where": "who = 'Una' and state <> 'none'"}).tolist() == [[1, 1], [0, 0]]
    assert fitted(tmp_path, where="who <> 'Vic'").tolist() == [[1, 1], [0, 0]]
    assert fitted(tmp_path, where="who <> 'Vic'", fit={"where": "true"}).tolist() == [[1, 1], [0, 1]]
    covered = {"from": 0, "until": 9, "roster": ("Ben", "Geheim"), "where": "state <> 'none'"}
    assert fitted(tmp_path, gaps="hidden", **covered).tolist() == [[1, 1], [0, 1]]
    written(tmp_path, PRIVATE)
    with pytest.raises(SpecError, match="counts what the private data counts"):
        fitted(tmp_path, gaps="hidden", **covered)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", ["renamed", "select", "latin-1", "parquet", "expressions"])
def test_the_file_of_a_fit_has_names_and_a_form_of_its_own(tmp_path: Path, form: str) -> None:
    written(tmp_path, OTHERS)
    frame, fit = pandas.DataFrame(OTHERS), dict[str, Any]()
    if form == "renamed":
        frame = frame.set_axis(["wer", "wann", "was"], axis=1)
        fit = {"unit": "wer", "order": "wann", "value": "was"}
    elif form == "select":
        fit = {"file": "select who, t, state from read_csv('public.csv', all_varchar = true)"}
    elif form == "latin-1":
        frame, fit = frame.replace({"who": {"Una": "Ünal"}}), {"encoding": "latin-1"}
    elif form == "parquet":
        frame.to_parquet(tmp_path / "public.parquet")
        fit = {"file": "public.parquet"}
    else:
        frame = frame.assign(t=[f"2026-01-05 {t:02}:00" for t in OTHERS["t"]])
        fit = {"order": "date_part('hour', t::timestamp)::bigint", "value": "lower(state)"}
    frame.to_csv(tmp_path / "public.csv", index=False, encoding="latin-1" if form == "latin-1" else "utf-8")
    assert fitted(tmp_path, fit=fit).tolist() == [[1, 1], [0, 1]]


def test_missing_entries_end_a_sequence_and_numbers_are_in_bins(tmp_path: Path) -> None:
    written(tmp_path, {**OTHERS, "state": ["1.5", "", "20", "12", "11", "0"]},
            {**PRIVATE, "state": ["1", "2", "3", "4", "5", "60"]})  # fmt: skip
    bins = {"calm": (0, 10), "busy": (10, 100)}
    assert fitted(tmp_path, bins=bins, nulls="unobserved").tolist() == [[0, 0], [0, 1]]
    with pytest.raises(SpecError, match="row 2"):
        fitted(tmp_path, bins=bins)


@pytest.mark.sampled(17)
@pytest.mark.parametrize(("step", "start", "zone"), [
    ("1h", "2026-01-05", None), ("30min", "2026-01-07T15:30:00", None), ("6h", "2026-01-05T03:00:00", None),
    ("90min", "2026-01-05T00:30:00", None), ("1h", "2026-01-05", "Europe/Berlin"),
    ("2h", "2026-06-05T01:45:00", "Asia/Kathmandu"),
])  # fmt: skip
@pytest.mark.parametrize("by", ["hour", "weekday"])
def test_counts_by_the_cells_in_which_steps_start(
    tmp_path: Path, step: str, start: str, zone: str | None, by: str
) -> None:
    """The public rows are of years before and after the calendar; a loop over them counts by the clocks of its zone."""
    minutes = {"1h": 60, "30min": 30, "6h": 360, "90min": 90, "2h": 120}[step]
    offset = {"Europe/Berlin": 60, "Asia/Kathmandu": 345, None: 0}[zone]
    until = (datetime.fromisoformat(start) + 16 * timedelta(minutes=minutes)).isoformat()  # before clocks change
    first = datetime.fromisoformat(start) + minutes * timedelta(minutes=1) * -20_001
    rng = np.random.default_rng(7)
    places = np.flatnonzero(rng.random(900) < 0.8)
    states = rng.integers(0, 2, len(places)).tolist()
    clocks = [first + int(n) * timedelta(minutes=minutes) for n in places]
    times: list[Any] = clocks
    if zone is not None:
        times = [(t - timedelta(minutes=offset)).replace(tzinfo=UTC) for t in clocks]
        clocks = [t.astimezone(ZoneInfo(zone)) for t in times]  # Berlin's are changed among the rows
    expected = np.zeros((24 if by == "hour" else 7, 2, 2), int)
    for t, n, state, later, after in zip(clocks, places, states, places[1:], states[1:], strict=False):
        if later == n + 1:
            expected[t.hour if by == "hour" else t.weekday(), state, after] += 1
    frame = pandas.DataFrame({"who": "Una", "t": times, "state": [STATES[s] for s in states]})
    frame.to_parquet(tmp_path / "public.parquet")
    some = MONDAY.replace(tzinfo=UTC) if zone is not None else MONDAY
    data = pandas.DataFrame({"who": ["Ana"], "t": [some], "state": ["calm"]})
    fit, keys = {"file": "public.parquet"}, {"step": step, "timezone": zone}
    source = Keys.model_validate({**KEYS, **keys, "from": start, "until": until})
    public = PublicSequences(tmp_path, source, SimpleNamespace(states=STATES, matrix_by=by), None, data)
    counts = public.transitions(ChainFit(**fit))
    assert counts.tolist() == expected[: len(counts)].tolist()
    assert not expected[len(counts):].any()
    frame.assign(t=frame.t + timedelta(minutes=1)).to_parquet(tmp_path / "public.parquet")
    with pytest.raises(SpecError, match="between"):
        public.transitions(ChainFit(**fit))


#: The private rows under another name, or in another form.
COPIES: dict[str, Any] = {
    "copied": lambda frame: frame, "in another order": lambda frame: frame.iloc[::-1],
    "other people": lambda frame: frame.replace({"who": {"Geheim": "Una"}}),
    "later": lambda frame: frame.assign(t=frame.t + 7),
    "renamed": lambda frame: frame.rename(columns={"state": "doing"}),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("given", "how"), [
    *(("the file", how) for how in COPIES), *zip(["pandas", "polars", "pyarrow", "a path"], COPIES, strict=False),
])  # fmt: skip
def test_the_private_counts_are_refused_unless_they_are_declared(tmp_path: Path, how: str, given: str) -> None:
    frame = pandas.DataFrame(PRIVATE)
    written(tmp_path, {name: column.tolist() for name, column in COPIES[how](frame).items()})
    fit = {"value": "doing"} if how == "renamed" else {}
    data: Any = {"pandas": frame, "polars": polars.DataFrame(PRIVATE), "pyarrow": pyarrow.table(PRIVATE),
                 "a path": str(tmp_path / "ward.csv"), "the file": None}[given]  # fmt: skip
    keys = {} if given == "the file" else {"file": None} if given != "a path" else {}
    private = None if given in ("the file", "a path") else data
    with pytest.raises(SpecError, match="counts what the private data counts") as caught:
        fitted(tmp_path, data=private, fit=fit, **keys)
    assert caught.value.faults[0].where == ("fit", "file")
    assert fitted(tmp_path, data=private, fit={**fit, "private": True}, **keys).sum() == 3


@pytest.mark.mutants
def test_other_columns_of_the_private_data_are_private_too(tmp_path: Path) -> None:
    more = {**PRIVATE, "mood": ["busy", "busy", "busy", "calm", "calm", "calm"]}
    written(tmp_path, more, more)
    with pytest.raises(SpecError, match="counts what the private data counts"):
        fitted(tmp_path, fit={"value": "mood"})
    with pytest.raises(SpecError, match="counts what the private data counts"):
        fitted(tmp_path, fit={"where": "who = 'Geheim'"})


def test_rows_without_a_transition_are_nobodys(tmp_path: Path) -> None:
    written(tmp_path, {"who": ["Una"], "t": [0], "state": ["calm"]}, {"who": ["Ben"], "t": [0], "state": ["calm"]})
    assert not fitted(tmp_path).any()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("fit", "changed", "place", "words"), [
    ({"file": "none.csv"}, {}, "file", "there is no file"), ({"file": "public.png"}, {}, "file", "no file"),
    ({"value": "doing"}, {}, "value", "has no 'doing'"), ({"order": "random()"}, {}, "order", ""),
    ({"where": "t"}, {}, "where", "true or false"), ({"encoding": "klingon"}, {}, "encoding", ""),
    ({"file": "select * from read_csv('none.csv')"}, {}, "file", ""), ({"file": "from random()"}, {}, "file", ""),
    ({}, {"t": [1, 1, 1, 1, 1, 1]}, "order", "row 2"), ({}, {"t": ["a", 1, 2, 3, 4, 5]}, "order", "row 1"),
    ({}, {"state": ["GEHEIM", *["calm"] * 5]}, "value", "row 1"), ({}, {"who": [None, *["b"] * 5]}, "unit", "row 1"),
    ({}, {"who": [], "t": [], "state": []}, "file", "no rows"),
])  # fmt: skip
def test_what_is_wrong_is_told_at_the_fits_key_with_no_word_of_a_row(
    tmp_path: Path, fit: dict[str, Any], changed: dict[str, Any], place: str, words: str
) -> None:
    written(tmp_path, {**OTHERS, **changed})
    with pytest.raises(SpecError) as caught:
        fitted(tmp_path, fit=fit)
    (fault,) = caught.value.faults
    assert fault.where == ("fit", place)
    assert words in fault.line
    assert "GEHEIM" not in fault.line
    assert fit.get("file", "public.csv") in fault.line
