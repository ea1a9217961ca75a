"""The statements that count: plain SQL of integers, in which no row leaves DuckDB.

Samples are grouped by 64 steps, which are one word of bits: ties, gaps and lengths need no rows, and nothing is sorted.
A row at fault has no bit: what is wrong with each row is computed only where there are fewer bits than rows.
Changes, stays and events are sorted once and compared with the next row of their unit; no step is expanded.
"""

from __future__ import annotations

from collections.abc import Iterable

from takifugu.data.relation.cells import Cells
from takifugu.data.relation.keys import RUNS
from takifugu.data.relation.roles import Opened
from takifugu.data.relation.types import LEFT_OUT, missing_why, name_why, rows_sql
from takifugu.data.sql.faults import BIT
from takifugu.data.values.texts import MISSING

#: Steps to a word of bits.
WORD = 64
#: The tables that statements leave behind.
WORDS, PIECES, COVERS = '"takifugu words"', '"takifugu pieces"', '"takifugu covers"'
_NO_REST = "0 as least, 0 as most"
#: The steps in a state of a word, and of a row.
OF_WORD, OF_ROW = "bit_count(b{0})", "(code = {0})::int"
#: Ticks are counted from below this where they are divided: // is towards 0.
FAR = 2**61


def placed(opened: Opened, window: range | None) -> str:
    """Return the SELECT of samples with the `place` of their step and the `rest` behind it."""
    source = opened.source
    width, origin, size = source.width, source.origin, source.size
    shift = FAR // width
    base = (0 if origin is None else origin) - shift * width
    rows = rows_sql(opened)
    place, rest = f"(tick - {base}) // {width} - {shift}", f"(tick - {base}) % {width}"
    if width == 1:
        place, rest = f"tick - {0 if origin is None else origin}", "0"
    if source.is_by_rank:
        rank = "dense_rank() over (partition by unit, recording order by tick)"
        place, rest = f"case when tick is not null then {rank} end", "0"
    select = f"select *, {place} as place, {rest} as rest from ({rows})"
    if origin is not None:
        inside = "place >= 0" + (f" and place < {size}" if size is not None else "")
        wrong = f"coalesce((not ({inside}))::bigint, 0) * {BIT['outside']}"
        wrong += f" + coalesce((rest <> 0)::bigint, 0) * {BIT['between steps']}"
        why = f"case when {inside} and rest = 0 then why else why + {wrong} end"  # as most rows are
        select = f"select * replace ({why} as why) from ({select})"
    # rows outside the window keep their place
    if window is not None and _leaves_out(opened, window):
        select = f"select * replace (case when {_inside(window)} then code else {MISSING} end as code) from ({select})"
    return select


def words(opened: Opened, window: range | None, cells: Cells | None = None) -> str:
    """Return the SELECT of samples by piece and word of steps, and by cell, if any (-1 outside the window)."""
    source, states = opened.source, range(len(opened.source.states))
    # states are numbered from 1 on, and no state comes behind them; each binary digit of the numbers is a word
    most = len(states) + (source.nulls == "unobserved" or opened.keeps_left_out or _leaves_out(opened, window))
    digits = range(most.bit_length())
    columns = [
        f"case when why <> 0 then 0 when code >= 0 then code + 1 else {most} end as number",
        f"place >> {WORD.bit_length() - 1} as word", f"1::ubigint << (place & {WORD - 1})::ubigint as bit",
    ]  # fmt: skip
    group = ["unit", *(["recording"] if "recording" in opened.roles else []), "word"]
    if cells is not None:
        columns.append(f"case when {_inside(cells.window)} then {cells.number_sql} else -1 end as cell")
        group.append("cell")
    ends = "min(rest) as least, max(rest) as most" if source.origin is None and source.width > 1 else _NO_REST
    by_digit = "".join(
        f"bit_or(case when number & {1 << digit} = {1 << digit} then bit else 0 end) as d{digit}, " for digit in digits
    )
    grouped = f"""select {', '.join(group)}, {by_digit}{ends}, count(*) as n
        from (select *, {', '.join(columns)} from ({placed(opened, window)})) group by {', '.join(group)}"""
    every = f"nullif({_or(f'd{digit}' for digit in digits)}, 0)"
    by_state = "".join(
        " & ".join(f"{'' if number >> digit & 1 else '~'}d{digit}" for digit in digits) + f" as b{number - 1}, "
        for number in range(1, len(states) + 1)
    )
    recording = "" if "recording" in group else "'' as recording, "
    return f"""select *, {_or(f'b{n}' for n in states)} as seen, bit_count(every) as steps,
        word * {WORD} + bit_count((every - 1) & ~every) as low, word * {WORD} + length(bin(every)) - 1 as high
        from (select {recording}{', '.join(group)}, {by_state}{every} as every, least, most, n from ({grouped}))"""


