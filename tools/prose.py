"""Check how pages read: `python -m tools.prose [PAGE...]`; without pages, all of docs/ but proofs. It fails with lines.

Sentences of prose alone are counted: no code, tables, headings or addresses. Every page keeps `LIMITS`.
"""

from __future__ import annotations

import math
import re
import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
CLAUSE = re.compile(r"\b(what|whose|whoever|whatever|how far)\b", re.IGNORECASE)
#: Words that the style guide replaces: adversary and snoop by reader, law by distribution, kin by related work.
BANNED = re.compile(r"\b(snoops?|adversary|adversaries|bouts?|randomisers?|laws?|kin|foretells?)\b", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """Return the sentences of a page's prose."""
    text = re.sub(r"^(```|~~~).*?^\1\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->|<[^>]+>", "", text, flags=re.DOTALL)
    text = "\n".join(line for line in text.splitlines() if not re.match(r"\s*(#|\||!\[|--8<--)", line))
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^\s*([*+-]|\d+\.)\s+", "\n\n", text, flags=re.MULTILINE)
    seen = []
    for paragraph in re.split(r"\n\s*\n", text):
        parts = re.split(r"(?<=[.!?:])\s+(?=[A-Z*`'\"(])", " ".join(paragraph.split()))
        seen += [part for part in parts if len(part.split()) > 2]
    return seen


@dataclass(frozen=True)
class Measures:
    """What is measured of sentences: words on average and at the 95th percentile, and shares in percent."""

    mean: float
    last: int
    long: float
    clauses: float
    banned: int = 0

    def within(self, limits: Measures) -> bool:
        return all(mine <= limit for mine, limit in zip(astuple(self), astuple(limits), strict=True))

    def __str__(self) -> str:
        shares = f"over 30 {self.long:4.1f} %  clauses {self.clauses:4.1f} %"
        return f"mean {self.mean:4.1f}  95 % {self.last:2}  {shares}  terms {self.banned}"


LIMITS = Measures(mean=15, last=28, long=3, clauses=5)


def measures(some: list[str]) -> Measures:
    """Return what is measured of sentences, rounded up to a tenth."""
    lengths = sorted(len(sentence.split()) for sentence in some)
    clauses = sum(bool(CLAUSE.search(sentence)) for sentence in some)
    banned = sum(len(BANNED.findall(re.sub(r"`[^`]*`", "", sentence))) for sentence in some)
    return Measures(
        _tenth(statistics.mean(lengths)), lengths[int(0.95 * (len(lengths) - 1))],
        _tenth(100 * sum(words > 30 for words in lengths) / len(some)), _tenth(100 * clauses / len(some)), banned,
    )  # fmt: skip


def _tenth(number: float) -> float:
    return math.ceil(10 * number - 1e-9) / 10


def faults(found: Mapping[str, Measures]) -> Iterator[str]:
    """Yield a line for each page beyond the limits."""
    for name, page in found.items():
        if not page.within(LIMITS):
            yield f"{name}: {page}; the limits are {LIMITS}"


def every_page() -> dict[str, list[str]]:
    """Return the sentences of each page but proofs, by its path below docs/."""
    pages = [path for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "theory"]
    return {path.relative_to(DOCS).as_posix(): sentences(path.read_text(encoding="utf-8")) for path in pages}


def main(names: list[str]) -> int:
    every = {name: sentences(Path(name).read_text(encoding="utf-8")) for name in names} if names else every_page()
    found = {name: measures(some) for name, some in every.items() if some}
    for name, page in found.items():
        print(f"{name:30} {page}")
    print(f"{'all':30} {measures([sentence for some in every.values() for sentence in some])}")
    wrong = [] if names else list(faults(found))
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
