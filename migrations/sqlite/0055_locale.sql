-- How dates and numbers are written, as a BCP 47 tag; null for ISO 8601 days and English numbers, as in all earlier versions.
ALTER TABLE organization ADD COLUMN locale TEXT;
