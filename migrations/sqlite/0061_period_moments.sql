-- The moments of a period, in the time zone of the organization, so that the entries of a closed period can be found. They are
-- of its last calculation.
ALTER TABLE plan_periods ADD COLUMN starting_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plan_periods ADD COLUMN ending_at INTEGER NOT NULL DEFAULT 0;
UPDATE plan_periods SET changes = changes + 1;
