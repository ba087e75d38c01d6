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
