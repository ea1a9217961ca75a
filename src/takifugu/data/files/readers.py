"""The files that `sql` reads by read_csv(), read_parquet() and read_json(): as is written there, nothing guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from takifugu.data.files.text_file import Form, first_record, unique_names
from takifugu.data.sql import allowed
from takifugu.data.sql.faults import wrong_key
from takifugu.data.sql.tree import Node, parsed, replaced, table, text_of, with_texts
from takifugu.data.sql.words import literal


@dataclass(frozen=True)
class Reader:
    """One call of a reader: its function, the path or paths, and its options."""

    function: str
    paths: tuple[str, ...]
    options: Mapping[str, Any]

    def as_texts(self) -> Reader:
        """Return the same with a text in every column that is declared."""
        columns = dict.fromkeys(self.options.get("columns", ()), "VARCHAR")
        return replace(self, options={**self.options, "columns": columns})

    def scan(self, files: tuple[str, ...], names: Sequence[str] = ()) -> str:
        """Return the SELECT of the files, by what is declared and by their first lines."""
        select = self._select(files)
        if not self.options.get("filename", False):
            return select
        # a path would be that of one machine, or of a copy: `filename` has `names`
        if len(set(names)) < len(names):
            raise wrong_key("sql", "filename is the same for two files", "it tells them apart",
                            "read them by one pattern, such as '*/log.csv', or each by its own read_csv()")  # fmt: skip
        paths, called = (", ".join(map(literal, texts)) for texts in (files, names))
        name = f"list_extract([{called}], list_position([{paths}], filename))"
        return f"select * replace ({name} as filename) from ({select})"

    def _select(self, files: tuple[str, ...]) -> str:
        """Return the SELECT of the files with DuckDB's own `filename`."""
        paths, options = ", ".join(map(literal, files)), self.options
        name = f"filename = {str(bool(options.get('filename', False))).lower()}"
        if "parquet" in self.function:
            return f"select * from read_parquet([{paths}], hive_partitioning = false, union_by_name = false, {name})"
        if "json" in self.function:
            columns = ", ".join(f"{literal(n)}: {literal(k)}" for n, k in options["columns"].items())
            return f"select * from read_json([{paths}], auto_detect = false, columns = {{{columns}}}, {_LINES}, {name})"
        given = {name: options[name] for name in ("header", "skip", "null_padding", "filename") if name in options}
        quote, delim = options.get("quote", '"'), options.get("delim", options.get("sep", ","))
        form = Form(delim, quote, options.get("escape", quote), **given)
        names, kinds = list(options.get("columns") or {}), list((options.get("columns") or {}).values())
        if not names:
            lines = {tuple(first_record(path, form)) for path in files}
            if len(lines) != 1:
                raise wrong_key("sql", "the first lines of the files differ", "files that are read together are alike",
                                "UNION ALL of several read_csv()")  # fmt: skip
            names = unique_names(lines.pop(), lambda name: False, files[0].rsplit("/", 1)[-1])
        return form.select(files, names, kinds)


_FILE = {"class": "CONSTANT", "type": "VALUE_CONSTANT", "alias": "", "literal": {"kind": "STRING", "text": "$file"}}
#: How lines of JSON are read.
_LINES = "format = 'newline_delimited'"


def scan(number: int) -> str:
    """Return the name of the table of a reader."""
    return f"takifugu scan {number}"


def without_readers(node: Node) -> tuple[Node, list[Reader]]:
    """Return a tree that names a table for each reader, as it is run, and the readers; InputError for a guess."""
    readers = list[Reader]()

    def change(some: Node) -> Node | None:
        if path := _file_in(some):
            if path.lower().endswith(".parquet"):
                return _named(some, Reader("read_parquet", (path,), {}), "parquet")
            raise wrong_key("sql", f"sql reads {path[:120]!r} with guessed types", "a text file holds texts",
                            f"read_csv({literal(path)})")  # fmt: skip
        if not _is_call(some):
            return None
        reader = _reader(some)
        return _named(some, reader, reader.function)

    def _named(some: Node, reader: Reader, alias: str) -> Node:
        if reader not in readers:
            readers.append(reader)
        names = {"alias": some.get("alias") or alias, "column_name_alias": some.get("column_name_alias") or []}
        return table(scan(readers.index(reader))) | names

    tree = text_of(replaced(node, change))
    return parsed(tree, "sql"), readers


def without_paths(node: Node) -> Node:
    """Return a tree with `$file` for the paths of readers, or for their folders where `filename` is what follows."""

    def change(some: Node) -> Node | None:
        if _file_in(some):
            return {**some, "table_name": "$file", "qualified_name": {"path": ["$file"]}}
        if _is_call(some):
            arguments = some["function"]["arguments"]
            options = [argument for argument in arguments if _option(argument)]
            is_named = any(option[0] == "filename" for option in map(_option, options) if option)
            paths = list[Node]()
            for path in [argument for argument in arguments if not _option(argument)][:1]:
                shown = with_texts(path["expression"], lambda text: f"$file/{open_part(text)}") if is_named else _FILE
                paths.append({**path, "expression": shown})
            return {**some, "function": {**some["function"], "arguments": [*paths, *options]}}
        return None

    tree: Node = replaced(node, change)
    return tree


def open_part(path: str) -> str:
    """Return a path from its first part with a pattern on, else its last part."""
    parts = path.split("/")
    first = next((number for number, part in enumerate(parts) if re.search(r"[*?[]", part)), len(parts) - 1)
    return "/".join(parts[first:])


