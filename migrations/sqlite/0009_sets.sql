-- For each IN with more than two values, SQLite fills a table at every insert, which is a quarter of the time that
-- inserting a session and an entry takes. So the checks of both tables use OR instead.

-- Sessions are begun under a lock in memory.
DROP TABLE session_turns;

CREATE TABLE new_sessions (
  id INTEGER PRIMARY KEY,
  session_key TEXT NOT NULL,
  harness_id INTEGER NOT NULL REFERENCES names (id),
  manager_id INTEGER NOT NULL REFERENCES users (id),
  -- The source that supplies the totals of the session's entries.
  source TEXT NOT NULL CHECK (source = 'report' OR source = 'log' OR source = 'span' OR source = 'metric'),
  -- Several sources report the session, and the totals of each are in session_sources; otherwise the sums of the entries
  -- are those of the only source.
  contested INTEGER NOT NULL DEFAULT 0 CHECK (contested IN (0, 1)),
  -- How the owner was identified: by the token, or by an e-mail address sent with an organization token.
  manager_by TEXT NOT NULL DEFAULT 'token' CHECK (manager_by IN ('token', 'email')),
  -- Whether an organization token brought the session and its owner is not identified yet.
  unidentified INTEGER NOT NULL DEFAULT 0 CHECK (unidentified IN (0, 1)),
  -- Whether telemetry of an organization token that identified no one has joined it.
  by_organization INTEGER NOT NULL DEFAULT 0 CHECK (by_organization IN (0, 1)),
  UNIQUE (session_key, harness_id, manager_id)
) STRICT;
INSERT INTO new_sessions
SELECT id, session_key, harness_id, manager_id, source, contested, manager_by, unidentified, by_organization FROM sessions;
DROP TABLE sessions;
ALTER TABLE new_sessions RENAME TO sessions;

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
    OR status = 'billed'),
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
  -- The share of the five counts that came from single requests above 200,000 input-side tokens.
  over_200k_input INTEGER CHECK (over_200k_input BETWEEN 0 AND input),
  over_200k_output INTEGER CHECK (over_200k_output BETWEEN 0 AND output),
  over_200k_cache_read INTEGER CHECK (over_200k_cache_read BETWEEN 0 AND cache_read),
  over_200k_cache_write INTEGER CHECK (over_200k_cache_write BETWEEN 0 AND cache_write),
  over_200k_cache_write_1h INTEGER CHECK (over_200k_cache_write_1h BETWEEN 0 AND cache_write_1h),
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
  CHECK ((list_value IS NULL) = (price_id IS NULL) AND (price_id IS NULL) = (price_step IS NULL)),
  CHECK ((session_id IS NULL) = (part IS NULL) AND (session_id IS NULL) = (chain_model_id IS NULL)),
  CHECK ((status = 'billed') = (bill_id IS NOT NULL)),
  CHECK (placed_by IS NOT NULL OR (project_id IS NULL AND ticket_id IS NULL)),
  -- Entries made by hand, and only they, are on a sheet, and have no session. A submitted or rejected entry is on none,
  -- a draft or pending one always is.
  CHECK ((sheet_id IS NOT NULL) = (source = 'sheet')),
  CHECK (sheet_id IS NULL OR (status <> 'submitted' AND status <> 'rejected')),
  CHECK (sheet_id IS NOT NULL OR (status <> 'draft' AND status <> 'pending')),
  CHECK (sheet_id IS NULL OR session_id IS NULL)
) STRICT;
INSERT INTO new_entries
SELECT
  id, uid, manager_id, manager_by, token_id, source, status, harness_id, agent_id, model_id, provider_id, started_at,
  ended_at, input, output, cache_read, cache_write, cache_write_1h, over_200k_input, over_200k_output,
  over_200k_cache_read, over_200k_cache_write, over_200k_cache_write_1h, requests, reported_cost, list_value,
  price_id, price_step, price_note, project_id, ticket_id, placed_by, rule_version_id, placement_note, named_project,
  named_ticket, summary, label_set_id, session_id, chain_model_id, part, continues_id, superseded, fingerprint,
  possible_duplicate_id, bill_id, sheet_id, created_at, updated_at
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
CREATE TRIGGER entries_marked_updated AFTER UPDATE OF
  manager_id, source, status, harness_id, agent_id, model_id, provider_id, started_at, ended_at, input, output, cache_read,
  cache_write, cache_write_1h, reported_cost, list_value, project_id, superseded
ON entries
BEGIN
  INSERT INTO stale_hours SELECT NEW.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000);
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE OLD.started_at <> NEW.started_at
    AND NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;
CREATE TRIGGER entries_marked_deleted AFTER DELETE ON entries
BEGIN
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;

