-- The same as ../sqlite/0052_active_time_of_reports.sql.
ALTER TABLE rollup_periods ADD COLUMN format bigint NOT NULL DEFAULT 0;

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
    removed.ticket_id, removed.placed_by, removed.label_set_id, removed.superseded, removed.possible_duplicate_id,
    removed.active_ms
  ) IS DISTINCT FROM (
    added.manager_id, added.source, added.status, added.harness_id, added.agent_id, added.model_id,
    added.provider_id, added.started_at, added.ended_at, added.input, added.output, added.cache_read,
    added.cache_write, added.cache_write_1h, added.reported_cost, added.list_value, added.project_id,
    added.ticket_id, added.placed_by, added.label_set_id, added.superseded, added.possible_duplicate_id,
    added.active_ms
  );
  RETURN NULL;
END
$$;
