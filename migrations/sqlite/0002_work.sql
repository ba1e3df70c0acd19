-- Work in full (clients, aliases, leads' projects, tickets), the rules that place entries, and the audit trail.
-- A markup is parts per million of the cost (12.5 % is 125000) and NULL where a wider one holds.

ALTER TABLE clients ADD COLUMN email TEXT;
ALTER TABLE clients ADD COLUMN address TEXT;
ALTER TABLE clients ADD COLUMN tax_id TEXT;
ALTER TABLE clients ADD COLUMN currency TEXT CHECK (length(currency) = 3);
ALTER TABLE clients ADD COLUMN markup_ppm INTEGER CHECK (markup_ppm BETWEEN -1000000 AND 100000000);

ALTER TABLE projects ADD COLUMN billable INTEGER NOT NULL DEFAULT 1 CHECK (billable IN (0, 1));
ALTER TABLE projects ADD COLUMN markup_ppm INTEGER CHECK (markup_ppm BETWEEN -1000000 AND 100000000);
-- Nano-dollars that the work may cost.
ALTER TABLE projects ADD COLUMN budget INTEGER CHECK (budget >= 0);
-- Where its entries, tickets and names went.
ALTER TABLE projects ADD COLUMN merged_into_id INTEGER REFERENCES projects (id);
CREATE INDEX projects_by_client ON projects (client_id);

-- As it is spelled; a project has one key, may have a name that differs from it, and any number of aliases.
ALTER TABLE project_names ADD COLUMN text TEXT NOT NULL DEFAULT '';
ALTER TABLE project_names ADD COLUMN kind TEXT NOT NULL DEFAULT 'key' CHECK (kind IN ('key', 'name', 'alias'));
UPDATE project_names SET text = (SELECT key FROM projects WHERE projects.id = project_id);
CREATE UNIQUE INDEX project_names_key ON project_names (project_id, kind) WHERE kind <> 'alias';

ALTER TABLE tickets ADD COLUMN title TEXT;

CREATE TABLE placement_rules (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  -- Rules are tried in this order, of equal ones the older first.
  position INTEGER NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at INTEGER NOT NULL,
  removed_at INTEGER
) STRICT;

-- What a rule says. A change adds a version, so that an entry shows the rule as it was when it placed it.
CREATE TABLE placement_rule_versions (
  id INTEGER PRIMARY KEY,
  rule_id INTEGER NOT NULL REFERENCES placement_rules (id),
  version INTEGER NOT NULL CHECK (version >= 1),
  name TEXT NOT NULL,
  conditions TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  -- A ticket's key, which may use the named groups of a matched expression: {ticket}.
  ticket TEXT,
  created_at INTEGER NOT NULL,
  created_by INTEGER REFERENCES users (id),
  UNIQUE (rule_id, version)
) STRICT;

-- The rule that placed the entry, or that gave the project of a ticket which the report named.
ALTER TABLE entries ADD COLUMN rule_version_id INTEGER REFERENCES placement_rule_versions (id)
  CHECK (placed_by <> 'rule' OR rule_version_id IS NOT NULL);
CREATE INDEX entries_by_rule ON entries (rule_version_id) WHERE rule_version_id IS NOT NULL;
-- Those that nothing placed, and those that say what an earlier one said: what every look at a period counts. With what
-- it asks of them in the index, a year of entries is counted without looking at any.
CREATE INDEX entries_unattributed ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, placed_by
) WHERE placed_by IS NULL;
CREATE INDEX entries_possible_duplicates ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, possible_duplicate_id
) WHERE possible_duplicate_id IS NOT NULL;

-- Every change by a person or the command line: who, when, from where, what before and after. Never a secret.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  -- NULL on the command line, whose user the origin names.
  user_id INTEGER REFERENCES users (id),
  token_id INTEGER REFERENCES tokens (id),
  origin TEXT NOT NULL,
  action TEXT NOT NULL,
  object_id TEXT,
  object_name TEXT,
  before TEXT,
  after TEXT
) STRICT;
CREATE INDEX audit_by_object ON audit (object_id) WHERE object_id IS NOT NULL;
CREATE INDEX audit_by_user ON audit (user_id);

CREATE TRIGGER audit_updated BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are kept as they are'); END;
CREATE TRIGGER audit_deleted BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are kept as they are'); END;
CREATE TRIGGER entry_history_updated BEFORE UPDATE ON entry_history
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;
CREATE TRIGGER entry_history_deleted BEFORE DELETE ON entry_history
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;
-- Each engine has one statement that does not ask those: here it is INSERT OR REPLACE, so that a key that is taken is refused.
CREATE TRIGGER audit_kept BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'audit rows are kept as they are'); END;
CREATE TRIGGER entry_history_kept BEFORE INSERT ON entry_history
WHEN EXISTS (SELECT 1 FROM entry_history WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;

-- Rules are held in memory with the projects they point to.
CREATE TRIGGER placement_rules_inserted AFTER INSERT ON placement_rules
BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER placement_rules_updated AFTER UPDATE ON placement_rules
BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER placement_rule_versions_inserted AFTER INSERT ON placement_rule_versions
BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER projects_updated AFTER UPDATE OF key, name, archived_at, merged_into_id ON projects
BEGIN UPDATE revision SET value = value + 1; END;
