-- The rows of each grain of a period, stored by column: each column is one packed array
-- (src/features/rollup/column.ts). Scanning arrays is many times faster than reading rows, and takes a fraction of the
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
