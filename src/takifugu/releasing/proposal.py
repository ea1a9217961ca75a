"""A table, what its owner said of it, and what follows: the questions, the file, and its verdict, as JSON.

A table that was read is kept, so that a verdict at another epsilon reads nothing. Nothing is decided here, and nothing
is written: the questions are those of `init`, the verdict is that of `advise`, and `release` publishes.
"""

from __future__ import annotations

import json
import threading
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from takifugu.accounting.suspicion import percent, posterior
from takifugu.core.errors import DataError, InputError, SpecError, TakifuguError
from takifugu.core.escaping import visible
from takifugu.core.plain import Json
from takifugu.core.tracebacks import without_data
from takifugu.data.relation.keys import KEYS
from takifugu.data.sql.words import identifier
from takifugu.releasing.advice.advice import advised
from takifugu.releasing.advice.advising import TableAdvice, advice_of
from takifugu.releasing.advice.changes import Change, in_text
from takifugu.releasing.advice.leaving_out import in_place_of_good
from takifugu.releasing.draft.declared import DECLARED, OF_THE_TABLE, missing_in, question_of, value_of
from takifugu.releasing.draft.evidence import Evidence, evidence
from takifugu.releasing.draft.question import NONE, QUESTIONS, Answers, Question, opening, question_called
from takifugu.releasing.draft.questions import example, questions
from takifugu.releasing.draft.text import Draft, draft_of, text_of
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.loading import checked
from takifugu.releasing.file.relation_keys import UNOPENED
from takifugu.releasing.file.toml_words import in_toml
from takifugu.releasing.planning.notices import added
from takifugu.releasing.planning.plan import Plan, aims_of, calibrated, number_of_units, planned_of, unwatched
from takifugu.releasing.steps import foreseen

#: So many rows and columns are shown, and so much of a value; so many sets of answers are kept.
_ROWS, _COLUMNS, _LONGEST, _MOST_FORMS = 5, 12, 40, 4
EPSILON = "epsilon"


@dataclass
class _Form:
    """The consequences of answers at any epsilon: the questions, the draft, and the file with its data as read."""

    posed: dict[str, Question]
    answers: dict[str, str]
    wrong: dict[str, str]
    open: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    draft: Draft | None = None
    file: ReleaseFile | None = None
    #: The units that were read of each window, and how many there are where calibration reads none.
    units: dict[range | None, tuple[Unit, ...]] = field(default_factory=dict)
    number: int | None = None


