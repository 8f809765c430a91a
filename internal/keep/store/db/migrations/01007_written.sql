-- Tokens that were written to a provider's cache, among those of the input.
ALTER TABLE segments ADD COLUMN written_tokens BIGINT NOT NULL DEFAULT 0;
UPDATE segments SET written_tokens = COALESCE((SELECT SUM(COALESCE(o.write5m_tokens, 0) + COALESCE(o.write1h_tokens, 0))
    FROM outcomes o WHERE o.segment_no = segments.no), 0) WHERE input_tokens > 0;
