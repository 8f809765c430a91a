-- A claim is a block of requests that may be in flight: so many of them, from the first one on.
ALTER TABLE claims ADD COLUMN n BIGINT NOT NULL DEFAULT 1 CHECK (n > 0);
