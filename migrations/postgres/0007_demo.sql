-- When `tally demo` had filled the database: whatever is younger was not made by it. NULL where nothing is made up.
ALTER TABLE organization ADD COLUMN demo_at bigint;
