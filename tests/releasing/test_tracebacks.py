"""No truth in a traceback: a search through the frames, contexts, words and pickles of every error of a release."""

import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from tests.releasing import files
from tests.support.failing import FULL, raising

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import Notice, ReleaseState, TakifuguError
from takifugu.numbers import Pmf
from takifugu.releasing.advice import advising
from takifugu.releasing.planning import truth
from takifugu.releasing.publishing import folder, library, orders, publish

#: A state of the data that no belief knows, and one of the data that beliefs know.
PLANTED, KNOWN = "HIV-positive", "walking-home-at-night"
#: A true answer that nothing else happens to be: how often KNOWN stands in the data.
COUNT = 61
DATA = [KNOWN] * COUNT + ["still"] * 59
CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=120, states=["still", KNOWN])


def calibration(mechanism: str = "group-dp") -> Any:
    framework = tf.Pufferfish(tf.every_entry(), CHAIN)
    return tf.calibrate(framework, tf.Histogram(), 1, mechanism=mechanism, allow_zero_noise=True)


def carried(error: BaseException) -> Iterator[Any]:
    """Yield all that an error takes with it: words, attributes, pickle, history, and the frames but for this file's."""
    waiting, met = [error], set()
    while waiting:
        one = waiting.pop()
        if id(one) in met:
            continue
        met.add(id(one))
        yield from (one.args, vars(one), str(one), repr(one), getattr(one, "__notes__", ()))
        if isinstance(one, TakifuguError):
            yield pickle.dumps(one)
        trace = one.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename != __file__:
                yield from trace.tb_frame.f_locals.values()
            trace = trace.tb_next
        waiting += [next_one for next_one in (one.__context__, one.__cause__) if next_one is not None]


def tells(thing: Any, depth: int = 7) -> bool:
    """Return whether an object holds the planted state, the data, or the true answer, however deep."""
    if isinstance(thing, str | bytes):
        return (PLANTED.encode() if isinstance(thing, bytes) else PLANTED) in thing  # type: ignore[operator]
    if isinstance(thing, np.ndarray):
        return thing.size >= 100 and set(np.unique(thing).tolist()) == {0, 1} and int(thing.sum()) in (COUNT, 59)
    if isinstance(thing, list | tuple) and len(thing) == 2 and set(thing) in ({COUNT, 59}, {COUNT, 59.0}):
        return True
    if isinstance(thing, list | tuple) and len(thing) == len(DATA) and list(thing) == DATA:
        return True
    if depth == 0 or isinstance(thing, int | float | type | ModuleType | FunctionType):
        return False
    inside: Any = ()
    if isinstance(thing, Mapping):
        inside = [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        inside = thing
    elif is_dataclass(thing):
        inside = [getattr(thing, f.name, None) for f in fields(thing)]
    elif hasattr(thing, "__dict__"):
        inside = vars(thing).values()
    return any(tells(one, depth - 1) for one in list(inside)[:2000])


def left_by(call: Callable[[], Any]) -> BaseException:
    try:
        call()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def check(call: Callable[[], Any], state: ReleaseState = ReleaseState.NOTHING) -> BaseException:
    error = left_by(call)
    assert [one for one in carried(error) if tells(one)] == []
    assert error.state is state  # type: ignore[attr-defined]
    return error


BROKEN: dict[str, Any] = {
    "unknown": [*DATA[:-1], PLANTED],
    "too long": [*DATA, KNOWN],
    "no sequence": PLANTED,
    "not hashable": [*DATA[:-1], [PLANTED]],
    "a mapping": {PLANTED: DATA},
    "empty": [],
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("ledger", [True, False])
def test_data_that_break_a_rule(tmp_path: Path, kind: str, ledger: bool) -> None:
    where = tmp_path / "ledger.db" if ledger else None
    check(lambda: tf.release(calibration(), BROKEN[kind], entries="v", ledger=where))
    assert not (tmp_path / "ledger.db").exists()


USERS = tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 4))
RECORD = tf.Pufferfish(tf.attribute("a", 0, 1), tf.JointTable([(0, 0), (1, 1)], [0.5, 0.5], names=["a", "b"]))
LAWS = tf.distribution_pair(Pmf([0, 1], [0.5, 0.5]), Pmf([0, 2], [0.5, 0.5]))


