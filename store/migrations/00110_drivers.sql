-- Processes that drive a run, each until a moment that it puts off again and again. Who may write is decided by leases alone.
CREATE TABLE drivers (
    run_no   BIGINT NOT NULL REFERENCES runs (no),
    holder   TEXT NOT NULL,
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (run_no, holder)
);
