-- Hashes of the spans of counted model calls and of the spans around them, which may come in another request and of another
-- session. Without a reference to a session, because a span is looked for by its ids alone.
CREATE TABLE telemetry_calls (
  identity BLOB NOT NULL PRIMARY KEY CHECK (length(identity) = 16),
  -- Of the arrival, in days since 1970.
  day INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX telemetry_calls_by_day ON telemetry_calls (day);
