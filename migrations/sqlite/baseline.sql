-- Migrations 1 to 50, written by scripts/baseline.ts.

CREATE TABLE organization (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  unknown_projects TEXT NOT NULL CHECK (unknown_projects IN ('create', 'hold')),
  set_up_at INTEGER
, approval_required INTEGER NOT NULL DEFAULT 0 CHECK (approval_required IN (0, 1)), email TEXT, address TEXT, tax_id TEXT, markup_ppm INTEGER CHECK (markup_ppm BETWEEN -1000000 AND 100000000), due_days INTEGER NOT NULL DEFAULT 30 CHECK (due_days BETWEEN 0 AND 365), bill_number_format TEXT NOT NULL DEFAULT '{year}-{sequence:4}', bill_footer TEXT, logo BLOB, logo_type TEXT CHECK ((logo IS NULL) = (logo_type IS NULL)), telemetry_by_email INTEGER NOT NULL DEFAULT 0 CHECK (telemetry_by_email IN (0, 1)), demo_at INTEGER, same_session TEXT NOT NULL DEFAULT 'hold'
CHECK (same_session IN ('hold', 'count')), week_start TEXT NOT NULL DEFAULT 'monday'
CHECK (week_start IN ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')), reminder_days INTEGER CHECK (reminder_days BETWEEN 1 AND 90), api_tokens INTEGER NOT NULL DEFAULT 0 CHECK (api_tokens IN (0, 1)), share_links INTEGER NOT NULL DEFAULT 0 CHECK (share_links IN (0, 1)), retention_texts INTEGER CHECK (retention_texts >= 1), retention_session_ids INTEGER CHECK (retention_session_ids >= 1), retention_history INTEGER CHECK (retention_history >= 12), retention_audit INTEGER CHECK (retention_audit >= 12), hashed_session_ids INTEGER NOT NULL DEFAULT 0 CHECK (hashed_session_ids IN (0, 1)), interned_version INTEGER NOT NULL DEFAULT 0, compacted_at INTEGER, retention_events INTEGER DEFAULT 3 CHECK (retention_events >= 1), events_removed_to INTEGER NOT NULL DEFAULT 0, sheet_required_fields TEXT NOT NULL DEFAULT '[]', lead_rules INTEGER NOT NULL DEFAULT 0 CHECK (lead_rules IN (0, 1)), public_url TEXT) STRICT;

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
, email TEXT, address TEXT, tax_id TEXT, currency TEXT CHECK (length(currency) = 3), markup_ppm INTEGER CHECK (markup_ppm BETWEEN -1000000 AND 100000000), reminders INTEGER NOT NULL DEFAULT 1 CHECK (reminders IN (0, 1)), tax_ppm INTEGER CHECK (tax_ppm BETWEEN 0 AND 1000000), tax_name TEXT) STRICT;

CREATE TABLE projects (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  key TEXT NOT NULL,
  name TEXT NOT NULL,
  client_id INTEGER REFERENCES clients (id),
  created_at INTEGER NOT NULL,
  archived_at INTEGER
, billable INTEGER NOT NULL DEFAULT 1 CHECK (billable IN (0, 1)), markup_ppm INTEGER CHECK (markup_ppm BETWEEN -1000000 AND 100000000), budget INTEGER CHECK (budget >= 0), merged_into_id INTEGER REFERENCES projects (id)) STRICT;

CREATE TABLE project_names (
  folded TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id)
, text TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL DEFAULT 'key' CHECK (kind IN ('key', 'name', 'alias'))) STRICT, WITHOUT ROWID;

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
, title TEXT, reported INTEGER NOT NULL DEFAULT 0 CHECK (reported IN (0, 1))) STRICT;

CREATE INDEX tickets_by_project ON tickets (project_id);

CREATE TABLE names (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  canonical_id INTEGER REFERENCES names (id)
) STRICT;

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

CREATE TABLE session_sources (
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  chain_model_id INTEGER NOT NULL REFERENCES names (id),
  source TEXT NOT NULL CHECK (source IN ('report', 'log', 'span', 'metric')),
  totals TEXT NOT NULL,
  PRIMARY KEY (session_id, chain_model_id, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  manager_id INTEGER NOT NULL REFERENCES users (id),
  key TEXT NOT NULL,
  body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
  entry_id INTEGER NOT NULL REFERENCES entries (id),
  PRIMARY KEY (manager_id, key)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE revision (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  value INTEGER NOT NULL
, oldest_schema INTEGER NOT NULL DEFAULT 0) STRICT;

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
, extras TEXT CHECK (extras IS NULL OR json_valid(extras)), load_id INTEGER REFERENCES price_loads (id), as_of INTEGER, withdrawn_at INTEGER, effective_until INTEGER) STRICT;

CREATE INDEX prices_by_model ON prices (model, provider);

CREATE TABLE price_aliases (
  id INTEGER PRIMARY KEY,
  alias TEXT NOT NULL,
  provider TEXT,
  model TEXT NOT NULL,
  source TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER REFERENCES users (id), load_id INTEGER REFERENCES price_loads (id),
  UNIQUE (alias, source, provider)
) STRICT;

CREATE UNIQUE INDEX price_aliases_of_admin ON price_aliases (alias) WHERE source = 'admin';

CREATE INDEX projects_by_client ON projects (client_id);

CREATE UNIQUE INDEX project_names_key ON project_names (project_id, kind) WHERE kind <> 'alias';

CREATE TABLE placement_rules (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  -- Rules are tried in this order, of equal ones the older first.
  position INTEGER NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at INTEGER NOT NULL,
  removed_at INTEGER
, lead_repository TEXT) STRICT;

CREATE TABLE placement_rule_versions (
  id INTEGER PRIMARY KEY,
  rule_id INTEGER NOT NULL REFERENCES placement_rules (id),
  version INTEGER NOT NULL CHECK (version >= 1),
  name TEXT NOT NULL,
  conditions TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  -- A ticket's key, which may use the named groups of a matched expression: {ticket}.
  ticket TEXT,
  created_at INTEGER NOT NULL,
  created_by INTEGER REFERENCES users (id),
  UNIQUE (rule_id, version)
) STRICT;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  -- NULL on the command line, whose user the origin names.
  user_id INTEGER REFERENCES users (id),
  token_id INTEGER REFERENCES tokens (id),
  origin TEXT NOT NULL,
  action TEXT NOT NULL,
  object_id TEXT,
  object_name TEXT,
  before TEXT,
  after TEXT
, for_id INTEGER REFERENCES users (id)) STRICT;

CREATE INDEX audit_by_object ON audit (object_id) WHERE object_id IS NOT NULL;

CREATE INDEX audit_by_user ON audit (user_id);

