-- Every load of a price table is recorded, can be undone while no entry was valued by it, and dates its prices.

CREATE TABLE price_loads (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL UNIQUE CHECK (length(uid) = 16),
  -- 'default' for the embedded table.
  format TEXT NOT NULL,
  -- The file or the address without its query; the version of the embedded table.
  name TEXT,
  -- SHA-256 of the file, in hexadecimal digits; NULL for the embedded table.
  digest TEXT,
  as_of INTEGER NOT NULL,
  -- JSON: how many rows and aliases were added, skipped and refused.
  counts TEXT NOT NULL,
  -- JSON: the aliases that the load changed, as they were before; NULL where it changed none.
  replaced_aliases TEXT,
  loaded_at INTEGER NOT NULL,
  loaded_by INTEGER REFERENCES users (id),
  undone_at INTEGER,
  undone_by INTEGER REFERENCES users (id),
  -- JSON: the price changes to notify people of by e-mail, and when to send it next; NULL where there are none.
  notice TEXT,
  notice_due_at INTEGER CHECK (notice_due_at IS NULL OR notice IS NOT NULL)
) STRICT;
-- Of two processes that open a database at once, only one loads the embedded table.
CREATE UNIQUE INDEX price_loads_of_embedded ON price_loads (name) WHERE format = 'default';
CREATE INDEX price_loads_to_notify ON price_loads (notice_due_at) WHERE notice_due_at IS NOT NULL;

INSERT INTO price_loads (uid, format, name, as_of, counts, loaded_at)
SELECT randomblob(16), source, version, min(loaded_at - loaded_at % 86400000, 1790121600000), '{}', loaded_at FROM price_tables ORDER BY loaded_at;
DROP TABLE price_tables;

ALTER TABLE prices ADD COLUMN load_id INTEGER REFERENCES price_loads (id);
-- The date of the table that the price is from; of a price set by hand, the day when it was set.
ALTER TABLE prices ADD COLUMN as_of INTEGER;
-- When the load was undone: the price no longer applies to anything new.
ALTER TABLE prices ADD COLUMN withdrawn_at INTEGER;
CREATE INDEX prices_by_load ON prices (load_id) WHERE load_id IS NOT NULL;
CREATE TRIGGER prices_withdrawn AFTER UPDATE OF withdrawn_at ON prices BEGIN UPDATE revision SET value = value + 1; END;

UPDATE prices SET load_id = (
  SELECT load.id FROM price_loads AS load WHERE load.loaded_at = prices.loaded_at AND load.format = prices.source
);
-- The date of the table that was embedded so far, 2026-09-23.
UPDATE prices SET as_of = CASE source
  WHEN 'default' THEN min(loaded_at - loaded_at % 86400000, 1790121600000)
  ELSE loaded_at - loaded_at % 86400000
END;

ALTER TABLE price_aliases ADD COLUMN load_id INTEGER REFERENCES price_loads (id);

-- The last scheduled or requested update of prices, shared by all servers of the database.
CREATE TABLE price_updates (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- The address or the file, without secrets.
  source TEXT,
  attempted_at INTEGER,
  succeeded_at INTEGER,
  -- Why the last attempt failed; NULL where it succeeded.
  error TEXT,
  -- Failed attempts since the last one that succeeded.
  failures INTEGER NOT NULL
) STRICT;
INSERT INTO price_updates (id, failures) VALUES (1, 0);
