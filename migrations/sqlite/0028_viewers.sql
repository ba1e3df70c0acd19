-- Viewers: people who see only the projects and clients that were granted to them. The table is rebuilt, because SQLite
-- cannot change a check.
CREATE TABLE new_users (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'billing', 'admin')),
  password_hash TEXT,
  created_at INTEGER NOT NULL,
  last_signed_in_at INTEGER,
  disabled_at INTEGER,
  erased_at INTEGER
) STRICT;
INSERT INTO new_users (id, uid, email, name, role, password_hash, created_at, last_signed_in_at, disabled_at, erased_at)
SELECT id, uid, email, name, role, password_hash, created_at, last_signed_in_at, disabled_at, erased_at FROM users;
DROP TABLE users;
ALTER TABLE new_users RENAME TO users;
CREATE TRIGGER users_inserted AFTER INSERT ON users BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER users_updated AFTER UPDATE OF email, name, role, disabled_at ON users
BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER users_deleted AFTER DELETE ON users BEGIN UPDATE revision SET value = value + 1; END;

CREATE TABLE viewer_grants (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  -- A client with all of its projects, or one project.
  client_id INTEGER REFERENCES clients (id),
  project_id INTEGER REFERENCES projects (id),
  money TEXT NOT NULL CHECK (money IN ('amounts', 'cost', 'none')),
  shows_people INTEGER NOT NULL CHECK (shows_people IN (0, 1)),
  -- The bills that were sent to the client.
  shows_bills INTEGER NOT NULL CHECK (shows_bills IN (0, 1)),
  created_at INTEGER NOT NULL,
  CHECK ((client_id IS NULL) <> (project_id IS NULL)),
  CHECK (shows_bills = 0 OR (client_id IS NOT NULL AND money = 'amounts'))
) STRICT;
CREATE UNIQUE INDEX viewer_grants_by_client ON viewer_grants (user_id, client_id) WHERE client_id IS NOT NULL;
CREATE UNIQUE INDEX viewer_grants_by_project ON viewer_grants (user_id, project_id) WHERE project_id IS NOT NULL;
CREATE INDEX viewer_grants_of_client ON viewer_grants (client_id);
CREATE INDEX viewer_grants_of_project ON viewer_grants (project_id);
