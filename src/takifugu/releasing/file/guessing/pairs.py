"""Two columns of a table that name people, or things, of one and the same list: the ends of contacts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from takifugu.data.kinds import TEXTS, TIMES, WHOLE
from takifugu.releasing.file.guessing.seen import MOST_STATES, Seen

Rows = Mapping[str, Sequence[str | None]]
#: Words in the names of the two ends of a contact.
_ENDS = tuple(
    tuple(pair.split()) for pair in (
        "i j", "source target", "src dst", "from to", "sender receiver", "sender recipient", "caller callee",
        "ego alter", "one other", "who whom", "von an", "von nach", "de a", "da a",
    )
)  # fmt: skip


def ends_of(columns: Sequence[Seen], rows: Rows) -> tuple[Seen, Seen] | None:
    """Return two columns of people, or things, from one list."""
    names = [column for column in columns if column.kind in (WHOLE, TEXTS) and not column.tells_when]
    for end, other in combinations(names, 2):
        has_end_words = any({first} <= end.words and {second} <= other.words for first, second in _ENDS)
        has_same_stem = end.stem == other.stem != ""
        narrow = len(columns) <= 4 and (has_same_stem or end.kind == other.kind == TEXTS)
        if not (has_end_words or narrow or (has_same_stem and end.named("unit"))):
            continue
        fewest, shared = _fewest_and_shared(end, other)
        nameless = fewest > MOST_STATES and _rarely_equal(end, other, rows)
        if shared and (has_end_words or (has_same_stem and end.named("unit")) or nameless):
            return end, other
    return _alike(columns, rows)


def _alike(columns: Sequence[Seen], rows: Rows) -> tuple[Seen, Seen] | None:
    """Return the only two columns of one name and equal values.

    The values are many names, or numbers of recurring people.
    """
    some = [c for c in columns if c.kind in (WHOLE, TEXTS) and len(c.labels) > MOST_STATES and c.stem]
    stems = Counter(column.stem for column in columns)
    # A row that is another case, or says nothing of when or in which groups, may hold what was measured twice.
    of_meetings = (c.kind == TIMES or c.is_epoch or (c.kind == TEXTS and stems[c.stem] == 2) for c in columns)
    meets = any(of_meetings) and not any(column.is_identifier for column in columns)
    for end, other in combinations((c for c in some if not (c.tells_when or c.is_size)), 2):
        if end.stem != other.stem or stems[end.stem] != 2 or end.kind != other.kind:
            continue
        fewest, is_shared = _fewest_and_shared(end, other)
        # What is measured twice is the same now and then, too; nobody meets himself.
        recur = meets and 2 * fewest <= end.rows and _equal_rows(end, other, rows) == 0
        if is_shared and (recur if end.kind == WHOLE else _rarely_equal(end, other, rows)):
            return end, other
    return None


def _rarely_equal(end: Seen, other: Seen, rows: Rows) -> bool:
    """Return whether at most one row in twenty has equal columns."""
    return _equal_rows(end, other, rows) * 20 <= len(rows[end.name])


def _equal_rows(end: Seen, other: Seen, rows: Rows) -> int:
    pairs = zip(rows[end.name], rows[other.name], strict=True)
    return sum(a == b for a, b in pairs if a is not None)


def _fewest_and_shared(end: Seen, other: Seen) -> tuple[int, bool]:
    """Return the smaller count of values, and whether half are common."""
    fewest = min(len(end.labels), len(other.labels))
    return fewest, len(set(end.labels) & set(other.labels)) * 2 >= fewest
