-- The repositories whose unattributed entries leads of a project see and place. Billing and admins decide which.
CREATE TABLE project_repositories (
  project_id INTEGER NOT NULL REFERENCES projects (id),
  -- The value of the label, exactly.
  repository TEXT NOT NULL,
  PRIMARY KEY (project_id, repository)
) STRICT, WITHOUT ROWID;

-- Rules that leads propose. One that an admin accepted is a placement rule.
CREATE TABLE rule_proposals (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  name TEXT NOT NULL,
  repository TEXT NOT NULL,
  -- JSON: the conditions besides the one on the repository.
  conditions TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  ticket TEXT,
  state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'declined', 'withdrawn')),
  proposed_by INTEGER NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  decided_by INTEGER REFERENCES users (id),
  decided_at INTEGER,
  reason TEXT,
  rule_id INTEGER REFERENCES placement_rules (id),
  CHECK ((state = 'open') = (decided_at IS NULL)),
  CHECK ((state = 'accepted') = (rule_id IS NOT NULL))
) STRICT;
CREATE INDEX rule_proposals_by_person ON rule_proposals (proposed_by);
CREATE INDEX rule_proposals_by_project ON rule_proposals (project_id);
