-- People label few of many answers: who did, and what, is found without reading all verdicts.
CREATE INDEX verdicts_people ON verdicts (run_no, stage, judge) WHERE judge LIKE 'human:%';
