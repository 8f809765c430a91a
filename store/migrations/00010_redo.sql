-- A redo is a person's word: ask again what has an answer, as one more draw. Nothing is replaced: nth counts the further
-- draws of an item in a lane of a stage, and branch and draw say which of its questions are asked again ('' and 0: all).
CREATE TABLE redos (
    run_no   BIGINT NOT NULL REFERENCES runs (no),
    stage    TEXT NOT NULL,
    lane     TEXT NOT NULL,
    item     TEXT NOT NULL,
    nth      BIGINT NOT NULL CHECK (nth > 0),
    branch   TEXT NOT NULL,
    draw     BIGINT NOT NULL CHECK (draw >= 0),
    order_no BIGINT NOT NULL REFERENCES orders (no),
    at_ms    BIGINT NOT NULL,
    PRIMARY KEY (run_no, stage, lane, item, nth)
);
CREATE UNIQUE INDEX redos_order ON redos (order_no);

-- Planned requests that turned out to need no asking: ties of identical answers, what a gate left out. Known when the run
-- closes; what is then neither counted nor spared is missing.
ALTER TABLE lanes ADD COLUMN spared BIGINT NOT NULL DEFAULT 0 CHECK (spared >= 0);

-- The newest run of the study in its folder when this one began, 0 for none, NULL where nobody looked: of two processes
-- that saw the same, one begins.
ALTER TABLE runs ADD COLUMN follows BIGINT;
CREATE UNIQUE INDEX runs_follows ON runs (study, folder, follows);

-- When what a job left at its provider was deleted there.
ALTER TABLE segments ADD COLUMN removed_ms BIGINT;

DROP VIEW lane_status;
CREATE VIEW lane_status AS
WITH counted (run_no, stage, lane, status, count, cache_hits) AS (
    SELECT run_no, stage, lane, 'unasked', planned - spared - n_open - n_answered - n_cut - n_empty - n_refused - n_rejected
        - n_errored - n_expired - n_cancelled - n_lost, 0 FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'spared', spared, 0 FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'open', n_open, 0 FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'answered', n_answered, hits_answered FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'cut', n_cut, hits_cut FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'empty', n_empty, hits_empty FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'refused', n_refused, hits_refused FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'rejected', n_rejected, 0 FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'errored', n_errored, 0 FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'expired', n_expired, 0 FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'cancelled', n_cancelled, 0 FROM lanes
    UNION ALL SELECT run_no, stage, lane, 'lost', n_lost, 0 FROM lanes
)
SELECT r.id AS run, r.study, c.stage, c.lane, c.status, c.count, c.cache_hits
FROM counted c JOIN runs r ON r.no = c.run_no
WHERE c.count > 0;

DROP VIEW lane_coverage;
CREATE VIEW lane_coverage AS
SELECT r.study, l.stage, l.lane, l.provider, l.model,
    COUNT(*) AS runs,
    CAST(SUM(l.planned) AS BIGINT) AS planned,
    CAST(SUM(l.n_open + l.n_answered + l.n_cut + l.n_empty + l.n_refused + l.n_rejected + l.n_errored + l.n_expired
        + l.n_cancelled + l.n_lost) AS BIGINT) AS generations,
    CAST(SUM(l.n_answered + l.n_cut + l.n_refused) AS BIGINT) AS completed,
    CAST(SUM(l.n_answered) AS BIGINT) AS answered,
    CAST(SUM(l.n_cut) AS BIGINT) AS cut,
    CAST(SUM(l.n_refused) AS BIGINT) AS refused,
    CAST(SUM(l.n_empty + l.n_rejected + l.n_errored + l.n_expired + l.n_cancelled + l.n_lost) AS BIGINT) AS errors,
    CAST(SUM(l.n_open) AS BIGINT) AS open,
    CAST(SUM(l.spared) AS BIGINT) AS spared,
    CAST(SUM(l.hits_answered + l.hits_cut + l.hits_empty + l.hits_refused) AS BIGINT) AS cache_hits,
    CAST(SUM(l.reused) AS BIGINT) AS reused,
    CAST(SUM(l.surplus) AS BIGINT) AS surplus
FROM lanes l JOIN runs r ON r.no = l.run_no
GROUP BY r.study, l.stage, l.lane, l.provider, l.model;
