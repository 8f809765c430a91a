-- Replies of a judge that no verdict can be read from, of the requests that a lane has asked: a judge that gives only such is stopped.
ALTER TABLE lanes ADD COLUMN n_unread BIGINT NOT NULL DEFAULT 0;
