-- E-mails to people: which they want, and those that wait or were sent.

-- NULL until somebody chooses.
ALTER TABLE users ADD COLUMN notifications TEXT;

-- Something that somebody is told by e-mail. All that waits for a recipient is in one e-mail.
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

-- Alerts with an e-mail that was not sent yet are sent as notifications.
UPDATE budget_alerts SET notified_at = NULL WHERE id IN (SELECT alert_id FROM budget_mails WHERE state = 'queued');
DROP TABLE budget_mails;
