-- Whether a plan charges for the cost of entries beyond an allowance in dollars, so that the charge of one without a cost is unknown.
ALTER TABLE plan_periods ADD COLUMN charges_cost INTEGER NOT NULL DEFAULT 0 CHECK (charges_cost IN (0, 1));
-- Of its entries without corrections: their shares of the fee; and as far as their cost is known, what they cost with these, and what
-- of it is charged beside the fee.
ALTER TABLE plan_periods ADD COLUMN shares INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plan_periods ADD COLUMN entries_cost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plan_periods ADD COLUMN entries_charge INTEGER NOT NULL DEFAULT 0;
-- The next calculation fills them in.
UPDATE plan_periods SET changes = changes + 1;
