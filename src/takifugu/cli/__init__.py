"""The command line: one group, and commands that import what they need only when they run."""

from __future__ import annotations

import click

from takifugu._version import __version__
from takifugu.cli.group import (
    FILE_ARGUMENT,
    FILES_ARGUMENT,
    JSON_OPTION,
    OTHER_OPTION,
    PATH,
    SAME_OPTION,
    WINDOW_OPTION,
    YES_OPTION,
    Careful,
    WithKinds,
)
from takifugu.cli.ledger_group import ledger


@click.group(cls=Careful, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="takifugu")
@click.option("--plugin", "plugins", metavar="PACKAGE", multiple=True, help="An installed package to load.")
def main(plugins: tuple[str, ...]) -> None:
    """Publish statistics about correlated data, and hide the secrets in them.

    A release file (TOML) says where the data is, what a reader may believe, what is hidden and what is published.
    Start one with `takifugu init data.csv`; see what it costs with `cost`; publish with `release`.

    \b
    Exit codes
      0    done: published, paid and recorded
      1    refused: over budget, or nothing proves the promise
      2    bad input: a release file, data, ledger or option
      3    a fault of Takifugu; it says how far it got
      4    not all is published or paid: run again, or resume
      5    published and not recorded: run again, or resume
      130  stopped from the keyboard; it says how far it got
      143  stopped by SIGTERM; it says how far it got
    """
    if plugins:
        from takifugu.core.plugins import load

        load(plugins)


