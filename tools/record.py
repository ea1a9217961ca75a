"""Record every noise, promise and refusal of many problems, and compare two such records.

    python tools/record.py write NEW.jsonl [--parts conformance,golden,network,example,random]
    python tools/record.py equal OLD.jsonl NEW.jsonl
    python tools/record.py not-worse OLD.jsonl NEW.jsonl [--but REGEX]

A record holds one JSON line per row; NEW.seconds.jsonl beside it says how long each row took. The package that is
recorded is the one that this Python imports, the problems are those of this checkout:
`PYTHONPATH=../old/src python tools/record.py write OLD.jsonl` records other code on the same problems. Record both on
one machine: another one rounds the last digits otherwise.

`equal` wants the same bytes. `not-worse` wants, in each row, no larger scale, epsilon, delta or error than before, no
weaker composition and no new refusal, and audits each row whose noise changed with the code at hand. Rows whose key
REGEX finds are listed and not judged: a step says beforehand what it takes away.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # sums in one order, before NumPy is loaded
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "experiments")]

Row = dict[str, Any]
PARTS = ("conformance", "golden", "network", "example", "random")
#: How much a number may grow, relatively: scales are rounded up, and searches stop near the least one.
GROWTH = 1 + Fraction(1, 2**34)
#: Longer texts stand once, at the end of a record, under their digest.
LONG_TEXT, TEXT = 40, "text "
#: From the strongest promise to the weakest.
COVERS = ("everything", "component", "entries", "output")
#: What of a row an audit can judge.
NOISE = ("mechanism", "noise", "scale", "law", "grid", "epsilon", "delta", "covers", "joint", "ledger")
PRINTED = 20


# Rows.
def row_of(calibration: Any) -> Row:
    """Return what is recorded of a calibration."""
    noise, promise, error = calibration.randomiser, calibration.guarantee, calibration.error_or_none
    row = {"mechanism": calibration.mechanism, "noise": noise.kind, "scale": calibration.exact_scale}
    if row["scale"] is None:
        del row["scale"]
        row["law"] = hashlib.sha256(json.dumps(noise.to_dict(), sort_keys=True).encode()).hexdigest()[:16]
    row |= {"grid": str(noise.grid), "epsilon": str(promise.epsilon), "delta": str(promise.delta)}
    row |= {"covers": str(promise.covers), "error": error if error is None or "law" in row else float(f"{error:.6g}")}
    return row | {"witness": calibration.witness.comparison}


def tried(ask: Callable[[], Row]) -> Row:
    """Return a row, or the refusal in its place."""
    import takifugu as tf

    try:
        return ask()
    except tf.TakifuguError as error:
        return {"refused": f"{type(error).__name__}: {error}"}


def problem_rows(part: str) -> Iterator[Row]:
    from tools import recorded

    for problem in recorded.PROBLEMS[part]():
        yield {"key": problem.key, **tried(partial(_calibrated, problem))}


def _calibrated(problem: Any) -> Row:
    return row_of(problem.calibrated())


def example_rows() -> Iterator[Row]:
    """Yield the noise of every table of the examples, one row for what is alike, and what each file would spend."""
    from tools import recorded

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "examples")
        copytree(recorded.ROOT / "examples", copy, ignore=ignore_patterns("*.db*", "*-published", "__pycache__"))
        for path in recorded.release_files():
            within = path.relative_to(recorded.ROOT / "examples")
            with chdir((copy / within).parent):
                yield from _rows_of_file(within.name, f"example | {within.as_posix()}")


def _rows_of_file(name: str, key: str) -> Iterator[Row]:
    from tools import recorded

    import takifugu as tf

    try:
        tables = recorded.calibrated_tables(Path(name))
    except tf.TakifuguError as error:
        yield {"key": key, "refused": f"{type(error).__name__}: {error}"}
        return
    for table, calibrations in tables:
        answers = list(map(row_of, calibrations))
        distinct = {json.dumps(row): row for row in answers}.values()
        for number, row in enumerate(distinct):
            yield {"key": f"{key} | {table} | {number}", **row, "answers": answers.count(row)}
    yield {"key": f"{key} | account", **tried(lambda: recorded.account(Path(name)))}


def random_rows() -> Iterator[Row]:
    """Yield each release of the random sets, and what all of a set lose together by `compose` and by a ledger."""
    from tools import recorded

    for chosen in recorded.random_sets():
        made: list[tuple[Any, Any]] = []
        for number, request in enumerate(chosen.case.requests):
            row = tried(partial(_added, request, made))
            yield {"key": f"{chosen.key} | {number}", **row}
        if made:
            yield {"key": f"{chosen.key} | together", **recorded.together(chosen, made, tried)}


def _added(request: Any, made: list[tuple[Any, Any]]) -> Row:
    from tools import recorded

    made.append((request, recorded.of_request(request)))
    return row_of(made[-1][1])


def rows_of(part: str) -> Iterator[Row]:
    """Yield the rows of one part."""
    if part == "example":
        return example_rows()
    return random_rows() if part == "random" else problem_rows(part)


# Records.
def write(path: Path, parts: Sequence[str]) -> None:
    """Write a record, and the seconds beside it."""
    warnings.simplefilter("ignore")
    texts: dict[str, str] = {}
    rows, seconds = list[str](), list[str]()
    for part in parts:
        started = before = time.perf_counter()
        for row in map(dict, rows_of(part)):
            key = row.pop("key")
            rows.append(json.dumps({"key": key, **_short(row, texts)}, ensure_ascii=False))
            now = time.perf_counter()
            seconds.append(json.dumps({"key": key, "seconds": round(now - before, 3)}, ensure_ascii=False))
            before = now
        print(f"{part}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    rows += [json.dumps({"key": key, "text": texts[key]}, ensure_ascii=False) for key in sorted(texts)]
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8", newline="\n")
    times = path.with_suffix(f".seconds{path.suffix}")
    times.write_text("".join(f"{row}\n" for row in seconds), encoding="utf-8", newline="\n")


def _short(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _short(part, texts) for name, part in value.items()}
    if not isinstance(value, str) or len(value) <= LONG_TEXT or value.isdigit():
        return value
    key = TEXT + hashlib.sha256(value.encode()).hexdigest()[:12]
    texts[key] = value
    return key


def read(path: Path) -> dict[str, Row]:
    """Return the rows of a record by key, with their texts in place."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = {row["key"]: row["text"] for row in rows if "text" in row}
    listed = {row.pop("key"): _long(row, texts) for row in rows if "text" not in row}
    assert len(listed) + len(texts) == len(rows), f"{path}: a key stands there twice"
    return listed