def _leaves_out(opened: Opened, window: range | None) -> bool:
    """Return whether a window is a part of the calendar."""
    return window is not None and (opened.source.size is None or window != range(opened.source.size))


def _inside(window: range) -> str:
    return f"place >= {window.start} and place < {window.stop}"


def _or(columns: Iterable[str]) -> str:
    return " | ".join(columns) or "0::ubigint"


def pieces(opened: Opened) -> str:
    """Return the SELECT of pieces from words, with what is wrong with their names."""
    return f"""select unit, recording, {_by_state(opened, OF_WORD)}, sum(n)::bigint as n, sum(steps)::bigint as steps,
        sum(bit_count(seen))::bigint as observed, {name_why(opened)} as why, min(low) as low, max(high) as high,
        min(least) as least, max(most) as most from {WORDS} group by unit, recording"""


def gaps(length: int | None) -> str:
    """Return the SELECT of the words of pieces with steps that were not seen."""
    whole = f"{length}" if length is not None else "p.high - p.low + 1"
    return f"""select p.number, w.word, bit_or(w.seen) as seen from {WORDS} w join {PIECES} p using (unit, recording)
        where p.observed < {whole} and w.seen <> 0 group by all order by p.number, w.word"""


def samples_by_cell(opened: Opened, cells: Cells, are_with_words: bool) -> str:
    """Return the SELECT of samples of the window by piece and cell, from the words or by another scan."""
    if are_with_words:
        steps, rows = OF_WORD, f"{WORDS} where cell >= 0"
    else:
        columns = f"unit, recording, code, {cells.number_sql} as cell"
        steps, rows = OF_ROW, f"(select {columns} from ({placed(opened, None)}) where {_inside(cells.window)})"
    grouped = f"select unit, recording, cell, {_by_state(opened, steps)} from {rows} group by all"
    return f"select p.number, g.* exclude (unit, recording) from ({grouped}) g join {PIECES} p using (unit, recording)"


def visits(opened: Opened, places: str) -> str:
    """Return the SELECT of visits with the step that each one lies in; `places` is the number of a row's place."""
    source, rows = opened.source, rows_sql(opened, places)
    if source.origin is None:
        return f"select *, 0::bigint as step from ({rows})"
    outside = f"tick < {source.origin}"
    if source.size is not None:
        outside += f" or tick >= {source.origin + source.size * source.width}"
    return f"""select * replace (why + coalesce(({outside})::bigint, 0) * {BIT["outside"]} as why),
        (tick - {source.origin}) // {source.width} as step from ({rows})"""


def runs(opened: Opened, window: range) -> str:
    """Return the SELECT of runs: of each row its unit's number, its code, and its steps `first` up to before `last`."""
    # the table of covers has each unit's ends in ticks; a row that does not count has no step
    source = opened.source
    kind, width, origin = source.rows, source.width, source.origin
    assert origin is not None, "runs have a calendar"
    stop = ", stop" if kind == "stays" else ""
    stranger = f"r.why + (c.number is null and unit is not null)::bigint * {BIT['stranger']}"
    if "unit" in opened.roles:
        stranger += f" + {missing_why('unit')}"
    rows = f"""select c.number::int as number, code, tick{stop}, {stranger} as why, "row"
        from ({rows_sql(opened)}) r left join {COVERS} c using (unit)"""
    in_order = "over (partition by number order by tick)"
    after = f"select *, lead(tick) {in_order} as after from ({rows})"
    early = width - 1 if kind == "events" else 0
    last = {"changes": "after", "events": "tick + 1", "stays": "stop"}[kind]
    if kind == "changes" and opened.keeps_left_out:  # a state holds until the next row that counts
        counting, last = f"case when code <> {LEFT_OUT} then tick end", "after_counting"
        after = f"select *, lead({counting} ignore nulls) {in_order} as {last} from ({after})"
    shift = FAR // width * width - origin
    clash = {
        "changes": "false", "stays": "after < stop",
        "events": f"(tick + {shift}) // {width} = (after + {shift}) // {width}",
    }[kind]  # fmt: skip
    name = "overlap" if kind == "stays" else "tie"
    why = [
        "r.why",
        f"coalesce((tick = after)::bigint, 0) * {BIT['tie']}",
        f"coalesce((tick <> after and {clash})::bigint, 0) * {BIT[name]}",
        f"coalesce((tick >= high)::bigint, 0) * {BIT['outside']}",
        *([f"(stop is null and after is not null)::bigint * {BIT['open']}"] if kind == "stays" else []),
    ]
    low, high = origin + window.start * width, origin + window.stop * width

    def step(tick: str) -> str:
        """Return the first step from a tick on, inside the window and the cover."""
        return f"(least({high}, greatest({low}, low, least(high, {tick}))) - {origin} + {width - 1}) // {width}"

    end = step(f"coalesce({last}, high)")
    if opened.keeps_left_out:
        end = f"case when code = {LEFT_OUT} then first else {end} end"
    ends = f"{step(f'tick - {early}')} as first, {end} as last"
    listed = f"number, code, tick, {' + '.join(why)} as why, {ends}, \"row\""
    return f"select {listed} from ({after}) r left join {COVERS} c using (number)"