def _file_in(node: Node) -> str:
    """Return the path of a file that stands as a table in FROM, "" for any other node."""
    name = node.get("table_name", "") if node.get("type") == "BASE_TABLE" and not node.get("class") else ""
    return name if isinstance(name, str) and ("/" in name or "." in name) else ""


def _is_call(node: Node) -> bool:
    return node.get("type") == "TABLE_FUNCTION" and not node.get("class")


def _reader(node: Node) -> Reader:
    call = node["function"]
    name = str(call.get("function_name", "")).lower()
    if name not in allowed.READERS or call.get("qualified_name") != {"path": [call.get("function_name")]}:
        raise wrong_key("sql", f"sql calls {name}() in FROM", "files are read by " + ", ".join(allowed.READERS),
                        "read_csv('x.csv'), or a file or frame of [source]")  # fmt: skip
    if node.get("sample") or node.get("with_ordinality") not in (None, "WITHOUT_ORDINALITY") or node.get("subquery"):
        raise wrong_key("sql", f"sql reads {name}() by sample or with numbers", "a source has all rows of its files")
    paths, options = list[str](), dict[str, Any]()
    for argument in call["arguments"]:
        option = _option(argument)
        if option:
            options[option[0]] = _plain(option[1], f"{option[0]} of {name}()")
        else:
            given = _plain(argument["expression"], f"the path of {name}()")
            paths += given if isinstance(given, list) else [given]
    if not paths or any(not isinstance(path, str) or not path for path in paths):
        raise wrong_key("sql", f"sql calls {name}() without a path", "the files of a source are named",
                        f"{name}('x')")  # fmt: skip
    _check_options(name, options)
    return Reader(name, tuple(paths), options)


def _check_options(name: str, options: dict[str, Any]) -> None:
    kinds = {"header": bool, "null_padding": bool, "filename": bool, "all_varchar": bool, "skip": int, "columns": dict}
    for option, value in options.items():
        if option not in allowed.READERS[name]:
            raise wrong_key("sql", f"sql calls {name}() with {option}", "it guesses, or leaves rows out",
                            "allowed are " + ", ".join(sorted(allowed.READERS[name])))  # fmt: skip
        if type(value) is not kinds.get(option, str):
            raise wrong_key("sql", f"{option} of {name}() is no {kinds.get(option, str).__name__}")
    for is_broken, what, rule, fix in _rules(name, options):
        if is_broken:
            raise wrong_key("sql", what, rule, fix)


def _rules(name: str, options: dict[str, Any]) -> Iterator[tuple[bool, str, str, str]]:
    """Yield what options break: whether it is so, what is wrong, the rule, and the fix."""
    columns, header = options.get("columns") or {}, options.get("header")
    texts = "columns = {a: 'VARCHAR', b: 'VARCHAR'}"
    is_guess = options.get("all_varchar") is False
    yield is_guess, f"sql calls {name}() with all_varchar = false", "a text file holds texts", "leave it out"
    if "json" in name:
        yield not columns, f"sql calls {name}() without columns", "types are declared, not guessed", texts
    if "csv" in name:
        what, rule = "read_csv() has columns, and header is not said", "the first line is names or a row"
        yield bool(columns) and header is None, what, rule, "header = true, or header = false"
        what = "read_csv() has no header and no columns"
        yield header is False and not columns, what, "columns have names", texts
        for key in ("delim", "sep", "quote", "escape"):
            sign = options.get(key, ",")
            is_odd = len(sign) > 1 or (key in ("delim", "sep") and sign in ("", "\n", "\r"))
            yield is_odd, f"{key} of read_csv() is no single sign", "lines are split at one sign", ""
    is_odd = any(not isinstance(kind, str) or kind.lower() not in allowed.TYPES for kind in columns.values())
    yield is_odd, f"columns of {name}() has another type than texts, numbers and times", "", "'VARCHAR' always fits"


def _option(argument: Node) -> tuple[str, Node] | None:
    """Return the name and value of an option, None for a path."""
    value = argument["expression"]
    if argument.get("name"):
        return str(argument["name"]).lower(), value
    if value.get("type") == "COMPARE_EQUAL" and value["left"].get("class") == "COLUMN_REF":
        return str(value["left"]["column_names"][-1]).lower(), value["right"]
    return None


def _plain(node: Node, what: str) -> Any:
    """Return the value of a constant, a list of them, or a struct of them."""
    if node.get("class") == "CONSTANT" and node.get("literal"):
        literal_of = node["literal"]
        text = literal_of.get("text", "")
        if literal_of.get("kind") == "STRING":
            return text
        if literal_of.get("kind") == "BOOLEAN":
            return str(text).lower() == "true"
        if literal_of.get("kind") == "INTEGER" and str(text).isdigit():
            return int(text)
    name = str(node.get("function_name", "")).lower()
    if node.get("class") == "FUNCTION" and name in ("list_value", "struct_pack"):
        values = [_plain(argument["expression"], what) for argument in node["arguments"]]
        if name == "list_value":
            return values
        return dict(zip((str(argument["name"]) for argument in node["arguments"]), values, strict=True))
    if node.get("type") == "OPERATOR_CAST":  # true and false
        text = text_of(node)
        if text.lower() in ("cast('t' as boolean)", "cast('f' as boolean)"):
            return "'t'" in text.lower()
    raise wrong_key("sql", f"{what} is computed", "the files of a source, and how they are read, are written out",
                    "a text such as 'x.csv', or a list of them")  # fmt: skip
