"""The commands about a ledger, as `takifugu ledger --help` lists them."""

from __future__ import annotations

import click

from takifugu.cli.group import JSON_OPTION, LEDGER_ARGUMENT, PATH, SOURCE_ARGUMENT, InOrder


@click.group(cls=InOrder)
def ledger() -> None:
    """Look into a ledger, set budgets, and complete releases."""


@ledger.command(name="init", runs="cli.ledgers:init")
@LEDGER_ARGUMENT
@JSON_OPTION
def ledger_init() -> None:
    """Make a new ledger, which remembers nothing before today.

    A release also makes one, with a notice, where there is none; `require_ledger = true` in its file forbids that.
    """


@ledger.command(name="show", runs="cli.ledgers:show")
@LEDGER_ARGUMENT
@JSON_OPTION
def ledger_show() -> None:
    """Show what each source has spent."""


@ledger.command(name="history", runs="cli.ledgers:history")
@LEDGER_ARGUMENT
@click.argument("source", required=False)
@JSON_OPTION
def ledger_history() -> None:
    """List every release about SOURCE, or about all sources."""


@ledger.command(name="budget", runs="cli.ledgers:budget")
@LEDGER_ARGUMENT
@SOURCE_ARGUMENT
@click.argument("epsilon")
@click.option("--delta", default="0", show_default=True, help="The most delta that may be spent.")
@JSON_OPTION
def ledger_budget() -> None:
    """Set the most EPSILON that a unit of SOURCE may ever spend."""


@ledger.command(name="resume", runs="cli.ledgers:resume")
@LEDGER_ARGUMENT
@click.option("--source", help="Only what is pending about this source.")
@JSON_OPTION
def ledger_resume() -> None:
    """Complete what was paid for and not published.

    Drawn values are published as they were drawn; what was not drawn is drawn once, if the release file and its data
    are what they were. Nothing is paid again.
    """


@ledger.command(name="adopt", runs="cli.ledger_copies:adopt")
@LEDGER_ARGUMENT
@click.argument("folder", type=PATH)
@click.option("--yes", is_flag=True, help="Enter them without asking.")
@JSON_OPTION
def ledger_adopt() -> None:
    """Enter what FOLDER shows to be published as spent.

    For a ledger that was restored from a copy: each release that a certificate in FOLDER names and LEDGER lacks is
    entered, as what it is if a copy of LEDGER wrote the certificate, else on every unit of its source, at the cost of a
    change of the whole data. Prints what that comes to, and asks before it does so.
    """


@ledger.command(name="merge", runs="cli.ledger_copies:merge")
@LEDGER_ARGUMENT
@click.argument("other", type=PATH)
@click.option("--dry-run", is_flag=True, help="Say what it comes to, and write nothing.")
@JSON_OPTION
def ledger_merge() -> None:
    """Add what OTHER, a copy of LEDGER, paid for since.

    For two copies that both went on: what OTHER paid for is paid for in LEDGER, too, and everything that was spent is
    computed anew. LEDGER as it was is kept beside it.
    """


@ledger.command(name="check", runs="cli.ledger_copies:check")
@LEDGER_ARGUMENT
@JSON_OPTION
def ledger_check() -> None:
    """Find what was edited: compare LEDGER with its events.

    Everything is computed from the events once more, beside the ledger; nothing is written to it.
    """


@ledger.command(name="upgrade", runs="cli.ledger_copies:upgrade")
@LEDGER_ARGUMENT
@JSON_OPTION
def ledger_upgrade() -> None:
    """Bring LEDGER of an older format to the one of this version.

    A release does so by itself, unless that would take long. The ledger as it was is kept beside the new one.
    """