CREATE TABLE sheets (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  manager_id INTEGER NOT NULL REFERENCES users (id),
  -- Days of the organization's zone, both included, and the moments that they were when the sheet was opened.
  first_day TEXT NOT NULL CHECK (length(first_day) = 10),
  last_day TEXT NOT NULL CHECK (length(last_day) = 10 AND last_day >= first_day),
  starting_at INTEGER NOT NULL,
  ending_at INTEGER NOT NULL CHECK (ending_at > starting_at),
  note TEXT,
  status TEXT NOT NULL CHECK (status IN ('open', 'submitted', 'approved', 'returned')),
  -- Why it was returned.
  reason TEXT,
  created_at INTEGER NOT NULL,
  submitted_at INTEGER,
  decided_at INTEGER,
  -- NULL for the command line.
  decided_by INTEGER REFERENCES users (id),
  updated_at INTEGER,
  CHECK ((status = 'returned') = (reason IS NOT NULL)),
  CHECK (status = 'open' OR submitted_at IS NOT NULL),
  CHECK (status NOT IN ('approved', 'returned') OR decided_at IS NOT NULL)
) STRICT;

CREATE INDEX sheets_by_manager ON sheets (manager_id, starting_at);

CREATE INDEX sheets_by_status ON sheets (status, starting_at);

CREATE TABLE stale_hours (
  hour INTEGER NOT NULL
) STRICT;

CREATE INDEX stale_hours_by_hour ON stale_hours (hour);

