-- The other entries that an entry was divided into. They have no session: the divided entry stays a part of it.
ALTER TABLE entries ADD COLUMN divided_from_id bigint REFERENCES entries (id);
CREATE INDEX entries_by_division ON entries (divided_from_id) WHERE divided_from_id IS NOT NULL;
