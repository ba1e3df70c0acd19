-- The same as ../sqlite/0062_charged_cost.sql.

ALTER TABLE plan_periods ADD COLUMN charges_cost boolean NOT NULL DEFAULT false;
ALTER TABLE plan_periods ADD COLUMN shares bigint NOT NULL DEFAULT 0;
ALTER TABLE plan_periods ADD COLUMN entries_cost bigint NOT NULL DEFAULT 0;
ALTER TABLE plan_periods ADD COLUMN entries_charge bigint NOT NULL DEFAULT 0;
UPDATE plan_periods SET changes = changes + 1;
