-- Which entries changed since they were reported, in the order of their last change: for `updated_since`. New entries need
-- no row, because their ids ascend. The ids of drafts do not: a draft that is deleted may leave its id to the next entry,
-- so drafts are changes from the start.
CREATE TABLE entry_changes (
  -- Ascends with every change: the row of an entry moves to the end.
  id INTEGER PRIMARY KEY,
  entry_id INTEGER UNIQUE,
  -- In seconds, by the database's clock. Only for finding where to begin.
  changed_at INTEGER NOT NULL,
  -- Of a deleted entry: its public id, and who could see it.
  deleted_uid BLOB,
  manager_id INTEGER,
  project_id INTEGER,
  CHECK ((entry_id IS NULL) = (deleted_uid IS NOT NULL))
) STRICT;

INSERT INTO entry_changes (entry_id, changed_at)
SELECT id, coalesce(updated_at, created_at) / 1000 AS at FROM entries
WHERE updated_at IS NOT NULL OR source = 'sheet'
ORDER BY at, id;

CREATE TRIGGER entries_changes_inserted AFTER INSERT ON entries WHEN NEW.source = 'sheet'
BEGIN
  REPLACE INTO entry_changes (entry_id, changed_at) VALUES (NEW.id, unixepoch());
END;
CREATE TRIGGER entries_changes_updated AFTER UPDATE ON entries
BEGIN
  REPLACE INTO entry_changes (entry_id, changed_at) VALUES (NEW.id, unixepoch());
END;
-- The new row comes first: the id of the last row must not be used again.
CREATE TRIGGER entries_changes_deleted AFTER DELETE ON entries
BEGIN
  INSERT INTO entry_changes (changed_at, deleted_uid, manager_id, project_id)
  VALUES (unixepoch(), OLD.uid, OLD.manager_id, OLD.project_id);
  DELETE FROM entry_changes WHERE entry_id = OLD.id;
END;