def _long(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _long(part, texts) for name, part in value.items()}
    return texts.get(value, value) if isinstance(value, str) else value


# Comparisons.
@dataclass
class Comparison:
    """What two records differ in; it fails where something is worse."""

    worse: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def print(self) -> int:
        """Print it, and return the exit code."""
        for head, lines in (("said beforehand", self.said), ("changed", self.changed), ("WORSE", self.worse)):
            if lines:
                print(f"{head}: {len(lines)} rows", *(f"  {line}" for line in lines), sep="\n")
        if not (self.worse or self.changed or self.said):
            print("no row changed")
        return 1 if self.worse else 0


def equal(old: Path, new: Path) -> int:
    """Compare byte for byte; print the first rows that differ."""
    if old.read_bytes() == new.read_bytes():
        print("equal, byte for byte")
        return 0
    differing = list(differences(read(old), read(new)))
    for key, before, after in differing[:PRINTED]:
        print(key, *changes_of(before, after), sep="\n  ")
    print(f"NOT EQUAL: {len(differing)} rows differ" if differing else "NOT EQUAL: the order of rows or texts differs")
    return 1


def differences(old: dict[str, Row], new: dict[str, Row]) -> Iterator[tuple[str, Row | None, Row | None]]:
    """Yield the keys whose rows differ, with both rows; None where one has no such row."""
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)


def changes_of(old: Row | None, new: Row | None) -> list[str]:
    """Return what differs between two rows, one line a field."""
    if old is None or new is None:
        return ["only in the new record" if old is None else "only in the old record"]
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return [f"{name}: {old.get(name)} -> {new.get(name)}" for name in names]


def not_worse(old: dict[str, Row], new: dict[str, Row], but: str, audit: Callable[[str, Row], str]) -> Comparison:
    """Judge every row that differs; `audit` returns "" or what is wrong, or raises Unaudited."""
    result = Comparison()
    for key, before, after in differences(old, new):
        line = f"{key}: {'; '.join(changes_of(before, after))}"
        if but and re.search(but, key):
            result.said.append(line)
            continue
        fault = worse(before, after)
        if not fault and before is not None and after is not None and _noise(before) != _noise(after):
            try:
                fault = audit(key, after)
                line += "" if fault else " (audited)"
            except Unaudited as reason:
                line += f" (not audited: {reason})"
        (result.worse if fault else result.changed).append(f"{line}{f': {fault}' if fault else ''}")
    return result


def _growth(name: str, before: Any, after: Any) -> str:
    if before is None or after is None or Fraction(after) <= Fraction(before) * GROWTH:
        return ""
    return f"{name} grew from {float(Fraction(before)):.17g} to {float(Fraction(after)):.17g}"


class Unaudited(Exception):
    """A row that no audit can judge, with the reason."""


def _noise(row: Row) -> list[Any]:
    return [row.get(name) for name in NOISE]


def worse(old: Row | None, new: Row | None) -> str:
    """Return why a row is worse than before, "" where it is not."""
    if old is None or "refused" in old:
        return ""
    if new is None or "refused" in new:
        return "it was answered before"
    for name, before in old.items():
        after = new.get(name)
        if isinstance(before, dict):
            fault = worse(before, after if isinstance(after, dict) else None)
            if fault:
                return f"{name}: {fault}"
        elif name == "covers" and COVERS.index(after) > COVERS.index(before):
            return f"it covers {after} for {before}"
        elif name in ("epsilon", "delta", "error") or (name == "scale" and old["noise"] == new["noise"]):
            fault = _growth(name, before, after)
            if fault:
                return fault
    return ""


def audit(key: str, row: Row) -> str:
    """Compute a row again and set it against the exact audit; return what is wrong, or "" where its promise holds."""
    from tools import recorded

    try:
        return recorded.audited(key, row, row_of)
    except recorded.TooLarge as reason:
        raise Unaudited(reason) from reason


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("path", type=Path)
    writing.add_argument("--parts", default=",".join(PARTS))
    for name in ("equal", "not-worse"):
        comparing = commands.add_parser(name)
        comparing.add_argument("old", type=Path)
        comparing.add_argument("new", type=Path)
    comparing.add_argument("--but", default="", metavar="REGEX")
    options = parser.parse_args(arguments)
    if options.command == "write":
        unknown = set(options.parts.split(",")) - {*PARTS}
        if unknown:
            parser.error(f"there is no part {', '.join(sorted(unknown))}: write some of {', '.join(PARTS)}")
        write(options.path, options.parts.split(","))
        return 0
    if options.command == "equal":
        return equal(options.old, options.new)
    return not_worse(read(options.old), read(options.new), options.but, audit).print()


if __name__ == "__main__":
    sys.exit(main())
