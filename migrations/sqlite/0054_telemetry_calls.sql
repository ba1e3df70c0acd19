-- Hashes of the spans of counted model calls and of the spans around them, which may come in another request and of another
-- session. Without a reference to a session, because a span is looked for by its ids alone, but only among those of the
-- same person's tokens: no one can claim the calls of others.
CREATE TABLE telemetry_calls (
  user_id INTEGER NOT NULL REFERENCES users (id),
  identity BLOB NOT NULL CHECK (length(identity) = 16),
  -- Of the arrival, in days since 1970.
  day INTEGER NOT NULL,
  PRIMARY KEY (user_id, identity)
) STRICT, WITHOUT ROWID;
CREATE INDEX telemetry_calls_by_day ON telemetry_calls (day);
