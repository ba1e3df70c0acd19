-- The roll-up: sums of entries by local day and month, so that a report need not look at every entry. Triggers only
-- mark the hour of whatever changed, in the transaction that changes it; the server's background job makes the sums
-- again. A report takes periods without a mark from here and the others from the entries.

-- Hours since 1970 in which an entry came, changed or went since the job last looked. Hours of UTC, because triggers
-- know no time zones.
CREATE TABLE stale_hours (
  hour INTEGER NOT NULL
) STRICT;
CREATE INDEX stale_hours_by_hour ON stale_hours (hour);

-- Zones whose days are kept. Where ready, a day without a row below has no entries.
CREATE TABLE rollup_zones (
  zone TEXT PRIMARY KEY,
  ready INTEGER NOT NULL CHECK (ready IN (0, 1))
) STRICT, WITHOUT ROWID;

-- Local days and months, the end exclusive. A period is made anew as another row, which replaces this one when it is
-- whole. stale: a day to be made again. building: rows are being added. clean: its sums hold, unless an hour of it is
-- marked. old: replaced, its sums wait to be deleted.
CREATE TABLE rollup_periods (
  id INTEGER PRIMARY KEY,
  zone TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('day', 'month')),
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL CHECK (ends_at > starts_at),
  state TEXT NOT NULL CHECK (state IN ('stale', 'building', 'clean', 'old')),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX rollup_periods_by_state ON rollup_periods (state, level, starts_at);

-- Each period is summed several times, in groups that leave columns out, as few rows answer most questions. The groups:
-- 0 of agents (harness, agent, provider, model, source), 1 of projects, 2 of teams (project, harness, agent), 3 of staff
-- (manager, model), 4 of work (project, provider, model), 5 of placement (project, manager), 6 of persons' work (project,
-- manager, harness, model), each by status as well; what a group leaves out is NULL. 7 has the sessions that go on behind
-- the period's end, by everything, once more.
-- Columns that entries have as well bear the same names, so that one condition serves both.
CREATE TABLE rollup_sums (
  period_id INTEGER NOT NULL,
  grain INTEGER NOT NULL CHECK (grain BETWEEN 0 AND 7),
  number INTEGER NOT NULL,
  manager_id INTEGER,
  harness_id INTEGER,
  agent_id INTEGER,
  model_id INTEGER,
  provider_id INTEGER,
  project_id INTEGER,
  status TEXT NOT NULL,
  source TEXT,
  -- When sessions of grain 7 ended.
  straddles_to INTEGER,
  entries INTEGER NOT NULL,
  unpriced_entries INTEGER NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,
  -- NULL where no entry has the figure.
  cost INTEGER,
  list_value INTEGER,
  reported_cost INTEGER,
  -- Entries that have both figures, and the sums of theirs.
  compared_entries INTEGER NOT NULL,
  compared_reported_cost INTEGER,
  compared_list_value INTEGER,
  PRIMARY KEY (period_id, grain, number)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER entries_marked_inserted AFTER INSERT ON entries
BEGIN
  INSERT INTO stale_hours SELECT NEW.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000);
END;
CREATE TRIGGER entries_marked_updated AFTER UPDATE OF
  manager_id, source, status, harness_id, agent_id, model_id, provider_id, started_at, ended_at, input, output, cache_read,
  cache_write, cache_write_1h, reported_cost, list_value, project_id, superseded
ON entries
BEGIN
  INSERT INTO stale_hours SELECT NEW.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000);
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE OLD.started_at <> NEW.started_at
    AND NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;
CREATE TRIGGER entries_marked_deleted AFTER DELETE ON entries
BEGIN
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;
