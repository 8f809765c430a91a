-- Tables for people. They read counters, never whole runs, except run_errors, which reads failures only.

CREATE VIEW lane_status AS
WITH counted (run_no, stage, lane, status, count, cache_hits) AS (
    SELECT run_no, stage, lane, 'unasked', planned - n_open - n_answered - n_cut - n_empty - n_refused - n_rejected
        - n_errored - n_expired - n_cancelled - n_lost, 0 FROM lanes
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
    CAST(SUM(l.hits_answered + l.hits_cut + l.hits_empty + l.hits_refused) AS BIGINT) AS cache_hits,
    CAST(SUM(l.reused) AS BIGINT) AS reused,
    CAST(SUM(l.surplus) AS BIGINT) AS surplus
FROM lanes l JOIN runs r ON r.no = l.run_no
GROUP BY r.study, l.stage, l.lane, l.provider, l.model;

-- Requests without an answer: their latest attempt that has ended, unless one more is on its way.
CREATE VIEW run_errors AS
SELECT r.id AS run, r.study, s.stage, s.lane AS lane, a.item, a.template, s.turn, a.branch, a.draw, a.pair, a.judge,
    o.ending AS status, a.try AS attempt, o.fault_class AS class, o.fault_status AS http_status, o.fault_code AS code,
    COALESCE(o.fault_message, o.finish) AS message, s.no AS segment, s.job, o.at_ms
FROM outcomes o
JOIN attempts a ON a.segment_no = o.segment_no AND a.ord = o.ord
JOIN segments s ON s.no = o.segment_no
JOIN runs r ON r.no = o.run_no
WHERE o.stands = 0 AND o.surplus = 0
  AND NOT EXISTS (SELECT 1 FROM outcomes t WHERE t.run_no = o.run_no AND t.key = o.key AND t.stands = 1)
  AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.run_no = o.run_no AND b.key = o.key AND b.try > a.try)
  AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.segment_no = o.segment_no AND u.ord = o.ord AND u.late > o.late);

CREATE VIEW run_spend AS
SELECT r.id AS run, r.study, s.stage, s.lane, s.provider, s.model, s.mode, s.purpose,
    COUNT(*) AS segments,
    CAST(SUM(s.requests) AS BIGINT) AS attempts,
    CAST(SUM(s.cost_priced) AS BIGINT) AS priced,
    CAST(SUM(s.cost_unknown) AS BIGINT) AS unpriced,
    CAST(SUM(s.cost_nano) AS DOUBLE PRECISION) / 1000000000 AS spent_usd,
    CAST(SUM(s.reserved_nano) AS DOUBLE PRECISION) / 1000000000 AS reserved_usd,
    CAST(SUM(s.cost_nano) AS BIGINT) AS spent_nano,
    CAST(SUM(s.reserved_nano) AS BIGINT) AS reserved_nano,
    CAST(SUM(s.input_tokens) AS BIGINT) AS input_tokens,
    CAST(SUM(s.cached_tokens) AS BIGINT) AS cached_tokens,
    CAST(SUM(s.output_tokens) AS BIGINT) AS output_tokens,
    CAST(SUM(s.reasoning_tokens) AS BIGINT) AS reasoning_tokens,
    CAST(SUM(s.cache_hits) AS BIGINT) AS cache_hits,
    CAST(SUM(s.n_surplus) AS BIGINT) AS surplus
FROM segments s JOIN runs r ON r.no = s.run_no
GROUP BY r.id, r.study, s.stage, s.lane, s.provider, s.model, s.mode, s.purpose;
