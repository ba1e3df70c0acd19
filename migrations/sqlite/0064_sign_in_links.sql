-- One-time links that sign a person in on their own machine, without a password. The table is rebuilt, because SQLite cannot
-- change a check.
CREATE TABLE new_one_time_links (
  id INTEGER PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (
    purpose = 'set_up' OR purpose = 'invitation' OR purpose = 'password' OR purpose = 'sign_in'
  ),
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  user_id INTEGER REFERENCES users (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
INSERT INTO new_one_time_links SELECT id, purpose, hash, user_id, created_at, expires_at, used_at FROM one_time_links;
DROP TABLE one_time_links;
ALTER TABLE new_one_time_links RENAME TO one_time_links;
