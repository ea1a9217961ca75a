"""The ledger's tables: events, the one truth, and what is computed from them (`applying`).

Numbers that are spent are exact rationals, written as text; units are keyed hashes only.
"""

from __future__ import annotations

from functools import cache
from itertools import chain

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    null,
)
from sqlalchemy.dialects.sqlite import dialect
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

#: So many bytes of its keyed hash stand for a unit, and the tag of what is charged to every unit of a source.
TAG, EVERYONE = 16, b""

#: What `meta.kind` says, so that no other database is taken for a ledger.
KIND = "takifugu-ledger"

#: The layout of the tables below: an older one is upgraded (`ledger.opening`), a newer one refused, never guessed.
VERSION = 7
#: The formats that are read: what is older than the newest is upgraded.
READ = (5, 6, VERSION)

metadata = MetaData()


def seal() -> Column[bytes]:
    """Return a column for a row's keyed digest, written at commit (`seals`)."""
    return Column("seal", LargeBinary, onupdate=null())


meta = Table(
    "meta",
    metadata,
    Column("kind", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("public_id", Text, nullable=False),  # which ledger it is, in release files; a copy has the same
    Column("created", Text, nullable=False),
    Column("key", Text, nullable=False),  # of the HMACs below; it never leaves the ledger
    Column("head", Text, nullable=False),  # the digest of the newest event, which holds that of the one before it
    Column("counts", Text, nullable=False),  # how many rows each table has, JSON
    seal(),
)

sources = Table(
    "sources",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),  # normalised
    Column("public_id", Text, nullable=False, unique=True),
    Column("created", Text, nullable=False),
    Column("budget_epsilon", Text),  # null until the first release or an explicit budget
    Column("budget_delta", Text),
    Column("budget_is_implied", Boolean, nullable=False),
    Column("changes", Integer, nullable=False),  # grows with everything that is written about its account
    Column("members", Integer, nullable=False),  # grows with every release that names a new unit
    Column("units_seal", LargeBinary),  # the keyed digest of the rows of all its units
    seal(),
)

layouts = Table(
    "layouts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source", ForeignKey("sources.id"), nullable=False, index=True),
    Column("alike", Integer, nullable=False),  # the number of the first layout that it agrees with, of its source
    Column("body", Text, nullable=False),  # how rows became entries in some release (`ledger.layouts`)
    seal(),
)

people = Table(
    "people",
    metadata,
    Column("one", ForeignKey("sources.id"), primary_key=True),  # the lower number; equal ones: it names no units
    Column("other", ForeignKey("sources.id"), primary_key=True),
    Column("same", Boolean, nullable=False),  # are they, or their units of one name, the same people? Declared
    seal(),
)

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("public_id", Text, nullable=False, unique=True),  # random: events of copies are the same by it alone
    Column("kind", Text, nullable=False),
    Column("source", Text, nullable=False),  # its normalised name
    Column("body", Text, nullable=False),  # canonical JSON; what is long stands in `contents`
    Column("created", Text, nullable=False),
    Column("first", Text),  # of an event of another copy: its digest there
    Column("chain", Text, nullable=False),  # HMAC of all this and the digest of the event before
)

contents = Table(
    "contents",
    metadata,
    Column("digest", Text, primary_key=True),  # SHA-256
    Column("body", LargeBinary, nullable=False),  # what events say at length: charges, frameworks, recipes, units
)

#: What is only ever added to. All other tables but `meta` are computed from it, and so are all columns of them but the
#: noisy values that wait to be published.
TRUTH = (events, contents)

notes = Table(
    "notes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source", ForeignKey("sources.id"), nullable=False, index=True),
    Column("what", Text, nullable=False),
    Column("created", Text, nullable=False),
    seal(),
)

frameworks = Table(
    "frameworks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source", ForeignKey("sources.id"), nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("definition", Text, nullable=False),
    Column("body", Text, nullable=False),  # canonical JSON
    seal(),
    UniqueConstraint("source", "fingerprint"),
)

