-- Pages of a few rows out of a million: what a person looks at, found without walking over the rest.
CREATE INDEX attempts_item ON attempts (run_no, item);
-- Answered is nearly everything, and needs no index; what is rare does.
CREATE INDEX outcomes_rare ON outcomes (segment_no, ending, ord) WHERE ending <> 'answered';
CREATE INDEX verdicts_of ON verdicts (run_no, stage, lane, pair, no);
-- The newest verdict of a run, which tells whether findings are still true.
CREATE INDEX verdicts_newest ON verdicts (run_no, no);
