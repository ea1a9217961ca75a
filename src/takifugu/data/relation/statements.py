"""The statements that count: plain SQL of integers, in which no row leaves DuckDB.

Samples are grouped by 60 steps, which are one word of bits: ties, gaps and lengths need no rows, and nothing is sorted.
Changes, stays and events are sorted once and compared with the next row of their unit; no step is expanded.
"""

from __future__ import annotations

from takifugu.data.relation.cells import Cells
from takifugu.data.relation.roles import Opened
from takifugu.data.relation.types import LEFT_OUT, name_why, rows_sql
from takifugu.data.sql.faults import BIT
from takifugu.data.values.texts import MISSING

#: Steps to a word of bits: a signed integer holds them.
WORD = 60
#: The tables that statements leave behind.
WORDS, PIECES, COVERS = '"takifugu words"', '"takifugu pieces"', '"takifugu covers"'
#: The steps in a state of a word, and of a row.
OF_WORD, OF_ROW = "bit_count(b{0})", "(code = {0})::int"
#: Places are counted from here where there is no calendar, and shifted by it where there is one: // is towards 0.
FAR = 2**61
SHIFT = WORD * 2**50


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
        place, rest = "dense_rank() over (partition by unit, recording order by tick)", "0"
    select = f"select *, {place} as place, {rest} as rest from ({rows})"
    if origin is not None:
        outside = "place < 0" + (f" or place >= {size}" if size is not None else "")
        why = f"coalesce(({outside})::bigint, 0) * {BIT['outside']}"
        why += f" + coalesce((rest <> 0)::bigint, 0) * {BIT['between steps']}"
        select = f"select * replace (why + {why} as why) from ({select})"
    # rows outside the window keep their place
    if window is not None:
        inside = f"place >= {window.start} and place < {window.stop}"
        select = f"select * replace (case when {inside} then code else {MISSING} end as code) from ({select})"
    return select


def words(opened: Opened, window: range | None, cells: Cells | None = None) -> str:
    """Return the SELECT of samples by piece and word of steps, and by cell, if any (-1 outside the window)."""
    source, states = opened.source, range(len(opened.source.states))
    place, least, most, positive = "place", "0", "0", "greatest(place, 0)"
    if source.origin is None:  # no place is below 0 then
        place = positive = f"(place + {SHIFT})"
        least, most = ("min(rest)", "max(rest)") if source.width > 1 else ("0", "0")
    columns = ["unit", "code", "why", "place", "rest", f"{place} // {WORD} as word"]
    group, recording = ["unit", "word"], "'' as recording"
    if "recording" in opened.roles:
        columns, group, recording = [*columns, "recording"], [*group, "recording"], "recording"
    if cells is not None:
        inside = f"place >= {cells.window.start} and place < {cells.window.stop}"
        columns.append(f"case when {inside} then {cells.number_sql} else -1 end as cell")
        group.append("cell")
    columns.append(f"1::bigint << ({positive} % {WORD})::int as bit")
    rows = f"select {', '.join(columns)} from ({placed(opened, window)})"
    by_state = "".join(f"bit_or(case when code = {n} then bit else 0 end) as b{n}, " for n in states)
    cell = "cell, " if cells is not None else ""
    grouped = f"""select unit, {recording}, word, {cell}{by_state}bit_count(bit_or(bit)) as steps, min(place) as low,
        max(place) as high, {least} as least, {most} as most, count(*) as n, bit_or(why) as why
        from ({rows}) group by {', '.join(group)}"""
    return f"select *, {' | '.join(f'b{n}' for n in states) or '0::bigint'} as seen from ({grouped})"