CREATE TABLE rollup_zones (
  zone TEXT PRIMARY KEY,
  ready INTEGER NOT NULL CHECK (ready IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE rollup_periods (
  id INTEGER PRIMARY KEY,
  zone TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('day', 'month')),
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL CHECK (ends_at > starts_at),
  state TEXT NOT NULL CHECK (state IN ('stale', 'building', 'clean', 'old')),
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX rollup_periods_by_state ON rollup_periods (state, level, starts_at);

CREATE TABLE bill_entries (
  bill_id INTEGER NOT NULL REFERENCES bills (id),
  entry_id INTEGER NOT NULL REFERENCES entries (id),
  line INTEGER NOT NULL CHECK (line >= 1),
  status_before TEXT NOT NULL CHECK (status_before IN ('submitted', 'approved')),
  PRIMARY KEY (bill_id, entry_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX bill_entries_by_entry ON bill_entries (entry_id);

CREATE TABLE bill_documents (
  bill_id INTEGER NOT NULL REFERENCES bills (id),
  format TEXT NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (bill_id, format)
) STRICT, WITHOUT ROWID;

CREATE TABLE bill_sequences (
  scope TEXT PRIMARY KEY,
  last INTEGER NOT NULL CHECK (last >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE bill_keys (
  user_id INTEGER NOT NULL REFERENCES users (id),
  key TEXT NOT NULL,
  body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
  bill_id INTEGER NOT NULL REFERENCES bills (id),
  PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE user_emails (
  email TEXT PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id)
) STRICT, WITHOUT ROWID;

CREATE INDEX user_emails_by_user ON user_emails (user_id);

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

CREATE TABLE telemetry_totals (
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  chain_model_id INTEGER NOT NULL REFERENCES names (id),
  source TEXT NOT NULL CHECK (source IN ('log', 'span', 'metric')),
  totals TEXT NOT NULL,
  PRIMARY KEY (session_id, chain_model_id, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE telemetry_streams (
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  stream BLOB NOT NULL CHECK (length(stream) = 16),
  time_nanos INTEGER NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (session_id, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE telemetry_seen (
  session_id INTEGER NOT NULL REFERENCES sessions (id),
  identity BLOB NOT NULL CHECK (length(identity) = 16),
  PRIMARY KEY (session_id, identity)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE telemetry_uncounted (
  kind TEXT NOT NULL CHECK (kind IN ('ignored', 'rejected')),
  what TEXT NOT NULL,
  records INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  PRIMARY KEY (kind, what)
) STRICT, WITHOUT ROWID;

CREATE TABLE telemetry_pushes (
  token_id INTEGER PRIMARY KEY REFERENCES tokens (id),
  requests INTEGER NOT NULL,
  records INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE ticket_assumptions (
  ticket_id INTEGER NOT NULL REFERENCES tickets (id),
  user_id INTEGER NOT NULL REFERENCES users (id),
  project_id INTEGER REFERENCES projects (id),
  PRIMARY KEY (ticket_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX ticket_assumptions_by_project ON ticket_assumptions (project_id, ticket_id) WHERE project_id IS NOT NULL;

CREATE TABLE "sessions" (
  id INTEGER PRIMARY KEY,
  session_key TEXT NOT NULL,
  harness_id INTEGER NOT NULL REFERENCES names (id),
  manager_id INTEGER NOT NULL REFERENCES users (id),
  -- The source that supplies the totals of the session's entries.
  source TEXT NOT NULL CHECK (source = 'report' OR source = 'log' OR source = 'span' OR source = 'metric'),
  -- Several sources report the session, and the totals of each are in session_sources; otherwise the sums of the entries
  -- are those of the only source.
  contested INTEGER NOT NULL DEFAULT 0 CHECK (contested IN (0, 1)),
  -- How the owner was identified: by the token, or by an e-mail address sent with an organization token.
  manager_by TEXT NOT NULL DEFAULT 'token' CHECK (manager_by IN ('token', 'email')),
  -- Whether an organization token brought the session and its owner is not identified yet.
  unidentified INTEGER NOT NULL DEFAULT 0 CHECK (unidentified IN (0, 1)),
  -- Whether telemetry of an organization token that identified no one has joined it.
  by_organization INTEGER NOT NULL DEFAULT 0 CHECK (by_organization IN (0, 1)), duplicate TEXT
CHECK (duplicate IS NULL OR duplicate = 'held' OR duplicate = 'released' OR duplicate = 'discarded'),
  UNIQUE (session_key, harness_id, manager_id)
) STRICT;

CREATE TABLE price_loads (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  -- 'default' for the embedded table.
  format TEXT NOT NULL,
  -- The file or the address without its query; the version of the embedded table.
  name TEXT,
  -- SHA-256 of the file, in hexadecimal digits; NULL for the embedded table.
  digest TEXT,
  as_of INTEGER NOT NULL,
  -- JSON: how many rows and aliases were added, skipped and refused.
  counts TEXT NOT NULL,
  -- JSON: the aliases that the load changed, as they were before; NULL where it changed none.
  replaced_aliases TEXT,
  loaded_at INTEGER NOT NULL,
  loaded_by INTEGER REFERENCES users (id),
  undone_at INTEGER,
  undone_by INTEGER REFERENCES users (id),
  -- JSON: the price changes to notify people of by e-mail, and when to send it next; NULL where there are none.
  notice TEXT,
  notice_due_at INTEGER CHECK (notice_due_at IS NULL OR notice IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX price_loads_of_embedded ON price_loads (name) WHERE format = 'default';

CREATE INDEX price_loads_to_notify ON price_loads (notice_due_at) WHERE notice_due_at IS NOT NULL;

CREATE INDEX prices_by_load ON prices (load_id) WHERE load_id IS NOT NULL;

CREATE TABLE price_updates (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- The address or the file, without secrets.
  source TEXT,
  attempted_at INTEGER,
  succeeded_at INTEGER,
  -- Why the last attempt failed; NULL where it succeeded.
  error TEXT,
  -- Failed attempts since the last one that succeeded.
  failures INTEGER NOT NULL
) STRICT;

CREATE TABLE rollup_columns (
  period_id INTEGER NOT NULL,
  grain INTEGER NOT NULL,
  name TEXT NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (period_id, grain, name)
) STRICT;

CREATE TABLE "bills" (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  number TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('bill', 'credit_note')),
  state TEXT NOT NULL CHECK (state IN ('preparing', 'sent', 'paid', 'void')),
  -- NULL for everything, or the one of both that it is for.
  client_id INTEGER REFERENCES clients (id),
  project_id INTEGER REFERENCES projects (id),
  -- Days of the organization's zone, both included.
  period_from TEXT NOT NULL CHECK (length(period_from) = 10),
  period_to TEXT NOT NULL CHECK (length(period_to) = 10 AND period_to >= period_from),
  issued_on TEXT NOT NULL CHECK (length(issued_on) = 10),
  due_on TEXT NOT NULL CHECK (length(due_on) = 10),
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  subtotal INTEGER NOT NULL,
  tax INTEGER NOT NULL,
  total INTEGER NOT NULL CHECK (total = subtotal + tax),
  cost INTEGER NOT NULL,
  list_value INTEGER NOT NULL,
  entries INTEGER NOT NULL CHECK (entries >= 0),
  -- The bill as JSON, to the byte as it was sent.
  document TEXT NOT NULL,
  replaces_id INTEGER REFERENCES bills (id),
  -- The paid bill that a credit note corrects.
  corrects_id INTEGER REFERENCES bills (id) CHECK ((corrects_id IS NOT NULL) = (kind = 'credit_note')),
  created_at INTEGER NOT NULL,
  -- NULL for the command line.
  created_by INTEGER REFERENCES users (id),
  paid_on TEXT CHECK (length(paid_on) = 10 AND (paid_on IS NOT NULL) = (state = 'paid')),
  paid_reference TEXT,
  voided_at INTEGER CHECK ((voided_at IS NOT NULL) = (state = 'void')),
  void_reason TEXT CHECK ((void_reason IS NOT NULL) = (state = 'void')), paid_amount INTEGER NOT NULL DEFAULT 0 CHECK (paid_amount = 0 OR state IN ('sent', 'paid')), released_by_id INTEGER REFERENCES bills (id), reminded_on TEXT CHECK (length(reminded_on) = 10),
  CHECK (client_id IS NULL OR project_id IS NULL)
) STRICT;

CREATE INDEX bills_by_client ON bills (client_id);

CREATE INDEX bills_by_project ON bills (project_id);

CREATE TABLE billing_lease (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL,
  bill_id INTEGER REFERENCES bills (id),
  expires_at INTEGER CHECK ((expires_at IS NULL) = (bill_id IS NULL))
) STRICT;

CREATE TABLE entry_changes (
  -- Ascends with every change: the row of an entry moves to the end.
  id INTEGER PRIMARY KEY,
  entry_id INTEGER UNIQUE,
  -- In seconds, by the database's clock. Only for finding where to begin.
  changed_at INTEGER NOT NULL,
  -- Of a deleted entry: its public id, and who could see it.
  deleted_uid BLOB,
  manager_id INTEGER,
  project_id INTEGER,
  CHECK ((entry_id IS NULL) = (deleted_uid IS NOT NULL))
) STRICT;

CREATE TABLE "entries" (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  manager_id INTEGER NOT NULL REFERENCES users (id),
  manager_by TEXT NOT NULL DEFAULT 'token' CHECK (manager_by IN ('token', 'email')),
  token_id INTEGER REFERENCES tokens (id),
  source TEXT NOT NULL
    CHECK (source = 'report' OR source = 'log' OR source = 'span' OR source = 'metric' OR source = 'sheet'),
  status TEXT NOT NULL CHECK (
    status = 'submitted' OR status = 'draft' OR status = 'pending' OR status = 'approved' OR status = 'rejected'
    OR status = 'billed' OR status = 'held' OR status = 'discarded' OR status = 'voided'),
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
  requests INTEGER CHECK (requests >= 0),
  reported_cost INTEGER CHECK (reported_cost >= 0),
  list_value INTEGER CHECK (list_value >= 0),
  price_id INTEGER REFERENCES prices (id),
  price_step INTEGER CHECK (price_step BETWEEN 1 AND 7),
  price_note TEXT,
  project_id INTEGER REFERENCES projects (id),
  ticket_id INTEGER REFERENCES tickets (id),
  placed_by TEXT CHECK (placed_by = 'named' OR placed_by = 'rule' OR placed_by = 'manual'),
  -- The rule that placed the entry, or that gave the project of a ticket which the report named.
  rule_version_id INTEGER REFERENCES placement_rule_versions (id)
    CHECK (placed_by <> 'rule' OR rule_version_id IS NOT NULL),
  placement_note TEXT,
  -- Names of the report that could not be used (unknown_projects = 'hold').
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
  sheet_id INTEGER REFERENCES sheets (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER,
  -- Usage that most entries do not have, as JSON.
  usage_details TEXT CHECK (usage_details IS NULL OR json_valid(usage_details)),
  -- What a person has corrected, which reports no longer change: JSON, a list of 'summary' and 'labels'.
  corrected TEXT CHECK (corrected IS NULL OR json_valid(corrected)),
  -- What a person has decided about its figures, against what its session reports; NULL for nearly all. JSON.
  amendment TEXT CHECK (amendment IS NULL OR json_valid(amendment)), divided_from_id INTEGER REFERENCES entries (id),
  CHECK ((list_value IS NULL) = (price_id IS NULL) AND (price_id IS NULL) = (price_step IS NULL)),
  CHECK ((session_id IS NULL) = (part IS NULL) AND (session_id IS NULL) = (chain_model_id IS NULL)),
  CHECK ((status = 'billed') = (bill_id IS NOT NULL)),
  CHECK (placed_by IS NOT NULL OR (project_id IS NULL AND ticket_id IS NULL)),
  -- Entries made by hand, and only they, are on a sheet, and have no session. A submitted, rejected,
  -- held, discarded or voided entry is on none, a draft or pending one always is.
  CHECK ((sheet_id IS NOT NULL) = (source = 'sheet')),
  CHECK (sheet_id IS NULL OR (
    status <> 'submitted' AND status <> 'rejected' AND status <> 'held' AND status <> 'discarded'
    AND status <> 'voided')),
  CHECK (sheet_id IS NOT NULL OR (status <> 'draft' AND status <> 'pending')),
  CHECK (sheet_id IS NULL OR session_id IS NULL)
) STRICT;

CREATE UNIQUE INDEX entries_by_session ON entries (session_id, chain_model_id, part) WHERE session_id IS NOT NULL;

CREATE INDEX entries_by_start ON entries (started_at);

CREATE INDEX entries_by_manager ON entries (manager_id, started_at, fingerprint);

CREATE INDEX entries_by_project ON entries (project_id, started_at);

CREATE INDEX entries_by_ticket ON entries (ticket_id, started_at) WHERE ticket_id IS NOT NULL;

CREATE INDEX entries_by_bill ON entries (bill_id) WHERE bill_id IS NOT NULL;

CREATE INDEX entries_unpriced ON entries (model_id, provider_id, id) WHERE list_value IS NULL AND reported_cost IS NULL;

CREATE INDEX entries_by_rule ON entries (rule_version_id) WHERE rule_version_id IS NOT NULL;

CREATE INDEX entries_unattributed ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, placed_by
) WHERE placed_by IS NULL;

CREATE INDEX entries_possible_duplicates ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, possible_duplicate_id
) WHERE possible_duplicate_id IS NOT NULL;

CREATE INDEX entries_by_sheet ON entries (sheet_id) WHERE sheet_id IS NOT NULL;

CREATE INDEX entries_by_named_project ON entries (named_project) WHERE named_project IS NOT NULL;

CREATE INDEX entries_held ON entries (manager_id) WHERE status = 'held';

CREATE INDEX entries_cost_mismatches ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id
) WHERE abs(reported_cost - list_value) > 1000000000
  AND ((reported_cost - 1) / 10 - list_value >= 0 OR (list_value - 1) / 10 - reported_cost >= 0);

CREATE TABLE client_leads (
  client_id INTEGER NOT NULL REFERENCES clients (id),
  user_id INTEGER NOT NULL REFERENCES users (id),
  PRIMARY KEY (client_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX client_leads_by_user ON client_leads (user_id);

CREATE TABLE client_approvers (
  client_id INTEGER NOT NULL REFERENCES clients (id),
  user_id INTEGER NOT NULL REFERENCES users (id),
  PRIMARY KEY (client_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX client_approvers_by_user ON client_approvers (user_id);

CREATE TABLE project_approvers (
  project_id INTEGER NOT NULL REFERENCES projects (id),
  user_id INTEGER NOT NULL REFERENCES users (id),
  PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX project_approvers_by_user ON project_approvers (user_id);

CREATE TABLE deputies (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  person_id INTEGER NOT NULL REFERENCES users (id),
  deputy_id INTEGER NOT NULL REFERENCES users (id),
  first_day TEXT NOT NULL,
  last_day TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  CHECK (person_id <> deputy_id AND starts_at < ends_at)
) STRICT;

CREATE INDEX deputies_by_person ON deputies (person_id);

CREATE INDEX deputies_by_deputy ON deputies (deputy_id);

CREATE TABLE bill_payments (
  bill_id INTEGER NOT NULL REFERENCES bills (id),
  -- Counts up from 1 in each bill.
  number INTEGER NOT NULL CHECK (number > 0),
  -- In the minor unit of the bill's currency, with the sign of the bill's total: a credit note is paid by a refund.
  amount INTEGER NOT NULL,
  paid_on TEXT NOT NULL CHECK (length(paid_on) = 10),
  reference TEXT,
  -- Of an amount that was offset and not transferred: the credit note; on a credit note, the bill.
  offset_id INTEGER REFERENCES bills (id),
  created_at INTEGER NOT NULL,
  -- NULL for the command line.
  created_by INTEGER REFERENCES users (id),
  reversed_at INTEGER,
  reversed_by INTEGER REFERENCES users (id) CHECK (reversed_by IS NULL OR reversed_at IS NOT NULL),
  reverse_reason TEXT CHECK ((reverse_reason IS NOT NULL) = (reversed_at IS NOT NULL)),
  PRIMARY KEY (bill_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX bill_payments_by_offset ON bill_payments (offset_id) WHERE offset_id IS NOT NULL;

CREATE INDEX bills_unpaid ON bills (due_on) WHERE state = 'sent';

CREATE TABLE "bill_deliveries" (
  id INTEGER PRIMARY KEY,
  bill_id INTEGER NOT NULL REFERENCES bills (id),
  notice TEXT NOT NULL CHECK (notice IN ('sent', 'void', 'reminder')),
  recipient TEXT NOT NULL,
  message TEXT,
  state TEXT NOT NULL CHECK (state IN ('queued', 'sent', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  next_attempt_at INTEGER CHECK ((next_attempt_at IS NOT NULL) = (state = 'queued')),
  -- What the mail server said last.
  answer TEXT,
  created_at INTEGER NOT NULL,
  created_by INTEGER REFERENCES users (id),
  sent_at INTEGER CHECK ((sent_at IS NOT NULL) = (state = 'sent'))
) STRICT;

CREATE INDEX bill_deliveries_by_bill ON bill_deliveries (bill_id);

CREATE INDEX bill_deliveries_due ON bill_deliveries (next_attempt_at) WHERE state = 'queued';

CREATE TABLE "tokens" (
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

CREATE INDEX tokens_by_creator ON tokens (created_by);

CREATE INDEX entries_by_division ON entries (divided_from_id) WHERE divided_from_id IS NOT NULL;

CREATE TABLE share_links (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  -- Of the secret in the address, which is shown once.
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  -- Its report or bill is shown as far as this person can see it.
  created_by INTEGER NOT NULL REFERENCES users (id),
  -- JSON: the parameters of a report.
  report TEXT,
  bill_id INTEGER REFERENCES bills (id),
  -- The money it shows: the amounts of a bill, or the cost in a report.
  money TEXT NOT NULL CHECK (money IN ('amounts', 'cost', 'none')),
  shows_people INTEGER NOT NULL CHECK (shows_people IN (0, 1)),
  note TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  last_used_at INTEGER,
  uses INTEGER NOT NULL DEFAULT 0,
  CHECK ((report IS NULL) <> (bill_id IS NULL)),
  CHECK ((bill_id IS NOT NULL) = (money = 'amounts'))
) STRICT;

CREATE INDEX share_links_by_creator ON share_links (created_by);

CREATE INDEX share_links_by_bill ON share_links (bill_id);

CREATE TABLE erasures (
  user_id INTEGER PRIMARY KEY REFERENCES users (id),
  -- JSON: the names and addresses that are replaced; forgotten when that is done.
  words TEXT,
  -- JSON: the number of changed rows by table.
  counts TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((words IS NULL) = (ended_at IS NOT NULL))
) STRICT;

CREATE TABLE "users" (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'billing', 'admin')),
  password_hash TEXT,
  created_at INTEGER NOT NULL,
  last_signed_in_at INTEGER,
  disabled_at INTEGER,
  erased_at INTEGER
, notifications TEXT) STRICT;

CREATE TABLE viewer_grants (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  -- A client with all of its projects, or one project.
  client_id INTEGER REFERENCES clients (id),
  project_id INTEGER REFERENCES projects (id),
  money TEXT NOT NULL CHECK (money IN ('amounts', 'cost', 'none')),
  shows_people INTEGER NOT NULL CHECK (shows_people IN (0, 1)),
  -- The bills that were sent to the client.
  shows_bills INTEGER NOT NULL CHECK (shows_bills IN (0, 1)),
  created_at INTEGER NOT NULL,
  CHECK ((client_id IS NULL) <> (project_id IS NULL)),
  CHECK (shows_bills = 0 OR (client_id IS NOT NULL AND money = 'amounts'))
) STRICT;

CREATE UNIQUE INDEX viewer_grants_by_client ON viewer_grants (user_id, client_id) WHERE client_id IS NOT NULL;

CREATE UNIQUE INDEX viewer_grants_by_project ON viewer_grants (user_id, project_id) WHERE project_id IS NOT NULL;

CREATE INDEX viewer_grants_of_client ON viewer_grants (client_id);

CREATE INDEX viewer_grants_of_project ON viewer_grants (project_id);

CREATE TABLE events (
  -- Ascends. The newest row is never removed, so that no id is used again.
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  -- A type of src/event-types.ts.
  type TEXT NOT NULL,
  -- The public id and the name of what it happened to, except for entries.
  object_id TEXT,
  object_name TEXT,
  -- The entry that it happened to. A deleted draft may leave its key to the next entry: see events_of_removed.
  entry_id INTEGER,
  -- For visibility: whose it is, and of which project.
  manager_id INTEGER,
  project_id INTEGER,
  -- Who caused it; NULL for Tally itself.
  user_id INTEGER,
  token_id INTEGER,
  -- JSON: {"before": {…}, "after": {…}}, the changed fields under their API names.
  details TEXT
) STRICT;

CREATE INDEX events_of_removed ON events (entry_id) WHERE type = 'entry.removed';

CREATE TABLE event_occurrences (
  key TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE budgets (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  name TEXT NOT NULL,
  -- The scope: entries must match everything that is not NULL. Without any of it, the budget is the organization's.
  client_id INTEGER REFERENCES clients (id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  ticket_id INTEGER REFERENCES tickets (id) ON DELETE CASCADE,
  manager_id INTEGER REFERENCES users (id),
  agent_name TEXT,
  model TEXT,
  label_name TEXT,
  label_value TEXT,
  measure TEXT NOT NULL CHECK (measure IN ('cost', 'billed_amount', 'tokens')),
  -- In nano-dollars, or tokens.
  amount INTEGER NOT NULL CHECK (amount >= 0),
  period TEXT NOT NULL CHECK (period IN ('day', 'week', 'month', 'quarter', 'year', 'once')),
  -- Days of the organization, both included; NULL for no limit.
  first_day TEXT,
  last_day TEXT,
  roll_over INTEGER NOT NULL CHECK (roll_over IN (0, 1)),
  thresholds TEXT NOT NULL,
  -- Whether it is the budget that the field `budget` of its project shows.
  of_project INTEGER NOT NULL CHECK (of_project IN (0, 1)),
  -- Increases when the amount, the scope or the period changes: alerts are given once per version, period and threshold.
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by INTEGER REFERENCES users (id),
  archived_at INTEGER,
  CHECK ((label_name IS NULL) = (label_value IS NULL)),
  CHECK (first_day <= last_day),
  CHECK (of_project = 0 OR project_id IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX budgets_of_projects ON budgets (project_id) WHERE of_project = 1;

CREATE INDEX budgets_active ON budgets (id) WHERE archived_at IS NULL;

CREATE INDEX budgets_of_client ON budgets (client_id);

CREATE INDEX budgets_of_ticket ON budgets (ticket_id);

CREATE TABLE budget_periods (
  id INTEGER PRIMARY KEY,
  budget_id INTEGER NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  first_day TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL CHECK (ends_at > starts_at),
  -- What is spent: billions + units + millionths. A sum of units alone could overflow with a dozen of the highest costs.
  billions INTEGER NOT NULL,
  units INTEGER NOT NULL,
  millionths INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  unpriced_entries INTEGER NOT NULL,
  -- The amount of the budget, with what was rolled over from the previous period.
  available INTEGER NOT NULL,
  -- The highest threshold for which there is an alert, in percent.
  alerted INTEGER NOT NULL,
  -- When all entries of the period were counted; NULL until they are.
  counted_at INTEGER,
  -- How often they were counted, so that of two simultaneous counts only one has an effect.
  counts INTEGER NOT NULL, recount_at INTEGER,
  UNIQUE (budget_id, first_day)
) STRICT;

CREATE INDEX budget_periods_uncounted ON budget_periods (id) WHERE counted_at IS NULL;

CREATE TABLE budget_alerts (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  budget_id INTEGER NOT NULL REFERENCES budgets (id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  first_day TEXT NOT NULL,
  -- Of what is spent, or of the forecast for the end of the period.
  kind TEXT NOT NULL CHECK (kind IN ('spent', 'forecast')),
  percent INTEGER NOT NULL,
  -- Decimal numbers as of `at`, in dollars or tokens.
  spent TEXT NOT NULL,
  available TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- When its e-mails were queued.
  notified_at INTEGER,
  UNIQUE (budget_id, version, first_day, kind, percent)
) STRICT;

CREATE INDEX budget_alerts_unnotified ON budget_alerts (id) WHERE notified_at IS NULL;

CREATE TABLE budget_changes (
  id INTEGER PRIMARY KEY,
  sign INTEGER NOT NULL CHECK (sign IN (-1, 1)),
  started_at INTEGER NOT NULL,
  manager_id INTEGER NOT NULL,
  project_id INTEGER,
  ticket_id INTEGER,
  agent_id INTEGER NOT NULL,
  model_id INTEGER NOT NULL,
  label_set_id INTEGER,
  -- Whether it is rejected, so that it will not be billed.
  rejected INTEGER NOT NULL CHECK (rejected IN (0, 1)),
  cost INTEGER,
  tokens INTEGER NOT NULL
) STRICT;

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
  notice_due_at INTEGER, owner_id INTEGER REFERENCES users (id), owner_token_id INTEGER REFERENCES tokens (id)
  CHECK (owner_token_id IS NULL OR owner_id IS NOT NULL), suspended_at INTEGER, suspended_reason TEXT
  CHECK (suspended_reason IN ('owner_disabled', 'owner_role', 'token_revoked', 'token_expired', 'token_scopes', 'api_tokens_off'))
  CHECK ((suspended_at IS NULL) = (suspended_reason IS NULL)),
  CHECK (client_id IS NULL OR project_id IS NULL),
  CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
  CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
  CHECK ((attempts = 0) = (failing_since IS NULL)),
  CHECK ((lease_holder IS NULL) = (leased_until IS NULL))
) STRICT;

CREATE INDEX webhook_endpoints_by_creator ON webhook_endpoints (created_by);

CREATE INDEX webhook_endpoints_by_client ON webhook_endpoints (client_id);

CREATE INDEX webhook_endpoints_by_project ON webhook_endpoints (project_id);

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

CREATE TABLE notifications (
  id INTEGER PRIMARY KEY,
  -- NULL for an address that belongs to nobody with an account.
  user_id INTEGER REFERENCES users (id),
  recipient TEXT NOT NULL,
  topic TEXT NOT NULL CHECK (topic IN ('budget_alerts', 'attention', 'weekly_summary', 'anomalies')),
  -- What it is about, so that nobody is told twice.
  key TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- NULL while it waits.
  email_id INTEGER REFERENCES notification_emails (id),
  UNIQUE (recipient, topic, key)
) STRICT;

CREATE INDEX notifications_waiting ON notifications (recipient) WHERE email_id IS NULL;

CREATE INDEX notifications_of_email ON notifications (email_id);

CREATE INDEX notifications_of_user ON notifications (user_id);

CREATE TABLE notification_emails (
  id INTEGER PRIMARY KEY,
  recipient TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'sent', 'failed')),
  attempts INTEGER NOT NULL,
  -- When it is sent, or sent again if its sender died; NULL unless it is queued.
  next_attempt_at INTEGER,
  -- Of the mail server.
  answer TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;

CREATE INDEX notification_emails_due ON notification_emails (next_attempt_at) WHERE state = 'queued';

CREATE INDEX notification_emails_of_recipient ON notification_emails (recipient, created_at);

CREATE TABLE preferences (
  user_id INTEGER PRIMARY KEY REFERENCES users (id),
  -- JSON
  chosen TEXT NOT NULL
) STRICT;

CREATE TABLE report_views (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  owner_id INTEGER NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  -- JSON: the question, as in the address of the page.
  parameters TEXT NOT NULL,
  -- Whether the organization sees it, and whether it is on its owner's overview.
  shared INTEGER NOT NULL DEFAULT 0 CHECK (shared IN (0, 1)),
  pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX report_views_by_owner ON report_views (owner_id);

CREATE INDEX report_views_shared ON report_views (id) WHERE shared = 1;

CREATE TABLE project_repositories (
  project_id INTEGER NOT NULL REFERENCES projects (id),
  -- The value of the label, exactly.
  repository TEXT NOT NULL,
  PRIMARY KEY (project_id, repository)
) STRICT, WITHOUT ROWID;

CREATE TABLE rule_proposals (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  name TEXT NOT NULL,
  repository TEXT NOT NULL,
  -- JSON: the conditions besides the one on the repository.
  conditions TEXT NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id),
  ticket TEXT,
  state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'declined', 'withdrawn')),
  proposed_by INTEGER NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  decided_by INTEGER REFERENCES users (id),
  decided_at INTEGER,
  reason TEXT,
  rule_id INTEGER REFERENCES placement_rules (id),
  CHECK ((state = 'open') = (decided_at IS NULL)),
  CHECK ((state = 'accepted') = (rule_id IS NOT NULL))
) STRICT;

CREATE INDEX rule_proposals_by_person ON rule_proposals (proposed_by);

CREATE INDEX rule_proposals_by_project ON rule_proposals (project_id);

CREATE TABLE bill_drafts (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  -- JSON: the fields of the form. Nothing in it is checked before it is previewed or sent.
  form TEXT NOT NULL,
  -- Counts the changes, so that nobody overwrites what somebody else has changed.
  revision INTEGER NOT NULL CHECK (revision >= 1),
  created_at INTEGER NOT NULL,
  created_by INTEGER NOT NULL REFERENCES users (id),
  updated_at INTEGER NOT NULL,
  updated_by INTEGER NOT NULL REFERENCES users (id)
) STRICT;

CREATE TABLE moves (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- The same in both databases.
  move TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('from', 'to')),
  -- The other database, as messages name it: without a password.
  place TEXT NOT NULL,
  -- JSON: statements that give a target its indexes, references and triggers back, once all rows are there.
  restores TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;

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

CREATE TABLE token_calls (
  token_id INTEGER PRIMARY KEY REFERENCES tokens (id),
  -- When its share of calls is full again.
  full_at INTEGER NOT NULL
) STRICT;

CREATE TABLE owed_work (
  kind TEXT PRIMARY KEY CHECK (kind = 'valuation'),
  since INTEGER NOT NULL,
  -- Grows with each change, so that work that began before the last one is done once more.
  changes INTEGER NOT NULL CHECK (changes > 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_endpoints_by_owner ON webhook_endpoints (owner_id);

CREATE INDEX webhook_endpoints_by_owner_token ON webhook_endpoints (owner_token_id);

CREATE TABLE database_identity (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- The seed of an Ed25519 key, whose public part identifies the database.
  signing_key BLOB NOT NULL CHECK (length(signing_key) = 32)
) STRICT;

CREATE TABLE backup_timeline (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  timeline TEXT NOT NULL CHECK (length(timeline) = 8),
  -- Only in backups: when they were made.
  backed_up_at INTEGER
) STRICT;

INSERT INTO organization VALUES (1, 'Tally', 'UTC', 'USD', 'create', NULL, 0, NULL, NULL, NULL, NULL, 30, '{year}-{sequence:4}', NULL, NULL, NULL, 0, NULL, 'hold', 'monday', NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, 3, 0, '[]', 0, NULL);

INSERT INTO revision VALUES (1, 1, 49);

INSERT INTO price_updates VALUES (1, NULL, NULL, NULL, NULL, 0);

INSERT INTO billing_lease VALUES (1, 0, NULL, NULL);

INSERT INTO database_identity (id, signing_key) VALUES (1, randomblob(32));

INSERT INTO backup_timeline (id, timeline) VALUES (1, lower(hex(randomblob(4))));

CREATE TRIGGER organization_updated AFTER UPDATE ON organization BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER sign_ins_ended AFTER UPDATE OF ended_at ON sign_ins BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER prices_inserted AFTER INSERT ON prices BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER price_aliases_inserted AFTER INSERT ON price_aliases BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER price_aliases_updated AFTER UPDATE ON price_aliases BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER price_aliases_deleted AFTER DELETE ON price_aliases BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER audit_kept BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'audit rows are kept as they are'); END;

CREATE TRIGGER entry_history_kept BEFORE INSERT ON entry_history
WHEN EXISTS (SELECT 1 FROM entry_history WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;

CREATE TRIGGER placement_rules_inserted AFTER INSERT ON placement_rules
BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER placement_rules_updated AFTER UPDATE ON placement_rules
BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER placement_rule_versions_inserted AFTER INSERT ON placement_rule_versions
BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER projects_updated AFTER UPDATE OF key, name, archived_at, merged_into_id ON projects
BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER user_emails_inserted AFTER INSERT ON user_emails BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER user_emails_deleted AFTER DELETE ON user_emails BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER prices_withdrawn AFTER UPDATE OF withdrawn_at ON prices BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER bills_deleted BEFORE DELETE ON bills WHEN OLD.state <> 'preparing'
BEGIN SELECT RAISE(ABORT, 'a bill is kept as it was sent'); END;

CREATE TRIGGER entries_inserted_on_sheet BEFORE INSERT ON entries
WHEN NEW.sheet_id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM sheets WHERE id = NEW.sheet_id AND manager_id = NEW.manager_id AND (
    (NEW.status = 'draft' AND status IN ('open', 'returned'))
    OR (NEW.status = 'pending' AND status = 'submitted')
    OR (NEW.status IN ('approved', 'billed') AND status = 'approved')))
BEGIN SELECT RAISE(ABORT, 'an entry is as far as its sheet is'); END;

CREATE TRIGGER entries_moved_on_sheet BEFORE UPDATE OF status, sheet_id, manager_id ON entries
WHEN NEW.sheet_id IS NOT OLD.sheet_id OR (NEW.sheet_id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM sheets WHERE id = NEW.sheet_id AND manager_id = NEW.manager_id AND (
    (NEW.status = 'draft' AND status IN ('open', 'returned'))
    OR (NEW.status = 'pending' AND status = 'submitted')
    OR (NEW.status IN ('approved', 'billed') AND status = 'approved'))))
BEGIN SELECT RAISE(ABORT, 'an entry is as far as its sheet is'); END;

CREATE TRIGGER entries_deleted BEFORE DELETE ON entries WHEN OLD.status <> 'draft'
BEGIN SELECT RAISE(ABORT, 'only drafts may be removed'); END;

CREATE TRIGGER entries_marked_inserted AFTER INSERT ON entries
BEGIN
  INSERT INTO stale_hours SELECT NEW.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000);
END;

CREATE TRIGGER entries_marked_deleted AFTER DELETE ON entries
BEGIN
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;

CREATE TRIGGER entries_marked_updated AFTER UPDATE OF
  manager_id, source, status, harness_id, agent_id, model_id, provider_id, started_at, ended_at, input, output, cache_read,
  cache_write, cache_write_1h, reported_cost, list_value, project_id, ticket_id, placed_by, label_set_id, superseded,
  possible_duplicate_id
ON entries
BEGIN
  INSERT INTO stale_hours SELECT NEW.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000);
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE OLD.started_at <> NEW.started_at
    AND NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;

CREATE TRIGGER entries_changes_inserted AFTER INSERT ON entries WHEN NEW.source = 'sheet'
BEGIN
  REPLACE INTO entry_changes (entry_id, changed_at) VALUES (NEW.id, unixepoch());
END;

CREATE TRIGGER entries_changes_updated AFTER UPDATE ON entries
BEGIN
  REPLACE INTO entry_changes (entry_id, changed_at) VALUES (NEW.id, unixepoch());
END;

CREATE TRIGGER entries_changes_deleted AFTER DELETE ON entries
BEGIN
  INSERT INTO entry_changes (changed_at, deleted_uid, manager_id, project_id)
  VALUES (unixepoch(), OLD.uid, OLD.manager_id, OLD.project_id);
  DELETE FROM entry_changes WHERE entry_id = OLD.id;
END;

CREATE TRIGGER deputies_inserted AFTER INSERT ON deputies BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER deputies_deleted AFTER DELETE ON deputies BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER bill_payments_updated BEFORE UPDATE ON bill_payments
WHEN OLD.reversed_at IS NOT NULL OR NEW.bill_id <> OLD.bill_id OR NEW.number <> OLD.number OR NEW.amount <> OLD.amount
  OR NEW.paid_on <> OLD.paid_on OR NEW.reference IS NOT OLD.reference OR NEW.offset_id IS NOT OLD.offset_id
  OR NEW.created_at <> OLD.created_at OR NEW.created_by IS NOT OLD.created_by
BEGIN SELECT RAISE(ABORT, 'a payment is only reversed'); END;

CREATE TRIGGER bill_payments_deleted BEFORE DELETE ON bill_payments
BEGIN SELECT RAISE(ABORT, 'a payment is only reversed'); END;

CREATE TRIGGER bills_updated BEFORE UPDATE ON bills
WHEN OLD.state <> 'preparing' AND (OLD.state = 'void' OR (OLD.state = 'paid' AND NEW.state = 'void')
  OR NEW.state = 'preparing' OR NEW.number <> OLD.number OR NEW.document <> OLD.document OR NEW.total <> OLD.total
  OR (OLD.released_by_id IS NOT NULL AND (NEW.released_by_id IS NOT OLD.released_by_id OR NEW.state = 'void')))
BEGIN SELECT RAISE(ABORT, 'a bill is kept as it was sent'); END;

CREATE TRIGGER tokens_inserted AFTER INSERT ON tokens BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER tokens_updated AFTER UPDATE OF kind, hash, created_by, allow_bills, expires_at, revoked_at ON tokens
BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER tokens_deleted AFTER DELETE ON tokens BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER prices_ended AFTER UPDATE OF effective_until ON prices BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER audit_updated BEFORE UPDATE ON audit
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE ended_at IS NULL)
  OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.action <> OLD.action OR NEW.user_id IS NOT OLD.user_id
  OR NEW.token_id IS NOT OLD.token_id OR NEW.object_id IS NOT OLD.object_id OR NEW.for_id IS NOT OLD.for_id
BEGIN SELECT RAISE(ABORT, 'audit rows are kept as they are'); END;

CREATE TRIGGER audit_deleted BEFORE DELETE ON audit
WHEN (SELECT retention_audit FROM organization) IS NULL OR OLD.at > (unixepoch() - 31536000) * 1000
BEGIN SELECT RAISE(ABORT, 'audit rows are kept as they are'); END;

CREATE TRIGGER entry_history_updated BEFORE UPDATE ON entry_history
WHEN (
  NOT EXISTS (SELECT 1 FROM erasures WHERE ended_at IS NULL)
  AND (SELECT retention_texts FROM organization) IS NULL
) OR NEW.id <> OLD.id OR NEW.entry_id <> OLD.entry_id OR NEW.at <> OLD.at OR NEW.action <> OLD.action
  OR NEW.user_id IS NOT OLD.user_id OR NEW.token_id IS NOT OLD.token_id
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;

CREATE TRIGGER entry_history_deleted BEFORE DELETE ON entry_history
WHEN (SELECT status FROM entries WHERE id = OLD.entry_id) IS NOT 'draft'
  AND ((SELECT retention_history FROM organization) IS NULL OR OLD.at > (unixepoch() - 31536000) * 1000)
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;

CREATE TRIGGER users_inserted AFTER INSERT ON users BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER users_updated AFTER UPDATE OF email, name, role, disabled_at ON users
BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER users_deleted AFTER DELETE ON users BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER budgets_inserted AFTER INSERT ON budgets BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER budgets_updated AFTER UPDATE ON budgets BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER budgets_deleted AFTER DELETE ON budgets BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER budget_periods_inserted AFTER INSERT ON budget_periods BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER budget_periods_deleted AFTER DELETE ON budget_periods BEGIN UPDATE revision SET value = value + 1; END;

CREATE TRIGGER projects_budgeted AFTER UPDATE OF client_id, markup_ppm, billable ON projects
WHEN OLD.client_id IS NOT NEW.client_id OR OLD.markup_ppm IS NOT NEW.markup_ppm OR OLD.billable <> NEW.billable
BEGIN
  UPDATE budget_periods SET counted_at = NULL, counts = counts + 1 WHERE budget_id IN
    (SELECT id FROM budgets WHERE measure = 'billed_amount' OR client_id IN (OLD.client_id, NEW.client_id));
  UPDATE revision SET value = value + 1;
END;

CREATE TRIGGER clients_budgeted AFTER UPDATE OF markup_ppm ON clients WHEN OLD.markup_ppm IS NOT NEW.markup_ppm
BEGIN
  UPDATE budget_periods SET counted_at = NULL, counts = counts + 1 WHERE budget_id IN (SELECT id FROM budgets WHERE measure = 'billed_amount');
  UPDATE revision SET value = value + 1;
END;

CREATE TRIGGER organization_budgeted AFTER UPDATE OF markup_ppm ON organization WHEN OLD.markup_ppm IS NOT NEW.markup_ppm
BEGIN
  UPDATE budget_periods SET counted_at = NULL, counts = counts + 1 WHERE budget_id IN (SELECT id FROM budgets WHERE measure = 'billed_amount');
END;

CREATE TRIGGER projects_budget_inserted AFTER INSERT ON projects WHEN NEW.budget IS NOT NULL
BEGIN
  INSERT INTO budgets
    (uid, name, project_id, measure, amount, period, roll_over, thresholds, of_project, version, created_at)
  VALUES (randomblob(16), NEW.name, NEW.id, 'cost', NEW.budget, 'once', 0,
    '[{"percent":50,"leads":true,"billing":true},{"percent":80,"leads":true,"billing":true},{"percent":100,"leads":true,"billing":true}]',
    1, 1, NEW.created_at);
  INSERT INTO budget_periods
    (budget_id, first_day, starts_at, ends_at, billions, units, millionths, entries, unpriced_entries, available, alerted, counts)
  SELECT id, '0001-01-01', -62135596800000, 253402300800000, 0, 0, 0, 0, 0, amount, 0, 0
  FROM budgets WHERE project_id = NEW.id AND of_project = 1;
END;

CREATE TRIGGER budgets_of_projects_replaced BEFORE INSERT ON budgets WHEN NEW.of_project = 1
BEGIN
  DELETE FROM budgets WHERE project_id = NEW.project_id AND of_project = 1;
END;

CREATE TRIGGER budgets_of_projects_inserted AFTER INSERT ON budgets WHEN NEW.of_project = 1
BEGIN
  UPDATE projects SET budget = NEW.amount WHERE id = NEW.project_id AND budget IS NOT NEW.amount;
END;

CREATE TRIGGER budgets_of_projects_updated AFTER UPDATE OF amount ON budgets WHEN NEW.of_project = 1 AND OLD.amount <> NEW.amount
BEGIN
  UPDATE projects SET budget = NEW.amount WHERE id = NEW.project_id AND budget IS NOT NEW.amount;
END;

CREATE TRIGGER budgets_of_projects_deleted AFTER DELETE ON budgets WHEN OLD.of_project = 1
BEGIN
  UPDATE projects SET budget = NULL WHERE id = OLD.project_id AND budget IS NOT NULL;
END;

CREATE TRIGGER projects_budget_updated AFTER UPDATE OF budget ON projects WHEN OLD.budget IS NOT NEW.budget
BEGIN
  UPDATE budget_periods SET available = NEW.budget, alerted = 0, counted_at = NULL, counts = counts + 1 WHERE budget_id IN
    (SELECT id FROM budgets WHERE project_id = NEW.id AND of_project = 1 AND archived_at IS NULL AND amount <> NEW.budget);
  UPDATE budgets SET amount = NEW.budget, version = version + 1
  WHERE project_id = NEW.id AND of_project = 1 AND archived_at IS NULL AND NEW.budget IS NOT NULL AND amount <> NEW.budget;
  DELETE FROM budgets WHERE project_id = NEW.id AND of_project = 1 AND NEW.budget IS NULL;
  INSERT INTO budgets
    (uid, name, project_id, measure, amount, period, roll_over, thresholds, of_project, version, created_at)
  SELECT randomblob(16), NEW.name, NEW.id, 'cost', NEW.budget, 'once', 0,
    '[{"percent":50,"leads":true,"billing":true},{"percent":80,"leads":true,"billing":true},{"percent":100,"leads":true,"billing":true}]',
    1, 1, unixepoch() * 1000
  WHERE NEW.budget IS NOT NULL AND NOT EXISTS (SELECT 1 FROM budgets WHERE project_id = NEW.id AND of_project = 1);
  INSERT INTO budget_periods
    (budget_id, first_day, starts_at, ends_at, billions, units, millionths, entries, unpriced_entries, available, alerted, counts)
  SELECT id, '0001-01-01', -62135596800000, 253402300800000, 0, 0, 0, 0, 0, amount, 0, 0
  FROM budgets WHERE project_id = NEW.id AND of_project = 1
    AND NOT EXISTS (SELECT 1 FROM budget_periods WHERE budget_id = budgets.id);
END;

CREATE TRIGGER project_repositories_inserted AFTER INSERT ON project_repositories
BEGIN
  UPDATE revision SET value = value + 1;
END;

CREATE TRIGGER project_repositories_deleted AFTER DELETE ON project_repositories
BEGIN
  UPDATE revision SET value = value + 1;
END;

CREATE TRIGGER prices_owe_valuation AFTER INSERT ON prices BEGIN
  INSERT INTO owed_work (kind, since, changes) VALUES ('valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1)
  ON CONFLICT (kind) DO UPDATE SET changes = changes + 1;
END;

CREATE TRIGGER prices_changed_owe_valuation AFTER UPDATE OF withdrawn_at, effective_until ON prices BEGIN
  INSERT INTO owed_work (kind, since, changes) VALUES ('valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1)
  ON CONFLICT (kind) DO UPDATE SET changes = changes + 1;
END;

CREATE TRIGGER price_aliases_owe_valuation AFTER INSERT ON price_aliases BEGIN
  INSERT INTO owed_work (kind, since, changes) VALUES ('valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1)
  ON CONFLICT (kind) DO UPDATE SET changes = changes + 1;
END;

CREATE TRIGGER price_aliases_changed_owe_valuation AFTER UPDATE ON price_aliases BEGIN
  INSERT INTO owed_work (kind, since, changes) VALUES ('valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1)
  ON CONFLICT (kind) DO UPDATE SET changes = changes + 1;
END;

CREATE TRIGGER price_aliases_removed_owe_valuation AFTER DELETE ON price_aliases BEGIN
  INSERT INTO owed_work (kind, since, changes) VALUES ('valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1)
  ON CONFLICT (kind) DO UPDATE SET changes = changes + 1;
END;

CREATE TRIGGER projects_budgeted_inserted AFTER INSERT ON projects
WHEN (NEW.client_id IS NOT NULL OR NEW.markup_ppm IS NOT NULL OR NEW.billable = 0)
  AND EXISTS (SELECT 1 FROM budgets WHERE archived_at IS NULL)
BEGIN UPDATE revision SET value = value + 1; END;
