-- The files and URLs that requests about an item show, with their hashes, as a JSON list; empty: none.
ALTER TABLE items ADD COLUMN files TEXT NOT NULL DEFAULT '';
