-- The same as ../sqlite/0015_rollup_columns.sql.
CREATE TABLE rollup_columns (
  period_id bigint NOT NULL,
  grain bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  data bytea NOT NULL,
  UNIQUE (period_id, grain, name)
);
-- Packed arrays hardly compress, and must be read fast.
ALTER TABLE rollup_columns ALTER COLUMN data SET STORAGE EXTERNAL;

-- All periods are built again.
DROP TABLE rollup_sums;
DELETE FROM rollup_periods;
DELETE FROM rollup_zones;

-- Columns have more attributes than sums had.
CREATE OR REPLACE FUNCTION mark_updated_hours() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stale_hours
  SELECT DISTINCT hours.hour
  FROM removed
  JOIN added ON added.id = removed.id
  CROSS JOIN LATERAL (VALUES (removed.started_at / 3600000), (added.started_at / 3600000)) AS hours (hour)
  WHERE (
    removed.manager_id, removed.source, removed.status, removed.harness_id, removed.agent_id, removed.model_id,
    removed.provider_id, removed.started_at, removed.ended_at, removed.input, removed.output, removed.cache_read,
    removed.cache_write, removed.cache_write_1h, removed.reported_cost, removed.list_value, removed.project_id,
    removed.ticket_id, removed.placed_by, removed.label_set_id, removed.superseded, removed.possible_duplicate_id
  ) IS DISTINCT FROM (
    added.manager_id, added.source, added.status, added.harness_id, added.agent_id, added.model_id,
    added.provider_id, added.started_at, added.ended_at, added.input, added.output, added.cache_read,
    added.cache_write, added.cache_write_1h, added.reported_cost, added.list_value, added.project_id,
    added.ticket_id, added.placed_by, added.label_set_id, added.superseded, added.possible_duplicate_id
  );
  RETURN NULL;
END
$$;
