-- Answers that were made elsewhere: the file they came from stands on their segment, and a lane counts them.
ALTER TABLE segments ADD COLUMN imported TEXT NOT NULL DEFAULT '';
ALTER TABLE lanes ADD COLUMN imported BIGINT NOT NULL DEFAULT 0;

DROP VIEW run_spend;
CREATE VIEW run_spend AS
SELECT r.id AS run, r.study, s.stage, s.lane, s.provider, s.model, CASE WHEN s.imported = '' THEN s.mode ELSE 'import' END AS mode, s.purpose,
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
GROUP BY r.id, r.study, s.stage, s.lane, s.provider, s.model, CASE WHEN s.imported = '' THEN s.mode ELSE 'import' END, s.purpose;