@pytest.mark.parametrize(("framework", "query", "data"), [
    (USERS, tf.Count(1), [1, 0, PLANTED, 1]), (RECORD, tf.Count(1), {"a": 0, "b": PLANTED}),
    (RECORD, tf.Count(1), {"a": 0, PLANTED: 1}), (LAWS, tf.Identity(), PLANTED),
])  # fmt: skip
def test_data_of_other_beliefs(framework: Any, query: Any, data: Any) -> None:
    made = tf.calibrate(framework, query, 1, mechanism="group-dp")
    check(lambda: tf.release(made, data))


@pytest.mark.mutants
def test_refusals_of_the_ledger(tmp_path: Path) -> None:
    book = Ledger.open(tmp_path / "ledger.db")
    check(lambda: tf.release(calibration(), DATA, entries="v", ledger=book, budget=0.01))
    tf.release(calibration("laplace-exact"), DATA, entries="v", ledger=book, source="single", budget=1)
    check(lambda: tf.release(calibration("quilt-exact"), DATA, entries="v", ledger=book, source="single"))
    check(lambda: tf.release(calibration(), DATA, entries="v", ledger=book, unit="Ana", source="single"))
    check(lambda: tf.release(calibration(), DATA, entries="w", ledger=book, source="single"))
    check(lambda: tf.release(calibration(), DATA, entries="v", ledger=book, source="data", budget=3))
    (tmp_path / "bad.db").write_bytes(b"not a ledger" * 100)
    check(lambda: tf.release(calibration(), DATA, entries="v", ledger=tmp_path / "bad.db"))
    assert [row.name for row in book.show()] == ["single"]


@pytest.mark.sampled(11)
@pytest.mark.parametrize("error", [KeyError(PLANTED, COUNT), KeyboardInterrupt(), OSError(5, PLANTED), MemoryError()])
@pytest.mark.parametrize(("room", "name", "state"), [
    (truth, "read", ReleaseState.NOTHING),
    (publish, "answer_of", ReleaseState.PAID),
    (DiscreteLaplace, "draw", ReleaseState.PAID),
    (library, "certificate_of", ReleaseState.PAID),
    (Ledger, "pay", ReleaseState.NOTHING),
    (Ledger, "keep", ReleaseState.PAID),
    (Ledger, "publish", ReleaseState.DRAWN),
])  # fmt: skip
def test_faults_at_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, room: Any, name: str, state: ReleaseState
) -> None:
    book = Ledger.open(tmp_path / "ledger.db")
    with monkeypatch.context() as patched:
        patched.setattr(room, name, raising(type(error)(*error.args)))
        raised = check(lambda: tf.release(calibration(), DATA, entries="v", ledger=book, budget=3), state)
    assert isinstance(raised, TakifuguError | KeyboardInterrupt | MemoryError)
    again = tf.release(calibration(), DATA, entries="v", ledger=book)  # what was paid for is completed
    assert (again.completed is not None) == (state is not ReleaseState.NOTHING)
    assert book.spent("data").epsilon == tf.compose([calibration()]).epsilon
    assert book.pending() == ()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("old", "new"), [
    ("walking", PLANTED), (",0,x,", f",{PLANTED},x,"), ("007,", ","), (",walking\n", f",walking,{PLANTED}\n"),
])  # fmt: skip
def test_release_files_of_broken_data(tmp_path: Path, old: str, new: str) -> None:
    toml = files.write(tmp_path, table=files.data().replace(old, new, 1))
    check(lambda: tf.release_file(toml))
    error = left_by(lambda: tf.dry_run(toml))
    assert [one for one in carried(error) if tells(one) or holds(one)] == []
    assert not (tmp_path / "ledger.db").exists()


