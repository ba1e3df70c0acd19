-- Reports are written in sets: the hours of a set are marked once, not once a row.

DROP TRIGGER entries_marked_inserted ON entries;
DROP TRIGGER entries_marked_updated ON entries;
DROP TRIGGER entries_marked_deleted ON entries;
DROP FUNCTION mark_stale_hours();

CREATE FUNCTION mark_inserted_hours() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stale_hours SELECT DISTINCT started_at / 3600000 FROM added;
  RETURN NULL;
END
$$;

-- A trigger with transition tables cannot be limited to columns. So it compares what reports sum up.
CREATE FUNCTION mark_updated_hours() RETURNS trigger LANGUAGE plpgsql AS $$
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
    removed.superseded
  ) IS DISTINCT FROM (
    added.manager_id, added.source, added.status, added.harness_id, added.agent_id, added.model_id,
    added.provider_id, added.started_at, added.ended_at, added.input, added.output, added.cache_read,
    added.cache_write, added.cache_write_1h, added.reported_cost, added.list_value, added.project_id,
    added.superseded
  );
  RETURN NULL;
END
$$;

CREATE FUNCTION mark_deleted_hours() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stale_hours SELECT DISTINCT started_at / 3600000 FROM removed;
  RETURN NULL;
END
$$;

CREATE TRIGGER entries_marked_inserted AFTER INSERT ON entries
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION mark_inserted_hours();
CREATE TRIGGER entries_marked_updated AFTER UPDATE ON entries
REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION mark_updated_hours();
CREATE TRIGGER entries_marked_deleted AFTER DELETE ON entries
REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION mark_deleted_hours();

-- Sessions are begun under advisory locks.
DROP TABLE session_turns;
