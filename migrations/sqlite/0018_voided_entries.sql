-- Entries may be voided. The table is rebuilt, because SQLite cannot change a check.
CREATE TABLE new_entries (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  manager_id INTEGER NOT NULL REFERENCES users (id),
  manager_by TEXT NOT NULL DEFAULT 'token' CHECK (manager_by IN ('token', 'email')),
  token_id INTEGER REFERENCES tokens (id),
  source TEXT NOT NULL
    CHECK (source = 'report' OR source = 'log' OR source = 'span' OR source = 'metric' OR source = 'sheet'),
  status TEXT NOT NULL CHECK (
    status = 'submitted' OR status = 'draft' OR status = 'pending' OR status = 'approved' OR status = 'rejected'
    OR status = 'billed' OR status = 'held' OR status = 'discarded' OR status = 'voided'),
  harness_id INTEGER NOT NULL REFERENCES names (id),
  agent_id INTEGER NOT NULL REFERENCES names (id),
  model_id INTEGER NOT NULL REFERENCES names (id),
  provider_id INTEGER REFERENCES names (id),
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL CHECK (ended_at >= started_at),
  input INTEGER NOT NULL CHECK (input BETWEEN 0 AND 1000000000000),
  output INTEGER NOT NULL CHECK (output BETWEEN 0 AND 1000000000000),
  cache_read INTEGER NOT NULL CHECK (cache_read BETWEEN 0 AND 1000000000000),
  cache_write INTEGER NOT NULL CHECK (cache_write BETWEEN 0 AND 1000000000000),
  cache_write_1h INTEGER NOT NULL CHECK (cache_write_1h BETWEEN 0 AND 1000000000000),
  requests INTEGER CHECK (requests >= 0),
  reported_cost INTEGER CHECK (reported_cost >= 0),
  list_value INTEGER CHECK (list_value >= 0),
  price_id INTEGER REFERENCES prices (id),
  price_step INTEGER CHECK (price_step BETWEEN 1 AND 7),
  price_note TEXT,
  project_id INTEGER REFERENCES projects (id),
  ticket_id INTEGER REFERENCES tickets (id),
  placed_by TEXT CHECK (placed_by = 'named' OR placed_by = 'rule' OR placed_by = 'manual'),
  -- The rule that placed the entry, or that gave the project of a ticket which the report named.
  rule_version_id INTEGER REFERENCES placement_rule_versions (id)
    CHECK (placed_by <> 'rule' OR rule_version_id IS NOT NULL),
  placement_note TEXT,
  -- Names of the report that could not be used (unknown_projects = 'hold').
  named_project TEXT,
  named_ticket TEXT,
  summary TEXT,
  label_set_id INTEGER REFERENCES label_sets (id),
  session_id INTEGER REFERENCES sessions (id),
  chain_model_id INTEGER REFERENCES names (id),
  part INTEGER CHECK (part >= 1),
  continues_id INTEGER REFERENCES entries (id),
  superseded INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1)),
  fingerprint INTEGER,
  possible_duplicate_id INTEGER REFERENCES entries (id),
  bill_id INTEGER REFERENCES bills (id),
  sheet_id INTEGER REFERENCES sheets (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER,
  -- Usage that most entries do not have, as JSON.
  usage_details TEXT CHECK (usage_details IS NULL OR json_valid(usage_details)),
  -- What a person has corrected, which reports no longer change: JSON, a list of 'summary' and 'labels'.
  corrected TEXT CHECK (corrected IS NULL OR json_valid(corrected)),
  -- What a person has decided about its figures, against what its session reports; NULL for nearly all. JSON.
  amendment TEXT CHECK (amendment IS NULL OR json_valid(amendment)),
  CHECK ((list_value IS NULL) = (price_id IS NULL) AND (price_id IS NULL) = (price_step IS NULL)),
  CHECK ((session_id IS NULL) = (part IS NULL) AND (session_id IS NULL) = (chain_model_id IS NULL)),
  CHECK ((status = 'billed') = (bill_id IS NOT NULL)),
  CHECK (placed_by IS NOT NULL OR (project_id IS NULL AND ticket_id IS NULL)),
  -- Entries made by hand, and only they, are on a sheet, and have no session. A submitted, rejected,
  -- held, discarded or voided entry is on none, a draft or pending one always is.
  CHECK ((sheet_id IS NOT NULL) = (source = 'sheet')),
  CHECK (sheet_id IS NULL OR (
    status <> 'submitted' AND status <> 'rejected' AND status <> 'held' AND status <> 'discarded'
    AND status <> 'voided')),
  CHECK (sheet_id IS NOT NULL OR (status <> 'draft' AND status <> 'pending')),
  CHECK (sheet_id IS NULL OR session_id IS NULL)
) STRICT;
INSERT INTO new_entries (
  id, uid, manager_id, manager_by, token_id, source, status, harness_id, agent_id, model_id, provider_id, started_at,
  ended_at, input, output, cache_read, cache_write, cache_write_1h, requests, reported_cost, list_value, price_id,
  price_step, price_note, project_id, ticket_id, placed_by, rule_version_id, placement_note, named_project,
  named_ticket, summary, label_set_id, session_id, chain_model_id, part, continues_id, superseded, fingerprint,
  possible_duplicate_id, bill_id, sheet_id, created_at, updated_at, usage_details, corrected
)
SELECT
  id, uid, manager_id, manager_by, token_id, source, status, harness_id, agent_id, model_id, provider_id, started_at,
  ended_at, input, output, cache_read, cache_write, cache_write_1h, requests, reported_cost, list_value, price_id,
  price_step, price_note, project_id, ticket_id, placed_by, rule_version_id, placement_note, named_project,
  named_ticket, summary, label_set_id, session_id, chain_model_id, part, continues_id, superseded, fingerprint,
  possible_duplicate_id, bill_id, sheet_id, created_at, updated_at, usage_details, corrected
