-- What Coffer keeps in coffer.db. Every statement may run again on a database that has it.
CREATE TABLE IF NOT EXISTS receipts (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,          -- prune, undo, repair, restore ...
    status TEXT NOT NULL,        -- prepared: may or may not have happened; done; undone
    time TEXT NOT NULL,          -- ISO 8601, UTC
    machine TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    path TEXT NOT NULL,
    data TEXT NOT NULL           -- JSON, by kind
);
CREATE INDEX IF NOT EXISTS receipts_by_path ON receipts (path, time);

CREATE TABLE IF NOT EXISTS blobs (
    hash TEXT PRIMARY KEY,       -- sha256 of the content
    pack TEXT NOT NULL,          -- file below pruned/
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,     -- compressed bytes
    size INTEGER NOT NULL,       -- bytes of the content
    note TEXT NOT NULL,
    project TEXT NOT NULL        -- folder that the session worked in
);
CREATE TABLE IF NOT EXISTS blob_refs (
    hash TEXT NOT NULL REFERENCES blobs (hash),
    receipt TEXT NOT NULL REFERENCES receipts (id),
    PRIMARY KEY (hash, receipt)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS blob_refs_by_receipt ON blob_refs (receipt);

-- Human turns that were read: each once, in whatever files it stands. Texts are redacted, and "" where the turn
-- was not worth a rule.
CREATE TABLE IF NOT EXISTS turns (
    id TEXT PRIMARY KEY,         -- of its record
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    folder TEXT NOT NULL,        -- where the session worked
    project TEXT NOT NULL,       -- root of the project, "" for none
    time TEXT NOT NULL,          -- ISO 8601, UTC
    reliability TEXT NOT NULL,
    label TEXT NOT NULL,
    persistence TEXT NOT NULL,   -- session, persistent, or ""
    certainty TEXT NOT NULL,     -- certain, possible, none
    confidence REAL NOT NULL,
    reason TEXT NOT NULL,
    text TEXT NOT NULL,
    before TEXT NOT NULL,
    actions TEXT NOT NULL,       -- JSON: [[tool, target], ...]
    state TEXT NOT NULL          -- nothing, counted, noticed (in the inbox), answered, rejected
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS turns_by_state ON turns (state, time);

-- How far each transcript was read for human turns.
CREATE TABLE IF NOT EXISTS heard (
    path TEXT PRIMARY KEY,
    inode INTEGER NOT NULL,
    offset INTEGER NOT NULL,     -- bytes
    anchor TEXT NOT NULL         -- sha256 of the bytes just before the offset: another file starts anew
) WITHOUT ROWID;

-- The turns behind a rule; the rule itself stands in its digest file only.
CREATE TABLE IF NOT EXISTS evidence (
    turn TEXT NOT NULL,
    digest TEXT NOT NULL,        -- path of the file
    rule TEXT NOT NULL,          -- its id there
    time TEXT NOT NULL,
    session TEXT NOT NULL,
    project TEXT NOT NULL,
    reliability TEXT NOT NULL,
    label TEXT NOT NULL,
    certainty TEXT NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (turn, digest, rule)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS evidence_by_rule ON evidence (digest, rule);

-- Rule texts that may be delivered from a digest: those that Coffer wrote, and those that the person trusted.
CREATE TABLE IF NOT EXISTS trusted (
    digest TEXT NOT NULL,
    text TEXT NOT NULL,          -- sha256 of the rule text
    time TEXT NOT NULL,
    by TEXT NOT NULL,            -- coffer, person; not delivered: written (pending), seen (an agent may have been)
    PRIMARY KEY (digest, text)
) WITHOUT ROWID;

-- What an agent, or a program, asked for and only the person may do.
CREATE TABLE IF NOT EXISTS proposals (
    id TEXT PRIMARY KEY,
    time TEXT NOT NULL,
    by TEXT NOT NULL,
    verb TEXT NOT NULL,          -- add, edit, promote, trust
    digest TEXT NOT NULL,
    arguments TEXT NOT NULL,     -- JSON
    state TEXT NOT NULL          -- open, accepted, rejected
) WITHOUT ROWID;

-- One-time tickets with which the agent in the room may word the rule of one human turn.
CREATE TABLE IF NOT EXISTS tickets (
    ticket TEXT PRIMARY KEY,     -- sha256 of it: who reads the database can't use it
    transcript TEXT NOT NULL,
    turn TEXT NOT NULL,          -- its id, or a hash of its words where it stands in no file yet
    folder TEXT NOT NULL,
    made TEXT NOT NULL,
    used TEXT NOT NULL           -- "" until then
) WITHOUT ROWID;

-- Answers of a configured model, by what was asked, and how often it was asked on a day.
CREATE TABLE IF NOT EXISTS answers (
    question TEXT PRIMARY KEY,   -- sha256 of provider, model and prompt
    answer TEXT NOT NULL,
    time TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS model_days (
    day TEXT PRIMARY KEY,        -- UTC
    calls INTEGER NOT NULL
) WITHOUT ROWID;

-- What was sent into which context, and whether it was seen to arrive.
CREATE TABLE IF NOT EXISTS deliveries (
    id TEXT PRIMARY KEY,
    time TEXT NOT NULL,          -- ISO 8601 with microseconds, UTC
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    transcript TEXT NOT NULL,    -- "" for a session without one
    child TEXT NOT NULL,         -- agent_id of a subagent, or ""
    event TEXT NOT NULL,         -- SessionStart:startup, UserPromptSubmit ...
    project TEXT NOT NULL,
    bundle TEXT NOT NULL,        -- hash of the whole bundle at that time
    rules TEXT NOT NULL,         -- JSON: ids of the rules that were sent
    text TEXT NOT NULL,          -- what was sent
    bytes INTEGER NOT NULL,
    milliseconds REAL NOT NULL,
    state TEXT NOT NULL,         -- sent, confirmed, held, missing, unverifiable
    seen TEXT NOT NULL,          -- when it was confirmed, or ""
    process INTEGER NOT NULL     -- parent of the hook, 0 if unknown: what a Claude fork goes on with under a new path
);
CREATE INDEX IF NOT EXISTS deliveries_by_transcript ON deliveries (transcript, time);
CREATE INDEX IF NOT EXISTS deliveries_by_state ON deliveries (state, time);

-- What the journal tells of each session, and who is writing it.
CREATE TABLE IF NOT EXISTS distilled_sessions (
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    path TEXT NOT NULL,          -- of its transcript, when it was looked at last
    inode INTEGER NOT NULL,
    offset INTEGER NOT NULL,     -- bytes that are told
    anchor TEXT NOT NULL,        -- sha256 of the bytes just before the offset: another file is read anew
    mark TEXT NOT NULL,          -- the last record that is told: its place in a file that was rewritten
    state TEXT NOT NULL,         -- claimed, told, skipped, failing
    owner INTEGER NOT NULL,      -- process that claimed it
    owner_start TEXT NOT NULL,
    lease REAL NOT NULL,         -- seconds since the epoch, until which the claim holds
    tries INTEGER NOT NULL,      -- since the last success
    next_try REAL NOT NULL,
    outcome TEXT NOT NULL,       -- distilled, skipped, failed ...
    why TEXT NOT NULL,
    entry TEXT NOT NULL,         -- id of the entry of the last part, or ""
    file TEXT NOT NULL,          -- in which that lies
    begun TEXT NOT NULL,         -- the mark behind which its part begins, "" for the beginning
    hash TEXT NOT NULL,          -- sha256 of its text: one that a person edited is left as it is
    pending TEXT NOT NULL,       -- JSON: what this row will be once the entry is written; "" for nothing
    time TEXT NOT NULL,          -- ISO 8601, UTC
    PRIMARY KEY (agent, session)
) WITHOUT ROWID;
-- The prompts that an entry tells of: copies of them in a fork's file are not told again.
CREATE TABLE IF NOT EXISTS distilled_turns (
    turn TEXT PRIMARY KEY,
    session TEXT NOT NULL
) WITHOUT ROWID;
