-- API tokens, with which programs may do what their scopes and their creator's role allow. Off until an admin turns
-- them on.
ALTER TABLE organization ADD COLUMN api_tokens INTEGER NOT NULL DEFAULT 0 CHECK (api_tokens IN (0, 1));

-- The table is rebuilt, because SQLite cannot change a check.
CREATE TABLE new_tokens (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  kind TEXT NOT NULL CHECK (kind IN ('svc', 'read', 'org', 'api')),
  name TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  hint TEXT NOT NULL,
  created_by INTEGER NOT NULL REFERENCES users (id),
  allow_bills INTEGER NOT NULL DEFAULT 0 CHECK (allow_bills IN (0, 1) AND (allow_bills = 0 OR kind = 'svc')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER,
  -- JSON lists of API tokens: what they may do, and from which networks; NULL for any.
  scopes TEXT CHECK ((scopes IS NOT NULL) = (kind = 'api')),
  networks TEXT CHECK (networks IS NULL OR kind = 'api')
) STRICT;
INSERT INTO new_tokens
SELECT
  id, uid, kind, name, hash, hint, created_by, allow_bills, created_at, expires_at, last_used_at, revoked_at, NULL, NULL
FROM tokens;
DROP TABLE tokens;
ALTER TABLE new_tokens RENAME TO tokens;
CREATE INDEX tokens_by_creator ON tokens (created_by);
CREATE TRIGGER tokens_inserted AFTER INSERT ON tokens BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER tokens_updated AFTER UPDATE OF kind, hash, created_by, allow_bills, expires_at, revoked_at ON tokens
BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER tokens_deleted AFTER DELETE ON tokens BEGIN UPDATE revision SET value = value + 1; END;
