-- More groups for the roll-up, and what was both reported and valued. Its sums are made again from the entries, so that
-- nothing of the former ones is taken over; until then reports read entries.
DROP TABLE rollup_sums;
DELETE FROM rollup_periods;
DELETE FROM rollup_zones;

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

-- What every look at a period counts one by one. With what it asks of them in the index, a year of entries is counted
-- without looking at any.
DROP INDEX entries_unattributed;
CREATE INDEX entries_unattributed ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, placed_by
) WHERE placed_by IS NULL;
CREATE INDEX entries_possible_duplicates ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, possible_duplicate_id
) WHERE possible_duplicate_id IS NOT NULL;
