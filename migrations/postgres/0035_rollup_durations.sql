-- Sums contain the durations of sessions: all periods are built again.
DELETE FROM rollup_columns;
DELETE FROM rollup_periods;
DELETE FROM rollup_zones;
