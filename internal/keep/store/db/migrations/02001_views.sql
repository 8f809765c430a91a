-- Views for people: what is asked most often, without a join. Counts come from counters and never read a whole run.

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

-- Requests without an answer: their latest attempt that has ended, unless one more is in flight.
CREATE VIEW run_errors AS
SELECT r.id AS run, r.study, a.key, s.stage, s.lane AS lane, a.item, a.template, s.turn, a.branch, a.draw,
    CASE WHEN a.judge = '' OR a.against <> '' THEN '' ELSE a.lane END AS judged_lane,
    CASE WHEN a.against = '' THEN '' WHEN a.lane = '' THEN a.item ELSE a.lane END AS first, a.against AS second,
    a.judge, a.prompt, a.trait, a.vote, s.second_try,
    o.ending AS status, a.try AS attempt, o.fault_class AS class, o.fault_status AS http_status, o.fault_code AS code,
    COALESCE(o.fault_message, o.finish) AS message, s.no AS segment, s.job, o.at_ms
FROM outcomes o
JOIN attempts a ON a.segment_no = o.segment_no AND a.ord = o.ord
JOIN segments s ON s.no = o.segment_no
JOIN runs r ON r.no = o.run_no
WHERE o.stands = 0 AND o.surplus = 0
  AND NOT EXISTS (SELECT 1 FROM attempts tried JOIN outcomes had ON had.segment_no = tried.segment_no AND had.ord = tried.ord
        WHERE tried.run_no = a.run_no AND tried.item = a.item AND tried.key = a.key AND had.stands = 1)
  AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.run_no = a.run_no AND b.item = a.item AND b.key = a.key AND b.try > a.try)
  AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.segment_no = o.segment_no AND u.ord = o.ord AND u.late > o.late);

CREATE VIEW run_spend AS
SELECT r.id AS run, r.study, s.stage, s.lane, s.provider, s.model, CASE WHEN s.imported = '' THEN s.mode ELSE 'import' END AS mode, s.purpose,
    COUNT(*) AS segments,
    CAST(SUM(s.requests) AS BIGINT) AS attempts,
    CAST(SUM(s.cost_priced) AS BIGINT) AS priced,
    CAST(SUM(s.cost_unknown) AS BIGINT) AS unpriced,
    CASE WHEN SUM(s.cost_priced) > 0 OR SUM(s.cost_unknown) = 0 THEN CAST(SUM(s.cost_nano) AS DOUBLE PRECISION) / 1000000000 END AS spent_usd,
    CAST(SUM(s.reserved_nano) AS DOUBLE PRECISION) / 1000000000 AS reserved_usd,
    CAST(SUM(s.cost_nano) AS BIGINT) AS spent_nano,
    CAST(SUM(s.reserved_nano) AS BIGINT) AS reserved_nano,
    CASE WHEN SUM(s.input_tokens + s.output_tokens) > 0 OR SUM(s.usage_unknown) = 0 THEN CAST(SUM(s.input_tokens) AS BIGINT) END AS input_tokens,
    CASE WHEN SUM(s.input_tokens + s.output_tokens) > 0 OR SUM(s.usage_unknown) = 0 THEN CAST(SUM(s.cached_tokens) AS BIGINT) END AS cached_tokens,
    CASE WHEN SUM(s.input_tokens + s.output_tokens) > 0 OR SUM(s.usage_unknown) = 0 THEN CAST(SUM(s.output_tokens) AS BIGINT) END AS output_tokens,
    CASE WHEN SUM(s.input_tokens + s.output_tokens) > 0 OR SUM(s.usage_unknown) = 0 THEN CAST(SUM(s.reasoning_tokens) AS BIGINT) END AS reasoning_tokens,
    CAST(SUM(s.usage_unknown) AS BIGINT) AS usage_unknown,
    CAST(SUM(s.cache_hits) AS BIGINT) AS cache_hits,
    CAST(SUM(s.n_surplus) AS BIGINT) AS surplus
FROM segments s JOIN runs r ON r.no = s.run_no
GROUP BY r.id, r.study, s.stage, s.lane, s.provider, s.model, CASE WHEN s.imported = '' THEN s.mode ELSE 'import' END, s.purpose;