class Proposal:
    """A table and the release file that is drafted of it, which is to lie at `output`."""

    def __init__(self, table: str, output: Path, head: str = "", given: Answers | None = None) -> None:
        self.table, self.output, self._head, self._given = table, output, head, {**(given or {})}
        self._opened: Evidence | None = None
        self._opened_by: tuple[str | None, ...] = ()
        self._forms = dict[str, _Form]()
        self._seen = dict[str, Question]()
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the table."""
        if self._opened is not None:
            self._opened.relation.close()

    @without_data
    def state(self, said: Answers, changes: Sequence[Change] = ()) -> Json:
        """Return each question with its answer or what is wrong with it, the file, what it lacks, and its verdict."""
        with self._lock:
            form = self._follow(said, changes)
            lacks, judged, text, is_ready = list(form.lacks), Json(), None, False
            if form.draft is not None:
                text = self._text(form, said, changes)
            if form.file is not None and text is not None:
                try:
                    plan = self._plan(form, text)
                    left_out = in_place_of_good(plan.file, is_seen=True)
                    tables = list(map(_table, advice_of(plan, form.number, left_out)))
                    judged = {"tables": tables, "chain": _chain(plan)}
                    is_ready = True
                except TakifuguError as error:
                    lacks += lines_of(error)
            return {
                "questions": [self._posed(form, question, said) for question in form.posed.values()],
                "file": text, "changed": [] if text is None else _changed(self._text(form, said, ()), text),
                "lacks": lacks, "is_ready": is_ready and not form.open and not form.wrong, **judged,
            }  # fmt: skip

    @without_data
    def rows(self, said: Answers) -> Json:
        """Return the first rows, for the owner's eyes alone."""
        with self._lock:
            try:
                opened = self._open({**self._given, **said})
            except TakifuguError:
                return {"columns": [], "rows": []}
            columns = [*opened.types][:_COLUMNS]
            selected = ", ".join(f"left(cast({identifier(name)} as varchar), {_LONGEST})" for name in columns)
            rows = opened.ask(selected, rows=f"(from {opened.rows} limit {_ROWS})")
            texts = [["" if cell is None else cell for cell in row] for row in rows]
            return {"columns": columns, "rows": texts, "size": opened.size, "width": len(opened.types)}

    @without_data
    def remedies(self, said: Answers, changes: Sequence[Change] = ()) -> Json:
        """Return what would help the table, as `advise` finds it."""
        with self._lock:
            raw, draft = tomllib.loads(self.text(said, changes)), self._follow(said, changes).draft
        judged, remedies = advised(checked(raw, self.output), raw, is_seen=True), list[Json]()
        # a draft's budget is its epsilon, unless an answer or another file of the folder has one
        other = None if draft is None else draft.answers.get("budget") or (draft.neighbour and draft.neighbour.budget)
        is_free = not other
        for remedy in judged.remedies:
            words = {"promise": remedy.promise, "words": remedy.words, "why": remedy.why}
            remedies.append({**_remedy(remedy.changes, is_free), **words})
        return {"heading": judged.heading, "remedies": remedies, "notices": list(judged.notices)}

    @without_data
    def foresee(self, said: Answers, changes: Sequence[Change] = ()) -> Json:
        """Rehearse the release: what is spent for ever, in a sentence, and why it would be refused."""
        with self._lock:
            raw = tomllib.loads(self.text(said, changes))
        ledger = str(raw["ledger"])
        if "://" not in ledger and not (self.output.parent / ledger).exists():
            raw["require_ledger"] = False  # it is made with the file
        forecast = foreseen(checked(raw, self.output), is_seen=True)
        account, words = forecast.account, list[str]()
        if account is not None and account.charges:
            whose = forecast.people.counted(sum(charge.units for charge in account.charges))
            spent, budget = account.after.with_budget(account.budget)
            sure = percent(posterior(0.5, float(account.after.epsilon)), up=True)
            words.append(
                f"This spends {added(account.charges)} for {whose}, for ever: then {spent} of {budget} is spent, "
                f"and a reader who is 50 % sure of a secret can become {sure} sure."
            )
        return {"sentence": " ".join(words), "notices": list(forecast.notices), "refused": list(forecast.refusals)}

    def text(self, said: Answers, changes: Sequence[Change] = ()) -> str:
        """Return the text of a file that lacks nothing; InputError for one that does."""
        with self._lock:
            form = self._follow(said, changes)
            if form.file is None or form.draft is None or form.open or form.wrong:
                raise InputError("questions are open", fix="answer them: " + ", ".join([*form.open, *form.wrong]))
            return self._text(form, said, changes)

    def start(self, said: Answers) -> Draft:
        """Return the draft of answers that lack nothing."""
        self.text(said)
        draft = self._follow(said, ()).draft
        assert draft is not None  # which has a text
        draft.evidence.relation.check_unchanged()
        return draft

    # -- what follows at any epsilon

    def _follow(self, said: Answers, changes: Sequence[Change]) -> _Form:
        answers = {name: word for name, word in {**self._given, **said}.items() if word and name != EPSILON}
        key = json.dumps([sorted(answers.items()), [(change.where, change.value) for change in changes]], default=str)
        if key not in self._forms:
            while len(self._forms) >= _MOST_FORMS:
                del self._forms[next(iter(self._forms))]
            self._forms[key] = self._followed(answers, changes)
        return self._forms[key]

    def _followed(self, said: Answers, changes: Sequence[Change]) -> _Form:
        form = _Form({name: self._seen[name] for name in ("encoding", "sql") if name in self._seen}, {}, {})
        try:
            opened = self._open(said)
        except InputError as error:
            name = str(error.where[-1]) if error.where else ""
            if name not in said:
                form.posed[name] = self._seen[name] = opening(error)
                form.open.append(name)
            else:
                form.wrong[name] = error.asked
            return form
        form.answers |= {name: said[name] for name in form.posed if name in said}
        self._ask(opened, said, form)
        if not form.open and not form.wrong:
            self._declare(opened, said, form, changes)
        self._seen |= form.posed
        return form

    def _open(self, said: Answers) -> Evidence:
        how = said.get("encoding"), said.get("sql")
        if self._opened is None or how != self._opened_by:
            opened = evidence(self.table, *how)
            self.close()
            self._opened, self._opened_by = opened, how
        return self._opened

    def _ask(self, opened: Evidence, said: Answers, form: _Form) -> None:
        """Ask about the table as `init` does; an answer that is none stays open."""
        while True:
            for question in questions(opened, form.answers):
                name, word = question.name, said.get(question.name)
                if name in form.answers:  # one way of several to read what was named: others may be named, too
                    others = form.posed[name].choices
                    question, word = replace(question, choices=(*question.choices, *others), offered=None), None
                    form.open.append(name)
                form.posed[name] = question
                word = word or question.offered
                if word is None or name in form.open or name in form.wrong:
                    form.open += [name] if name not in form.open and name not in form.wrong else []
                    continue
                try:
                    questions(opened, {**form.answers, name: word})
                except TakifuguError as error:
                    form.wrong[name] = error.asked
                    continue
                form.answers[name] = word
                break
            else:
                if form.open or form.wrong or not (name := self._unasked(said, form)):
                    return
                try:
                    questions(opened, {**form.answers, name: said[name]})
                    form.answers[name] = said[name]
                except TakifuguError as error:
                    form.wrong[name] = error.asked

    def _unasked(self, said: Answers, form: _Form) -> str:
        """Return the name of an answer about the table that nothing asks for: it holds, and is shown."""
        known = [name for name in OF_THE_TABLE if name in said and name not in form.posed and name in QUESTIONS]
        if known:
            form.posed[known[0]] = self._seen.get(known[0]) or question_called(known[0])
        return known[0] if known else ""

    def _declare(self, opened: Evidence, said: Answers, form: _Form, changes: Sequence[Change]) -> None:
        """Ask what no table tells, and read the data once nothing is missing."""
        known = {name: word for name, word in said.items() if name not in OF_THE_TABLE and word != NONE}
        form.answers |= known
        form.draft = draft_of(opened, form.answers, None, self.output)
        try:
            form.file = checked(tomllib.loads(self._text(form, {}, changes)), self.output)
            self._read(form)
        except TakifuguError as error:
            form.file = None
            faults = error.faults if isinstance(error, SpecError) else (error,)
            lacks = missing_in(list(map(_placed, faults)), form.answers, example(opened, form.answers))
            named = {*DECLARED} if isinstance(error, DataError) else None  # data lack what is declared, or are wrong
            posed = {question.name: question for question in lacks.questions if named is None or question.name in named}
            details = lacks.faults
            form.wrong |= {name: visible(in_toml(details[name].message)) for name in details}
            form.open += [*posed]
            form.lacks += lines_of(error) if not posed and not form.wrong else []
        else:
            posed = {}
        both = {**{name: self._seen.get(name) or question_of(name, form.answers) for name in known}, **posed}
        both = {name: question_of(name, form.answers) if name in DECLARED else both[name] for name in both}
        form.posed |= {name: both[name] for name in dict.fromkeys([*DECLARED, *both]) if name in both}

    def _read(self, form: _Form) -> None:
        """Read what calibration needs of the data, as `advise` does."""
        file = form.file
        assert file is not None
        if not file.kind.facts.has_lengths:
            form.number = number_of_units(calibrated(file), unwatched)
            return
        for item in file.items:
            part = file.kind.part(file, item)
            if part.places not in form.units:
                form.units[part.places] = tuple(file.kind.units(part))

    def _text(self, form: _Form, said: Answers, changes: Sequence[Change]) -> str:
        assert form.draft is not None
        epsilon = {EPSILON: said[EPSILON]} if said.get(EPSILON) else {}
        text = self._head + text_of(replace(form.draft, answers={**form.answers, **epsilon}))
        return in_text(text, changes) + "\n" if changes else text

    def _plan(self, form: _Form, text: str) -> Plan:
        """Return the plan of a text, with what was read of its data."""
        read = form.file
        assert read is not None
        file = replace(checked(tomllib.loads(text), self.output, UNOPENED), given=None, opened=read.opened)
        if not file.kind.facts.has_lengths:
            return calibrated(file)
        return planned_of(file, aims_of(file, lambda part: form.units[part.places]), unwatched)

    def _posed(self, form: _Form, question: Question, said: Answers) -> Json:
        name = question.name
        answer = said.get(name) or form.answers.get(name)
        values = value_of(name, answer, form.answers) if answer and question.parts else {}
        texts = {part: " to ".join(map(str, v)) if isinstance(v, list) else str(v) for part, v in values.items()}
        details = {"answer": answer, "values": texts, "wrong": form.wrong.get(name, ""), "is_open": name in form.open}
        return {**asdict(question), **details}


