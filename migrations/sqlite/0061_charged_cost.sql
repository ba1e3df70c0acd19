-- Whether a plan charges for the cost of entries beyond an allowance in dollars, so that the charge of one without a cost is unknown.
ALTER TABLE plan_periods ADD COLUMN charges_cost INTEGER NOT NULL DEFAULT 0 CHECK (charges_cost IN (0, 1));
-- The next calculation fills it in.
UPDATE plan_periods SET changes = changes + 1
WHERE plan_id IN (SELECT plan_id FROM plan_versions WHERE allowance_unit = 'usd' AND overage_price IS NOT NULL);
