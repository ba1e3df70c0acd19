-- Which columns a period of the roll-up has: those of servers of earlier versions have no active time.
ALTER TABLE rollup_periods ADD COLUMN format INTEGER NOT NULL DEFAULT 0;

-- The same as before, for active time, too.
DROP TRIGGER entries_marked_updated;
CREATE TRIGGER entries_marked_updated AFTER UPDATE OF
  manager_id, source, status, harness_id, agent_id, model_id, provider_id, started_at, ended_at, input, output, cache_read,
  cache_write, cache_write_1h, reported_cost, list_value, project_id, ticket_id, placed_by, label_set_id, superseded,
  possible_duplicate_id, active_ms
ON entries
BEGIN
  INSERT INTO stale_hours SELECT NEW.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000);
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE OLD.started_at <> NEW.started_at
    AND NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;