@main.command(cls=WithKinds, runs="cli.starting:init")
@click.argument("data")
@click.argument("answers", metavar="[KEY=ANSWER]...", nargs=-1)
@click.option("-o", "--output", type=PATH, default="release.toml", show_default=True, help="The file to write.")
@click.option("--kind", help="What is secret, by the kind of belief: one of those below.")
@click.option("--rows", metavar="WORD", help="What a row says: samples, changes, stays, events, wide, answers, visits.")
@click.option("--unit", metavar="COLUMN", help='Whose a row is: a column, an expression, or "-" for none.')
@click.option("--recording", metavar="COLUMN", help="The unbroken recording that a row belongs to.")
@click.option("--order", metavar="COLUMN", help='When a row was: a column, "date, time", or an expression.')
@click.option("--end", metavar="COLUMN", help="When a stay ends.")
@click.option("--step", metavar="STEP", help="How long a step is, such as 1min.")
@click.option("--value", metavar="COLUMN", help="What is published: a column, two, or an expression.")
@click.option("--timezone", metavar="ZONE", help="Where clocks show the times, such as Europe/Berlin, or UTC.")
@click.option("--where", metavar="EXPRESSION", help="Which rows count.")
@click.option("--nulls", metavar="WORD", help="What a missing value is: unobserved, or refuse for a mistake.")
@click.option("--missing", metavar="ANSWER", help='The answer that a missing one counts as; "-" for a mistake.')
@click.option("--encoding", metavar="CODEC", help="How a text file that is not UTF-8 is written, such as cp1252.")
@click.option("--sql", metavar="SELECT", help='The table of a file that has several, such as "FROM visits".')
@click.option("--yes", is_flag=True, help="Ask nothing; what the options leave open is an error.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@JSON_OPTION
def init() -> None:
    """Start a release file for DATA, the file of a table.

    CSV, Excel, Parquet, JSON lines, a database. Asks, on a terminal, what a row says, whose it is, when, what is
    published, and on whose clocks; then what no table tells. Options are named like the keys that they set; other keys
    are answered as KEY=ANSWER, such as states="still, walking". Publishes nothing.
    """


@main.command(runs="cli.checking:check")
@FILES_ARGUMENT
@click.option("--allow-useless", is_flag=True, help="Accept a table even if it is useless, or nothing but noise.")
@WINDOW_OPTION
@JSON_OPTION
def check() -> None:
    """Validate each FILE without reading its data.

    Its keys, its belief and the public files that it is made of, its queries, and whether there is noise for them.
    Neither data nor ledger are opened, so that it runs where neither of them is. Publishes nothing.
    """


@main.command(runs="cli.advice:advice")
@FILES_ARGUMENT
@WINDOW_OPTION
@JSON_OPTION
def advise() -> None:
    """Predict whether the tables of each FILE will be useful.

    For each table: good, rough or useless, with a picture of what is expected; for the worst one, which changes of the
    file would help, each with the error that it promises. Of the data it uses only which people there are and how
    long their sequences are, where the noise depends on that; of the ledger what was spent of a budget. Publishes
    nothing.
    """


@main.command(runs="cli.cost:cost")
@FILES_ARGUMENT
@click.option("--all", "with_all", is_flag=True, help="Every mechanism, and why some do not apply.")
@click.option("--mechanism", metavar="NAME", help="This one beside it, by its name or by what a paper calls it.")
@click.option("--epsilons", metavar="LIST", help="Other epsilons, such as 0.5,1,2: a row each.")
@click.option("--windows", type=int, metavar="N", help="N windows of a calendar, one after the other: 52 weeks.")
@WINDOW_OPTION
@click.option("-o", "--output", "svg", type=PATH, help="Write the picture of --epsilons here.")
@click.option("--force", is_flag=True, help="Overwrite a picture that is there.")
@JSON_OPTION
def cost() -> None:
    """Show the noise and the price of each table of FILE.

    The mechanism, its scale and error, what forced it, what a reader can learn, and what the ledger would count, or
    why a release would be refused. With --windows no data are read. Publishes nothing.
    """


@main.command(runs="cli.publishing:release")
@FILE_ARGUMENT
@click.option("--output", type=PATH, help="The folder to write into, instead of FILE's own.")
@click.option("--only", multiple=True, metavar="NAME", help="Only the [[table]] of this name.")
@click.option("--replace", multiple=True, metavar="NAME", help="Pay for NAME again; needs --idempotency-key.")
@click.option("--idempotency-key", metavar="KEY", help="Pay once for each table under KEY, however often it is run.")
@click.option("--force", is_flag=True, help="Overwrite files that are in the way.")
@click.option("--new-ledger", is_flag=True, help="Go on although another ledger paid for what is there.")
@click.option("--dry-run", is_flag=True, help="Show the noise and the cost, and publish nothing.")
@SAME_OPTION
@OTHER_OPTION
@YES_OPTION
@click.option("--allow-useless", is_flag=True, help="Publish a table even if it is useless, or nothing but noise.")
@WINDOW_OPTION
@JSON_OPTION
def release() -> None:
    """Publish the tables of FILE that are still unpublished.

    Reserves the budget in the ledger, draws the noise, and writes tables and certificates, in this order. Tables that
    are there are named and left alone.
    """


@main.command(runs="cli.reports:report")
@click.argument("where", type=PATH, required=False)
@click.option(
    "--as", "kind", type=click.Choice(["json", "geojson", "datapackage", "zip"]), metavar="FORM",
    help="Write the tables as json, geojson, datapackage or zip; open nothing.",
)
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@JSON_OPTION
def report() -> None:
    """Show the newest report in the browser.

    WHERE is a folder, a release file or a certificate; without it, this folder. Folders inside it are searched, too.
    """


@main.command(runs="cli.reports:verify")
@click.argument("where", metavar="FILE|FOLDER|ZIP", type=PATH, required=False)
@click.option("--page", is_flag=True, help="Write the page that computes a guarantee again, in a browser.")
@click.option("-o", "--output", type=PATH, help="Where to write the page  [default: a temporary folder].")
@click.option("--force", is_flag=True, help="Overwrite a page that is there.")
@JSON_OPTION
def verify() -> None:
    """Verify a certificate, its table and its signature.

    FILE is <table>.certificate.json; of a FOLDER or a ZIP every certificate in it. Compares the checksum of the
    certificate, the digest of its table and the signature beside it, and prints what is promised. With --page, opens
    a page for strangers: give it a certificate and its table, and it computes the guarantee again.
    """


@main.command(runs="cli.rehearsing:rehearse")
@FILE_ARGUMENT
@click.option("--seed", type=int, required=True, metavar="NUMBER", help="Where all made-up data and noise come from.")
@click.option("--people", type=int, metavar="NUMBER", help="How many people to make up.")
@click.option("--steps", type=int, metavar="NUMBER", help="How long the recordings of each are.")
@click.option("--only", multiple=True, metavar="NAME", help="Only the [[table]] of this name.")
@click.option("--allow-useless", is_flag=True, help="Publish a table even if it is useless, or nothing but noise.")
@WINDOW_OPTION
@JSON_OPTION
def rehearse() -> None:
    """Publish FILE on made-up data, without guarantee.

    Data are drawn from the belief, and data and noise from a seed: the same seed gives the same bytes. Opens neither
    data nor ledger; writes into FILE-rehearsal beside FILE. For papers, tests and colleagues.
    """


@main.command(runs="cli.auditing:audit")
@FILE_ARGUMENT
@click.option("--draws", type=click.IntRange(0, 10**7), default=0, help="Also draw this often on a made-up answer.")
@JSON_OPTION
def audit() -> None:
    """Audit a release file or a certificate.

    For each answer of FILE (FILE.toml, or <table>.certificate.json): what it really gives away, over every joint
    state and every output, beside what it promises; where that is too much, why. With --draws also whether what
    a release draws follows the declared distribution. Publishes nothing.
    """


@main.command(runs="cli.attacking:attack")
@FILE_ARGUMENT
@click.option(
    "--seed", type=int, default=1, show_default=True, metavar="NUMBER", help="Where recording and noise come from."
)
@click.option("--steps", type=int, metavar="NUMBER", help="How long the recording is.")
@click.option("--only", metavar="NAME", help="Attack the [[table]] of this name, instead of the first.")
@WINDOW_OPTION
@JSON_OPTION
def attack() -> None:
    """Show what a suspicious reader of FILE's table learns.

    Draws one recording from the belief and the table from it, and computes what a reader thinks of each step, before
    and after: with Takifugu's noise, with ordinary noise for one step, and with noise for all steps, of the same
    epsilon. Opens neither data nor ledger. Publishes nothing.
    """


@main.command(runs="cli.odds:show")
@click.option("--prior", default="0.1", show_default=True, help="How sure a reader is beforehand: 0.1, or 10%.")
@click.option("--epsilon", default="1", show_default=True, help="The epsilon of the promise.")
@click.option("--delta", default="0", show_default=True, help="The delta of the promise.")
@click.option("--deployments", is_flag=True, help="What published guarantees of one day are worth.")
@click.option("-o", "--output", "svg", type=PATH, help="Write the picture of it here.")
@click.option("--force", is_flag=True, help="Overwrite a picture that is there.")
@JSON_OPTION
def odds() -> None:
    """Show how sure a reader can become of a secret.

    A pocket calculator: from a suspicion beforehand, epsilon and delta to the suspicion afterwards. With
    --deployments: guarantees of one day or event, as published, and their loss where days resemble each other. Reads no
    file.
    """


@main.command(runs="cli.sessions:session")
@FILE_ARGUMENT
@click.argument("places", nargs=-1)
@click.option("--at-most", metavar="NUMBER", help="The threshold of these questions, instead of the table's.")
@click.option("--only", metavar="NAME", help="The [[table]] to ask about, if there are several.")
@click.option("--end", "is_last", is_flag=True, help="End the session after these questions.")
@SAME_OPTION
@OTHER_OPTION
@YES_OPTION
@WINDOW_OPTION
@JSON_OPTION
def session() -> None:
    """Answer questions about one place after the other.

    A session of a table with query = "safe": which of its PLACES, in which order, and with which threshold may depend
    on the answers before. The first question pays for all of them in the ledger; a place that was asked about keeps its
    answer. The session ends after `limit` numbers, its last place, or with --end. All answers so far are a table
    beside FILE, with their certificate. Without PLACES, says what was answered.
    """


@main.command(runs="cli.exploring:explore")
@click.argument("file", type=PATH, required=False)
@click.option("-o", "--output", type=PATH, help="Where to write the page  [default: a temporary folder].")
@click.option("--force", is_flag=True, help="Overwrite a page that is there.")
@JSON_OPTION
def explore() -> None:
    """Open the explorer, a page that shows what noise hides.

    Choose how long things last, what is published, and how sure a reader can become. With FILE the page starts at
    FILE's belief and its first table. It computes everything itself and sends nothing. Publishes nothing.
    """


@main.command(runs="cli.starting:app")
@click.argument("data")
@click.argument("answers", metavar="[KEY=ANSWER]...", nargs=-1)
@click.option("-o", "--output", type=PATH, default="release.toml", show_default=True, help="The file to write.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@JSON_OPTION
def app() -> None:
    """Open a page that asks about DATA, and publishes it.

    The questions of `init`, the verdict of `advise` while you move a slider, and `release`. The page is on this
    machine, and nobody else can open it. Nothing is written or published before you say so. Ctrl-C ends it.
    """


main.add_command(ledger)


@main.command(cls=WithKinds, runs="cli.starting:keys")
@click.argument("kind", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON Schema of such a file, for editors.")
def keys() -> None:
    """List all keys of a KIND of release file, one of those below.

    Each with its type, its default and one sentence.
    """


@main.command(runs="cli.examples:example")
@click.argument("name", required=False)
@click.option("--run", is_flag=True, help="Write it, publish it, and show its certificate and its ledger.")
@click.option("-o", "--output", "folder", type=PATH, help="Where to write  [here; with --run a temporary folder].")
@JSON_OPTION
def example() -> None:
    """Write an example, or list the examples.

    Writes the release file NAME.toml and the files that it reads, made up; on real data it says where to get them.
    With --run and without NAME: a release from start to end, on a larger sample.
    """


@main.command(runs="cli.believing:beliefs")
@click.argument("name", required=False)
@JSON_OPTION
def beliefs() -> None:
    """List published beliefs, or show one.

    With NAME: a [belief] to paste, and where its numbers were published. With a release file: what it believes, the
    matrix that was fitted included. Publishes nothing.
    """


@main.command(runs="cli.examples:reproduce")
@click.argument("target", required=False)
@click.option("-o", "--output", type=PATH, help="Folder of its page and pictures [default: experiments/].")
@click.option("--all", "whole", is_flag=True, help="Draw all points of the documentation, not a tenth of them.")
@JSON_OPTION
def reproduce() -> None:
    """Reproduce a paper's experiment, or list the experiments.

    The experiments are in a checkout of the source. What needs research data that are absent is left out, and said.
    Without --output the pages of the checkout are rewritten, whole.
    """
