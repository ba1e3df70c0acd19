-- Endpoints that are sent events. The event log is the outbox: each endpoint reads it in order, from its cursor on.
CREATE TABLE webhook_endpoints (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('standard', 'slack', 'teams', 'discord', 'chat')),
  -- JSON: types of events, and areas of them such as bill.*
  types TEXT NOT NULL,
  -- Only events of this client or of this project.
  client_id INTEGER REFERENCES clients (id),
  project_id INTEGER REFERENCES projects (id),
  -- Not only a hash, since messages are signed with it.
  secret BLOB NOT NULL CHECK (length(secret) = 32),
  -- Messages are signed with it too, until its time has come.
  previous_secret BLOB CHECK (length(previous_secret) = 32),
  previous_until INTEGER,
  -- NULL where the command line added it.
  created_by INTEGER REFERENCES users (id),
  created_at INTEGER NOT NULL,
  disabled_at INTEGER,
  disabled_reason TEXT CHECK (disabled_reason IN ('person', 'failing', 'gone')),
  -- The last event of the log that was delivered or is not for this endpoint.
  cursor INTEGER NOT NULL,
  -- Failed attempts to deliver the next event.
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  failing_since INTEGER,
  next_attempt_at INTEGER,
  -- The server that delivers to it, until when unless it renews its lease.
  lease_holder TEXT,
  leased_until INTEGER,
  -- When the e-mail about its being disabled is due.
  notice_due_at INTEGER,
  CHECK (client_id IS NULL OR project_id IS NULL),
  CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
  CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
  CHECK ((attempts = 0) = (failing_since IS NULL)),
  CHECK ((lease_holder IS NULL) = (leased_until IS NULL))
) STRICT;
CREATE INDEX webhook_endpoints_by_creator ON webhook_endpoints (created_by);
CREATE INDEX webhook_endpoints_by_client ON webhook_endpoints (client_id);
CREATE INDEX webhook_endpoints_by_project ON webhook_endpoints (project_id);

-- The latest attempts, for people: nothing is delivered from here.
CREATE TABLE webhook_deliveries (
  id INTEGER PRIMARY KEY,
  endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoints (id),
  -- NULL for a test. The event may have been removed from the log.
  event_id INTEGER,
  type TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('event', 'resend', 'test')),
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  at INTEGER NOT NULL,
  -- NULL if there was no response.
  status INTEGER,
  latency_ms INTEGER NOT NULL,
  body TEXT NOT NULL,
  response TEXT NOT NULL,
  -- NULL if it was delivered.
  error TEXT
) STRICT;
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (at);
