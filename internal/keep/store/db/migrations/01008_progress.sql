-- When an answer of a segment was last settled, or its provider counted others than before.
ALTER TABLE segments ADD COLUMN progress_ms BIGINT;
