-- Reminders of overdue bills by e-mail.

-- Days after a bill was due, and between its reminders; NULL for no reminders.
ALTER TABLE organization ADD COLUMN reminder_days INTEGER CHECK (reminder_days BETWEEN 1 AND 90);
-- Whether this client gets any.
ALTER TABLE clients ADD COLUMN reminders INTEGER NOT NULL DEFAULT 1 CHECK (reminders IN (0, 1));
-- The day of the last one.
ALTER TABLE bills ADD COLUMN reminded_on TEXT CHECK (length(reminded_on) = 10);

-- The table is rebuilt, because SQLite cannot change a check: there is a further notice.
CREATE TABLE new_bill_deliveries (
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
INSERT INTO new_bill_deliveries SELECT * FROM bill_deliveries;
DROP TABLE bill_deliveries;
ALTER TABLE new_bill_deliveries RENAME TO bill_deliveries;
CREATE INDEX bill_deliveries_by_bill ON bill_deliveries (bill_id);
CREATE INDEX bill_deliveries_due ON bill_deliveries (next_attempt_at) WHERE state = 'queued';
