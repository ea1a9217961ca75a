"""Report how pages read: `python -m tools.prose [PAGE...]`; without pages, all of docs/ but proofs.

Sentences of prose alone are counted: no code, tables, headings or addresses. Targets: 15 words on average, 28 at the
95th percentile, 5 % of sentences with a noun clause (what, whose, whatever), no banned word. It fails nothing.
"""

from __future__ import annotations

import re
import statistics
import sys
from collections import Counter
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


def measures(some: list[str]) -> str:
    """Return what is measured of sentences, in one line."""
    lengths = sorted(len(sentence.split()) for sentence in some)
    clauses = 100 * sum(bool(CLAUSE.search(sentence)) for sentence in some) / len(some)
    banned = Counter(word.lower() for sentence in some for word in BANNED.findall(sentence))
    words = ", ".join(f"{word} {times}" for word, times in banned.most_common(3))
    last = lengths[int(0.95 * (len(lengths) - 1))]
    return f"mean {statistics.mean(lengths):4.1f}  95 % {last:2}  clauses {clauses:4.1f} %  {words}"


def main(names: list[str]) -> None:
    pages = [Path(name) for name in names] or [p for p in sorted(DOCS.rglob("*.md")) if p.parent.name != "theory"]
    every = {page: sentences(page.read_text(encoding="utf-8")) for page in pages}
    for page, some in every.items():
        if some:
            print(f"{page.relative_to(DOCS) if page.is_relative_to(DOCS) else page!s:36} {measures(some)}")
    print(f"{'all':36} {measures([sentence for some in every.values() for sentence in some])}")


if __name__ == "__main__":
    main(sys.argv[1:])
