-- The same as ../sqlite/0047_owed_work.sql, once per statement.
CREATE TABLE owed_work (
  kind text COLLATE "C" PRIMARY KEY CHECK (kind = 'valuation'),
  since bigint NOT NULL,
  changes bigint NOT NULL CHECK (changes > 0)
);

CREATE FUNCTION owe_valuation() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO owed_work AS owed (kind, since, changes)
  VALUES ('valuation', (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 1)
  ON CONFLICT (kind) DO UPDATE SET changes = owed.changes + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER prices_owe_valuation AFTER INSERT ON prices
  FOR EACH STATEMENT EXECUTE FUNCTION owe_valuation();
CREATE TRIGGER prices_changed_owe_valuation AFTER UPDATE OF withdrawn_at, effective_until ON prices
  FOR EACH STATEMENT EXECUTE FUNCTION owe_valuation();
CREATE TRIGGER price_aliases_owe_valuation AFTER INSERT ON price_aliases
  FOR EACH STATEMENT EXECUTE FUNCTION owe_valuation();
CREATE TRIGGER price_aliases_changed_owe_valuation AFTER UPDATE ON price_aliases
  FOR EACH STATEMENT EXECUTE FUNCTION owe_valuation();
CREATE TRIGGER price_aliases_removed_owe_valuation AFTER DELETE ON price_aliases
  FOR EACH STATEMENT EXECUTE FUNCTION owe_valuation();

INSERT INTO owed_work (kind, since, changes)
SELECT 'valuation', (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 1 WHERE EXISTS (SELECT 1 FROM entries);
