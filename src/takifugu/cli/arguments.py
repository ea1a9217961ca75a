"""The arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)
FILE = click.argument("file", type=PATH)
FILES = click.argument("files", metavar="FILE...", type=PATH, nargs=-1, required=True)
WINDOW = click.option("--window", help="The window of regular tables, such as 2026-W07.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON with stable keys instead of tables.")
LEDGER = click.argument("ledger_file", metavar="LEDGER", type=PATH)
SOURCE = click.argument("source")
