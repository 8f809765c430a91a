-- Where it is booked what answers of a job that was taken over have cost a second time; NULL: in a ledger that did not note it.
ALTER TABLE taken_jobs ADD COLUMN segment_no BIGINT;
