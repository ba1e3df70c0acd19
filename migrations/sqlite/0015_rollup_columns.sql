-- The rows of each grain of a period, stored by column: each column is one packed array
-- (src/features/rollup/column.ts). Scanning arrays is many times faster than reading rows, and takes a fraction of the
-- space.
CREATE TABLE rollup_columns (
  period_id INTEGER NOT NULL,
  grain INTEGER NOT NULL,
  name TEXT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (period_id, grain, name)
) STRICT, WITHOUT ROWID;
