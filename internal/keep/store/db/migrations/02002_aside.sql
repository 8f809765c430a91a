-- What results that were never handed out may cost at most, set aside when their segment was settled: free again when they come late.
ALTER TABLE segments ADD COLUMN aside_nano BIGINT NOT NULL DEFAULT 0 CHECK (aside_nano >= 0);
