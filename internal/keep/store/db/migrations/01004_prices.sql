-- Answers of other runs cost this run nothing, and have a price all the same: what they cost where they were paid for.

-- Of an answer that was taken over: its cost in the run that asked; NULL: not known.
ALTER TABLE outcomes ADD COLUMN price_nano BIGINT;

-- Sums of answers that were taken over: their prices, how many have none that is known, their tokens, how many have none.
ALTER TABLE segments ADD COLUMN taken_nano BIGINT NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN taken_unpriced BIGINT NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN taken_input BIGINT NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN taken_cached BIGINT NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN taken_output BIGINT NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN taken_mute BIGINT NOT NULL DEFAULT 0;
UPDATE segments SET taken_unpriced = (SELECT COUNT(*) FROM outcomes o WHERE o.segment_no = segments.no AND o.reused_no IS NOT NULL)
    WHERE mode = 'reuse' AND imported = '';
UPDATE segments SET taken_mute = taken_unpriced WHERE taken_unpriced > 0;

DROP VIEW answers;
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
    AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.run_no = a.run_no AND u.key = a.key AND u.stands = 1)
    AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.run_no = a.run_no AND b.key = a.key AND b.try > a.try)
    AND NOT EXISTS (SELECT 1 FROM outcomes v WHERE v.segment_no = o.segment_no AND v.ord = o.ord AND v.late > o.late)));
