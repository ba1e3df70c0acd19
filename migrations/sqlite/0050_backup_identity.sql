-- Whose backup a file is: each one contains these rows, and the key signs what is stored outside. Nothing else reads it.
CREATE TABLE database_identity (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- The seed of an Ed25519 key, whose public part identifies the database.
  signing_key BLOB NOT NULL CHECK (length(signing_key) = 32)
) STRICT;
INSERT INTO database_identity (id, signing_key) VALUES (1, randomblob(32));

-- A restored database begins another timeline, so that its backups and those of the original are never mixed.
CREATE TABLE backup_timeline (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  timeline TEXT NOT NULL CHECK (length(timeline) = 8),
  -- Only in backups: when they were made.
  backed_up_at INTEGER
) STRICT;
INSERT INTO backup_timeline (id, timeline) VALUES (1, lower(hex(randomblob(4))));
