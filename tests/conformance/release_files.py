"""What every kind of release file must do: `check_release_file(Example(...), folder)`, for ours and for anybody else's.

A kind is shown by a minimal file: no key can be left out of it. It is compared, calibrated, tried, released, certified
and reported, by the command line alone.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from takifugu.cli import main


@dataclass(frozen=True)
class Example:
    """A minimal release file, the other files that it reads, and faults: old text, new text, and the key to blame.

    `named` are keys that are needed together with others only, so that the file without them is another good one.
    """

    kind: str
    text: str
    files: Mapping[str, str]
    faults: tuple[tuple[str, str, str], ...]
    named: tuple[str, ...] = ()

    def write(self, folder: Path) -> Path:
        """Write the files that it reads and the file itself into a folder; return its path."""
        folder.mkdir(exist_ok=True)
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "release.toml").write_text(self.text, encoding="utf-8")
        return folder / "release.toml"


def check_release_file(example: Example, folder: Path) -> None:
    """Check a kind of release file in an empty folder; AssertionError says which rule is broken."""
    file = example.write(folder)
    _check_before(example, file)
    _check_minimal(example, file)
    _check_faults(example, file)
    _check_schema(example)
    file.write_text(example.text, encoding="utf-8")
    _check_release(example, file)


def invoke(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def _check_before(example: Example, file: Path) -> None:
    """What publishes nothing succeeds, says what would be published, and writes nothing."""
    before = sorted(file.parent.iterdir())
    for command in (["check"], ["cost"], ["cost", "--all"], ["advise"], ["release", "--dry-run"]):
        done = invoke(*command, file)
        assert done.exit_code == 0, f"{example.kind}: {command} ends with {done.exit_code}: {done.output}"
        for item in tomllib.loads(example.text)["table"]:
            assert item["name"] in done.stdout, f"{example.kind}: {command} does not name the table {item['name']!r}"
        json.loads(invoke(*command, "--json", file).stdout)
    assert sorted(file.parent.iterdir()) == before, f"{example.kind}: something was written before the release"


def _check_minimal(example: Example, file: Path) -> None:
    """Without any of its keys the file is refused, and the key (or its section) is named."""
    lines = example.text.splitlines()
    for number, line in enumerate(lines):
        key = line.partition(" = ")[0]
        if " = " not in line or key in example.named:
            continue
        file.write_text("\n".join([*lines[:number], *lines[number + 1 :]]), encoding="utf-8")
        assert invoke("release", file).exit_code, f"{example.kind}: {line!r} can be left out, so it is not minimal"
        places = _faults(example, file)
        section = next((above.strip("[]") for above in reversed(lines[:number]) if above.startswith("[")), key)
        assert any(place.startswith(section) for place in places), f"{example.kind}: without {line!r}: {places}"


def _check_faults(example: Example, file: Path) -> None:
    """All faults are told at once, each with its place."""
    text = example.text
    for old, new, _ in example.faults:
        assert old in text, f"{old!r} is not in the example of {example.kind}"
        text = text.replace(old, new, 1)
    file.write_text(text, encoding="utf-8")
    places = _faults(example, file)
    missed = {place for _, _, place in example.faults} - {*places}
    assert not missed, f"{example.kind}: nothing is said of {sorted(missed)}, only of {places}"
    checked = json.loads(invoke("check", "--json", file).stdout)["error"]
    assert checked["exit_code"] == 2
    unseen = {*places} - {fault["where"] for fault in checked["faults"]}
    assert not unseen, f"{example.kind}: without data nothing is said of {sorted(unseen)}"


def _faults(example: Example, file: Path) -> list[str]:
    """Return the places of all faults; check how they are told, and that nothing was written."""
    before = sorted(file.parent.iterdir())
    refused = invoke("release", file)
    assert refused.exit_code == 2, f"{example.kind}: a faulty file ends with {refused.exit_code}: {refused.output}"
    assert sorted(file.parent.iterdir()) == before, f"{example.kind}: a faulty file wrote something"
    *lines, state = (line.removeprefix("takifugu: ") for line in refused.stderr.splitlines())
    assert "nothing happened" in state, f"{example.kind}: does not say that nothing happened: {state!r}"
    assert all(re.match(r"[\w.\[\]]+: .+; .+", line) for line in lines), f"{example.kind}: no `key: what; fix`: {lines}"
    return [line.partition(": ")[0] for line in lines]


def _check_schema(example: Example) -> None:
    """The schema knows every key of the file."""
    schema = json.loads(invoke("keys", example.kind, "--json").stdout)
    unknown = sorted(_unknown(tomllib.loads(example.text), schema, schema))
    assert not unknown, f"{example.kind}: the schema does not know {unknown}"


def _unknown(value: Any, node: Mapping[str, Any], schema: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the keys of a value that a JSON Schema does not name, or whose constant is another."""
    if "$ref" in node:
        yield from _unknown(value, schema["$defs"][node["$ref"].rsplit("/", 1)[1]], schema, path)
    elif "anyOf" in node or "oneOf" in node:
        members = [list(_unknown(value, member, schema, path)) for member in node.get("anyOf", node.get("oneOf"))]
        yield from min(members, key=len)
    elif "const" in node and value != node["const"]:
        yield path
    elif isinstance(value, dict) and "properties" in node:
        for key, inside in value.items():
            if key in node["properties"]:
                yield from _unknown(inside, node["properties"][key], schema, f"{path}.{key}")
            else:
                yield f"{path}.{key}"
    elif isinstance(value, list):
        for number, inside in enumerate(value):
            yield from _unknown(inside, node.get("items", {}), schema, f"{path}[{number}]")


