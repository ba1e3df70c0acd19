-- Erasure of people: their account becomes a pseudonym, and a job replaces their names in texts.
ALTER TABLE users ADD COLUMN erased_at INTEGER;

CREATE TABLE erasures (
  user_id INTEGER PRIMARY KEY REFERENCES users (id),
  -- JSON: the names and addresses that are replaced; forgotten when that is done.
  words TEXT,
  -- JSON: the number of changed rows by table.
  counts TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((words IS NULL) = (ended_at IS NOT NULL))
) STRICT;

-- Months after which texts, session ids, history and the audit log are removed; NULL to keep them.
ALTER TABLE organization ADD COLUMN retention_texts INTEGER CHECK (retention_texts >= 1);
ALTER TABLE organization ADD COLUMN retention_session_ids INTEGER CHECK (retention_session_ids >= 1);
ALTER TABLE organization ADD COLUMN retention_history INTEGER CHECK (retention_history >= 12);
ALTER TABLE organization ADD COLUMN retention_audit INTEGER CHECK (retention_audit >= 12);
-- Whether some sessions have the hash of their id instead of the id.
ALTER TABLE organization ADD COLUMN hashed_session_ids INTEGER NOT NULL DEFAULT 0 CHECK (hashed_session_ids IN (0, 1));
-- Changes when rows of names or label_sets change or go, whose keys servers hold in memory.
ALTER TABLE organization ADD COLUMN interned_version INTEGER NOT NULL DEFAULT 0;
-- When the space of removed content was last overwritten.
ALTER TABLE organization ADD COLUMN compacted_at INTEGER;

-- Texts in the audit log and in history change only while a person is being erased, and rows go only once they are older
-- than any retention period may be.
DROP TRIGGER audit_updated;
CREATE TRIGGER audit_updated BEFORE UPDATE ON audit
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE ended_at IS NULL)
  OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.action <> OLD.action OR NEW.user_id IS NOT OLD.user_id
  OR NEW.token_id IS NOT OLD.token_id OR NEW.object_id IS NOT OLD.object_id OR NEW.for_id IS NOT OLD.for_id
BEGIN SELECT RAISE(ABORT, 'audit rows are kept as they are'); END;
DROP TRIGGER audit_deleted;
CREATE TRIGGER audit_deleted BEFORE DELETE ON audit
WHEN (SELECT retention_audit FROM organization) IS NULL OR OLD.at > (unixepoch() - 31536000) * 1000
BEGIN SELECT RAISE(ABORT, 'audit rows are kept as they are'); END;

DROP TRIGGER entry_history_updated;
CREATE TRIGGER entry_history_updated BEFORE UPDATE ON entry_history
WHEN (
  NOT EXISTS (SELECT 1 FROM erasures WHERE ended_at IS NULL)
  AND (SELECT retention_texts FROM organization) IS NULL
) OR NEW.id <> OLD.id OR NEW.entry_id <> OLD.entry_id OR NEW.at <> OLD.at OR NEW.action <> OLD.action
  OR NEW.user_id IS NOT OLD.user_id OR NEW.token_id IS NOT OLD.token_id
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;
DROP TRIGGER entry_history_deleted;
CREATE TRIGGER entry_history_deleted BEFORE DELETE ON entry_history
WHEN (SELECT status FROM entries WHERE id = OLD.entry_id) IS NOT 'draft'
  AND ((SELECT retention_history FROM organization) IS NULL OR OLD.at > (unixepoch() - 31536000) * 1000)
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;
