-- Which jobs of GitHub Actions and GitLab CI/CD get tokens of minutes for the ID token of their run, without a secret.
CREATE TABLE trusts (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  provider TEXT NOT NULL CHECK (provider IN ('github', 'gitlab')),
  issuer TEXT NOT NULL,
  -- The id, which a repository keeps when it is renamed, decides. The name is shown.
  repository_id TEXT NOT NULL,
  repository TEXT NOT NULL,
  -- A JSON list of patterns; empty for any branch and tag.
  branches TEXT NOT NULL,
  pull_requests INTEGER NOT NULL CHECK (pull_requests IN (0, 1)),
  -- NULL for any environment, and none.
  environment TEXT,
  user_id INTEGER NOT NULL REFERENCES users (id),
  project_id INTEGER NOT NULL REFERENCES projects (id),
  minutes INTEGER NOT NULL CHECK (minutes BETWEEN 5 AND 60),
  created_at INTEGER NOT NULL,
  removed_at INTEGER,
  last_used_at INTEGER,
  exchanges INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX trusts_by_issuer ON trusts (issuer, repository_id);
CREATE INDEX trusts_by_project ON trusts (project_id);

-- A service and a read token of each trust, whose own secret nobody has: what is reported refers to them.
ALTER TABLE tokens ADD COLUMN trust_id INTEGER REFERENCES trusts (id);

-- The secrets that jobs have, which stand for a token of their trust.
CREATE TABLE exchanged_tokens (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  token_id INTEGER NOT NULL REFERENCES tokens (id),
  -- SHA-256 of the issuer and the id of the ID token, which is exchanged for each token once.
  assertion BLOB NOT NULL CHECK (length(assertion) = 32),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- When neither the secret nor the ID token is valid any more.
  forgotten_at INTEGER NOT NULL,
  UNIQUE (assertion, token_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX exchanged_tokens_by_end ON exchanged_tokens (forgotten_at);
