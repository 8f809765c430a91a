-- What an answer might have begun with, and how likely, as JSON; NULL: it was not asked for.
ALTER TABLE outcomes ADD COLUMN likely TEXT;
