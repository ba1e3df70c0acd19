-- The entries of a large bill are claimed, and those of a voided one released, in several short transactions.

-- The table is rebuilt, because SQLite cannot change a check: a bill is being prepared until it is sent. Until then its
-- public id is in the place of its number, and its document is empty.
CREATE TABLE new_bills (
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
  void_reason TEXT CHECK ((void_reason IS NOT NULL) = (state = 'void')),
  CHECK (client_id IS NULL OR project_id IS NULL)
) STRICT;
INSERT INTO new_bills SELECT * FROM bills;
-- Dropped first: they would refuse to let go of the rows.
DROP TRIGGER bills_updated;
DROP TRIGGER bills_deleted;
DROP TABLE bills;
ALTER TABLE new_bills RENAME TO bills;
CREATE INDEX bills_by_client ON bills (client_id);
CREATE INDEX bills_by_project ON bills (project_id);

-- A sent bill is never edited: only its state moves, from sent to paid or void. One that is being prepared has not been
-- sent to anybody.
CREATE TRIGGER bills_updated BEFORE UPDATE ON bills
WHEN OLD.state <> 'preparing' AND (OLD.state <> 'sent' OR NEW.state = 'preparing' OR NEW.number <> OLD.number
  OR NEW.document <> OLD.document OR NEW.total <> OLD.total)
BEGIN SELECT RAISE(ABORT, 'a bill is kept as it was sent'); END;
CREATE TRIGGER bills_deleted BEFORE DELETE ON bills WHEN OLD.state <> 'preparing'
BEGIN SELECT RAISE(ABORT, 'a bill is kept as it was sent'); END;

-- The bill whose entries are being claimed or released, at most one at a time, and until when the process that does it
-- may rely on being the only one. The version grows when a process takes or returns the lease.
CREATE TABLE billing_lease (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL,
  bill_id INTEGER REFERENCES bills (id),
  expires_at INTEGER CHECK ((expires_at IS NULL) = (bill_id IS NULL))
) STRICT;
INSERT INTO billing_lease VALUES (1, 0, NULL, NULL);
