-- Saved views of reports: a question under a name. Whoever opens one sees the figures that they may see themselves.
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
