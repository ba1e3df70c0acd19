-- Telemetry push: whose a session is and who says so, what was counted of it already, and what became of what came.

-- Whether people are found by the e-mail that agents send with an organization token.
ALTER TABLE organization ADD COLUMN telemetry_by_email INTEGER NOT NULL DEFAULT 0 CHECK (telemetry_by_email IN (0, 1));

-- By what it is known whose it is: the token that brought it, or an e-mail that came with an organization token.
ALTER TABLE sessions ADD COLUMN manager_by TEXT NOT NULL DEFAULT 'token' CHECK (manager_by IN ('token', 'email'));
ALTER TABLE entries ADD COLUMN manager_by TEXT NOT NULL DEFAULT 'token' CHECK (manager_by IN ('token', 'email'));

-- Further addresses of people, for telemetry only; lower-cased, and never one that stands in users.
CREATE TABLE user_emails (
  email TEXT PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_emails_by_user ON user_emails (user_id);
CREATE TRIGGER user_emails_inserted AFTER INSERT ON user_emails BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER user_emails_deleted AFTER DELETE ON user_emails BEGIN UPDATE revision SET value = value + 1; END;

-- Sessions are begun one after the other where their ids fall into the same of these, so that two who begin one at the
-- same moment, for different people, see each other. SQLite has one writer anyway.
CREATE TABLE session_turns (
  turn INTEGER PRIMARY KEY,
  taken INTEGER NOT NULL
) STRICT;

-- facts: what telemetry says of the session besides figures, as JSON. email: a person that it may be assigned to.
-- forgotten_to: which calls were counted is known for later ones only; what is not later counts no more. remembers:
-- whether any are known.
CREATE TABLE telemetry_sessions (
  session_id INTEGER PRIMARY KEY REFERENCES sessions (id),
  facts TEXT NOT NULL,
  email TEXT,
  last_seen_at INTEGER NOT NULL,
  forgotten_to INTEGER,
  remembers INTEGER NOT NULL CHECK (remembers IN (0, 1))
) STRICT;
CREATE INDEX telemetry_sessions_by_email ON telemetry_sessions (email) WHERE email IS NOT NULL;
CREATE INDEX telemetry_sessions_to_forget ON telemetry_sessions (remembers, last_seen_at);

-- What each source said of a session and model so far, as JSON.
CREATE TABLE telemetry_totals (
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  chain_model_id INTEGER NOT NULL REFERENCES names (id),
  source TEXT NOT NULL CHECK (source IN ('log', 'span', 'metric')),
  totals TEXT NOT NULL,
  PRIMARY KEY (session_id, chain_model_id, source)
) STRICT, WITHOUT ROWID;

-- The last point of each cumulative stream: a later one replaces it.
CREATE TABLE telemetry_streams (
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  stream BLOB NOT NULL CHECK (length(stream) = 16),
  time_nanos INTEGER NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (session_id, stream)
) STRICT, WITHOUT ROWID;

-- Hashes of the model calls and points that are counted, until nobody sends them again.
CREATE TABLE telemetry_seen (
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  identity BLOB NOT NULL CHECK (length(identity) = 16),
  PRIMARY KEY (session_id, identity)
) STRICT, WITHOUT ROWID;

-- What came by which channel of which agent and what became of it; for people to look at, and never calculated with.
CREATE TABLE telemetry_channels (
  harness TEXT NOT NULL,
  version TEXT NOT NULL,
  channel TEXT NOT NULL,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  counted INTEGER NOT NULL,
  repeated INTEGER NOT NULL,
  late INTEGER NOT NULL,
  shrunk INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (harness, version, channel)
) STRICT, WITHOUT ROWID;

-- Records that were not counted: ignored by name, or rejected for a reason.
CREATE TABLE telemetry_uncounted (
  kind TEXT NOT NULL CHECK (kind IN ('ignored', 'rejected')),
  what TEXT NOT NULL,
  records INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  PRIMARY KEY (kind, what)
) STRICT, WITHOUT ROWID;

-- Which tokens pushed, whatever became of it.
CREATE TABLE telemetry_pushes (
  token_id INTEGER PRIMARY KEY REFERENCES tokens (id),
  requests INTEGER NOT NULL,
  records INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT;
