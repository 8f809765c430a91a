-- The handles of what lost create calls name, one a line: where a job carries no stamp but the file's name, it is known by them
-- when the file was deleted.
ALTER TABLE segments ADD COLUMN lost_handles TEXT;
