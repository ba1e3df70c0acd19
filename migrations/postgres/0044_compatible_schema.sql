-- The same as ../sqlite/0044_compatible_schema.sql.
ALTER TABLE revision ADD COLUMN oldest_schema bigint NOT NULL DEFAULT 0;
