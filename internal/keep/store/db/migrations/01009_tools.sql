-- Calls of tools that the provider ran for an answer and bills beside tokens, as JSON: searches, lookups, other. NULL: there were none.
ALTER TABLE outcomes ADD COLUMN tools TEXT;