-- Every request that was sent, once, with what stands for it: the answer, else how its latest attempt ended (NULL: in
-- flight). lane is whose answer it is; of a judge's request, whose answer it reads, or first and second of a pair.
-- asked_lane is the lane that was asked.
CREATE VIEW answers AS
SELECT r.id AS run, r.study, a.key, g.stage, a.source, a.item,
    CASE WHEN a.against = '' THEN a.lane ELSE '' END AS lane,
    CASE WHEN a.against = '' THEN '' WHEN a.lane = '' THEN a.item ELSE a.lane END AS first, a.against AS second,
    a.template, g.turn, a.branch, a.draw, a.judge, a.prompt, a.trait, a.vote, g.second_try,
    g.lane AS asked_lane, g.provider, g.model, CASE WHEN g.imported = '' THEN g.mode ELSE 'import' END AS mode, a.try AS attempt,
    o.ending, o.text, o.thoughts, o.finish, o.model AS answered_model,
    o.input_tokens, o.cached_tokens, o.output_tokens, o.reasoning_tokens, CAST(o.cost_nano AS DOUBLE PRECISION) / 1000000000 AS cost_usd,
    CAST(CASE WHEN o.reused_no IS NULL THEN o.cost_nano ELSE o.price_nano END AS DOUBLE PRECISION) / 1000000000 AS price_usd,
    o.fault_class, o.fault_message, g.no AS segment, g.job, o.at_ms
FROM attempts a JOIN segments g ON g.no = a.segment_no JOIN runs r ON r.no = a.run_no
LEFT JOIN outcomes o ON o.segment_no = a.segment_no AND o.ord = a.ord
WHERE g.state <> 'planned' AND (o.stands = 1 OR (COALESCE(o.surplus, 0) = 0
    AND NOT EXISTS (SELECT 1 FROM attempts tried JOIN outcomes had ON had.segment_no = tried.segment_no AND had.ord = tried.ord
        WHERE tried.run_no = a.run_no AND tried.item = a.item AND tried.key = a.key AND had.stands = 1)
    AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.run_no = a.run_no AND b.item = a.item AND b.key = a.key AND b.try > a.try)
    AND NOT EXISTS (SELECT 1 FROM outcomes v WHERE v.segment_no = o.segment_no AND v.ord = o.ord AND v.late > o.late)));

-- Every verdict that counts. lane is the judged lane; of a pair, first and second as they were shown, and winner the name of
-- the better one, or tie.
CREATE VIEW verdicts_named AS
SELECT r.id AS run, r.study, v.key, v.stage, v.source, v.item,
    CASE WHEN v.against = '' THEN v.lane ELSE '' END AS lane,
    CASE WHEN v.against = '' THEN '' WHEN v.lane = '' THEN v.item ELSE v.lane END AS first, v.against AS second, v.direction,
    CASE WHEN v.against = '' OR v.state <> 'valid' THEN NULL WHEN v.label = 'tie' THEN 'tie' WHEN v.label = 'b' THEN v.against
        WHEN v.lane = '' THEN v.item ELSE v.lane END AS winner,
    v.template, v.turn, v.branch, v.draw, v.judge, v.prompt, v.trait, v.vote, v.second_try, v.fallback,
    v.state, v.label, v.score, v.reason, v.fields, v.segment_no AS segment, v.at_ms
FROM verdicts v JOIN runs r ON r.no = v.run_no
WHERE v.stale = 0;

-- Every job that a provider made for a run, the failed ones and the doubles too. The counts are those of its segment.
CREATE VIEW jobs_named AS
SELECT r.id AS run, r.study, g.stage, g.lane, g.turn, j.provider, g.model, j.job, j.role, g.state,
    CASE g.reason WHEN '#money' THEN 'the budget does not cover it'
        WHEN '#audit' THEN 'the provider''s list of jobs is to be compared with the ledger'
        WHEN '#room' THEN
            'the provider has as many tokens waiting as it takes at a time: goes as soon as one of the jobs before it has ended'
        ELSE g.reason END AS reason,
    g.requests, g.job_state, g.job_counts,
    g.n_answered AS answered, g.n_cut AS cut, g.n_empty AS empty, g.n_refused AS refused, g.n_rejected AS rejected, g.n_errored AS errored,
    g.n_expired AS expired, g.n_cancelled AS cancelled, g.n_lost AS lost, CAST(g.cost_nano AS DOUBLE PRECISION) / 1000000000 AS cost_usd,
    j.account, g.no AS segment, j.created_ms, g.launched_ms, g.ended_ms, g.collect_before_ms
FROM jobs j JOIN segments g ON g.no = j.segment_no JOIN runs r ON r.no = g.run_no;
