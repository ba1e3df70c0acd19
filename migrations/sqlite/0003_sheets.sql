-- Token sheets: hand-made entries of a person and a period, submitted and approved as a whole; and the setting by which
-- entries need approval before they are billed.

ALTER TABLE organization ADD COLUMN approval_required INTEGER NOT NULL DEFAULT 0 CHECK (approval_required IN (0, 1));

CREATE TABLE sheets (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  manager_id INTEGER NOT NULL REFERENCES users (id),
  -- Days of the organization's zone, both included, and the moments that they were when the sheet was opened.
  first_day TEXT NOT NULL CHECK (length(first_day) = 10),
  last_day TEXT NOT NULL CHECK (length(last_day) = 10 AND last_day >= first_day),
  starting_at INTEGER NOT NULL,
  ending_at INTEGER NOT NULL CHECK (ending_at > starting_at),
  note TEXT,
  status TEXT NOT NULL CHECK (status IN ('open', 'submitted', 'approved', 'returned')),
  -- Why it was returned.
  reason TEXT,
  created_at INTEGER NOT NULL,
  submitted_at INTEGER,
  decided_at INTEGER,
  -- NULL for the command line.
  decided_by INTEGER REFERENCES users (id),
  updated_at INTEGER,
  CHECK ((status = 'returned') = (reason IS NOT NULL)),
  CHECK (status = 'open' OR submitted_at IS NOT NULL),
  CHECK (status NOT IN ('approved', 'returned') OR decided_at IS NOT NULL)
) STRICT;
CREATE INDEX sheets_by_manager ON sheets (manager_id, starting_at);
CREATE INDEX sheets_by_status ON sheets (status, starting_at);

-- Entries made by hand are on a sheet, and only they: what was reported never is. A submitted or rejected entry is on
-- none, a draft or pending one always is. What is made by hand tells of no session.
ALTER TABLE entries ADD COLUMN sheet_id INTEGER REFERENCES sheets (id)
  CHECK ((sheet_id IS NOT NULL) = (source = 'sheet'))
  CHECK (sheet_id IS NULL OR status IN ('draft', 'pending', 'approved', 'billed'))
  CHECK (sheet_id IS NOT NULL OR status IN ('submitted', 'approved', 'rejected', 'billed'))
  CHECK (sheet_id IS NULL OR session_id IS NULL);
CREATE INDEX entries_by_sheet ON entries (sheet_id) WHERE sheet_id IS NOT NULL;

-- An entry is as far as its sheet is. Whoever moves a sheet moves the sheet first and its entries after it.
CREATE TRIGGER entries_inserted_on_sheet BEFORE INSERT ON entries
WHEN NEW.sheet_id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM sheets WHERE id = NEW.sheet_id AND manager_id = NEW.manager_id AND (
    (NEW.status = 'draft' AND status IN ('open', 'returned'))
    OR (NEW.status = 'pending' AND status = 'submitted')
    OR (NEW.status IN ('approved', 'billed') AND status = 'approved')))
BEGIN SELECT RAISE(ABORT, 'an entry is as far as its sheet is'); END;
CREATE TRIGGER entries_moved_on_sheet BEFORE UPDATE OF status, sheet_id, manager_id ON entries
WHEN NEW.sheet_id IS NOT OLD.sheet_id OR (NEW.sheet_id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM sheets WHERE id = NEW.sheet_id AND manager_id = NEW.manager_id AND (
    (NEW.status = 'draft' AND status IN ('open', 'returned'))
    OR (NEW.status = 'pending' AND status = 'submitted')
    OR (NEW.status IN ('approved', 'billed') AND status = 'approved'))))
BEGIN SELECT RAISE(ABORT, 'an entry is as far as its sheet is'); END;

-- A draft is the one entry that may be removed, and what was done to it goes with it.
CREATE TRIGGER entries_deleted BEFORE DELETE ON entries WHEN OLD.status <> 'draft'
BEGIN SELECT RAISE(ABORT, 'only drafts may be removed'); END;
DROP TRIGGER entry_history_deleted;
CREATE TRIGGER entry_history_deleted BEFORE DELETE ON entry_history
WHEN (SELECT status FROM entries WHERE id = OLD.entry_id) IS NOT 'draft'
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;
