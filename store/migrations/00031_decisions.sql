-- What the gates of a run decided, each once: a stage as a whole (lane ''), or a lane in it.
CREATE TABLE decisions (
    run_no     BIGINT NOT NULL REFERENCES runs (no),
    stage      TEXT NOT NULL,
    lane       TEXT NOT NULL,
    condition  TEXT NOT NULL,
    passed     INTEGER NOT NULL CHECK (passed IN (0, 1)),
    why        TEXT NOT NULL,
    at_ms      BIGINT NOT NULL,
    PRIMARY KEY (run_no, stage, lane),
    CHECK (passed = 0 OR why = '')
);
