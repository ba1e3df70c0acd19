-- The address at which people and agents reach the server; null if only the option of a server says it, or nothing does.
ALTER TABLE organization ADD COLUMN public_url TEXT;
