-- Bills: what was sent, which entries are on it, its documents and their delivery.
-- Amounts are integers of the currency's minor unit, costs and list values nano-dollars, percentages parts per million.

ALTER TABLE organization ADD COLUMN email TEXT;
ALTER TABLE organization ADD COLUMN address TEXT;
ALTER TABLE organization ADD COLUMN tax_id TEXT;
ALTER TABLE organization ADD COLUMN markup_ppm INTEGER CHECK (markup_ppm BETWEEN -1000000 AND 100000000);
ALTER TABLE organization ADD COLUMN due_days INTEGER NOT NULL DEFAULT 30 CHECK (due_days BETWEEN 0 AND 365);
ALTER TABLE organization ADD COLUMN bill_number_format TEXT NOT NULL DEFAULT '{year}-{sequence:4}';
-- Below every bill: how to pay.
ALTER TABLE organization ADD COLUMN bill_footer TEXT;
ALTER TABLE organization ADD COLUMN logo BLOB;
ALTER TABLE organization ADD COLUMN logo_type TEXT CHECK ((logo IS NULL) = (logo_type IS NULL));

-- Only its identity was kept so far, and none could be made.
DROP TABLE bills;
CREATE TABLE bills (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  number TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('bill', 'credit_note')),
  state TEXT NOT NULL CHECK (state IN ('sent', 'paid', 'void')),
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
  void_reason TEXT CHECK ((void_reason IS NOT NULL) = (state = 'void')),
  CHECK (client_id IS NULL OR project_id IS NULL)
) STRICT;
CREATE INDEX bills_by_client ON bills (client_id);
CREATE INDEX bills_by_project ON bills (project_id);

-- A sent bill is never edited: only its state moves, from sent to paid or void.
CREATE TRIGGER bills_updated BEFORE UPDATE ON bills
WHEN OLD.state <> 'sent' OR NEW.number <> OLD.number OR NEW.document <> OLD.document OR NEW.total <> OLD.total
BEGIN SELECT RAISE(ABORT, 'a bill is kept as it was sent'); END;
CREATE TRIGGER bills_deleted BEFORE DELETE ON bills BEGIN SELECT RAISE(ABORT, 'a bill is kept as it was sent'); END;

-- Which entries were put on which line, and what they were before. Stays when the bill is void.
CREATE TABLE bill_entries (
  bill_id INTEGER NOT NULL REFERENCES bills (id),
  entry_id INTEGER NOT NULL REFERENCES entries (id),
  line INTEGER NOT NULL CHECK (line >= 1),
  status_before TEXT NOT NULL CHECK (status_before IN ('submitted', 'approved')),
  PRIMARY KEY (bill_id, entry_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bill_entries_by_entry ON bill_entries (entry_id);

-- Documents as they were first made, so that a later version of Tally gives out the same bytes.
CREATE TABLE bill_documents (
  bill_id INTEGER NOT NULL REFERENCES bills (id),
  format TEXT NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (bill_id, format)
) STRICT, WITHOUT ROWID;

-- The last number given out, by year, by month or, with an empty scope, for good.
CREATE TABLE bill_sequences (
  scope TEXT PRIMARY KEY,
  last INTEGER NOT NULL CHECK (last >= 0)
) STRICT, WITHOUT ROWID;

-- What a sending was asked with, under its Idempotency-Key.
CREATE TABLE bill_keys (
  user_id INTEGER NOT NULL REFERENCES users (id),
  key TEXT NOT NULL,
  body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
  bill_id INTEGER NOT NULL REFERENCES bills (id),
  PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;

-- The outbox: what is to be sent by e-mail, and what became of it.
CREATE TABLE bill_deliveries (
  id INTEGER PRIMARY KEY,
  bill_id INTEGER NOT NULL REFERENCES bills (id),
  notice TEXT NOT NULL CHECK (notice IN ('sent', 'void')),
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
