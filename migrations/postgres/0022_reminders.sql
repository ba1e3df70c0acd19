-- Reminders of overdue bills by e-mail.

-- Days after a bill was due, and between its reminders; NULL for no reminders.
ALTER TABLE organization ADD COLUMN reminder_days bigint CHECK (reminder_days BETWEEN 1 AND 90);
-- Whether this client gets any.
ALTER TABLE clients ADD COLUMN reminders boolean NOT NULL DEFAULT true;
-- The day of the last one.
ALTER TABLE bills ADD COLUMN reminded_on text COLLATE "C" CHECK (length(reminded_on) = 10);

ALTER TABLE bill_deliveries DROP CONSTRAINT bill_deliveries_notice_check;
ALTER TABLE bill_deliveries ADD CONSTRAINT bill_deliveries_notice_check CHECK (notice IN ('sent', 'void', 'reminder'));
