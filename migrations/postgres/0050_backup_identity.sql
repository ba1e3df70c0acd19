-- The same as ../sqlite/0050_backup_identity.sql, for databases that are moved there and back.
CREATE TABLE database_identity (
  id bigint PRIMARY KEY CHECK (id = 1),
  signing_key bytea NOT NULL CHECK (length(signing_key) = 32)
);
-- Two random UUIDs have 244 bits of the system's randomness.
INSERT INTO database_identity (id, signing_key)
VALUES (1, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

CREATE TABLE backup_timeline (
  id bigint PRIMARY KEY CHECK (id = 1),
  timeline text COLLATE "C" NOT NULL CHECK (length(timeline) = 8),
  backed_up_at bigint
);
INSERT INTO backup_timeline (id, timeline) VALUES (1, left(gen_random_uuid()::text, 8));