FROM entries;
DROP TRIGGER entry_history_deleted;
DROP TABLE entries;
ALTER TABLE new_entries RENAME TO entries;
CREATE UNIQUE INDEX entries_by_session ON entries (session_id, chain_model_id, part) WHERE session_id IS NOT NULL;
CREATE INDEX entries_by_start ON entries (started_at);
CREATE INDEX entries_by_manager ON entries (manager_id, started_at, fingerprint);
CREATE INDEX entries_by_project ON entries (project_id, started_at);
CREATE INDEX entries_by_ticket ON entries (ticket_id, started_at) WHERE ticket_id IS NOT NULL;
CREATE INDEX entries_by_bill ON entries (bill_id) WHERE bill_id IS NOT NULL;
CREATE INDEX entries_unpriced ON entries (model_id, provider_id, id) WHERE list_value IS NULL AND reported_cost IS NULL;
CREATE INDEX entries_by_rule ON entries (rule_version_id) WHERE rule_version_id IS NOT NULL;
CREATE INDEX entries_unattributed ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, placed_by
) WHERE placed_by IS NULL;
CREATE INDEX entries_possible_duplicates ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, possible_duplicate_id
) WHERE possible_duplicate_id IS NOT NULL;
CREATE INDEX entries_by_sheet ON entries (sheet_id) WHERE sheet_id IS NOT NULL;
CREATE INDEX entries_by_named_project ON entries (named_project) WHERE named_project IS NOT NULL;
CREATE INDEX entries_held ON entries (manager_id) WHERE status = 'held';
CREATE INDEX entries_cost_mismatches ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id
) WHERE abs(reported_cost - list_value) > 1000000000
  AND ((reported_cost - 1) / 10 - list_value >= 0 OR (list_value - 1) / 10 - reported_cost >= 0);

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
CREATE TRIGGER entries_deleted BEFORE DELETE ON entries WHEN OLD.status <> 'draft'
BEGIN SELECT RAISE(ABORT, 'only drafts may be removed'); END;
CREATE TRIGGER entry_history_deleted BEFORE DELETE ON entry_history
WHEN (SELECT status FROM entries WHERE id = OLD.entry_id) IS NOT 'draft'
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;
CREATE TRIGGER entries_marked_inserted AFTER INSERT ON entries
BEGIN
  INSERT INTO stale_hours SELECT NEW.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000);
END;
CREATE TRIGGER entries_marked_deleted AFTER DELETE ON entries
BEGIN
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;
CREATE TRIGGER entries_marked_updated AFTER UPDATE OF
  manager_id, source, status, harness_id, agent_id, model_id, provider_id, started_at, ended_at, input, output, cache_read,
  cache_write, cache_write_1h, reported_cost, list_value, project_id, ticket_id, placed_by, label_set_id, superseded,
  possible_duplicate_id
ON entries
BEGIN
  INSERT INTO stale_hours SELECT NEW.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000);
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE OLD.started_at <> NEW.started_at
    AND NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;
CREATE TRIGGER entries_changes_inserted AFTER INSERT ON entries WHEN NEW.source = 'sheet'
BEGIN
  REPLACE INTO entry_changes (entry_id, changed_at) VALUES (NEW.id, unixepoch());
END;
CREATE TRIGGER entries_changes_updated AFTER UPDATE ON entries
BEGIN
  REPLACE INTO entry_changes (entry_id, changed_at) VALUES (NEW.id, unixepoch());
END;
CREATE TRIGGER entries_changes_deleted AFTER DELETE ON entries
BEGIN
  INSERT INTO entry_changes (changed_at, deleted_uid, manager_id, project_id)
  VALUES (unixepoch(), OLD.uid, OLD.manager_id, OLD.project_id);
  DELETE FROM entry_changes WHERE entry_id = OLD.id;
END;
