-- What a ledger knows of jobs that it did not make itself: a ledger may be older than its folder or a copy of another.

-- Why nothing of the run is sent before its providers' lists were compared with the ledger; '': nothing is owed.
ALTER TABLE runs ADD COLUMN reconcile TEXT NOT NULL DEFAULT '';

-- What a job that is one too many has cost, as far as is known; it is in the sums of its segment and run.
ALTER TABLE jobs ADD COLUMN cost_nano BIGINT NOT NULL DEFAULT 0;

-- Jobs with a run's stamp that no segment of this ledger made: another copy of it did. What they answer was taken over.
CREATE TABLE taken_jobs (
    provider  TEXT NOT NULL,
    job       TEXT NOT NULL,
    run_no    BIGINT NOT NULL REFERENCES runs (no),
    answers   BIGINT NOT NULL CHECK (answers >= 0),
    joined    BIGINT NOT NULL CHECK (joined >= 0), -- of these, answers to questions that had none
    cost_nano BIGINT NOT NULL CHECK (cost_nano >= 0), -- of the others, which were paid twice
    at_ms     BIGINT NOT NULL,
    PRIMARY KEY (provider, job, run_no)
);
