-- What create calls that were taken for lost cost at most, if they made their jobs: under a hard budget perhaps spent until those jobs were
-- looked for once more.
ALTER TABLE segments ADD COLUMN lost_nano BIGINT NOT NULL DEFAULT 0 CHECK (lost_nano >= 0);
