-- Failed attempts to sign in, of all servers of the database: digests of the account, the network or the browser.
CREATE TABLE failed_attempts (
  key BLOB PRIMARY KEY CHECK (length(key) = 32),
  -- The key of the account, of those that are cleared with it.
  account BLOB CHECK (length(account) = 32),
  count INTEGER NOT NULL CHECK (count >= 0),
  forgiven_at INTEGER NOT NULL,
  failed_at INTEGER NOT NULL,
  pauses INTEGER NOT NULL CHECK (pauses >= 0),
  paused_until INTEGER NOT NULL,
  reported INTEGER NOT NULL CHECK (reported IN (0, 1)),
  -- From then on, the row says nothing any more.
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX failed_attempts_account ON failed_attempts (account);
CREATE INDEX failed_attempts_ends_at ON failed_attempts (ends_at);

-- Calls of each token, where several servers share a database and a limit.
CREATE TABLE token_calls (
  token_id INTEGER PRIMARY KEY REFERENCES tokens (id),
  -- When its share of calls is full again.
  full_at INTEGER NOT NULL
) STRICT;
