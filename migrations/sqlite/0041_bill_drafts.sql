-- Bills that somebody has begun and not sent: what is typed into the form, for everybody who sends bills.
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
