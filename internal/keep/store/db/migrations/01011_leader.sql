-- Who is first by a headline, and what it reached: its score as it is shown, the interval, and the number to sort by. '' and NULL: not known.
ALTER TABLE headlines ADD COLUMN leader TEXT NOT NULL DEFAULT '';
ALTER TABLE headlines ADD COLUMN leader_score TEXT NOT NULL DEFAULT '';
ALTER TABLE headlines ADD COLUMN leader_range TEXT NOT NULL DEFAULT '';
ALTER TABLE headlines ADD COLUMN leader_value DOUBLE PRECISION;
