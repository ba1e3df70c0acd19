-- The time zone of a session's days, from when it is first divided into them.
ALTER TABLE sessions ADD COLUMN zone text COLLATE "C";

-- The slice of a session that an entry is a part of: days since 1970, and a digest of what the report names there.
ALTER TABLE entries ADD COLUMN slice_day bigint;
ALTER TABLE entries ADD COLUMN slice_place bigint;
-- Whether the figures are not those of the source that names the place.
ALTER TABLE entries ADD COLUMN estimated boolean NOT NULL DEFAULT false;
-- Milliseconds that the agent has worked; null if unknown.
ALTER TABLE entries ADD COLUMN active_ms bigint;
