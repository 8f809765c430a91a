-- Who takes work: every worker says again and again which providers of a run it has keys for, so that work which nobody
-- alive can do is told instead of waiting in silence. The account is the key's fingerprint.
CREATE TABLE hands (
    holder   TEXT NOT NULL,
    run_no   BIGINT NOT NULL REFERENCES runs (no),
    provider TEXT NOT NULL,
    account  TEXT NOT NULL,
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (holder, run_no, provider)
);
