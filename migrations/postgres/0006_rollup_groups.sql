-- See the file of the same name for SQLite, which says what these are.
DROP TABLE rollup_sums;
DELETE FROM rollup_periods;
DELETE FROM rollup_zones;

CREATE TABLE rollup_sums (
  period_id bigint NOT NULL,
  grain bigint NOT NULL CHECK (grain BETWEEN 0 AND 7),
  number bigint NOT NULL,
  manager_id bigint,
  harness_id bigint,
  agent_id bigint,
  model_id bigint,
  provider_id bigint,
  project_id bigint,
  status text COLLATE "C" NOT NULL,
  source text COLLATE "C",
  straddles_to bigint,
  entries bigint NOT NULL,
  unpriced_entries bigint NOT NULL,
  input bigint NOT NULL,
  output bigint NOT NULL,
  cache_read bigint NOT NULL,
  cache_write bigint NOT NULL,
  cache_write_1h bigint NOT NULL,
  cost bigint,
  list_value bigint,
  reported_cost bigint,
  compared_entries bigint NOT NULL,
  compared_reported_cost bigint,
  compared_list_value bigint,
  PRIMARY KEY (period_id, grain, number)
);

DROP INDEX entries_unattributed;
CREATE INDEX entries_unattributed ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, placed_by
) WHERE placed_by IS NULL;
CREATE INDEX entries_possible_duplicates ON entries (
  started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, possible_duplicate_id
) WHERE possible_duplicate_id IS NOT NULL;
