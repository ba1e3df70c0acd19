-- The same as ../sqlite/0061_charged_cost.sql.

ALTER TABLE plan_periods ADD COLUMN charges_cost boolean NOT NULL DEFAULT false;
UPDATE plan_periods SET changes = changes + 1
WHERE plan_id IN (SELECT plan_id FROM plan_versions WHERE allowance_unit = 'usd' AND overage_price IS NOT NULL);
