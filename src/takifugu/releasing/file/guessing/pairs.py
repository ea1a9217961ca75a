"""Two columns of a table that name people, or things, of one and the same list: the ends of contacts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from takifugu.data.kinds import TEXTS
from takifugu.releasing.file.guessing.seen import MOST_STATES, Seen

#: Words in the names of the two ends of a contact.
_ENDS = tuple(
    tuple(pair.split()) for pair in (
        "i j", "source target", "src dst", "from to", "sender receiver", "sender recipient", "caller callee",
        "ego alter", "one other", "who whom", "von an", "von nach", "de a", "da a",
    )
)  # fmt: skip


def ends_of(columns: Sequence[Seen]) -> tuple[Seen, Seen] | None:
    """Return two columns of people, or things, from one list.

    Their names say so; or they are many names, or numbers of recurring people, in a table of little else or in two
    columns of one name.
    """
    stems = Counter(column.stem for column in columns)
    # A row that is another case, or says nothing of when or in which groups, may hold what was measured twice.
    of_meetings = (c.is_time or (c.kind == TEXTS and stems[c.stem] == 2) for c in columns)
    meets = any(of_meetings) and not any(column.is_identifier for column in columns)
    names = [column for column in columns if column.is_name and not column.tells_when]
    alike = list[tuple[Seen, Seen]]()
    for end, other in combinations(names, 2):
        fewest = min(len(end.labels), len(other.labels))
        if len({*end.labels} & {*other.labels}) * 2 < fewest:
            continue
        same_stem = end.stem == other.stem != ""
        if any({first} <= end.words and {second} <= other.words for first, second in _ENDS):
            return end, other
        if same_stem and end.named("unit"):
            return end, other
        equal = sum(a == b for a, b in zip(end.values, other.values, strict=True) if a is not None)
        if fewest <= MOST_STATES or end.kind != other.kind or end.is_size:
            continue
        narrow = len(columns) <= 4 and (same_stem or end.kind == TEXTS)
        if narrow and equal * 20 <= end.rows:
            return end, other
        # What is measured twice is the same now and then, too; nobody meets himself.
        recur = meets and 2 * fewest <= end.rows and equal == 0
        if same_stem and stems[end.stem] == 2 and (recur if end.kind != TEXTS else equal * 20 <= end.rows):
            alike.append((end, other))
    return alike[0] if alike else None
