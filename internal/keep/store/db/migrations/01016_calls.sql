-- Calls of tools that a model wants made, as JSON: the answer is these calls, with or without a text. NULL: there are none.
ALTER TABLE outcomes ADD COLUMN calls TEXT;
