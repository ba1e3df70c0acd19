-- The same as ../sqlite/0046_shared_limits.sql.
CREATE TABLE failed_attempts (
  key bytea PRIMARY KEY CHECK (length(key) = 32),
  account bytea CHECK (length(account) = 32),
  count bigint NOT NULL CHECK (count >= 0),
  forgiven_at bigint NOT NULL,
  failed_at bigint NOT NULL,
  pauses bigint NOT NULL CHECK (pauses >= 0),
  paused_until bigint NOT NULL,
  reported boolean NOT NULL,
  ends_at bigint NOT NULL
);
CREATE INDEX failed_attempts_account ON failed_attempts (account);
CREATE INDEX failed_attempts_ends_at ON failed_attempts (ends_at);

CREATE TABLE token_calls (
  token_id bigint PRIMARY KEY REFERENCES tokens (id),
  full_at bigint NOT NULL
);
