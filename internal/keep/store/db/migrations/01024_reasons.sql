-- Reasons by which something is decided are codes; words are made where they are shown.
UPDATE segments SET reason = '#money' WHERE reason = 'the budget does not cover it';
UPDATE segments SET reason = '#audit' WHERE reason = 'the provider''s list of jobs is to be compared with the ledger';
UPDATE segments SET reason = '#room'
    WHERE reason = 'the provider has as many tokens waiting as it takes at a time: goes as soon as one of the jobs before it has ended';

DROP VIEW jobs_named;
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
