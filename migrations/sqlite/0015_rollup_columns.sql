-- The rows of each grain of a period, stored by column: each column is one packed array
-- (src/features/entries/rollup/column.ts). Scanning arrays is many times faster than reading rows, and takes a fraction of the
-- space. The columns of a small segment are one row, named '*'. With a rowid, since large rows make a deep tree of keys.
CREATE TABLE rollup_columns (
  period_id INTEGER NOT NULL,
  grain INTEGER NOT NULL,
  name TEXT NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (period_id, grain, name)
) STRICT;

-- All periods are built again.
DROP TABLE rollup_sums;
DELETE FROM rollup_periods;
DELETE FROM rollup_zones;

-- Columns have more attributes than sums had.
DROP TRIGGER entries_marked_updated;
CREATE TRIGGER entries_marked_updated AFTER UPDATE OF
  manager_id, source, status, harness_id, agent_id, model_id, provider_id, started_at, ended_at, input, output, cache_read,
  cache_write, cache_write_1h, reported_cost, list_value, project_id, ticket_id, placed_by, label_set_id, superseded,
  possible_duplicate_id
ON entries
BEGIN
  INSERT INTO stale_hours SELECT NEW.started_at / 3600000
  WHERE NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = NEW.started_at / 3600000);
  INSERT INTO stale_hours SELECT OLD.started_at / 3600000
  WHERE OLD.started_at <> NEW.started_at
    AND NOT EXISTS (SELECT 1 FROM stale_hours WHERE hour = OLD.started_at / 3600000);
END;
