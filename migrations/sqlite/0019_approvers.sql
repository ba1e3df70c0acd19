-- Leads of a client lead all of its projects, and approvers approve the entries of a project or client without leading
-- it.
CREATE TABLE client_leads (
  client_id INTEGER NOT NULL REFERENCES clients (id),
  user_id INTEGER NOT NULL REFERENCES users (id),
  PRIMARY KEY (client_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX client_leads_by_user ON client_leads (user_id);

CREATE TABLE client_approvers (
  client_id INTEGER NOT NULL REFERENCES clients (id),
  user_id INTEGER NOT NULL REFERENCES users (id),
  PRIMARY KEY (client_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX client_approvers_by_user ON client_approvers (user_id);

CREATE TABLE project_approvers (
  project_id INTEGER NOT NULL REFERENCES projects (id),
  user_id INTEGER NOT NULL REFERENCES users (id),
  PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_approvers_by_user ON project_approvers (user_id);

-- Which approvals a person makes for another one between two days of the organization's time zone.
CREATE TABLE deputies (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  person_id INTEGER NOT NULL REFERENCES users (id),
  deputy_id INTEGER NOT NULL REFERENCES users (id),
  first_day TEXT NOT NULL,
  last_day TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  CHECK (person_id <> deputy_id AND starts_at < ends_at)
) STRICT;
CREATE INDEX deputies_by_person ON deputies (person_id);
CREATE INDEX deputies_by_deputy ON deputies (deputy_id);
CREATE TRIGGER deputies_inserted AFTER INSERT ON deputies BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER deputies_deleted AFTER DELETE ON deputies BEGIN UPDATE revision SET value = value + 1; END;

-- The person for whom a deputy acted.
ALTER TABLE audit ADD COLUMN for_id INTEGER REFERENCES users (id);
