-- In SQLite an attempt is found by its item, which comes in the order of the work: with keys first, every entry was made in another page
-- of the index. That a request has one attempt of a number is held as before: the key is made from the item, among others.
{{sqlite}}DROP INDEX attempts_key;
{{sqlite}}DROP INDEX attempts_item;
{{sqlite}}CREATE UNIQUE INDEX attempts_item ON attempts (run_no, item, key, try);

DROP VIEW run_errors;
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
    AND NOT EXISTS (SELECT 1 FROM attempts tried JOIN outcomes had ON had.segment_no = tried.segment_no AND had.ord = tried.ord
        WHERE tried.run_no = a.run_no AND tried.item = a.item AND tried.key = a.key AND had.stands = 1)
    AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.run_no = a.run_no AND b.item = a.item AND b.key = a.key AND b.try > a.try)
    AND NOT EXISTS (SELECT 1 FROM outcomes v WHERE v.segment_no = o.segment_no AND v.ord = o.ord AND v.late > o.late)));
