-- Caps on live calls that all workers of a ledger share. next_us is the next moment, in microseconds, that nobody has leased.
CREATE TABLE quotas (
    scope   TEXT PRIMARY KEY,
    next_us BIGINT NOT NULL
);

-- Each worker's share of a cap on requests in flight.
CREATE TABLE shares (
    scope    TEXT NOT NULL,
    holder   TEXT NOT NULL,
    wants    BIGINT NOT NULL CHECK (wants >= 0),
    has      BIGINT NOT NULL CHECK (has >= 0),
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (scope, holder)
);

-- How often a live request may have been billed without its answer having come home, and why.
ALTER TABLE doubts ADD COLUMN times BIGINT NOT NULL DEFAULT 1 CHECK (times > 0);
ALTER TABLE doubts ADD COLUMN cause TEXT NOT NULL DEFAULT 'stop' CHECK (cause IN ('stop', 'reply'));
