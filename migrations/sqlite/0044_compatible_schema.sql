-- The oldest schema version whose programs can use this database. The migrator sets it: see docs/design/storage.md,
-- "Migrations, backups, upgrades".
ALTER TABLE revision ADD COLUMN oldest_schema INTEGER NOT NULL DEFAULT 0;
