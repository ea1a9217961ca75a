"""The commands about a ledger, as `takifugu ledger --help` lists them."""

from __future__ import annotations

import click

from takifugu.cli.group import JSON_OPTION, LEDGER_ARGUMENT, PATH, InOrder


@click.group(cls=InOrder)
def ledger() -> None:
    """Show and verify a ledger, set budgets, finish releases.

    LEDGER is the path of a file, or postgresql://HOST/DATABASE?ledger=NAME.
    """


@ledger.command(name="show", runs="cli.ledgers:show")
@LEDGER_ARGUMENT
@JSON_OPTION
def ledger_show() -> None:
    """Show what each source has spent, and its releases."""


@ledger.command(name="set-budget", runs="cli.ledgers:set_budget")
@LEDGER_ARGUMENT
@click.argument("source")
@click.argument("epsilon")
@click.option("--delta", default="0", show_default=True, help="The most delta that may be spent.")
@JSON_OPTION
def ledger_set_budget() -> None:
    """Set the most EPSILON that a unit of SOURCE may spend."""


@ledger.command(name="verify", runs="cli.ledgers:verify")
@LEDGER_ARGUMENT
@click.argument("folders", metavar="[FOLDER]...", type=PATH, nargs=-1)
@JSON_OPTION
def ledger_verify() -> None:
    """Recompute LEDGER, and compare it with certificates.

    Reads every event again, computes every total anew, and names each difference. Of each FOLDER, names the published
    certificates that LEDGER does not know. Writes nothing.
    """


@ledger.command(name="import-certificates", runs="cli.ledgers:import_certificates")
@LEDGER_ARGUMENT
@click.argument("folder", type=PATH)
@click.option("--yes", is_flag=True, help="Enter them without asking.")
@JSON_OPTION
def ledger_import_certificates() -> None:
    """Charge LEDGER for the certificates in FOLDER.

    For a ledger that was restored from a copy, or that goes on in the place of another: each release that a certificate
    in FOLDER names and LEDGER lacks is charged as its certificate says, to everybody who is or will be in its source.
    Prints what that comes to, and asks first. A LEDGER that is not there is made.
    """


@ledger.command(name="key", runs="cli.ledgers:key")
@JSON_OPTION
def ledger_key() -> None:
    """Show the key that signs certificates, or make it.

    Prints the public part, for readers. The private part is a file of yours, outside of every ledger. From then on each
    release signs its certificates, and `takifugu verify` checks the signatures.
    """


@ledger.command(name="resume", runs="cli.ledgers:resume")
@LEDGER_ARGUMENT
@click.option("--source", help="Only what is pending about this source.")
@JSON_OPTION
def ledger_resume() -> None:
    """Finish interrupted releases at no further cost.

    Drawn values are published as they were drawn. What was not drawn is drawn once, if the release file and its data
    are unchanged.
    """
