-- What people wrote about answers, where they read them. Nothing is computed from it.
CREATE TABLE comments (
    no     {{serial}},
    run_no BIGINT NOT NULL REFERENCES runs (no),
    key    BYTEA NOT NULL, -- of the answer
    item   TEXT NOT NULL,
    person TEXT NOT NULL,
    text   TEXT NOT NULL,
    stale  INTEGER NOT NULL CHECK (stale IN (0, 1)), -- taken back
    at_ms  BIGINT NOT NULL
);
CREATE INDEX comments_item ON comments (run_no, item, no);
