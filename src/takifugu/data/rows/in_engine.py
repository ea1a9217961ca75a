"""Rows that an engine holds: every question is one expression for all engines; only integers per piece come back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from typing import Self

import narwhals.stable.v2 as nw

from takifugu.data.engines.differences import (
    Frame,
    alike,
    collected,
    numbered,
    settled,
    with_neighbour,
    with_rank,
    with_row_before,
)
from takifugu.data.engines.fixed_point import bin_number
from takifugu.data.engines.sanitise import is_text, key_column, kind_of, state_code, state_column, text
from takifugu.data.engines.table import Table
from takifugu.data.rows.layout import Layout, Recode, text_of, unit_name
from takifugu.data.rows.local_time import in_utc
from takifugu.data.rows.order import kind_of_texts, with_ticks
from takifugu.data.rows.pieces import (
    DAY,
    HOUR,
    NIGHT,
    Arrangement,
    Fact,
    Key,
    are_together,
    by_piece,
    looks_set_back,
    runs_by_piece,
)
from takifugu.data.times.cells import Slots
from takifugu.data.values.codes import UNOBSERVED
from takifugu.data.values.texts import two_ways

#: How many rows are looked at to guess how the texts of an order column are written; all rows are checked later.
GUESSED_FROM = 100
#: How a row compares with the one above it in its piece.
COMPARED = ("ties", "back", "leaps")
#: More days than there are from the first year to 1970: engines take remainders of negative numbers differently.
EARLIER = 750_000


def engine_rows(
    table: Table, layout: Layout, states: Recode, kind: nw.dtypes.DType | None = None,
    extra: Mapping[str, str] | None = None,
) -> EngineRows:  # fmt: skip
    """Pick the columns, and number and time every row.

    It reads a few rows at most. `kind` is what the texts of an order column are, where it is known; columns in `extra`
    are kept as they are, under new names. Raises InputError for a column that is not there, DataError for one whose
    values are of no use.
    """
    named = {"unit": layout.unit, "piece": layout.piece, "tick": layout.order, "raw": layout.value}
    roles = {role: column for role, column in named.items() if column is not None}
    frame = table.pick({**roles, **(extra or {})})
    kinds = {role: kind_of(frame, role, column) for role, column in roles.items()}
    keys: tuple[str, ...] = tuple(role for role in ("unit", "piece") if role in roles)
    key_columns = {role: key_column(role, roles[role], kinds[role]) for role in keys}
    if states.bins is None:
        raw = state_column("raw", layout.value, kinds["raw"])
    else:
        raw = bin_number("raw", layout.value, kinds["raw"], table, states.bins)
    frame = frame.with_columns(**key_columns, raw=raw)
    texts = {role for role in (*keys, *(["raw"] if states.bins is None else [])) if is_text(kinds[role])}
    if layout.null_keys == "drop" and keys:
        frame = frame.with_columns(text(nw.col(role), table.missing).alias(role) for role in keys if role in texts)
        frame = frame.filter(*(~nw.col(role).is_null() for role in keys))
    if not keys:
        keys, frame = ("all",), frame.with_columns(all=nw.lit(0))
    step, exact, guessed, in_place, clock = None, ["row"], False, True, layout.clock
    if layout.order is not None:
        if is_text(kinds["tick"]) or (clock.form is not None and kinds["tick"].is_integer()):
            frame = frame.with_columns(tick=order_text(table, layout))
            guessed = kind is None and clock.form is None
            kind = kind or kind_of_texts(frame.head(GUESSED_FROM), layout.order, clock.form)
        order_kind, in_texts = kind or kinds["tick"], kind is not None
        frame, step, whole = with_ticks(frame, layout.order, layout.step, order_kind, in_texts, clock)
        exact += ["tick"] if whole else []
    if table.ordered:
        frame = numbered(frame)
    frame = settled(frame, exact)
    naive = False
    if layout.order is not None and isinstance(order_kind, nw.Date | nw.Datetime):
        naive = clock.zone is None and not (isinstance(order_kind, nw.Datetime) and bool(order_kind.time_zone))
        if clock.zone is not None and (in_texts or not getattr(order_kind, "time_zone", None)):
            frame, in_place = in_utc(frame, keys, clock.zone, table.ordered, layout.ambiguous, layout.moments)
    return EngineRows(frame, keys, frozenset(texts), (table, layout, states), step, guessed, naive, in_place)


def _choose(when: nw.Expr, yes: nw.Expr | int, no: nw.Expr | int) -> nw.Expr:
    return nw.when(when).then(_whole_expr(yes)).otherwise(_whole_expr(no))


def _whole_expr(value: nw.Expr | int) -> nw.Expr:
    return nw.lit(value, nw.Int64) if isinstance(value, int) else value


def order_text(table: Table, layout: Layout) -> nw.Expr:
    """Return the picked order column as texts.

    Numbers are as they are usually written.
    """
    stripped = text(nw.col("tick").cast(nw.String), table.missing)
    return stripped if layout.clock.form is not None else table.numerals.plain_in_engine(stripped)


@dataclass(frozen=True)
class EngineRows:
    """A frame with the columns of `keys`, `raw` (the state), `tick` if there is an order, `row` if rows have one.

    Texts stay as they are until few are left: `tidy` says that no key of them has blanks to strip. `naive` says that
    times tell no zone, `in_place` that rows stand as they were read. `seen` says that no entry is unobserved,
    `together` that pieces do not interrupt each other, `rising` that none goes backwards along the rows; `origins` are
    the positions of place 0.
    """

    frame: Frame
    keys: tuple[str, ...]
    texts: frozenset[str]
    request: tuple[Table, Layout, Recode]
    step: int | None
    guessed: bool
    naive: bool = False
    in_place: bool = True
    tidy: bool = False
    seen: bool = False
    together: bool = False
    rising: bool = True
    origins: Mapping[Key, int] = field(default_factory=dict)
    grouped: Mapping[Key, list[Fact]] = field(default_factory=dict)

    @property
    def in_rows(self) -> bool:
        return self.request[0].ordered

    @property
    def start(self) -> int | None:
        """Return the tick of place 0.

        None where no calendar declares it.
        """
        calendar = self.request[1].calendar
        return None if calendar is None or self.step is None else calendar.ticks(self.step)

    @property
    def in_ticks(self) -> bool:
        return self.request[1].order is not None

    def surveyed(self) -> tuple[EngineRows, dict[Key, list[Fact]]]:
        table, layout, states = self.request
        facts, tidy, zones = self._facts()
        if self.guessed and any(fact.unplaced for fact in facts):
            kind = kind_of_texts(self._texts_of_order(), str(layout.order))
            return engine_rows(table, layout, states, kind).surveyed()
        if len(zones) > 1:
            raise two_ways(str(layout.order))
        if table.without_blank_rows is not None and any(map(self._is_blank, facts)):
            return engine_rows(table.filled, layout, states).surveyed()
        return self._knowing(facts, tidy, zones)

    def _knowing(self, facts: list[Fact], tidy: bool, zones: set[int]) -> tuple[Self, dict[Key, list[Fact]]]:
        """Return the rows, knowing their facts, and these by piece."""
        grouped = by_piece(facts)
        together = are_together(grouped)
        origins: dict[Key, int] = {}
        if self.start is not None:
            origins = dict.fromkeys(grouped, self.start)
        for key, some in grouped.items() if self.start is None else ():
            starts = [fact.low if self.step is not None else fact.first for fact in some]
            origins[key] = min((start for start in starts if start is not None), default=0)
        seen = all(fact.code != UNOBSERVED for fact in facts)
        naive = self.naive and zones <= {0}
        known = replace(self, naive=naive, tidy=tidy, seen=seen, together=together, origins=origins, grouped=grouped)
        return known, grouped

    def _is_blank(self, fact: Fact) -> bool:
        """Return whether some of these rows may hold nothing at all."""
        nameless = all(part is None for part in fact.key)
        return fact.code == UNOBSERVED and nameless and (bool(fact.unplaced) or not self.in_ticks)

    def _facts(self) -> tuple[list[Fact], bool, set[int]]:
        """Return the facts of all pieces.

        With them go whether no key has blanks to strip, and whether times have a zone (0, 1, or both). Rows are grouped
        by their raw texts, then by what these mean, so that only the few different ones are recoded.
        """
        frame, sums, bounds, largest = self._aggregated()
        first = {"rows": nw.len(), **{column: nw.col(column).sum() for column in sums}}
        then = {column: nw.col(column).sum() for column in first}
        first |= {column: nw.col(column).max() for column in largest}
        then |= {column: nw.col(column).max() for column in largest}
        for column in bounds:
            low, high = f"{column}_low", f"{column}_high"
            first |= {low: nw.col(column).min(), high: nw.col(column).max()}
            then |= {low: nw.col(low).min(), high: nw.col(high).max()}
        by_raw = self._recoded(frame.group_by(*self.keys, "raw").agg(**first))
        names = [*self.keys, "code", "changed", *then]
        by_code = by_raw.group_by(*self.keys, "code").agg(**then, changed=nw.col("changed").max())
        facts, tidy, zones = [], True, set()
        for values in collected(by_code.select(*names)):
            numbers = {n: _whole(v) for n, v in zip(names[len(self.keys) :], values[len(self.keys) :], strict=True)}
            least, most = numbers.get("offset_low"), numbers.get("offset_high")
            facts.append(Fact(
                key=self._key(values), code=numbers["code"] or 0, rows=numbers["rows"] or 0,
                unplaced=numbers.get("unplaced") or 0, low=numbers.get("tick_low"), high=numbers.get("tick_high"),
                offsets=None if least is None or most is None else (least, most),
                first=numbers.get("row_low"), last=numbers.get("row_high"),
                **{column: numbers.get(column) or 0 for column in COMPARED},
            ))  # fmt: skip
            tidy &= not numbers["changed"]
            zones |= {zone for zone in (numbers.get("zoned_low"), numbers.get("zoned_high")) if zone is not None}
        return facts, tidy, zones

    def _recoded(self, by_raw: Frame) -> Frame:
        """Strip keys and add the `code` of states.

        The rows were grouped by raw texts; `changed` says where a key was stripped.
        """
        written = [role for role in self.keys if role in self.texts]
        by_raw = by_raw.with_columns(nw.col(role).alias(f"{role}_written") for role in written)
        changed = nw.lit(0)
        for role in written:
            changed = nw.when(alike(role, f"{role}_written")).then(changed).otherwise(nw.lit(1))
        return self._coded(self._stripped(by_raw, written), "raw").with_columns(changed=changed)

    def _aggregated(self) -> tuple[Frame, list[str], list[str], list[str]]:
        """Return the rows with the columns to aggregate.

        Each piece and state has the sum, the bounds, and the largest of them.
        """
        frame, sums, bounds, largest = self.frame, list[str](), list[str](), list[str]()
        if self.in_ticks:
            columns, missing = frame.collect_schema().names(), nw.col("tick").is_null().cast(nw.Int64)
            if "fault" in columns:
                missing = nw.when(nw.col("fault") > 0).then(nw.col("fault")).otherwise(missing)
            frame, largest = frame.with_columns(unplaced=missing), ["unplaced"]
            if self.in_rows and self.in_place:
                frame = self._compared(*self._with_row_before(frame, "row", ["tick"], stands=True))
                sums += COMPARED
            bounds += ["zoned"] if "zoned" in columns else []
        bounds += ["tick"] if self.naive or self.step is not None else []
        if self.step is not None:
            frame = frame.with_columns(offset=nw.col("tick") % self.step)
            bounds += ["offset"]
        return frame, sums, [*bounds, *(["row"] if self.in_rows else [])], largest

    def arranged(self) -> tuple[EngineRows, Arrangement]:
        ties, runs = False, list[tuple[int, int, int]]()
        if self.in_rows and self.in_place and self.tidy and self.together:
            for some in self.grouped.values():
                ties |= any(fact.ties for fact in some)
                runs.append((sum(f.back for f in some), sum(f.leaps for f in some), _span(some)))
        elif self.in_rows:
            frame = self._compared(*self._with_row_before(self._tidied(), "row", ["tick"], stands=False))
            per_piece = frame.group_by(*self.keys).agg(*(nw.col(column).sum() for column in COMPARED))
            for *names, tied, back, leaps in collected(per_piece.select(*self.keys, *COMPARED)):
                ties |= bool(tied)
                runs.append((int(back), int(leaps), _span(self.grouped.get(self._key(names), []))))
        rising = not any(back for back, _, _ in runs)
        if not self.in_rows or not rising:
            frame = self._compared(*self._with_row_before(self._tidied(), "tick", ["tick"], stands=False))
            ((tied,),) = collected(frame.select(nw.col("ties").sum()))
            ties = bool(tied)
        return replace(self, rising=rising), Arrangement(ties, self.naive and looks_set_back(runs))

    def without_ties(self, keep: str) -> EngineRows:
        """Return the rows without ties.

        Of those with one tick in their piece the first or the last one stays.
        """
        row = nw.col("row").min() if keep == "first" else nw.col("row").max()
        first_rows = self._tidied().group_by(*self.keys, "tick").agg(row=row).select("row")
        frame = self.frame.join(first_rows, on="row", how="inner")  # type: ignore[arg-type]
        return replace(self, frame=settled(frame, ["row"]), in_place=False)

    def steps(self) -> int:
        ((steps,),) = collected(self._tidied().select(*self.keys, "tick").unique().select(nw.len()))
        return int(steps)

    @property
    def stands(self) -> bool:
        """Return whether rows stand piece by piece, each in its order."""
        return self.together and self.rising and self.in_place

    def counts(self, places: range) -> Iterator[tuple[Key, int, int]]:
        by_raw = self._inside(places).group_by(*self.keys, "raw").agg(rows=nw.len())
        by_code = self._coded(by_raw, "raw").group_by(*self.keys, "code").agg(rows=nw.col("rows").sum())
        for *key, code, rows in collected(by_code.select(*self.keys, "code", "rows")):
            yield self._key(key), int(code), int(rows)

    def cells(self, slots: Slots) -> Iterator[tuple[Key, int, int, int]]:
        frame = self._inside(slots.window)
        frame = frame.with_columns(cell=_whole_expr(slots.of(nw.col("place"), _choose)))
        by_raw = frame.group_by(*self.keys, "cell", "raw").agg(rows=nw.len())
        by_code = self._coded(by_raw, "raw").group_by(*self.keys, "cell", "code").agg(rows=nw.col("rows").sum())
        for *key, cell, code, rows in collected(by_code.select(*self.keys, "cell", "code", "rows")):
            yield self._key(key), int(cell), int(code), int(rows)

    def observed(self, before: int | None) -> Mapping[Key, tuple[range, ...]]:
        return runs_by_piece(self._edges(before))

    def _edges(self, before: int | None) -> Iterator[tuple[Key, int | None, int | None]]:
        """Yield pieces with ends of runs of observed entries.

        These are a place where a run starts, and the place where another one ends.
        """
        frame, unit, origins = self._positioned(before)
        seen = self._observed(frame).select(*self.keys, "position", *(["row"] if self.in_rows else []))
        ends = seen.group_by(*self.keys).agg(last=nw.col("position").max()).select(*self.keys, "last")
        for *names, last in collected(ends):
            key = self._key(names)
            yield key, None, (int(last) - origins.get(key, 0)) // unit
        neighbours, same = self._with_row_before(seen, "position", ["position"], self.stands and before is None)
        follows = (nw.col("position") - nw.col("position_before") == unit) & same
        neighbours = neighbours.with_columns(
            follows=follows.fill_null(False),
            ended=nw.when(same).then(nw.col("position_before")),
        )
        starts = neighbours.filter(~nw.col("follows")).select(*self.keys, "position", "ended")
        for *names, position, ended in collected(starts):
            key, end = self._key(names), _whole(ended)
            origin = origins.get(key, 0)
            yield key, (int(position) - origin) // unit, None if end is None else (end - origin) // unit

    def entries(self, before: int | None) -> Iterator[tuple[Key, int, int]]:
        frame = self._coded(self._placed(before), "raw").select(*self.keys, "place", "code")
        for *key, place, code in collected(frame):
            yield self._key(key), int(place), int(code)

    def transitions(self, period: int) -> Iterator[tuple[int, int, int, int]]:
        frame, unit, _ = self._positioned(None)
        if period > 1:
            frame, unit = self._placed(None).with_columns(position=nw.col("place")), 1
        seen = self._observed(frame).select(*self.keys, "position", "raw", *(["row"] if self.in_rows else []))
        pairs, same = self._with_row_before(seen, "position", ["position", "raw"], self.stands and period == 1)
        follows = (nw.col("position") - nw.col("position_before") == unit) & same
        pairs = pairs.filter(follows.fill_null(False))
        pairs = pairs.with_columns(phase=nw.col("position_before") % period)
        by_raw = pairs.group_by("phase", "raw_before", "raw").agg(pairs=nw.len())
        coded = self._coded(self._coded(by_raw, "raw_before"), "raw").select("phase", "code_before", "code", "pairs")
        for phase, one, other, times in collected(coded):
            yield int(phase), int(one), int(other), int(times)

    def _key(self, values: Sequence[object]) -> Key:
        named = dict(zip(self.keys, values, strict=False))
        return unit_name(named.get("unit"), self.request[1].unit), text_of(named.get("piece"))

    def _stripped(self, frame: Frame, columns: Sequence[str]) -> Frame:
        return frame.with_columns(text(nw.col(column), self.request[0].missing).alias(column) for column in columns)

    def _coded(self, frame: Frame, role: str) -> Frame:
        frame = self._stripped(frame, [role] if "raw" in self.texts else [])
        code = state_code(role, frame.collect_schema()[role], self.request[2].codes)
        return frame.with_columns(code.alias(role.replace("raw", "code")))

    def _tidied(self) -> Frame:
        """Return the rows with tidy names of units and pieces."""
        return self.frame if self.tidy else self._stripped(self.frame, [r for r in self.keys if r in self.texts])

    def _observed(self, frame: Frame) -> Frame:
        if self.seen:
            return frame
        raw = text(nw.col("raw"), self.request[0].missing) if "raw" in self.texts else nw.col("raw")
        return frame.filter(~raw.is_null())

    def _with_row_before(self, frame: Frame, by: str, columns: Sequence[str], stands: bool) -> tuple[Frame, nw.Expr]:
        """Add `<column>_before`, the piece's row before along `by`.

        It says where there is one, too. Rows that still stand as they were read, piece by piece, are compared in one
        pass; else each piece is sorted.
        """
        if not stands:
            return with_neighbour(frame, self.keys, [by], columns), nw.lit(True)
        same = reduce(and_, (alike(key, f"{key}_before") for key in self.keys))
        return with_row_before(frame, [*self.keys, *columns]), same

    def _positioned(self, before: int | None) -> tuple[Frame, int, Mapping[Key, int]]:
        """Add each row's position.

        With it go the distance of entries in it, and its start.
        """
        if before is not None or (self.step is None and not self.stands):
            return self._placed(before).with_columns(position=nw.col("place")), 1, {}
        column = "row" if self.step is None else "tick"
        return self._tidied().with_columns(position=nw.col(column)), self.step or 1, self.origins

    def _placed(self, before: int | None) -> Frame:
        """Add each row's place in its piece.

        The rows that are cut off are left out.
        """
        frame = self._tidied()
        if self.step is None and not self.stands:
            frame = with_rank(frame, self.keys, "tick")
        else:
            position = "row" if self.step is None else "tick"
            frame = self._with_start(frame, position)
            frame = frame.with_columns(place=(nw.col(position) - nw.col("start")) // (self.step or 1))
        return frame if before is None else frame.filter(nw.col("place") < before)

    def _inside(self, places: range) -> Frame:
        """Return the rows at these places."""
        return self._placed(None).filter(nw.col("place") >= places.start, nw.col("place") < places.stop)

    def _with_start(self, frame: Frame, position: str) -> Frame:
        """Add the piece's first position.

        It is added by a join, which holds one row per piece, unless a key is missing.
        """
        if self.start is not None:
            return frame.with_columns(start=nw.lit(self.start))
        if any((None in key) for key in self.origins) and self.request[1].null_keys == "keep":
            return frame.with_columns(start=nw.col(position).min().over(*self.keys))
        starts = frame.group_by(*self.keys).agg(start=nw.col(position).min())
        return frame.join(starts, on=list(self.keys), how="inner")  # type: ignore[arg-type]

    def _texts_of_order(self) -> Frame:
        table, layout, _ = self.request
        frame = table.pick({"tick": str(layout.order)})
        return frame.with_columns(tick=order_text(table, layout))

    def _compared(self, frame: Frame, same: nw.Expr) -> Frame:
        """Compare each row's tick with the row before.

        It adds 1 where that is the same in its piece, is below it, and is so unlike a clock's.
        """
        tick, above = nw.col("tick"), nw.col("tick_before")
        back, leaps = (tick < above) & same, nw.lit(False)
        if self.naive:
            # Clocks are set back by an hour at most, and then show a time from 23:00 on, or one of the early morning.
            leaps = back & ((above - tick > HOUR) | ((tick + (EARLIER * DAY + HOUR)) % DAY >= NIGHT))
        comparisons = dict(zip(COMPARED, ((tick == above) & same, back, leaps), strict=True))
        return frame.with_columns(**{name: comparisons[name].fill_null(False).cast(nw.Int64) for name in COMPARED})


def _span(facts: Sequence[Fact]) -> int:
    """Return how many ticks a piece spans."""
    low, high = [f.low for f in facts if f.low is not None], [f.high for f in facts if f.high is not None]
    return max(high, default=0) - min(low, default=0)


def _whole(value: object) -> int | None:
    if type(value) is int:  # as most engines write nearly all of them
        return value
    text = text_of(value)
    return None if text is None else int(text)
