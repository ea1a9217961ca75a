"""Random tables whose truth is known: what is drafted reads it, or is refused, and never reads anything else."""

import random
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.releasing.draft.exports import STATES, courses, text

from takifugu.core.errors import TakifuguError
from takifugu.data.relation.source import opened_table
from takifugu.releasing.draft.evidence import Evidence, evidence
from takifugu.releasing.draft.question import Question
from takifugu.releasing.draft.questions import questions
from takifugu.releasing.draft.text import draft_of, text_of

#: A form of times that nothing knows.
UNKNOWN = "%d %m %Y at %Hh%M"
FORMATS = (
    "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%d/%m/%y %H:%M", "%m/%d/%y %H:%M", "%m/%d/%Y %I:%M %p",
    "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y/%m/%d %H:%M", "%Y%m%d%H%M", "%Y%m%d%H%M%S", "%d-%b-%Y %H:%M:%S",
    "%b %d, %Y, %I:%M %p", "%d %B %Y %H:%M", "%y-%m-%d %H:%M", UNKNOWN,
)  # fmt: skip
MOMENTS = ("%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%SZ", "%d/%b/%Y:%H:%M:%S %z", "s", "ms", "us", "ns")


class Table:
    """A random export with its truth; `form` is how its times are written."""

    def __init__(self, seed: int) -> None:
        chance = self.chance = random.Random(seed)
        people = chance.sample(["Ana", "Ben", "7", "12", "a b", "Zoë"], chance.randint(1, 3))
        rows, self.truth = courses(seed, people, chance.choice([12, 60, 300]))
        self.form, self.is_moment = chance.choice(FORMATS), chance.random() < 0.3
        if self.is_moment:
            self.form = chance.choice(MOMENTS)
        start = datetime(2026, chance.randint(1, 6), chance.randint(1, 28), tzinfo=UTC)
        width = timedelta(minutes=chance.choice([1, 15, 60, 1440]))
        self.step = {1: "1min", 15: "15min", 60: "1h", 1440: "1d"}[int(width.total_seconds()) // 60]
        pads, points, self.has_missing = (chance.random() < 0.2 for _ in range(3))
        points = points and all(name.isdigit() for name in people)
        self.numbers = chance.choice(["", "", ".", ","])
        end = start + width * (rows[-1][1] + 1)
        self.calendar = {"from": self.text(start), "until": self.text(end)}
        lines = list[list[str]]()
        for who, step, state in rows:
            time, value = self.time(start + step * width), state
            if self.numbers:
                whole = chance.randrange(0, 1000) if state == STATES[0] else chance.randrange(1000, 2_000_000)
                value = f"{whole:,}.{chance.randrange(100):02d}"
                value = value.replace(",", "") if self.numbers == "." else value.translate({44: 46, 46: 44})
            if self.has_missing and chance.random() < 0.1:
                value = chance.choice(["NA", ""])
                self.truth[who][STATES.index(state)] -= 1
            name = f"{who}.0" if points else f" {who}" if pads and chance.random() < 0.5 else who
            lines.append([name, time, value, str(step % 3)])
        names = ["who", "when", "state", "other"]
        places = chance.sample(range(4), 4)
        sign = chance.choice(";\t|" if self.numbers or "," in self.form else ",;\t|")
        above = chance.choice(["", "", "An export\n\n", "Made;2026-01-05\n"])
        if chance.random() < 0.2:
            lines.insert(len(lines) // 2, names)
        content = above + text([names[p] for p in places], [[line[p] for p in places] for line in lines], sign)
        self.codec = chance.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"])
        self.content = content.encode(self.codec)

    def text(self, moment: datetime) -> str:
        """Return a time as a release file writes it."""
        return moment.isoformat() if self.is_moment else moment.replace(tzinfo=None).isoformat()

    def time(self, moment: datetime) -> str:
        """Return a time as the table writes it."""
        scale = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.get(self.form)
        return moment.strftime(self.form) if scale is None else str(int(moment.timestamp()) * scale)

    def answer(self, question: Question, said: dict[str, str]) -> str:
        """Return what the owner knows, of the choices where times, rows and numbers can be read in several ways."""
        right = {"rows": "samples", "unit": "who", "order": "when", "step": self.step, "value": "state",
                 "timezone": "UTC", "nulls": "unobserved", "called": "person"}  # fmt: skip
        names = [choice.name for choice in question.choices]
        if question.name == "where":
            return names[0]
        if question.name == "unit" and "unit" in said:
            return names[0]
        if question.name == "order" and "order" in said:
            return next(name for name in names if self.form in name or (self.form == "ms" and "* 1000 " in name))
        if question.name == "value" and "value" in said:
            return next(name for name in names if ("replace" in name) == (self.numbers == ","))
        return right[question.name]

    def keys(self, opened: Evidence) -> dict[str, object]:
        said = dict[str, str]()
        while some := questions(opened, said):
            said[some[0].name] = self.answer(some[0], said)
        written = text_of(draft_of(opened, said, None, Path(opened.file).with_name("r.toml")))
        source: dict[str, object] = tomllib.loads(written)["source"]
        bins = {"bins": {STATES[0]: [0, 1000], STATES[1]: [1000, 3_000_000]}} if "bins" in source else {}
        return {**source, **bins, **self.calendar}


@pytest.mark.sampled(40)
@pytest.mark.parametrize("seed", range(120))
def test_what_is_drafted_of_a_random_table_is_never_misread(seed: int, tmp_path: Path) -> None:
    made = Table(seed)
    (tmp_path / "a.csv").write_bytes(made.content)
    codec = made.codec if made.codec == "cp1252" and not made.content.isascii() else None
    if made.form == UNKNOWN:
        with evidence(tmp_path / "a.csv", codec) as opened:  # noqa: SIM117
            with pytest.raises(TakifuguError, match="nothing reads all of 'when'"):
                made.keys(opened)
        return
    with evidence(tmp_path / "a.csv", codec) as opened:
        keys = made.keys(opened)
    with opened_table(keys, STATES, tmp_path) as source:
        counts = source.counts()
    assert dict(zip(counts.names[0].tolist(), counts.counts.tolist(), strict=True)) == made.truth