def _check_release(example: Example, file: Path) -> None:
    """The release publishes tables with certificates and reports that fit them, and the ledger has paid for it."""
    raw = tomllib.loads(example.text)
    done = invoke("release", file)
    assert done.exit_code == 0, f"{example.kind}: the release ends with {done.exit_code}: {done.output}"
    out = file.parent / raw.get("output", f"{file.stem}-published")
    for item in raw["table"]:
        rows = (out / f"{item['name']}.csv").read_text(encoding="utf-8").splitlines()
        certificate = json.loads((out / f"{item['name']}.certificate.json").read_text(encoding="utf-8"))
        count = sum(len(answer["values"]) for answer in certificate["answers"])
        if count or not rows[0].startswith("row,"):  # a randomised column is in the table alone, line by line
            assert len(rows) - 1 == count, f"{example.kind}: rows"
        assert len(rows) > 1, f"{example.kind}: the table {item['name']!r} is empty"
        for answer in certificate["answers"]:
            for cell, value in answer["values"].items():
                unit = [] if answer["unit"] is None else [answer["unit"]]
                start = ",".join([*unit, cell, value])
                assert any(row.startswith(start) for row in rows), f"{example.kind}: {start} is not in the table"
        explained = invoke("verify", out / f"{item['name']}.certificate.json")
        assert explained.exit_code == 0, f"{example.kind}: {explained.output}"
        assert "is the one that was certified" in explained.stdout, (
            f"{example.kind}: the table is not the certified one"
        )
        believed = any(framework["beliefs"] for framework in certificate["frameworks"].values())
        assert bool(certificate["beliefs"]) == believed, f"{example.kind}: the certificate names no belief"
        assert certificate["assumptions"], f"{example.kind}: the certificate names no assumption"
        report = (out / f"{item['name']}.report.html").read_text(encoding="utf-8")
        assert report.startswith("<!DOCTYPE html>"), f"{example.kind}: no report"
        assert item["name"] in report, f"{example.kind}: the report does not name its table"
    ledger = json.loads(invoke("ledger", "show", "--json", file.parent / raw["ledger"]).stdout)
    (source,) = ledger["sources"]
    assert source["name"] == raw["source"]["name"], f"{example.kind}: the ledger knows {source['name']!r}"
    states = {entry["name"]: entry["state"] for entry in source["releases"]}
    assert states == {item["name"]: "published" for item in raw["table"]}, f"{example.kind}: the ledger says {states}"