def _table(table: TableAdvice) -> Json:
    half = None if table.joint is None else float(table.joint.half_width)
    return {**table.to_dict(), "words": f"{table.name}: {table.sentence}", "half": half}


def _chain(plan: Plan) -> Json | None:
    """Return what the page's engine needs to follow a slider: a chain of two or three states, and what is counted."""
    calibration = plan.tables[0].questions[0].calibration
    beliefs, query = calibration.framework.to_dict()["beliefs"], calibration.query.to_dict()
    belief: Mapping[str, Any] = beliefs[0] if len(beliefs) == 1 else {}
    pairs = belief.get("lengths") or [(belief.get("length", 1), 1)]
    belief = belief.get("chain", belief)  # of which each person's recording is one
    matrix, is_counted = belief.get("matrix", ()), query.get("kind") in ("count", "histogram")
    is_chain = belief.get("kind") == "markov-chain" and len(matrix) in (2, 3)
    if not is_chain or not is_counted or min(map(min, matrix)) <= 0:
        return None
    counted = [belief["states"].index(state) for state in query.get("states") or ()]
    most = max(length for length, _ in pairs)
    return {"matrix": matrix, "length": most, "query": query["kind"], "counted": (counted or [0])[0]}


def _remedy(changes: Sequence[Change], is_free: bool) -> Json:
    """Return changes for the page, whose slider has the epsilon, and whose draft has a budget of it."""
    epsilon = next((change.value for change in changes if change.where == ("table", 0, EPSILON)), None)
    gone = {("table", 0, EPSILON), *([("source", "budget")] if is_free and epsilon is not None else [])}
    others = [{"where": list(change.where), "value": change.value} for change in changes if change.where not in gone]
    return {"epsilon": epsilon, "changes": others}


def _placed(fault: TakifuguError) -> TakifuguError:
    """Return a fault of the data at the key of [source] that it names."""
    return fault.at("source") if fault.where[:1] and fault.where[0] in KEYS else fault


def lines_of(error: TakifuguError) -> list[str]:
    """Return an error's faults, each a line in the words of a release file."""
    lines = error.problems if isinstance(error, SpecError) else (error.message,)
    return [visible(in_toml(line)) for line in lines]


def _changed(before: str, after: str) -> list[int]:
    """Return the numbers of lines that are new."""
    old = set(before.splitlines())
    return [number for number, line in enumerate(after.splitlines(), 1) if line not in old]
