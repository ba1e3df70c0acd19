-- What each agent on the machines of a person records, and what Tally could not read of it, as its machine reported last.
CREATE TABLE agent_statuses (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  -- A random id, which says nothing about the machine.
  machine TEXT NOT NULL,
  harness TEXT NOT NULL,
  version TEXT,
  tally_version TEXT NOT NULL,
  sessions INTEGER NOT NULL CHECK (sessions >= 0),
  -- By reason and name, as JSON.
  not_read TEXT NOT NULL,
  reads_all INTEGER NOT NULL CHECK (reads_all IN (0, 1)),
  reported_at INTEGER NOT NULL,
  UNIQUE (user_id, machine, harness)
) STRICT;
