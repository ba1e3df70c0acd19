-- The same as ../sqlite/0061_period_moments.sql.
ALTER TABLE plan_periods ADD COLUMN starting_at bigint NOT NULL DEFAULT 0;
ALTER TABLE plan_periods ADD COLUMN ending_at bigint NOT NULL DEFAULT 0;
UPDATE plan_periods SET changes = changes + 1;
