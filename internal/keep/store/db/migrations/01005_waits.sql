-- Until when the provider asked us to wait before the next call for a segment; NULL: it did not.
ALTER TABLE segments ADD COLUMN wait_ms BIGINT;
