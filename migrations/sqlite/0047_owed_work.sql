-- What committed changes still owe: written in the transaction of the change, and removed once it is done.
CREATE TABLE owed_work (
  kind TEXT PRIMARY KEY CHECK (kind = 'valuation'),
  since INTEGER NOT NULL,
  -- Grows with each change, so that work that began before the last one is done once more.
  changes INTEGER NOT NULL CHECK (changes > 0)
) STRICT, WITHOUT ROWID;

-- A price or an alias may give a cost to entries that have none.
CREATE TRIGGER prices_owe_valuation AFTER INSERT ON prices BEGIN
  INSERT INTO owed_work (kind, since, changes) VALUES ('valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1)
  ON CONFLICT (kind) DO UPDATE SET changes = changes + 1;
END;
CREATE TRIGGER prices_changed_owe_valuation AFTER UPDATE OF withdrawn_at, effective_until ON prices BEGIN
  INSERT INTO owed_work (kind, since, changes) VALUES ('valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1)
  ON CONFLICT (kind) DO UPDATE SET changes = changes + 1;
END;
CREATE TRIGGER price_aliases_owe_valuation AFTER INSERT ON price_aliases BEGIN
  INSERT INTO owed_work (kind, since, changes) VALUES ('valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1)
  ON CONFLICT (kind) DO UPDATE SET changes = changes + 1;
END;
CREATE TRIGGER price_aliases_changed_owe_valuation AFTER UPDATE ON price_aliases BEGIN
  INSERT INTO owed_work (kind, since, changes) VALUES ('valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1)
  ON CONFLICT (kind) DO UPDATE SET changes = changes + 1;
END;
CREATE TRIGGER price_aliases_removed_owe_valuation AFTER DELETE ON price_aliases BEGIN
  INSERT INTO owed_work (kind, since, changes) VALUES ('valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1)
  ON CONFLICT (kind) DO UPDATE SET changes = changes + 1;
END;

-- Earlier versions forgot it when they were stopped after the prices were loaded.
INSERT INTO owed_work (kind, since, changes)
SELECT 'valuation', CAST(unixepoch('subsec') * 1000 AS INTEGER), 1 WHERE EXISTS (SELECT 1 FROM entries);
