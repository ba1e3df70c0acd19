-- Links with which somebody without an account sees one report or bill. Off until an admin turns them on.
ALTER TABLE organization ADD COLUMN share_links INTEGER NOT NULL DEFAULT 0 CHECK (share_links IN (0, 1));

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
