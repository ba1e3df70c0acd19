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
