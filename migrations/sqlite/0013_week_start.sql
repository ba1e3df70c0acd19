-- The first day of the weeks in reports. Monday, as in ISO 8601 and all earlier versions.

ALTER TABLE organization ADD COLUMN week_start TEXT NOT NULL DEFAULT 'monday'
CHECK (week_start IN ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'));