charges = Table(
    "charges",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("framework", ForeignKey("frameworks.id"), nullable=False),
    Column("digest", Text, nullable=False),
    Column("links", Boolean, nullable=False),  # a pooled output-law promise: a debit of one unit affects all
    Column("body", Text, nullable=False),  # canonical JSON without release and reading, so that equal ones meet
    seal(),
    UniqueConstraint("framework", "digest"),
)
#: Few charges tie units together, and whether any does is asked before each release.
Index("charges_that_link", charges.c.framework, sqlite_where=charges.c.links)

reservations = Table(
    "reservations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("public_id", Text, nullable=False, unique=True),
    Column("source", ForeignKey("sources.id"), nullable=False, index=True),
    Column("identity", Text),  # HMAC of what its releases are: distinguishes a second run of the same from a new one
    Column("recipe", Text, nullable=False),  # canonical JSON that says how to complete it; never data
    Column("state", Text, nullable=False),  # of all its releases: they move together
    Column("bundle", LargeBinary),  # which file has drawn values (`outputs`), or answers of a session
    Column("created", Text, nullable=False),
    Column("changed", Text, nullable=False),
    seal(),
)

releases = Table(
    "releases",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("public_id", Text, nullable=False, unique=True),
    Column("source", ForeignKey("sources.id"), nullable=False, index=True),
    Column("reservation", ForeignKey("reservations.id"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("epsilon", Text, nullable=False),  # what it promises alone: the largest of its debits
    Column("delta", Text, nullable=False),
    Column("software", Text, nullable=False),
    Column("created", Text, nullable=False),
    seal(),
)

batches = Table(
    "batches",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("units", Integer, nullable=False),  # how many units one reservation debits alike
    seal(),
)

debits = Table(
    "debits",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("batch", ForeignKey("batches.id"), nullable=False, index=True),
    Column("release", ForeignKey("releases.id"), nullable=False, index=True),
    Column("charge", ForeignKey("charges.id"), nullable=False),
    Column("recharge", Boolean, nullable=False),
    Column("reading", Text, nullable=False),  # debits of one batch with the same reading read the same entries
    seal(),
)

histories = Table(
    "histories",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source", ForeignKey("sources.id"), nullable=False),
    Column("parent", ForeignKey("histories.id")),  # what was debited before; null where nothing was
    Column("batch", ForeignKey("batches.id"), nullable=False),
    seal(),
)

summaries = Table(
    "summaries",
    metadata,
    Column("history", ForeignKey("histories.id"), primary_key=True),
    Column("body", Text, nullable=False),  # what its debits come to, JSON: a cache, rebuilt from them where it is not
    seal(),
)

standings = Table(
    "standings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source", ForeignKey("sources.id"), nullable=False),
    Column("history", ForeignKey("histories.id"), nullable=False),
    Column("epsilon", Text, nullable=False),  # the joint cost of each of its units after the last release about them
    Column("delta", Text, nullable=False),
    Column("units", Integer, nullable=False),  # how many have it: those whose whole past is the same
    seal(),
)

#: Nothing but whose standing is which: there may be millions. A foreign key would be looked for in all of them.
units = Table(
    "units",
    metadata,
    Column("tag", LargeBinary, primary_key=True),  # HMAC of its normalised name; empty: what is charged to every unit
    Column("source", ForeignKey("sources.id"), primary_key=True),
    Column("standing", Integer, nullable=False),
    sqlite_with_rowid=False,
)


#: Tables whose rows have a seal each; those of units have one for each source.
SEALED = tuple(table for table in metadata.sorted_tables if "seal" in table.columns and table is not meta)
for _table in SEALED:
    Index(f"{_table.name}_unsealed", _table.c.seal, sqlite_where=_table.c.seal.is_(None))


@cache
def statements() -> tuple[str, ...]:
    """Return the statements making tables and indexes."""
    elements: list[DDLElement] = list(map(CreateTable, metadata.sorted_tables))
    elements += map(CreateIndex, chain.from_iterable(table.indexes for table in metadata.sorted_tables))
    return tuple(str(element.compile(dialect=dialect())) for element in elements)