def runs_by_state(opened: Opened, window: range) -> str:
    """Return the SELECT of steps by unit and state."""
    return f"""select number, code, bit_or(why) as why, min(tick) as earliest,
        sum(greatest(last - first, 0))::bigint as steps from ({runs(opened, window)}) group by number, code"""


def runs_by_stretch(opened: Opened, window: range, cells: Cells) -> str:
    """Return the SELECT of the ends of runs by unit, state and stretch of steps: their signs, places and periods."""
    condition = "last > first or why <> 0"
    if opened.source.default_state is None:  # a unit's first row counts, too, where it is before the window
        condition = "true"
    ends = f"""select number, code, tick, why, unnest([1, -1]) as sign, unnest([last, first]) as place
        from ({runs(opened, window)}) where {condition}"""
    stretch, period = cells.stretch_sql
    return f"""select number, code, stretch, bit_or(why) as why, min(tick) as earliest, sum(sign)::bigint as signs,
        sum(sign * place)::bigint as places, sum(sign * period)::bigint as periods
        from (select *, {stretch} as stretch, {period} as period from ({ends})) group by number, code, stretch"""


def listed_runs(opened: Opened, window: range, is_missing: bool) -> str:
    """Return the SELECT of all runs in order, or of those without a state."""
    which = f"code = {MISSING} and " if is_missing else ""
    return f"""select number, first, last, code from ({runs(opened, window)})
        where {which}last > first order by number, first, last"""


def wrong_rows(opened: Opened, window: range | None, more: str = "") -> str:
    """Return the SELECT of the number of each row and all that is wrong with it; `more` is that of `rows_sql`."""
    source, wrong = opened.source, dict[str, str]()
    if source.rows in RUNS:
        assert window is not None, "runs have a calendar"
        return runs(opened, window)
    if source.rows == "samples":
        rows, same = placed(opened, None), "partition by unit, recording"
        wrong["tie"] = f'place is not null and row_number() over ({same}, place order by "row") > 1'
        if source.origin is None:
            wrong["between steps"] = f'rest <> first_value(rest) over ({same} order by "row")'
        if source.roster is not None:
            wrong["outside"] = "tick < low or tick >= high"
    elif source.rows == "answers":
        rows = rows_sql(opened, more)
        wrong["second answer"] = 'row_number() over (partition by unit order by "row") > 1'
    else:
        rows = visits(opened, more)
    if source.roster is not None:
        rows, wrong["stranger"] = f"select * from ({rows}) r left join {COVERS} c using (unit)", "number is null"
    bits = [f"coalesce(({is_so})::bigint, 0) * {BIT[cause]}" for cause, is_so in wrong.items()]
    return f'select "row", {" | ".join(["why", name_why(opened), *bits])} as why from ({rows})'


def _by_state(opened: Opened, steps: str) -> str:
    """Return the sums of the steps in each state, by a form with the state's number."""
    states = range(len(opened.source.states))
    return ", ".join(f"sum({steps.format(n)})::bigint as s{n}" for n in states) or "0 as s"
