-- The event log (docs/design/api.md, "Events"): what happened, for programs that follow it. Written with every reported
-- entry, so rows are narrow, without references that would be checked and without indexes that no query needs.
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

-- Earlier events with the key of a removed entry are not of the entry that has it now.
CREATE INDEX events_of_removed ON events (entry_id) WHERE type = 'entry.removed';

-- What is reported once, such as that a token is about to expire: its key, so that no job reports it again.
CREATE TABLE event_occurrences (
  key TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Months after which events are removed; NULL to keep them.
ALTER TABLE organization ADD COLUMN retention_events INTEGER DEFAULT 3 CHECK (retention_events >= 1);
-- The last event that retention has removed: whoever has not read it has missed some.
ALTER TABLE organization ADD COLUMN events_removed_to INTEGER NOT NULL DEFAULT 0;