def test_forecasts_that_fail_hold_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = files.write(tmp_path)
    monkeypatch.setattr(advising, "noise_of", raising(KeyError(PLANTED)))
    error = left_by(lambda: tf.dry_run(toml))
    assert [one for one in carried(error) if tells(one) or holds(one)] == []


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_release_files_of_broken_frames(tmp_path: Path, library: str) -> None:
    from takifugu.releasing.postprocess.readable import as_frame

    toml = files.write(tmp_path)
    columns = {"Who is it?": ["a", "a"], "run no.": [1, 1], "t [min]": [0, 1], "état; raw": ["walking", PLANTED]}
    check(lambda: tf.release_file(toml, data=as_frame(columns, library)))
    check(lambda: tf.release_file(toml, data={PLANTED: 1}))


@pytest.mark.parametrize("unit", ["who", "nobody", "1 +"])
def test_drafts_that_fail(unit: str) -> None:
    """What computes its rows as they are read quoted one, and the frames held all of them."""
    import polars as pl

    frame = pl.DataFrame({"who": ["a", "a"], "t": ["0", PLANTED]}).lazy()
    if unit == "who":
        frame = frame.cast({"t": pl.Int64})
    check(lambda: tf.draft(frame, rows="samples", unit=unit, order="t", step="1", value="who"))


def holds(thing: Any) -> bool:
    """Return whether an object holds counts of a release file's data."""
    from takifugu.data import Counts

    return isinstance(thing, Counts) or (
        (is_dataclass(thing) and any(holds(getattr(thing, f.name, None)) for f in fields(thing)))
        or (isinstance(thing, list | tuple) and any(holds(one) for one in thing))
    )


@pytest.mark.slow
def test_release_files_that_are_refused_or_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = files.SPEC + 'mechanism = "quilt-exact"\n'
    toml = files.write(tmp_path, spec.replace("budget = 10", "budget = 0.01"))
    errors = [check(lambda: tf.release_file(toml))]
    toml = files.write(tmp_path, spec)
    monkeypatch.setattr(folder.os, "replace", raising(FULL))
    errors.append(check(lambda: tf.release_file(toml), ReleaseState.DRAWN))
    monkeypatch.undo()
    monkeypatch.setattr(Ledger, "publish", raising(tf.errors.LedgerError("gone")))
    errors.append(check(lambda: tf.release_file(toml), ReleaseState.UNRECORDED))
    monkeypatch.undo()
    assert [one.state for one in tf.resume(tmp_path / "ledger.db")] == [ReleaseState.DONE]
    assert all(table.since for table in tf.release_file(toml).tables)
    monkeypatch.setattr(orders, "validate", raising(KeyError(PLANTED)))
    errors.append(check(lambda: tf.release_file(toml, replace=["time-use"], idempotency_key="second")))
    for error in errors:
        assert not any(holds(one) for one in carried(error))


@pytest.mark.slow
def test_the_search_finds_what_was_there(tmp_path: Path) -> None:
    """The mutants: the same calls without their guard."""
    bare: Any = tf.release.__wrapped__  # type: ignore[attr-defined]
    assert any(tells(one) for one in carried(left_by(lambda: bare(calibration(), BROKEN["unknown"]))))
    book = Ledger.open(tmp_path / "ledger.db")
    account = {"entries": "v", "ledger": book, "budget": 0.01}
    assert any(tells(one) for one in carried(left_by(lambda: bare(calibration(), DATA, **account))))
    toml = files.write(tmp_path, files.SPEC.replace("budget = 10", "budget = 0.01"))
    file: Any = tf.release_file.__wrapped__  # type: ignore[attr-defined]
    error = left_by(lambda: file(toml, data=tmp_path / "data.csv", output=tmp_path / "o"))
    assert any(isinstance(one, Path) for one in carried(error))


def test_a_notice_that_is_made_an_error_is_no_fault() -> None:
    """With `python -W error` it was "a fault of Takifugu itself"."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error = left_by(lambda: tf.release(calibration(), DATA))
    assert isinstance(error, Notice)
    assert error.state is ReleaseState.NOTHING
    assert not any(map(tells, carried(error)))


def test_the_lines_of_a_traceback_stay(tmp_path: Path) -> None:
    error = left_by(lambda: tf.release(calibration(), BROKEN["unknown"]))
    names, trace = [], error.__traceback__
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert names[-1] == "_numbers"
    assert "release" in names