def pieces(opened: Opened) -> str:
    """Return the SELECT of pieces from words."""
    why = f"bit_or(why) | {name_why(opened)}"
    return f"""select unit, recording, {_by_state(opened, OF_WORD)}, sum(n)::bigint as n, sum(steps)::bigint as steps,
        sum(bit_count(seen))::bigint as observed, {why} as why, min(low) as low, max(high) as high,
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
        inside = f"place >= {cells.window.start} and place < {cells.window.stop}"
        columns = f"unit, recording, code, {cells.number_sql} as cell"
        steps, rows = OF_ROW, f"(select {columns} from ({placed(opened, None)}) where {inside})"
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
    stranger = f"r.why + (c.number is null and unit is not null)::bigint * {BIT['stranger']} as why"
    rows = f"""select c.number::int as number, code, tick{stop}, {stranger}, "row"
        from ({rows_sql(opened)}) r left join {COVERS} c using (unit)"""
    in_order = "over (partition by number order by tick)"
    after = f"select *, lead(tick) {in_order} as after from ({rows})"
    if kind == "changes" and opened.keeps_left_out:  # a state holds until the next row that counts
        counting = f"case when code <> {LEFT_OUT} then tick end"
        after = f"select *, lead({counting} ignore nulls) {in_order} as after_counting from ({after})"
    early = width - 1 if kind == "events" else 0
    last = {"changes": "after", "events": "tick + 1", "stays": "stop"}[kind]
    if kind == "changes" and opened.keeps_left_out:
        last = "after_counting"
    shift = FAR // width * width - origin
    clash = {
        "changes": "false", "stays": "after < stop",
        "events": f"(tick + {shift}) // {width} = (after + {shift}) // {width}",
    }[kind]  # fmt: skip
    name = "overlap" if kind == "stays" else "tie"
    late = "tick >= high" + (" or stop > high" if kind == "stays" else "")
    why = [
        "r.why",
        f"coalesce((tick = after)::bigint, 0) * {BIT['tie']}",
        f"coalesce((tick <> after and {clash})::bigint, 0) * {BIT[name]}",
        f"coalesce(({late})::bigint, 0) * {BIT['outside']}",
    ]
    if kind == "stays":
        why.append(f"(stop is null and after is not null)::bigint * {BIT['open']}")
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


def faulty(opened: Opened, window: range | None, cause: str, more: str = "") -> str:
    """Return the SELECT of the first row with a cause and of how many there are; `more` is that of `rows_sql`."""
    kind, bit = opened.source.rows, BIT[cause]
    if kind not in ("samples", "answers", "visits"):
        assert window is not None, "runs have a calendar"
        return f'select min("row"), count(*) from ({runs(opened, window)}) where why & {bit} <> 0'
    body = placed(opened, None) if kind == "samples" else rows_sql(opened, more)
    if kind == "visits":
        body = visits(opened, more)
    body = f"select * replace (why | {name_why(opened)} as why) from ({body})"
    if cause in ("tie", "second answer"):
        alike = "unit, recording, place" if cause == "tie" else "unit"
        body = f"""select "row", {bit} as why from ({body})
            qualify row_number() over (partition by {alike} order by "row") > 1"""
    elif cause == "between steps" and opened.source.origin is None:
        first = 'first_value(rest) over (partition by unit, recording order by "row")'
        body = f'select "row", (rest <> {first})::bigint * {bit} as why from ({body})'
    elif cause == "stranger":
        body = f"""select "row", (c.number is null)::bigint * {bit} as why
            from ({body}) r left join {COVERS} c using (unit)"""
    elif cause == "outside" and opened.source.roster is not None:
        late = f"coalesce((tick < low or tick >= high)::bigint, 0) * {bit}"
        body = f'select "row", why | {late} as why from ({body}) r left join {COVERS} c using (unit)'
    return f'select min("row"), count(*) from ({body}) where why & {bit} <> 0'


def _by_state(opened: Opened, steps: str) -> str:
    """Return the sums of the steps in each state, by a form with the state's number."""
    states = range(len(opened.source.states))
    return ", ".join(f"sum({steps.format(n)})::bigint as s{n}" for n in states) or "0 as s"
