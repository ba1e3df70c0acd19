-- Telemetry push: whose a session is and who says so, what was counted of it already, and what became of what came.

-- Whether people are found by the e-mail that agents send with an organization token.
ALTER TABLE organization ADD COLUMN telemetry_by_email boolean NOT NULL DEFAULT false;

-- By what it is known whose it is: the token that brought it, or an e-mail that came with an organization token.
ALTER TABLE sessions ADD COLUMN manager_by text COLLATE "C" NOT NULL DEFAULT 'token' CHECK (manager_by IN ('token', 'email'));
ALTER TABLE entries ADD COLUMN manager_by text COLLATE "C" NOT NULL DEFAULT 'token' CHECK (manager_by IN ('token', 'email'));

-- Further addresses of people, for telemetry only; lower-cased, and never one that stands in users.
CREATE TABLE user_emails (
  email text COLLATE "C" PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES users (id)
);
CREATE INDEX user_emails_by_user ON user_emails (user_id);
CREATE TRIGGER user_emails_inserted AFTER INSERT ON user_emails EXECUTE FUNCTION move_revision();
CREATE TRIGGER user_emails_deleted AFTER DELETE ON user_emails EXECUTE FUNCTION move_revision();

-- Sessions are begun one after the other where their ids fall into the same of these, so that two who begin one at the
-- same moment, for different people, see each other. SQLite has one writer anyway.
CREATE TABLE session_turns (
  turn bigint PRIMARY KEY,
  taken bigint NOT NULL
);

-- facts: what telemetry says of the session besides figures, as JSON. email: a person that it may be assigned to.
-- forgotten_to: which calls were counted is known for later ones only; what is not later counts no more. remembers:
-- whether any are known.
CREATE TABLE telemetry_sessions (
  session_id bigint PRIMARY KEY REFERENCES sessions (id),
  facts text COLLATE "C" NOT NULL,
  email text COLLATE "C",
  last_seen_at bigint NOT NULL,
  forgotten_to bigint,
  remembers boolean NOT NULL
);
CREATE INDEX telemetry_sessions_by_email ON telemetry_sessions (email) WHERE email IS NOT NULL;
CREATE INDEX telemetry_sessions_to_forget ON telemetry_sessions (remembers, last_seen_at);

-- What each source said of a session and model so far, as JSON.
CREATE TABLE telemetry_totals (
  session_id bigint NOT NULL REFERENCES sessions (id),
  chain_model_id bigint NOT NULL REFERENCES names (id),
  source text COLLATE "C" NOT NULL CHECK (source IN ('log', 'span', 'metric')),
  totals text COLLATE "C" NOT NULL,
  PRIMARY KEY (session_id, chain_model_id, source)
);

-- The last point of each cumulative stream: a later one replaces it.
CREATE TABLE telemetry_streams (
  session_id bigint NOT NULL REFERENCES sessions (id),
  stream bytea NOT NULL CHECK (octet_length(stream) = 16),
  time_nanos bigint NOT NULL,
  value bigint NOT NULL,
  PRIMARY KEY (session_id, stream)
);

-- Hashes of the model calls and points that are counted, until nobody sends them again.
CREATE TABLE telemetry_seen (
  session_id bigint NOT NULL REFERENCES sessions (id),
  identity bytea NOT NULL CHECK (octet_length(identity) = 16),
  PRIMARY KEY (session_id, identity)
);

-- What came by which channel of which agent and what became of it; for people to look at, and never calculated with.
CREATE TABLE telemetry_channels (
  harness text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL,
  first_seen_at bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  counted bigint NOT NULL,
  repeated bigint NOT NULL,
  late bigint NOT NULL,
  shrunk bigint NOT NULL,
  tokens bigint NOT NULL,
  PRIMARY KEY (harness, version, channel)
);

-- Records that were not counted: ignored by name, or rejected for a reason.
CREATE TABLE telemetry_uncounted (
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('ignored', 'rejected')),
  what text COLLATE "C" NOT NULL,
  records bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  PRIMARY KEY (kind, what)
);

-- Which tokens pushed, whatever became of it.
CREATE TABLE telemetry_pushes (
  token_id bigint PRIMARY KEY REFERENCES tokens (id),
  requests bigint NOT NULL,
  records bigint NOT NULL,
  last_seen_at bigint NOT NULL
);
