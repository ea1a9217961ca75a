-- The order of the tables is that of their numbers of rows in `meta`, and each comes after those that it refers to.
create table batches (
    id INTEGER not null primary key,
    units INTEGER not null,  -- how many units one reservation debits alike
    seal BLOB);
create table contents (
    digest TEXT not null primary key,  -- SHA-256
    body BLOB not null);  -- what events say at length: charges, frameworks, recipes, units
create table events (
    id INTEGER not null primary key,
    public_id TEXT not null unique,  -- random: events of copies are the same by it alone
    kind TEXT not null,
    source TEXT not null,  -- its normalised name
    body TEXT not null,  -- canonical JSON; what is long stands in `contents`
    created TEXT not null,
    first TEXT,  -- of an event of another copy: its digest there
    chain TEXT not null);  -- HMAC of all this and the digest of the event before
create table meta (
    kind TEXT not null,
    version INTEGER not null,
    public_id TEXT not null,  -- which ledger it is, in release files; a copy has the same
    created TEXT not null,
    key TEXT not null,  -- of the HMACs; it never leaves the ledger
    head TEXT not null,  -- the digest of the newest event, which holds that of the one before it
    counts TEXT not null,  -- how many rows each table has, JSON
    seal BLOB);
create table sources (
    id INTEGER not null primary key,
    name TEXT not null unique,  -- normalised
    public_id TEXT not null unique,
    created TEXT not null,
    budget_epsilon TEXT,  -- null until the first release or an explicit budget
    budget_delta TEXT,
    budget_is_implied BOOLEAN not null,
    changes INTEGER not null,  -- grows with everything that is written about its account
    members INTEGER not null,  -- grows with every release that names a new unit
    units_seal BLOB,  -- the keyed digest of the rows of all its units
    seal BLOB);
create table frameworks (
    id INTEGER not null primary key,
    source INTEGER not null references sources (id),
    fingerprint TEXT not null,
    definition TEXT not null,
    body TEXT not null,  -- canonical JSON
    seal BLOB,
    unique (source, fingerprint));
create table histories (
    id INTEGER not null primary key,
    source INTEGER not null references sources (id),
    parent INTEGER references histories (id),  -- what was debited before; null where nothing was
    batch INTEGER not null references batches (id),
    seal BLOB);
create table notes (
    id INTEGER not null primary key,
    source INTEGER not null references sources (id),
    what TEXT not null,
    created TEXT not null,
    seal BLOB);
create table people (
    one INTEGER not null references sources (id),  -- the lower number; equal ones: it names no units
    other INTEGER not null references sources (id),
    same BOOLEAN not null,  -- are they, or their units of one name, the same people? Declared
    seal BLOB,
    primary key (one, other));
create table readings (
    id INTEGER not null primary key,
    source INTEGER not null references sources (id),
    alike INTEGER not null,  -- readings of one number are the same entries, by the owner's word
    body TEXT not null,  -- how rows became entries in some release, one fact a line (`format.readings`)
    seal BLOB);
create table reservations (
    id INTEGER not null primary key,
    public_id TEXT not null unique,
    source INTEGER not null references sources (id),
    identity TEXT,  -- HMAC of what its releases are: distinguishes a second run of the same from a new one
    recipe TEXT not null,  -- canonical JSON that says how to complete it; never data
    state TEXT not null,  -- of all its releases: they move together
    bundle BLOB,  -- which file has drawn values (`outputs`), or answers of a session
    created TEXT not null,
    changed TEXT not null,
    seal BLOB);
create table units (  -- nothing but whose standing is which: there may be millions
    tag BLOB not null,  -- HMAC of its normalised name; empty: what is charged to every unit
    source INTEGER not null references sources (id),
    standing INTEGER not null,  -- a foreign key would be looked for in all of them
    primary key (tag, source)) without rowid;
create table charges (
    id INTEGER not null primary key,
    framework INTEGER not null references frameworks (id),
    digest TEXT not null,
    links BOOLEAN not null,  -- a pooled output-law promise: a debit of one unit affects all
    body TEXT not null,  -- canonical JSON without release and reading, so that equal ones meet
    seal BLOB,
    unique (framework, digest));
create table releases (
    id INTEGER not null primary key,
    public_id TEXT not null unique,
    source INTEGER not null references sources (id),
    reservation INTEGER not null references reservations (id),
    name TEXT not null,
    epsilon TEXT not null,  -- what it promises alone: the largest of its debits
    delta TEXT not null,
    software TEXT not null,
    created TEXT not null,
    seal BLOB);
create table standings (
    id INTEGER not null primary key,
    source INTEGER not null references sources (id),
    history INTEGER not null references histories (id),
    epsilon TEXT not null,  -- the joint cost of each of its units after the last release about them
    delta TEXT not null,
    units INTEGER not null,  -- how many have it: those whose whole past is the same
    seal BLOB);
create table summaries (
    history INTEGER not null primary key references histories (id),
    body TEXT not null,  -- what its debits come to, JSON: a cache, rebuilt from them where it is not
    seal BLOB);
create table debits (
    id INTEGER not null primary key,
    batch INTEGER not null references batches (id),
    release INTEGER not null references releases (id),
    charge INTEGER not null references charges (id),
    recharge BOOLEAN not null,
    reading TEXT not null,  -- debits of one batch with the same reading read the same entries
    seal BLOB);
create index charges_that_link on charges (framework) where links;  -- few do, and each release asks whether any does
create index ix_notes_source on notes (source);
create index ix_readings_source on readings (source);
create index ix_reservations_source on reservations (source);
create index ix_releases_source on releases (source);
create index ix_releases_reservation on releases (reservation);
create index ix_debits_release on debits (release);
create index ix_debits_batch on debits (batch);
