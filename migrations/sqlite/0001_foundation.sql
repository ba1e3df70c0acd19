-- People, tokens, work, sessions and token entries.
-- Money is nano-dollars (1e-9 USD), moments are milliseconds since 1970 in UTC, ids shown outside are 16-byte UUIDv7.

CREATE TABLE organization (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  unknown_projects TEXT NOT NULL CHECK (unknown_projects IN ('create', 'hold')),
  set_up_at INTEGER
) STRICT;
INSERT INTO organization VALUES (1, 'Tally', 'UTC', 'USD', 'create', NULL);

CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('member', 'billing', 'admin')),
  password_hash TEXT,
  created_at INTEGER NOT NULL,
  last_signed_in_at INTEGER,
  disabled_at INTEGER
) STRICT;

CREATE TABLE tokens (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  kind TEXT NOT NULL CHECK (kind IN ('svc', 'read', 'org')),
  name TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  hint TEXT NOT NULL,
  created_by INTEGER NOT NULL REFERENCES users (id),
  allow_bills INTEGER NOT NULL DEFAULT 0 CHECK (allow_bills IN (0, 1) AND (allow_bills = 0 OR kind = 'svc')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX tokens_by_creator ON tokens (created_by);

-- Signed-in persons: only the hash of the secret in their cookie is kept.
CREATE TABLE sign_ins (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX sign_ins_by_user ON sign_ins (user_id);

-- Set-up, invitation and password links: only the hash of the secret in the link is kept.
CREATE TABLE one_time_links (
  id INTEGER PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (purpose IN ('set_up', 'invitation', 'password')),
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  user_id INTEGER REFERENCES users (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;

CREATE TABLE clients (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  name TEXT NOT NULL,
  name_folded TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  archived_at INTEGER
) STRICT;

CREATE TABLE projects (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  key TEXT NOT NULL,
  name TEXT NOT NULL,
  client_id INTEGER REFERENCES clients (id),
  created_at INTEGER NOT NULL,
  archived_at INTEGER
) STRICT;

-- Every text by which a report may name a project: its key, its name, its aliases; lower-cased, outer space removed.
CREATE TABLE project_names (
  folded TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_names_by_project ON project_names (project_id);

CREATE TABLE project_leads (
  project_id INTEGER NOT NULL REFERENCES projects (id),
  user_id INTEGER NOT NULL REFERENCES users (id),
  PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_leads_by_user ON project_leads (user_id);

CREATE TABLE tickets (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  key TEXT NOT NULL,
  key_folded TEXT NOT NULL UNIQUE,
  project_id INTEGER REFERENCES projects (id),
  created_at INTEGER NOT NULL,
  archived_at INTEGER
) STRICT;
CREATE INDEX tickets_by_project ON tickets (project_id);

-- A bill's identity. Entries point at the one bill, not void, that they are on.
CREATE TABLE bills (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  number TEXT NOT NULL UNIQUE
) STRICT;

-- Names of harnesses, agents, models and providers, kept once. canonical_id leads to the spelling by which two names
-- are the same within a session (lower case, without a trailing [1m] and the like).
CREATE TABLE names (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  canonical_id INTEGER REFERENCES names (id)
) STRICT;

-- A set of labels kept once, because most entries of a repository carry the same.
CREATE TABLE label_sets (
  id INTEGER PRIMARY KEY,
  labels TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE label_pairs (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  label_set_id INTEGER NOT NULL REFERENCES label_sets (id),
  PRIMARY KEY (name, value, label_set_id)
) STRICT, WITHOUT ROWID;

-- source: which source supplies the figures of the session's entries. contested: several sources know the session,
-- and what each said stands in session_sources; else the sums of the entries are what the one source said.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  session_key TEXT NOT NULL,
  harness_id INTEGER NOT NULL REFERENCES names (id),
  manager_id INTEGER NOT NULL REFERENCES users (id),
  source TEXT NOT NULL CHECK (source IN ('report', 'log', 'span', 'metric')),
  contested INTEGER NOT NULL DEFAULT 0 CHECK (contested IN (0, 1)),
  UNIQUE (session_key, harness_id, manager_id)
) STRICT;

CREATE TABLE session_sources (
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  chain_model_id INTEGER NOT NULL REFERENCES names (id),
  source TEXT NOT NULL CHECK (source IN ('report', 'log', 'span', 'metric')),
  totals TEXT NOT NULL,
  PRIMARY KEY (session_id, chain_model_id, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE entries (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  manager_id INTEGER NOT NULL REFERENCES users (id),
  token_id INTEGER REFERENCES tokens (id),
  source TEXT NOT NULL CHECK (source IN ('report', 'log', 'span', 'metric', 'sheet')),
  status TEXT NOT NULL CHECK (status IN ('submitted', 'draft', 'pending', 'approved', 'rejected', 'billed')),
  harness_id INTEGER NOT NULL REFERENCES names (id),
  agent_id INTEGER NOT NULL REFERENCES names (id),
  model_id INTEGER NOT NULL REFERENCES names (id),
  provider_id INTEGER REFERENCES names (id),
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL CHECK (ended_at >= started_at),
  input INTEGER NOT NULL CHECK (input BETWEEN 0 AND 1000000000000),
  output INTEGER NOT NULL CHECK (output BETWEEN 0 AND 1000000000000),
  cache_read INTEGER NOT NULL CHECK (cache_read BETWEEN 0 AND 1000000000000),
  cache_write INTEGER NOT NULL CHECK (cache_write BETWEEN 0 AND 1000000000000),
  cache_write_1h INTEGER NOT NULL CHECK (cache_write_1h BETWEEN 0 AND 1000000000000),
  -- The share of the five counts that came from single requests above 200,000 input-side tokens.
  over_200k_input INTEGER CHECK (over_200k_input BETWEEN 0 AND input),
  over_200k_output INTEGER CHECK (over_200k_output BETWEEN 0 AND output),
  over_200k_cache_read INTEGER CHECK (over_200k_cache_read BETWEEN 0 AND cache_read),
  over_200k_cache_write INTEGER CHECK (over_200k_cache_write BETWEEN 0 AND cache_write),
  over_200k_cache_write_1h INTEGER CHECK (over_200k_cache_write_1h BETWEEN 0 AND cache_write_1h),
  requests INTEGER CHECK (requests >= 0),
  reported_cost INTEGER CHECK (reported_cost >= 0),
  list_value INTEGER CHECK (list_value >= 0),
  price_id INTEGER REFERENCES prices (id),
  price_step INTEGER CHECK (price_step BETWEEN 1 AND 7),
  price_note TEXT,
  project_id INTEGER REFERENCES projects (id),
  ticket_id INTEGER REFERENCES tickets (id),
  placed_by TEXT CHECK (placed_by IN ('named', 'rule', 'manual')),
  placement_note TEXT,
  -- What the report named where it could not be placed there (unknown_projects = 'hold').
  named_project TEXT,
  named_ticket TEXT,
  summary TEXT,
  label_set_id INTEGER REFERENCES label_sets (id),
  session_id INTEGER REFERENCES sessions (id),
  chain_model_id INTEGER REFERENCES names (id),
  part INTEGER CHECK (part >= 1),
  continues_id INTEGER REFERENCES entries (id),
  superseded INTEGER NOT NULL DEFAULT 0 CHECK (superseded IN (0, 1)),
  fingerprint INTEGER,
  possible_duplicate_id INTEGER REFERENCES entries (id),
  bill_id INTEGER REFERENCES bills (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER,
  CHECK ((list_value IS NULL) = (price_id IS NULL) AND (price_id IS NULL) = (price_step IS NULL)),
  CHECK ((session_id IS NULL) = (part IS NULL) AND (session_id IS NULL) = (chain_model_id IS NULL)),
  CHECK ((status = 'billed') = (bill_id IS NOT NULL)),
  CHECK (placed_by IS NOT NULL OR (project_id IS NULL AND ticket_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX entries_by_session ON entries (session_id, chain_model_id, part) WHERE session_id IS NOT NULL;
CREATE INDEX entries_by_start ON entries (started_at);
-- The fingerprint finds a possible duplicate: same manager, same start, same everything.
CREATE INDEX entries_by_manager ON entries (manager_id, started_at, fingerprint);
CREATE INDEX entries_by_project ON entries (project_id, started_at);
CREATE INDEX entries_by_ticket ON entries (ticket_id, started_at) WHERE ticket_id IS NOT NULL;
CREATE INDEX entries_by_bill ON entries (bill_id) WHERE bill_id IS NOT NULL;
-- Those whose cost is unknown, which a new price may value.
CREATE INDEX entries_unpriced ON entries (model_id, provider_id, id) WHERE list_value IS NULL AND reported_cost IS NULL;

CREATE TABLE idempotency_keys (
  manager_id INTEGER NOT NULL REFERENCES users (id),
  key TEXT NOT NULL,
  body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
  entry_id INTEGER NOT NULL REFERENCES entries (id),
  PRIMARY KEY (manager_id, key)
) STRICT, WITHOUT ROWID;

-- Who changed what of an entry, and when. An entry's creation and the running totals of an unlocked session leave no row.
CREATE TABLE entry_history (
  id INTEGER PRIMARY KEY,
  entry_id INTEGER NOT NULL REFERENCES entries (id),
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  user_id INTEGER REFERENCES users (id),
  token_id INTEGER REFERENCES tokens (id),
  details TEXT NOT NULL
) STRICT;
CREATE INDEX entry_history_by_entry ON entry_history (entry_id);

-- Caches (tokens, people, prices, settings) hold as long as this number has not moved.
CREATE TABLE revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  value INTEGER NOT NULL
) STRICT;
INSERT INTO revision VALUES (1, 1);

CREATE TRIGGER organization_updated AFTER UPDATE ON organization BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER users_inserted AFTER INSERT ON users BEGIN UPDATE revision SET value = value + 1; END;
-- Not for last_signed_in_at, nor below for last_used_at and last_seen_at, which change all the time and decide nothing.
CREATE TRIGGER users_updated AFTER UPDATE OF email, name, role, disabled_at ON users
BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER users_deleted AFTER DELETE ON users BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER tokens_inserted AFTER INSERT ON tokens BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER tokens_updated AFTER UPDATE OF kind, hash, created_by, allow_bills, expires_at, revoked_at ON tokens
BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER tokens_deleted AFTER DELETE ON tokens BEGIN UPDATE revision SET value = value + 1; END;
-- New ones are looked up, and only expired ones are deleted.
CREATE TRIGGER sign_ins_ended AFTER UPDATE OF ended_at ON sign_ins BEGIN UPDATE revision SET value = value + 1; END;

CREATE TABLE prices (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  -- Pico-dollars (1e-12 USD) per token; NULL is unknown, 0 is free.
  input INTEGER CHECK (input >= 0),
  output INTEGER CHECK (output >= 0),
  cache_read INTEGER CHECK (cache_read >= 0),
  cache_write INTEGER CHECK (cache_write >= 0),
  cache_write_1h INTEGER CHECK (cache_write_1h >= 0),
  -- JSON: [{from_tokens, input, …}], ascending; absent where one price holds for every length.
  tiers TEXT,
  effective_from INTEGER,
  source TEXT NOT NULL,
  loaded_at INTEGER NOT NULL,
  loaded_by INTEGER REFERENCES users (id)
) STRICT;
CREATE INDEX prices_by_model ON prices (model, provider);

-- Other names of a model. By the table it came with (its maker's `equals` clauses), or by an admin.
CREATE TABLE price_aliases (
  id INTEGER PRIMARY KEY,
  alias TEXT NOT NULL,
  provider TEXT,
  model TEXT NOT NULL,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER REFERENCES users (id),
  UNIQUE (alias, source, provider)
) STRICT;
-- An admin's alias may leave the provider open, and NULLs are never equal to each other.
CREATE UNIQUE INDEX price_aliases_of_admin ON price_aliases (alias) WHERE source = 'admin';

-- Which versions of the embedded table were loaded: opening finds them by one read, and of two processes that open at
-- once only one loads.
CREATE TABLE price_tables (
  source TEXT NOT NULL,
  version TEXT NOT NULL,
  loaded_at INTEGER NOT NULL,
  PRIMARY KEY (source, version)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER prices_inserted AFTER INSERT ON prices BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER price_aliases_inserted AFTER INSERT ON price_aliases BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER price_aliases_updated AFTER UPDATE ON price_aliases BEGIN UPDATE revision SET value = value + 1; END;
CREATE TRIGGER price_aliases_deleted AFTER DELETE ON price_aliases BEGIN UPDATE revision SET value = value + 1; END;
